# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads RACE: passages with questions of four options each (Lai et al., arXiv:1704.04683).

A split is RACE/{train,dev,test}/{middle,high}/ with one file for each passage, as distributed, or
with one file all.txt that holds a passage a line. A passage is a JSON object with `article`,
`questions`, `options`, `answers` (letters) and `id`. The hubs keep a level as Parquet files, with a
row for each question: RACE/{middle,high}/{train,validation,test}-*.parquet.

    split = read_split("data", "dev")
    split.questions[0]          # Key(identity="middle13.txt-0", level="middle", answer=0)
    split.passages[0].article
"""

import collections
import dataclasses
import hashlib
import logging
import os
import re
from typing import Any, Counter, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import parquet
from albert.datasets import table
from albert.util import files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

SPLITS = ("train", "dev", "test")
LEVELS = ("middle", "high")
LETTERS = ("A", "B", "C", "D")
ALL_NAME = "all.txt"
_BLANK = "_"  # where an option belongs in a question


@dataclasses.dataclass(eq=False)
class InputExample:
    """A question with its article and options, in the form that programs of the reference take."""

    example_id: str  # the passage's
    context_sentence: str  # the article
    start_ending: Optional[str]  # what precedes each of the endings
    endings: List[str]  # the question with each of the options
    label: Optional[int] = None  # the index of the right ending; None: unknown


class Question(NamedTuple):
    """A question, its options, and the index of the right one if that is known."""

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
        """Returns an example for each question, its texts as written."""
        return [
            InputExample(self.identity, self.article, None, question.endings(), question.answer)
            for question in self.questions
        ]


class Key(NamedTuple):
    """How results name a question, its level, and the index of the right answer."""

    identity: str  # the passage's id, "-", and the question's index in it
    level: str
    answer: Optional[int]


class RaceSplit(NamedTuple):
    """A split: its passages, and its questions in the same order."""

    passages: List[Passage]
    questions: List[Key]
    folders: List[str]
    digest: str  # equal for files of equal names and content
    notes: List[str]  # what is unusual in the data, with counts

    def line(self, name: str) -> str:
        """Returns one line for the log."""
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        return (
            f"{name}: {wording.counted(len(self.questions), 'question')} on "
            f"{wording.counted(len(self.passages), 'passage')} from "
            f"{', '.join(self.folders)}{notes}"
        )


# --------------------------------------------------------------------------------------- finding


def levels_of(high_only: bool, middle_only: bool) -> Tuple[str, ...]:
    """Returns the levels to read; ValueError if both flags are set."""
    if high_only and middle_only:
        raise UserError("--high_only and --middle_only exclude each other. Give one, or neither.")
    if high_only:
        return ("high",)
    return ("middle",) if middle_only else LEVELS


def find_folders(data_dir: str, split: str, levels: Sequence[str] = LEVELS) -> List[str]:
    """Returns the folder of each level; ValueError if one is missing.

    `data_dir` holds the folder RACE, or is it.
    """
    bases = [os.path.join(data_dir, "RACE", split), os.path.join(data_dir, split)]
    base = next((base for base in bases if tf.io.gfile.isdir(base)), None)
    if base is None:
        for place in (os.path.join(data_dir, "RACE"), data_dir):
            folders = [os.path.join(place, level) for level in levels]
            if all(_hub_files(folder, split) for folder in folders):
                return folders
        raise UserError(
            f"The {split} data was not found: there is neither '{bases[0]}' nor '{bases[1]}'. "
            "--data_dir must hold the folder RACE, or be it."
            + table.how_to_get(("RACE",), data_dir)
        )
    folders = [os.path.join(base, level) for level in levels]
    for folder, level in zip(folders, levels):
        if not tf.io.gfile.isdir(folder):
            others = [other for other in levels if other != level]
            remedy = f" To do without, give --{others[0]}_only." if others else ""
            raise UserError(
                f"The {level} part of the {split} data does not exist: '{folder}'.{remedy}"
            )
    return folders


def _hub_files(folder: str, split: str) -> List[str]:
    name = split.replace("dev", "validation")
    return parquet.parts(os.path.join(folder, f"{name}-*{parquet.ENDING}"))


def _find_files(folder: str, split: str) -> List[str]:
    """A hub's files, all.txt, or else the files of passages in the order of their numbers."""
    of_hub = _hub_files(folder, split)
    if of_hub:
        return of_hub
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(folder)]
    names = [name for name in names if name.endswith(".txt") and not name.startswith(".")]
    if ALL_NAME in names:
        if len(names) > 1:
            _LOGGER.info(
                "Reading %s and not the other %s.",
                ALL_NAME,
                wording.counted(len(names) - 1, "file"),
            )
        return [os.path.join(folder, ALL_NAME)]
    if not names:
        raise UserError(
            f"'{folder}' holds no passages: neither {ALL_NAME} nor files like 1234.txt."
        )

    def number_first(name: str) -> Tuple[int, str]:
        number = re.match(r"\d+", name)
        return (int(number.group()) if number else -1, name)

    return [os.path.join(folder, name) for name in sorted(names, key=number_first)]


