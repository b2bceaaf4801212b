# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification tasks, and reading their texts and labels from files.

    data = read_file(task, "glue/MRPC/train.tsv", "train")

Texts stay as written (`data.rows`). Repairs are counted, and errors name file and line.
"""

import dataclasses
import itertools
import logging
import math
import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from albert.data import csv_rows, parquet
from albert.data.rows import Row, read_rows
from albert.util import files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger(__name__)
_QUOTED = re.compile('"(?:[^"]|"")*"')  # a cell as CSV quotes it
_ODD_SHARE = 0.01  # of the rows; a file with more is probably of another kind

# Usual names of columns and fields, in the order in which they are looked for.
TEXT_NAMES = ("text_a", "sentence", "text", "review", "content")
FIRST_NAMES = (
    "text_a",
    "sentence1",
    "premise",
    "question1",
    "question",
    "query1",
    "text1",
    "#1 String",
)
SECOND_NAMES = (
    "text_b",
    "sentence2",
    "hypothesis",
    "hypo",
    "question2",
    "sentence",
    "query2",
    "text2",
    "#2 String",
)
LABEL_NAMES = ("label", "gold_label", "score", "is_duplicate", "Quality")
GUID_NAMES = ("index", "id", "guid", "idx")
_TEXT_WORDS = {name.lower() for name in (*TEXT_NAMES, *FIRST_NAMES, *SECOND_NAMES)}
_LABEL_WORDS = {name.lower() for name in LABEL_NAMES}

# Usual names of a split's files without ending, in the order in which they are looked for.
# OCNLI's train file has the number of its examples, the largest first; CLUE's test files have the
# version of the leader board, the newest first.
_STEMS = {
    "train": "train train.50k train.30k train.10k train.3k train.1k multinli.train.zh "
    "multinli/multinli.train.zh",
    "dev": "dev xnli.dev",
    "test": "test test1.1 test1.0 xnli.test diagnostic",
}
_ENDINGS = (".tsv", ".csv", ".txt", ".json", ".jsonl")


@dataclasses.dataclass(eq=False)
class InputExample:
    """A text or a pair of texts; the label is a name, a number (regression) or None (test data)."""

    guid: str  # the example's name in results
    text_a: str
    text_b: Optional[str] = None
    label: Union[str, float, None] = None


# ---------------------------------------------------------------------------------- declarations


# The number of a cell, from 0 or (negative) from the end; a name in the header row or of a JSON
# field; several such names, of which the first that is there counts; or None.
Column = Any


class Columns(NamedTuple):
    """The columns of an example in a row. A list of strings in a field is joined by spaces."""

    text_a: Column
    text_b: Column = None
    label: Column = None
    guid: Column = None  # None, or not there: "<role>-<row>"
    header: Optional[bool] = None  # of TSV and CSV; None: the first row decides
    # Makes examples of an object whose fields are not the texts themselves.
    render: Optional[Callable[[Mapping[str, Any]], List[InputExample]]] = None


class Recipe(NamedTuple):
    """Hyper-parameters that are known to work. Training is given in steps or epochs, not both."""

    max_seq_length: int
    train_batch_size: int
    learning_rate: float
    train_step: int = 0
    warmup_step: int = 0
    save_checkpoints_steps: int = 0  # 0: once an epoch
    num_train_epochs: float = 0.0
    warmup_proportion: float = 0.0


def role_of(split: str) -> str:
    """Returns "train", "dev" or "test" of a split's name such as "dev_matched"."""
    return split.split("_")[0]


