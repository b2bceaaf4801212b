# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads RACE: passages with questions of four options each (Lai et al., arXiv:1704.04683).

A split is RACE/{train,dev,test}/{middle,high}/ with one file a passage, as it is distributed, or
with one file all.txt that holds a passage a line. A passage is a JSON object with `article`,
`questions`, `options`, `answers` (letters) and `id`.

    split = read_split("data", "dev")
    split.questions[0]          # Key(identity="middle13.txt-0", level="middle", answer=0)
    split.passages[:128]        # read from the files when they are asked for

What stays in memory of a split is where its passages are, and a key for each question.
"""

import collections
import collections.abc
import hashlib
import json
import logging
import os
import re
from typing import Any, Counter, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.util import files

_LOGGER = logging.getLogger("albert")

SPLITS = ("train", "dev", "test")
LEVELS = ("middle", "high")
LETTERS = ("A", "B", "C", "D")
ALL_NAME = "all.txt"
_LISTS = ("questions", "options")
_BLANK = "_"  # where an option belongs in a question
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK_BYTES = 1 << 20
_JSON_SPACE = " \t\r\n"


class InputExample:
    """A question with its article and options, in the form programs of the reference know.

    Attributes:
      example_id: the passage's id.
      context_sentence: the article.
      start_ending: None, or what precedes each of the endings.
      endings: the question with each of the options.
      label: the number of the right one; None where it is not known.
    """

    def __init__(self, example_id, context_sentence, start_ending, endings, label=None):
        self.example_id = example_id
        self.context_sentence = context_sentence
        self.start_ending = start_ending
        self.endings = endings
        self.label = label

    def __repr__(self) -> str:
        return (
            f"InputExample(example_id={self.example_id!r}, "
            f"context_sentence={self.context_sentence!r}, start_ending={self.start_ending!r}, "
            f"endings={self.endings!r}, label={self.label!r})"
        )


class Question(NamedTuple):
    """A question, its options, and the number of the right one if that is known."""

    text: str
    options: Tuple[str, ...]
    answer: Optional[int]

    def endings(self) -> List[str]:
        """Returns the question with each option: in place of its blank, or else at its end."""
        if _BLANK in self.text:
            return [self.text.replace(_BLANK, option) for option in self.options]
        return [f"{self.text} {option}" for option in self.options]


class Passage(NamedTuple):
    """An article and its questions."""

    identity: str
    article: str
    questions: Tuple[Question, ...]

    def examples(self) -> List[InputExample]:
        """Returns an example for each question, its texts as they were written."""
        return [
            InputExample(self.identity, self.article, None, question.endings(), question.answer)
            for question in self.questions
        ]


class Key(NamedTuple):
    """What results say of a question: its name, its level, and the right answer's number."""

    identity: str  # the passage's id, "-", and the question's number in it, from 0
    level: str
    answer: Optional[int]


class Place(NamedTuple):
    """Where a passage is."""

    path: str
    start: int  # of its bytes in the file
    length: int
    name: str  # for a passage without an id


class Passages(collections.abc.Sequence):
    """The passages of a split, each read from its file when it is asked for."""

    def __init__(self, places: Sequence[Place], answers_needed: bool):
        self._places = list(places)
        self._answers_needed = answers_needed

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        """Returns a passage, or those of a slice as a list."""
        if not isinstance(index, slice):
            return self[index : index + 1 or None][0]
        return [
            parse_passage(_load(place), place.path, name=place.name, needed=self._answers_needed)
            for place in self._places[index]
        ]


class RaceSplit(NamedTuple):
    """A split: its passages, its questions in the same order, and what was found on the way."""

    passages: Passages
    questions: List[Key]
    folders: List[str]
    digest: str  # equal for files of equal names and content
    notes: List[str]

    def line(self, name: str) -> str:
        """Returns one line for the log."""
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        return (
            f"{name}: {len(self.questions)} questions on {len(self.passages)} passages from "
            f"{', '.join(self.folders)}{notes}"
        )


# --------------------------------------------------------------------------------------- finding


def levels_of(high_only: bool, middle_only: bool) -> Tuple[str, ...]:
    """Returns the levels to read.

    Raises:
      ValueError: both flags are set.
    """
    if high_only and middle_only:
        raise ValueError("--high_only and --middle_only exclude each other. Give one, or neither.")
    if high_only:
        return ("high",)
    return ("middle",) if middle_only else LEVELS


