# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads RACE: passages with questions of four options each (Lai et al., arXiv:1704.04683).

A split is RACE/{train,dev,test}/{middle,high}/ with one file for each passage, as distributed, or
with one file all.txt that holds a passage a line. A passage is a JSON object with `article`,
`questions`, `options`, `answers` (letters) and `id`. The hubs keep a level as Parquet files, with a
row for each question: RACE/{middle,high}/{train,validation,test}-*.parquet.
"""

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

LEVELS = ("middle", "high")
LETTERS = ("A", "B", "C", "D")
ALL_NAME = "all.txt"
_BLANK = "_"  # where an option belongs in a question
_TYPES = {
    "id": (str, int, None),
    "article": str,
    "questions": [str],
    "options": [[str]],
    "answers": ([(str, None)], None),
}


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


def _find_files(data_dir: str, split: str, level: str) -> List[str]:
    """The files of a level; `data_dir` holds the folder RACE, or is it."""
    folder, hub_split = f"{split}/{level}", split.replace("dev", "validation")
    names = (f"{folder}/{ALL_NAME}", f"{folder}/[!.]*.txt", f"{level}/{hub_split}-*.parquet")
    for base, name in itertools.product(("", "RACE"), names):
        paths = parquet.parts(os.path.join(data_dir, base, name))
        if paths:
            return sorted(paths, key=_by_number)
    raise UserError(
        f"There are no passages in '{data_dir}/RACE/{folder}'. --data_dir must hold the folder "
        "RACE, or be it. To read one level only, give --high_only or --middle_only."
        + table.how_to_get(("RACE",), data_dir)
    )


def _passages(path: str) -> Iterator[Tuple[str, Any]]:
    """Where each passage of a file is, and what is there."""
    if path.endswith(parquet.ENDING):  # a row for each question
        rows = list(parquet.read_rows(path))
        for row in rows:
            files.check_types(row, {"article": str}, f"'{path}'")
        rows.sort(key=lambda row: _by_number(row.get("example_id")))
        keys = ("example_id", "article")
        for (name, article), group in itertools.groupby(rows, lambda row: [*map(row.get, keys)]):
            columns = ("question", "options", "answer")
            lists = zip(*([row.get(column) for column in columns] for row in group))
            names = ("questions", "options", "answers")
            yield path, {"id": name, "article": article, **dict(zip(names, map(list, lists)))}
        return
    text = files.read_text(path)
    texts = [(path, text)]
    if os.path.basename(path) == ALL_NAME:
        lines = enumerate(text.split("\n"), start=1)
        texts = [(f"{path}:{number}", line) for number, line in lines if line.strip()]
    for where, text in texts:
        yield where, files.parse_json(text, f"'{where}'")


def _questions(passage: Any, where: str, *, level: str, split: str) -> Iterator[InputExample]:
    files.check_types(passage, _TYPES, f"'{where}'")
    questions, options = passage["questions"], passage["options"]
    answers = passage.get("answers") or [None] * len(questions)
    if not len(questions) == len(options) == len(answers):
        raise UserError(f"'{where}': questions, options and answers must be equally many.")
    identity = str(passage.get("id") or level + os.path.basename(where).replace(":", "-"))
    for number, (question, some, answer) in enumerate(zip(questions, options, answers)):
        place = f"'{where}', passage '{identity}', question {number + 1}"
        if len(some) != len(LETTERS):
            raise UserError(f"{place}: there are {len(some)} options, not {len(LETTERS)}.")
        letter = (answer or "").strip().upper()
        if letter not in LETTERS and (letter or split != "test"):
            raise UserError(f"{place}: the answer '{letter[:60]}' is none of A, B, C and D.")
        label, endings = LETTERS.index(letter) if letter else None, endings_of(question, some)
        example = InputExample(identity, passage["article"], None, endings, label)
        example.name, example.level, example.options = f"{identity}-{number}", level, some
        yield example


def _with_places(
    data_dir: str, split: str, levels: Sequence[str]
) -> Iterator[Tuple[str, InputExample]]:
    for level in levels:
        for path in _find_files(data_dir, split, level):
            for where, passage in _passages(path):
                found = _questions(passage, where, level=level, split=split)
                yield from ((where, example) for example in found)


def read_examples(
    data_dir: str, split: str, *, levels: Sequence[str] = LEVELS
) -> List[InputExample]:
    """Reads the questions of a split, in the order of the levels and the passages.

    Raises:
      UserError: files are missing, or a passage is not as it must be (outside the test data each
        question needs its answer); file, passage and question are named.
    """
    examples: List[InputExample] = []
    places: Dict[str, Tuple[str, str]] = {}  # passage's id -> where it is, and its article
    for where, example in _with_places(data_dir, split, levels):
        place = (where, example.context_sentence)
        other = places.setdefault(example.example_id, place)
        if other != place:
            raise UserError(f"'{where}' and '{other[0]}' have the same id, '{example.example_id}'.")
        examples.append(example)
    if not examples:
        raise UserError(f"There is no question in the {split} data of '{data_dir}'.")
    _LOGGER.info("RACE %s: %d questions on %d passages.", split, len(examples), len(places))
    return examples
