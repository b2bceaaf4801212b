# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads RACE: passages with questions of four options each (Lai et al., arXiv:1704.04683).

A split is RACE/{train,dev,test}/{middle,high}/ with one file a passage, as it is distributed, or
with one file all.txt that holds a passage a line. A passage is a JSON object with `article`,
`questions`, `options`, `answers` (letters) and `id`.

    split = read_split("data", "dev")
    split.questions[0]          # Key(identity="middle13.txt-0", level="middle", answer=0)
    split.passages[0].article
"""

import collections
import dataclasses
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
_BLANK = "_"  # where an option belongs in a question


@dataclasses.dataclass(eq=False)
class InputExample:
    """A question with its article and options, in the form programs of the reference know.

    Attributes:
      example_id: the passage's id.
      context_sentence: the article.
      start_ending: None, or what precedes each of the endings.
      endings: the question with each of the options.
      label: the number of the right one; None where it is not known.
    """

    example_id: str
    context_sentence: str
    start_ending: Optional[str]
    endings: List[str]
    label: Optional[int] = None


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


class RaceSplit(NamedTuple):
    """A split: its passages, its questions in the same order, and what was found on the way."""

    passages: List[Passage]
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
    """Reads a split and checks every passage.

    Args:
      data_dir: holds the folder RACE, or is it.
      split: one of SPLITS.
      levels: of LEVELS; the questions come in their order.
      answers_needed: whether a question without its answer is an error; by default it is, but in
        the test data.

    Raises:
      ValueError: files are missing, or a passage is not as it must be; the file is named.
    """
    needed = split != "test" if answers_needed is None else answers_needed
    folders = find_folders(data_dir, split, levels)
    passages: Dict[str, Passage] = {}
    keys: List[Key] = []
    places: Dict[str, str] = {}  # passage's id -> where it is
    digest, notes = hashlib.sha256(), collections.Counter()  # type: ignore[var-annotated]
    paths = [
        (level, path) for level, folder in zip(levels, folders) for path in _find_files(folder)
    ]
    for level, path in paths:
        content = files.read_bytes(path)
        digest.update(f"{level}/{os.path.basename(path)}\n".encode() + content)
        before = len(passages)
        for where, name, value in _values(path, content, level):
            passage = parse_passage(value, where, name=name, needed=needed)
            other = places.setdefault(passage.identity, where)
            if other != where:
                raise ValueError(
                    f"'{where}': the id {passage.identity!r} is also that of a passage in "
                    f"'{other}'. Each passage must have an id of its own."
                )
            passages[passage.identity] = passage
            keys += _keys_of(passage, level, notes)
        notes["file without a passage"] += len(passages) == before
    if not keys:
        raise ValueError(f"There is no question in {', '.join(folders)}.")
    found = [f"{count} x {what}" for what, count in notes.items() if count]
    return RaceSplit(list(passages.values()), keys, folders, digest.hexdigest(), found)


def _values(path: str, content: bytes, level: str) -> Iterator[Tuple[str, str, Any]]:
    """Where the passages of a file are, a name for each, and its JSON value."""
    name = os.path.basename(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"'{path}' is not UTF-8 text ({error.reason}). Convert it.") from error
    is_many = name == ALL_NAME
    for number, line in enumerate(text.split("\n") if is_many else [text], start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}" if is_many else path
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"'{where}' is not JSON ({error}). A passage's file must hold a JSON object, and "
                f"{ALL_NAME} one a line."
            ) from None
        yield where, f"{level}{name}-{number}" if is_many else level + name, value


def _keys_of(passage: Passage, level: str, notes: Counter[str]) -> List[Key]:
    """The keys of a passage's questions; counts what is worth knowing of them."""
    texts = [passage.article]
    for question in passage.questions:
        texts += [question.text, *question.options]
        notes["question without an answer"] += question.answer is None
    notes["empty text"] += sum(not text.strip() for text in texts)
    notes["passage without questions"] += not passage.questions
    return [
        Key(f"{passage.identity}-{number}", level, question.answer)
        for number, question in enumerate(passage.questions)
    ]


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
    questions, options = (
        _listed(content[key], f"{where}: {key}") for key in ("questions", "options")
    )
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