def find_folders(data_dir: str, split: str, levels: Sequence[str] = LEVELS) -> List[str]:
    """Returns the folder of each level.

    Args:
      data_dir: holds the folder RACE, or is it.
      split: one of SPLITS.
      levels: of LEVELS.

    Raises:
      ValueError: one of them is not there.
    """
    bases = [os.path.join(data_dir, "RACE", split), os.path.join(data_dir, split)]
    base = next((base for base in bases if tf.io.gfile.isdir(base)), None)
    if base is None:
        raise ValueError(
            f"The {split} data was not found: there is neither '{bases[0]}' nor '{bases[1]}'. "
            "--data_dir must hold the folder RACE, or be it."
        )
    folders = [os.path.join(base, level) for level in levels]
    for folder, level in zip(folders, levels):
        if not tf.io.gfile.isdir(folder):
            others = [other for other in levels if other != level]
            remedy = f" To do without, give --{others[0]}_only." if others else ""
            raise ValueError(
                f"The {level} part of the {split} data is not there: '{folder}'.{remedy}"
            )
    return folders


def _find_files(folder: str) -> List[str]:
    """all.txt, or else the files of passages in the order of their numbers."""
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(folder)]
    names = [name for name in names if name.endswith(".txt") and not name.startswith(".")]
    if ALL_NAME in names:
        if len(names) > 1:
            _LOGGER.info("%s is read, and not the %d files beside it.", ALL_NAME, len(names) - 1)
        return [os.path.join(folder, ALL_NAME)]
    if not names:
        raise ValueError(
            f"'{folder}' holds no passages: neither {ALL_NAME} nor files like 1234.txt."
        )
    return [os.path.join(folder, name) for name in sorted(names, key=_number_first)]


def _number_first(name: str) -> Tuple[int, str]:
    number = re.match(r"\d+", name)
    return (int(number.group()) if number else -1, name)


# --------------------------------------------------------------------------------------- reading


def read_split(
    data_dir: str,
    split: str,
    *,
    levels: Sequence[str] = LEVELS,
    answers_needed: Optional[bool] = None,
) -> RaceSplit:
    """Reads a split through once, checks every passage, and keeps the keys of its questions.

    Args:
      data_dir: holds the folder RACE, or is it.
      split: one of SPLITS.
      levels: of LEVELS; the questions come in their order.
      answers_needed: whether a question without its answer is an error; by default it is, but in
        the test data.

    Raises:
      ValueError: files are missing, or a passage is not as it must be; the file is named.
    """
    if answers_needed is None:
        answers_needed = split != "test"
    folders = find_folders(data_dir, split, levels)
    reader = _Reader(answers_needed)
    for level, folder in zip(levels, folders):
        for path in _find_files(folder):
            reader.read(path, level)
    return reader.finished(folders)


class _Reader:
    """Collects what is kept of a split."""

    def __init__(self, answers_needed: bool):
        self._answers_needed = answers_needed
        self._places: List[Place] = []
        self._keys: List[Key] = []
        self._files: Dict[str, str] = {}  # passage's id -> its file
        self._digest = hashlib.sha256()
        self._notes: Counter[str] = collections.Counter()

    def read(self, path: str, level: str) -> None:
        """Reads a file's passages."""
        self._digest.update(f"{level}/{os.path.basename(path)}\n".encode())
        stem = level + os.path.basename(path)
        is_single = os.path.basename(path) != ALL_NAME
        number = 0
        for number, (place, content) in enumerate(self._places_in(path), start=1):
            name = stem if is_single else f"{stem}-{number}"
            passage = parse_passage(content, path, name=name, needed=self._answers_needed)
            self._add(passage, place._replace(name=name), level)
        self._notes["file without a passage"] += not number

    def _places_in(self, path: str) -> Iterator[Tuple[Place, Any]]:
        """Where the passages of a file are, and what they hold; a line at a time in all.txt."""
        is_many = os.path.basename(path) == ALL_NAME
        position = 0  # of the line
        with files.open_to_read(path) as stream:
            lines = _lines(stream) if is_many else [stream.read()]
            for number, content in enumerate(lines, start=1):
                self._digest.update(content)
                where = f"{path}:{number}" if is_many else path
                first = number == 1 and content.startswith(_BYTE_ORDER_MARK)
                start = position + len(_BYTE_ORDER_MARK) * first
                line = _decode(content[start - position :], where)
                values = list(_json_values(line, where))
                for text, space, value in values:
                    length = len(text.encode("utf-8"))
                    yield Place(path, start + space, length, ""), value
                    start += space + length
                self._notes["line with several passages"] += is_many and len(values) > 1
                position += len(content)

    def _add(self, passage: Passage, place: Place, level: str) -> None:
        """Notes a passage and its questions."""
        identity = passage.identity
        if identity in self._files:
            raise ValueError(
                f"'{place.path}': the id {identity!r} is also that of a passage in "
                f"'{self._files[identity]}'. Each passage must have an id of its own."
            )
        self._files[identity] = place.path
        self._places.append(place)
        texts = [passage.article]
        for number, question in enumerate(passage.questions):
            self._keys.append(Key(f"{identity}-{number}", level, question.answer))
            texts += [question.text, *question.options]
            self._notes["question without an answer"] += question.answer is None
        self._notes["empty text"] += sum(not text.strip() for text in texts)
        self._notes["passage without questions"] += not passage.questions

    def finished(self, folders: Sequence[str]) -> RaceSplit:
        """What there is."""
        if not self._keys:
            raise ValueError(f"There is no question in {', '.join(folders)}.")
        notes = [f"{count} x {what}" for what, count in self._notes.items() if count]
        passages = Passages(self._places, self._answers_needed)
        return RaceSplit(passages, self._keys, list(folders), self._digest.hexdigest(), notes)