class Task(NamedTuple):
    """A classification or regression task."""

    name: str
    labels: Tuple[str, ...]  # in the order of their ids; () is regression
    recipe: Recipe
    folders: Tuple[str, ...]  # names of its folder, the official one first; any case is accepted
    columns: Tuple[Columns, ...]  # the first that a file has count
    splits: Tuple[str, ...] = ("train", "dev", "test")  # or names that begin with "dev" or "test"
    submissions: Mapping[str, str] = {}  # test split of GLUE -> the file with its predictions
    # Measured beside eval_loss; the first chooses the checkpoint, on the first dev split.
    metrics: Tuple[str, ...] = ("eval_accuracy",)
    label_aliases: Mapping[str, str] = {}  # other spellings -> label; "": drop these examples
    # The names of labels that are numbers from 0; (): those that a Parquet file has.
    hub_labels: Tuple[str, ...] = ()
    language: str = ""  # in the column "language" of a file with several
    examples_per_row: int = 1  # in the data file; of several, the most probable one is the answer
    # split -> its file below the folder; None: of a usual name
    files: Mapping[str, Optional[str]] = {}

    @property
    def is_regression(self) -> bool:
        """Returns whether the label is a number."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Returns whether an example has two texts."""
        return self.columns[0].text_b is not None

    def split_names(self, role: str) -> List[str]:
        """Returns the names of the splits of a role; the first of "dev" decides."""
        return [split for split in self.splits if role_of(split) == role]

    def suffix(self, split: str) -> str:
        """Returns what a split's file names add: "_mismatched", or "" for the first of its role."""
        role = role_of(split)
        return "" if split == self.split_names(role)[0] else split[len(role) :]

    def files_of(self, split: str) -> List[str]:
        """Returns the possible names of a split's file; the last are patterns of Parquet files."""
        named = self.files.get(split)
        if named:
            return [named]
        stems = _STEMS.get(split, split).split()
        hub = split.replace("dev", "validation")
        hub_stems = (f"{hub}-*", f"data/{hub}-*", f"{hub}/*", hub, split)
        usual = [stem + ending for stem in stems for ending in _ENDINGS]
        return usual + [stem + parquet.ENDING for stem in hub_stems]


# --------------------------------------------------------------------------------------- reading


class TaskData(NamedTuple):
    """The examples of a split."""

    examples: List[InputExample]
    files: List[str]
    columns: Tuple[str, ...]  # names of the texts' columns or fields, where the file has them


def read_file(task: Task, path: str, split: str = "", *, names: Sequence[str] = ()) -> TaskData:
    """Reads examples from a file; see `data.rows`. Skips a few short rows of training data.

    Args:
      task: the declaration.
      path: of the file, or a pattern of Parquet files.
      split: its name, or its role. "": texts to predict, in columns that are called as in `names`,
        as the task's or as usual, or are the only ones. Labels are then not read, and numbers from
        0 name the examples that have no name.
      names: of the texts' columns in the training data.

    Raises:
      UserError: there is no such file, it lacks the columns, rows have too few or too many, a label
        is unknown (file and line are named), or there is no example.
    """
    path = os.path.expanduser(str(path))
    parts = (files.ending(path) == parquet.ENDING and parquet.parts(path)) or [path]
    rows = read_rows(parts)
    if not rows:
        raise UserError(f"'{path}' is empty.")
    role, first = role_of(split), rows[0]
    is_labelled = role in ("train", "dev")
    columns = _find_columns(task, rows, role, names=names)
    spellings = label_spellings(task, _number_names(task, parts[0], columns))
    language = first.find("language")
    long = _long_rows(parts[0], rows) if first.is_table else []
    examples: List[InputExample] = []
    short: List[str] = []
    empty: List[str] = []
    for row in rows[1:] if columns.header else rows:
        if task.language and row.fields.get(language, task.language) != task.language:
            continue
        try:
            row_examples = _examples_of(row, columns, first, is_labelled=is_labelled)
        except KeyError as error:
            short.append(f"{row.where}: no column or field {error}")
            continue
        except (TypeError, ValueError) as error:
            raise UserError(f"{row.where}: {error}.") from None
        start = row.number * len(row_examples) if role else len(examples)
        for number, example in enumerate(row_examples, start):
            example.guid = example.guid or (f"{role}-{number}" if role else str(number))
            label = parse_label(example.label, spellings) if role else None
            if is_labelled and label is None:
                _refuse_label(task, row, example.label, is_first=first.is_table and row is first)
            if is_labelled and label == "":
                continue
            example.label = None if label == "" else label
            examples.append(example)
            if not (example.text_a.strip() and (example.text_b is None or example.text_b.strip())):
                empty.append(row.where)
    if len(short) > (_ODD_SHARE * len(rows) if role == "train" else 0) or not examples:
        problem = short[0] if short else f"'{path}' holds no example"
        raise UserError(f"{problem} ({len(short)} of {len(rows)} rows are too short).")
    odd = {"long rows cut": long, "short rows skipped": short, "empty texts": empty}
    summary = f"{', '.join(parts)}: {wording.counted(len(examples), 'example')}"
    _log_file(summary, odd, header=first.values if columns.header else [])
    has_names = not columns.render and (columns.header or not first.is_table)
    texts = dict(zip(first.fields, first.values)) if has_names else {}
    return TaskData(examples, parts, tuple(texts[key] for key in columns[:2] if key in texts))