# --------------------------------------------------------------------------------------- reading


def read_split(data_dir: str, split: str, *, levels: Sequence[str] = LEVELS) -> RaceSplit:
    """Reads a split, its questions in the order of the levels, and checks every passage.

    Raises:
      ValueError: files are missing, or a passage is not as it must be (outside the test data each
        question needs its answer); the file is named.
    """
    folders = find_folders(data_dir, split, levels)
    passages: Dict[str, Passage] = {}
    places: Dict[str, str] = {}  # passage's id -> where it is
    keys: List[Key] = []
    digest = hashlib.sha256()
    notes: Counter[str] = collections.Counter()
    paths = [
        (level, path)
        for level, folder in zip(levels, folders)
        for path in _find_files(folder, split)
    ]
    for level, path in paths:
        content = files.read_bytes(path)
        digest.update(f"{level}/{os.path.basename(path)}\n".encode() + content)
        before = len(passages)
        for where, name, value in _values(path, content, level):
            passage = _parse_passage(value, where, name=name, needs_answers=split != "test")
            other = places.setdefault(passage.identity, where)
            if other != where:
                raise UserError(
                    f"'{where}': the id {passage.identity!r} is also that of a passage in "
                    f"'{other}'. Each passage must have an id of its own."
                )
            passages[passage.identity] = passage
            _count_unusual(passage, notes)
            keys += [
                Key(f"{passage.identity}-{number}", level, question.answer)
                for number, question in enumerate(passage.questions)
            ]
        notes["file without a passage"] += len(passages) == before
    if not keys:
        raise UserError(f"There is no question in {', '.join(folders)}.")
    found = [f"{count} x {what}" for what, count in notes.items() if count]
    return RaceSplit(list(passages.values()), keys, folders, digest.hexdigest(), found)


def _values(path: str, content: bytes, level: str) -> Iterator[Tuple[str, str, Any]]:
    """The place of each passage of a file, its name if it has no id, and its JSON value."""
    if path.endswith(parquet.ENDING):
        yield from _hub_passages(path)
        return
    name, text = os.path.basename(path), files.decode(content, path)
    if name != ALL_NAME:
        if text.strip():
            yield path, level + name, files.parse_json(text, f"'{path}'")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, f"{level}{name}-{number}", files.parse_json(line, f"'{where}'")


def _hub_passages(path: str) -> Iterator[Tuple[str, str, Any]]:
    """What `_values` yields, of a Parquet file, in the order of the passages' numbers."""
    passages: Dict[Tuple[str, str], List[Dict[str, Any]]] = {}
    for row in parquet.read_rows(path):
        passages.setdefault((str(row.get("example_id")), row.get("article")), []).append(row)

    def number(key: Tuple[str, str]) -> int:
        return int("".join(re.findall(r"\d+", key[0])) or -1)

    for name, article in sorted(passages, key=number):
        rows = passages[name, article]
        keys = {"questions": "question", "options": "options", "answers": "answer"}
        columns = {ours: [row.get(theirs) for row in rows] for ours, theirs in keys.items()}
        yield f"{path}, {name}", name, {"id": name, "article": article, **columns}


def _count_unusual(passage: Passage, notes: Counter[str]) -> None:
    texts = [passage.article]
    for question in passage.questions:
        texts += [question.text, *question.options]
        notes["question without an answer"] += question.answer is None
    notes["empty text"] += sum(not text.strip() for text in texts)
    notes["passage without questions"] += not passage.questions


def _parse_passage(content: Any, path: str, *, name: str, needs_answers: bool) -> Passage:
    """The passage that a JSON value is; `name` is for one without an id."""
    types = {"article": str, "questions": [str], "options": [[str]], "answers": (list, None)}
    files.check_types(content, types, f"'{path}'")
    identity = str(content.get("id", name))
    where = f"'{path}', passage {identity!r}"
    questions, options, answers = (content.get(key) for key in ("questions", "options", "answers"))
    if answers is None:
        answers = [None] * len(questions)
    if not len(questions) == len(options) == len(answers):
        raise UserError(
            f"{where}: there are {len(questions)} questions, {len(options)} lists of options and "
            f"{len(answers)} answers; they must be equally many."
        )
    parsed = [
        _question(*parts, where=f"{where}, question {number}", needs_answer=needs_answers)
        for number, parts in enumerate(zip(questions, options, answers), start=1)
    ]
    return Passage(identity, content["article"], tuple(parsed))


def _question(
    text: str, options: List[str], answer: Any, *, where: str, needs_answer: bool
) -> Question:
    if len(options) != len(LETTERS):
        raise UserError(
            f"{where}: there are {len(options)} options where {len(LETTERS)} are needed."
        )
    letter = answer.strip().upper() if isinstance(answer, str) else answer
    if letter in (None, "") and needs_answer:
        raise UserError(f"{where}: the answer is missing, and training and evaluation need it.")
    if letter not in LETTERS and letter not in (None, ""):
        raise UserError(
            f"{where}: the answer {str(answer)[:60]!r} is none of {', '.join(LETTERS)}."
        )
    return Question(text, tuple(options), LETTERS.index(letter) if letter else None)