def _lines(stream: Any) -> Iterator[bytes]:
    """The lines of a file with their ends; TensorFlow's own reading drops carriage returns."""
    rest = b""
    while True:
        block = stream.read(_BLOCK_BYTES)
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line + b"\n"
        if not block:
            break
    if rest:
        yield rest


def _decode(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"'{path}' is not UTF-8 text ({error.reason}). Convert it.") from error


class _Value(NamedTuple):
    """A JSON value in a text."""

    text: str
    space: int  # ASCII characters before it
    value: Any


def _json_values(text: str, where: str) -> Iterator[_Value]:
    """All values of a text: files that were joined by `cat` have no line ends."""
    decoder = json.JSONDecoder()
    end = 0
    while True:
        start = end
        while start < len(text) and text[start] in _JSON_SPACE:
            start += 1
        if start == len(text):
            return
        before = start - end
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"'{where}' is not JSON ({error}). A passage's file must hold a JSON object, and "
                f"{ALL_NAME} one a line."
            ) from None
        yield _Value(text[start:end], before, value)


def _load(place: Place) -> Any:
    """The JSON value of a passage."""
    with files.open_to_read(place.path) as stream:
        stream.seek(place.start)
        return json.loads(stream.read(place.length).decode("utf-8"))


# --------------------------------------------------------------------------------------- checking


def parse_passage(content: Any, path: str, *, name: str, needed: bool = True) -> Passage:
    """Returns the passage that a JSON value is.

    Args:
      content: the value.
      path: its file, for errors.
      name: the passage's name if it has no id.
      needed: whether each question must have its answer.

    Raises:
      ValueError: something is missing, or there are not four options, or the answer is none of
        them.
    """
    if not isinstance(content, dict):
        raise ValueError(f"'{path}': {str(content)[:60]!r} is not a JSON object with an article.")
    missing = [key for key in ("article", "questions", "options") if key not in content]
    if missing:
        raise ValueError(
            f"'{path}': the passage has no {', '.join(missing)}; it has {sorted(content)}."
        )
    where = f"'{path}', passage {str(content.get('id', name))!r}"
    questions, options = (_listed(content[key], f"{where}: {key}") for key in _LISTS)
    answers = content.get("answers")
    if answers is None:
        answers = [None] * len(questions)
    answers = _listed(answers, f"{where}: answers")
    if not len(questions) == len(options) == len(answers):
        raise ValueError(
            f"{where}: there are {len(questions)} questions, {len(options)} lists of options and "
            f"{len(answers)} answers; they must be equally many."
        )
    parsed = [
        _question(*parts, where=f"{where}, question {number}", needed=needed)
        for number, parts in enumerate(zip(questions, options, answers), start=1)
    ]
    article = _text(content["article"], f"{where}: the article")
    return Passage(str(content.get("id", name)), article, tuple(parsed))


def _question(text: Any, options: Any, answer: Any, *, where: str, needed: bool) -> Question:
    """Checks a question."""
    count = len(options) if isinstance(options, list) else 0
    if count != len(LETTERS):
        raise ValueError(f"{where}: there are {count} options where {len(LETTERS)} are needed.")
    letter = answer.strip().upper() if isinstance(answer, str) else answer
    if letter in (None, "") and needed:
        raise ValueError(f"{where}: the answer is missing, and training and evaluation need it.")
    if letter not in LETTERS and letter not in (None, ""):
        raise ValueError(
            f"{where}: the answer {str(answer)[:60]!r} is none of {', '.join(LETTERS)}."
        )
    texts = [_text(option, f"{where}: an option") for option in options]
    number = LETTERS.index(letter) if letter else None
    return Question(_text(text, f"{where}: the question"), tuple(texts), number)


def _listed(value: Any, what: str) -> list:
    if not isinstance(value, list):
        raise ValueError(f"{what} are {str(value)[:60]!r}, which is no list.")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} is {str(value)[:60]!r}, which is no text.")
    return value