def _refuse_label(task: Task, row: Row, label: Any, *, is_first: bool) -> None:
    labels = wording.listed(task.labels or ["numbers"], 12)
    hint = " If it is a header, give --header." if is_first else ""
    raise UserError(f"{row.where}: the label is {label!r}. Labels: {labels}.{hint}")


def _log_file(summary: str, odd: Mapping[str, List[str]], *, header: Sequence[str]) -> None:
    """Logs a line with the header and the places of odd rows; a warning if there are any."""
    notes = [f"{what}: {len(places)} (first {places[0]})" for what, places in odd.items() if places]
    level = logging.WARNING if notes else logging.INFO
    if header:
        notes.append(f"header: {wording.listed([name[:40] for name in header])}")
    _LOGGER.log(level, "%s.", "; ".join([summary, *notes]))


def _long_rows(path: str, rows: Sequence[Row]) -> List[str]:
    """Where rows of a table have more cells than the first. Warns of quotes as CSV has them.

    Raises:
      UserError: many rows are too long. A tab in a text shifts the cells after it.
    """
    width = len(rows[0].values)
    long = [row.where for row in rows if any(map(str.strip, row.values[width:]))]
    if len(long) > _ODD_SHARE * len(rows):
        raise UserError(f"{long[0]}: {len(long)} of {len(rows)} rows have too many columns.")
    quoted = [cell for row in rows for cell in row.values if '"' in cell]
    is_csv = files.ending(path) == csv_rows.ENDING
    if len(quoted) > 1 and not is_csv and all(map(_QUOTED.fullmatch, quoted)):
        _LOGGER.warning(
            "%s: %d cells seem to be quoted as in CSV, for example %s. In this format, quotes are "
            "part of the text. If yours are not, save the data with commas as a .csv file.",
            path,
            len(quoted),
            quoted[0][:40],
        )
    return long


def _examples_of(
    row: Row, columns: Columns, first: Row, *, is_labelled: bool
) -> List[InputExample]:
    """The examples of a row, their labels as they stand there; KeyError for a row cut short."""
    fields = row.fields
    if columns.render:
        return columns.render(dict(zip(first.values, row.values)) if row.is_table else fields)
    text_b = None if columns.text_b is None else text_of(fields[columns.text_b])
    guid = fields.get(columns.guid)
    label = fields[columns.label] if is_labelled else fields.get(columns.label)
    text_a = text_of(fields[columns.text_a])
    return [InputExample("" if guid is None else str(guid), text_a, text_b, label)]


def text_of(value: Any) -> str:
    """Returns a JSON text or number, or a list of them joined by spaces; TypeError otherwise.

    NaN is how pandas writes a missing text, and is none.
    """
    if isinstance(value, list):
        return " ".join(map(text_of, value))
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return str(value)
    raise TypeError(f"{str(value)[:60]!r} is not text")


# --------------------------------------------------------------------------------------- columns


