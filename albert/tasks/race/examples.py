# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads RACE: passages with questions of four options each (Lai et al., arXiv:1704.04683).

A split is RACE/{train,dev,test}/{middle,high}/ with one file for each passage, as distributed, or
with one file all.txt that has a passage per line. A passage is a JSON object with `article`,
`questions`, `options`, `answers` (letters) and `id`. Hugging Face distributes Parquet files with a
row for each question: RACE/{middle,high}/{train,validation,test}-*.parquet.
"""

import collections
import dataclasses
import itertools
import os
from typing import Any, DefaultDict, Iterator, List, Optional, Sequence, Tuple

from albert.data import parquet
from albert.downloads import data_set_table
from albert.util import UserError, files, json_files, log

LEVELS = ("middle", "high")
LETTERS = ("A", "B", "C", "D")
ALL_NAME = "all.txt"
_BLANK = "_"  # in a question, the blank for the option
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

    example_id: str  # the passage's id
    context_sentence: str  # the article
    start_ending: Optional[str]  # the text before each ending
    endings: List[str]  # the question with each option
    label: Optional[int] = None  # the index of the right ending; None: unknown
    name: str = ""  # the passage's id, "-", and the question's index in the passage
    level: str = ""
    options: Sequence[str] = ()


def endings_of(question: str, options: Sequence[str]) -> List[str]:
    """Returns the question with each option, in the blank or at the end."""
    pattern = question if _BLANK in question else f"{question} {_BLANK}"
    return [pattern.replace(_BLANK, option) for option in options]


def levels_of(high_only: bool, middle_only: bool) -> Tuple[str, ...]:
    """Returns the levels to read; UserError if both flags are set."""
    excluded = {"middle": high_only, "high": middle_only}
    levels = tuple(level for level in LEVELS if not excluded[level])
    if not levels:
        raise UserError("--high_only and --middle_only exclude each other. Give one, or neither.")
    return levels


def _by_number(name: Any) -> Tuple[int, str]:
    """Returns a sort key that puts 9.txt before 10.txt."""
    return len(str(name)), str(name)


def _find(data_dir: str, split: str, level: str) -> List[str]:
    """Returns the files of a level. `data_dir` is the folder RACE or its parent folder."""
    folder, hub_split = f"{split}/{level}", split.replace("dev", "validation")
    names = (
        f"{folder}/{ALL_NAME}",
        f"{folder}/[!.]*.txt",
        f"{folder}/*.parquet",
        f"{level}/{hub_split}-*.parquet",
    )
    for base, name in itertools.product(("", "RACE"), names):
        paths = parquet.parts(os.path.join(data_dir, base, name))
        if paths:
            return sorted(paths, key=_by_number)
    raise UserError(
        f"No passages in '{data_dir}/RACE/{folder}'. --data_dir must be the folder "
        "RACE, or its parent folder. To read one level only, give --high_only or --middle_only."
        + data_set_table.how_to_get(("RACE",), data_dir)
    )


def _passages(path: str) -> Iterator[Tuple[str, Any]]:
    """Yields (location, passage). For a Parquet file, a passage is a row, with one question."""
    if files.ending(path) == parquet.ENDING:
        rows = parquet.read_rows(path)
        for row in sorted(rows, key=lambda row: _by_number(row.get("example_id"))):
            passage = {f"{name}s": [row.get(name)] for name in ("question", "answer")}
            passage.update(id=row.get("example_id"), article=row.get("article"))
            yield path, dict(passage, options=[row.get("options")])
        return
    text, has_lines = files.read_text(path), os.path.basename(path) == ALL_NAME
    for number, line in enumerate(text.split("\n") if has_lines else [text], start=1):
        where = f"{path}:{number}" if has_lines else path
        if line.strip():
            yield where, json_files.parse_data(line, f"'{where}'")


def _questions(passage: Any, where: str, *, level: str, split: str) -> Iterator[InputExample]:
    """Yields the questions of a passage, without names."""
    json_files.check(passage, _TYPES, f"'{where}'")
    questions, options = passage["questions"], passage["options"]
    answers = passage.get("answers") or [None] * len(questions)
    if not len(questions) == len(options) == len(answers):
        raise UserError(f"'{where}': the numbers of questions, options and answers differ.")
    passage_id = str(passage.get("id") or level + os.path.basename(where).replace(":", "-"))
    labels = {letter: index for index, letter in enumerate(LETTERS)}
    if split == "test":
        labels[None] = labels[""] = None
    for question, options_of_question, answer in zip(questions, options, answers):
        if len(options_of_question) != len(LETTERS) or answer not in labels:
            raise UserError(
                f"'{where}', {question[:60]!r}: a question needs four options and an answer A, B, "
                f"C or D; it has {len(options_of_question)} and {answer!r}."
            )
        texts = (passage_id, passage["article"], None, endings_of(question, options_of_question))
        yield InputExample(*texts, labels[answer], "", level, options_of_question)


def read_examples(
    data_dir: str, split: str, *, levels: Sequence[str] = LEVELS
) -> List[InputExample]:
    """Reads the questions of a split, in the order of the levels and the passages.

    Raises:
      UserError: files are missing, or a passage has another format. Only test data may lack
        answers.
    """
    examples = [
        example
        for level in levels
        for path in _find(data_dir, split, level)
        for where, passage in _passages(path)
        for example in _questions(passage, where, level=level, split=split)
    ]
    counts: DefaultDict[str, Iterator[int]] = collections.defaultdict(itertools.count)
    for example in examples:
        example.name = f"{example.example_id}-{next(counts[example.example_id])}"
    if not examples:
        raise UserError(f"No question in the {split} data of '{data_dir}'.")
    log.info("RACE %s: %d questions on %d passages.", split, len(examples), len(counts))
    return examples
