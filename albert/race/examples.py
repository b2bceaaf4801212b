# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads RACE: passages with questions of four options each (Lai et al., arXiv:1704.04683).

A split is RACE/{train,dev,test}/{middle,high}/ with one file for each passage, as distributed, or
with one file all.txt that holds a passage a line. A passage is a JSON object with `article`,
`questions`, `options`, `answers` (letters) and `id`. The hubs keep a level as Parquet files, with a
row for each question: RACE/{middle,high}/{train,validation,test}-*.parquet.
"""

import collections
import dataclasses
import itertools
import logging
import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from albert.data import parquet
from albert.datasets import table
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

SPLITS = ("train", "dev", "test")
LEVELS = ("middle", "high")
LETTERS = ("A", "B", "C", "D")
ALL_NAME = "all.txt"
_BLANK = "_"  # where an option belongs in a question
_TYPES = {"article": str, "questions": [str], "options": [[str]], "answers": (list, None)}
_ROW_TYPES = {"article": str, "question": str, "options": [str]}  # of a Parquet file


@dataclasses.dataclass(eq=False)
class InputExample:
    """A question with its article and options."""

    example_id: str  # the passage's
    context_sentence: str  # the article
    start_ending: Optional[str]  # what precedes each of the endings
    endings: List[str]  # the question with each of the options
    label: Optional[int] = None  # the index of the right ending; None: unknown
    name: str = ""  # the passage's id, "-", and the question's index in it
    level: str = ""
    options: Sequence[str] = ()


def endings_of(question: str, options: Sequence[str]) -> List[str]:
    """Returns the question with each option: in place of its blanks, or else at its end."""
    pattern = question if _BLANK in question else f"{question} {_BLANK}"
    return [pattern.replace(_BLANK, option) for option in options]


def levels_of(high_only: bool, middle_only: bool) -> Tuple[str, ...]:
    """Returns the levels to read; UserError if both flags are set."""
    if high_only and middle_only:
        raise UserError("--high_only and --middle_only exclude each other. Give one, or neither.")
    if high_only:
        return ("high",)
    return ("middle",) if middle_only else LEVELS


def _by_number(name: Any) -> Tuple[int, str]:
    """The key that puts 9.txt before 10.txt."""
    return len(str(name)), str(name)


def find_files(data_dir: str, split: str, levels: Sequence[str] = LEVELS) -> List[Tuple[str, str]]:
    """Returns level and path of each file of a split; UserError if a level has none.

    `data_dir` holds the folder RACE, or is it.
    """
    found = []
    hub_split = split.replace("dev", "validation")
    for level in levels:
        folder = f"{split}/{level}"
        names = (f"{folder}/{ALL_NAME}", f"{folder}/[!.]*.txt", f"{level}/{hub_split}-*.parquet")
        paths: List[str] = []
        for base, name in itertools.product(("", "RACE"), names):
            paths = paths or parquet.parts(os.path.join(data_dir, base, name))
        if not paths:
            raise UserError(
                f"There are no passages in '{data_dir}/RACE/{folder}'. --data_dir must hold the "
                "folder RACE, or be it. To read one level only, give --high_only or --middle_only."
                + table.how_to_get(("RACE",), data_dir)
            )
        found += [(level, path) for path in sorted(paths, key=_by_number)]
    return found


def _questions(path: str, level: str) -> Iterator[Tuple]:
    """Place, passage's id, article, question, options and answer of each question of a file."""
    if path.endswith(parquet.ENDING):
        rows = parquet.read_rows(path)
        for row in sorted(rows, key=lambda row: _by_number(row.get("example_id"))):
            files.check_types(row, _ROW_TYPES, f"'{path}'")
            names = ("example_id", "article", "question", "options", "answer")
            yield (path, *map(row.get, names))
        return
    text = files.read_text(path)
    texts = [(path, text)]
    if os.path.basename(path) == ALL_NAME:
        lines = enumerate(text.split("\n"), start=1)
        texts = [(f"{path}:{number}", line) for number, line in lines if line.strip()]
    for where, text in texts:
        value = files.parse_json(text, f"'{where}'")
        files.check_types(value, _TYPES, f"'{where}'")
        questions, options = value["questions"], value["options"]
        answers = value.get("answers") or [None] * len(questions)
        if not len(questions) == len(options) == len(answers):
            raise UserError(f"'{where}': questions, options and answers must be equally many.")
        identity = value.get("id", level + os.path.basename(where).replace(":", "-"))
        for question in zip(questions, options, answers):
            yield (where, identity, value["article"], *question)


def read_examples(
    data_dir: str, split: str, *, levels: Sequence[str] = LEVELS
) -> List[InputExample]:
    """Reads the questions of a split, in the order of the levels and the passages.

    Raises:
      UserError: files are missing, or a passage is not as it must be (outside the test data each
        question needs its answer); file, passage and question are named.
    """
    examples = []
    places: Dict[str, str] = {}  # passage's id -> where it is
    numbers: Dict[str, int] = collections.Counter()  # passage's id -> its questions so far
    for level, path in find_files(data_dir, split, levels):
        for where, identity, article, question, options, answer in _questions(path, level):
            name = f"{identity}-{numbers[identity]}"
            numbers[identity] += 1
            place = f"'{where}', passage '{identity}', question {numbers[identity]}"
            if places.setdefault(identity, where) != where:
                raise UserError(f"{place}: '{places[identity]}' has a passage with the same id.")
            if len(options) != len(LETTERS):
                raise UserError(f"{place}: there are {len(options)} options, not {len(LETTERS)}.")
            letter = str(answer or "").strip().upper()
            if letter not in LETTERS and (letter or split != "test"):
                raise UserError(f"{place}: the answer '{letter[:60]}' is none of A, B, C and D.")
            label = LETTERS.index(letter) if letter else None
            endings = endings_of(question, options)
            example = InputExample(str(identity), article, None, endings, label)
            example.name, example.level, example.options = name, level, options
            examples.append(example)
    if not examples:
        raise UserError(f"There is no question in the {split} data of '{data_dir}'.")
    _LOGGER.info("RACE %s: %d questions on %d passages.", split, len(examples), len(places))
    return examples