def _find_columns(task: Task, rows: Sequence[Row], role: str, *, names: Sequence[str]) -> Columns:
    """Returns where a file has the columns, as keys of `Row.fields`; None for one that it lacks.

    `header` says whether the first row is one. Arguments and errors are those of `read_file`.
    """
    first = rows[0]
    needed = 3 if role in ("train", "dev") else 2  # texts, and the label
    candidates = task.columns if role else _prediction_columns(task, rows, names)
    for columns in candidates:
        keys = [first.find(column) for column in columns[:4]]
        pairs = zip(columns[:needed], keys)
        if all(column is None or key is not None for column, key in pairs):
            header = first.is_table and _has_header(columns, keys, first, task=task)
            if first.is_table and not header and needed == 2:
                _LOGGER.warning("%s: no header found. Reading this row as an example.", first.where)
            return Columns._make([*keys, header, columns.render])
    missing = [
        " or ".join(column) if isinstance(column, tuple) else str(column)
        for column in candidates[0][:needed]
        if column is not None
    ]
    raise UserError(
        f"{first.where}: there are no columns {', '.join(missing)}. There are "
        f"{', '.join(first.values)[:200]}. Correct the header, or name other columns."
    )


def _has_header(columns: Columns, keys: Sequence[Any], first: Row, *, task: Task) -> bool:
    """Whether the first row of a table is a header.

    It is if a column was found by its name; with numbers for columns, if it has usual names for the
    label or for all texts, and no label.
    """
    if columns.header is not None:
        return columns.header
    pairs = zip(columns[:3], keys)
    if not all(isinstance(column, int) for column, key in pairs if key is not None):
        return True
    words = [name.strip().lower() for name in first.values]
    label = "" if keys[2] is None else words[keys[2]]
    if parse_label(label, label_spellings(task)) is not None:
        return False
    texts = {words[key] for key in keys[:2] if key is not None}
    return label in _LABEL_WORDS or texts <= _TEXT_WORDS


def _prediction_columns(task: Task, rows: Sequence[Row], names: Sequence[Any]) -> List[Columns]:
    """Where texts may be: under the task's names, under usual ones, or in the only columns."""
    texts = (FIRST_NAMES, SECOND_NAMES) if task.is_pair else (TEXT_NAMES,)
    trained = [Columns(*names)] if len(names) == len(texts) else []
    candidates = [
        columns._replace(guid=(columns.guid, *GUID_NAMES), header=None)
        for columns in (*trained, *task.columns, Columns(*texts))
        if not isinstance(columns.text_a, int)
    ]
    if rows[0].is_table and len(rows[0].values) == len(texts):
        # Two columns may be a text and its label.
        last = rows[-1].values[-1]
        if not task.is_pair or parse_label(last, label_spellings(task)) is None:
            candidates.append(Columns(0, 1 if task.is_pair else None, header=False))
    return candidates


# ---------------------------------------------------------------------------------------- labels


def _number_names(task: Task, path: str, columns: Columns) -> Sequence[str]:
    """The names of labels that are numbers in a file; () where these are the labels."""
    if isinstance(columns.text_a, int):  # a table
        return ()
    if task.hub_labels or files.ending(path) != parquet.ENDING:
        return task.hub_labels
    names = parquet.label_names(path).get(columns.label, ())
    return names if set(task.labels) <= set(names) else ()


def label_spellings(task: Task, number_names: Sequence[str] = ()) -> Dict[str, str]:
    """Returns {spelling: label}; the label is "" for examples to drop; {} for regression."""
    if task.is_regression:
        return {}
    spellings = dict(zip(task.labels, task.labels))
    spellings.update(zip(map(str, itertools.count()), number_names))
    spellings.update(task.label_aliases)
    # pandas makes 1.0 of 1 where some are missing
    return {**{f"{text}.0": label for text, label in spellings.items()}, **spellings}


def label_text(value: Any) -> str:
    """Returns a label as text; true and false are as JSON has them."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def parse_label(value: Any, spellings: Mapping[str, str]) -> Union[str, float, None]:
    """Returns the label (regression: the number) of a text or JSON value; None if invalid."""
    text = label_text(value)
    if spellings:
        return spellings.get(text)
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None
