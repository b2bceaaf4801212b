# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification tasks, and reading their texts and labels from files.

    data = read_file(task, "glue/MRPC/train.tsv", "train")

Texts stay as written. A TSV cell ends at a tab and a line at a line feed; quotes are plain text. In
a .csv file quotes are CSV's. Repairs are counted, and errors name file and line.
"""

import dataclasses
import io
import itertools
import logging
import math
import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from albert.data import csv_rows, parquet
from albert.util import files, json_files, wording
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


class Row(NamedTuple):
    """A row: a list of cells, or a dict of values by the names of fields."""

    where: str  # file:line, from 1; of a Parquet file the row
    number: int  # from 0, over all files
    values: Any


def read_rows(path: str) -> Tuple[List[str], List[Row]]:
    """Returns the files and the rows, which are not blank, of a .csv, .parquet, TSV or JSON file.

    The path may be a pattern of Parquet files. JSON lines are a .json or .jsonl file, or one that
    begins with "{" and does not end in .tsv. Raises UserError for a file that is missing, empty, or
    not of its kind; the line is named.
    """
    path = os.path.expanduser(str(path))
    parts = (files.ending(path) == parquet.ENDING and parquet.parts(path)) or [path]
    located = ((f"{part}:{line}", values) for part in parts for line, values in _rows(part))
    rows = [
        Row(where, number, values)
        for number, (where, values) in enumerate(located)
        if isinstance(values, dict) or any(map(str.strip, values))
    ]
    if not rows:
        raise UserError(f"'{path}' is empty.")
    return parts, rows


def _rows(path: str) -> Iterable[Tuple[int, Any]]:
    """The number of each row's line, from 1, and the row."""
    ending = files.ending(path)
    if ending == parquet.ENDING:
        return enumerate(parquet.read_rows(path), start=1)
    text = files.read_text(path)
    if ending == csv_rows.ENDING:
        return csv_rows.rows(io.StringIO(text, newline=""), path)
    lines = enumerate(text.replace("\r\n", "\n").split("\n"), start=1)
    is_object = text.lstrip()[:1] == "{" and ending != ".tsv"
    if is_object or ending in files.JSON_LINES:
        return (
            (line, text.strip() and json_files.parse_data(text, f"{path}:{line}", dict))
            for line, text in lines
        )
    return ((line, text.split("\t")) for line, text in lines)


def read_file(task: Task, path: str, split: str = "", *, names: Sequence[str] = ()) -> TaskData:
    """Reads examples from a file; see `read_rows`. Skips a few short rows of training data.

    Args:
      task: the declaration.
      path: of the file.
      split: its name, or its role. "": texts to predict, in columns that are called as in `names`,
        as the task's or as usual, or are the only ones. Labels are then not read, and numbers from
        0 name the examples that have no name.
      names: of the texts' columns in the training data.

    Raises:
      UserError: there is no such file, it lacks the columns, rows have too few or too many, a label
        is unknown (file and line are named), or there is no example.
    """
    parts, rows = read_rows(path)
    role, first = role_of(split), rows[0].values
    is_labelled, is_table = role in ("train", "dev"), isinstance(first, list)
    candidates = task.columns if role else _text_columns(task, rows, names)
    columns = _find_columns(task, rows, candidates, needed=3 if is_labelled else 2)
    if is_table and not (columns.header or is_labelled):
        _LOGGER.warning("%s: no header found. Reading this row as an example.", rows[0].where)
    spellings = label_spellings(task, () if is_table else _number_names(task, parts[0], columns))
    cells, language = first if columns.render else range(len(first)), _place("language", rows[0])
    examples: List[InputExample] = []
    odd: Dict[str, List[str]] = {"long rows cut": _long_rows(parts[0], rows) if is_table else []}
    short, empty = odd["short rows skipped"], odd["empty texts"] = [], []
    for row in rows[columns.header :]:
        fields = dict(zip(cells, row.values)) if is_table else row.values
        if task.language and fields.get(language, task.language) != task.language:
            continue
        try:
            row_examples = _examples_of(fields, columns, is_labelled)
        except KeyError as error:
            short.append(f"{row.where}: no column or field {error}")
            continue
        except (TypeError, ValueError) as error:
            raise UserError(f"{row.where}: {error}.") from None
        for part, example in enumerate(row_examples):
            number = row.number * len(row_examples) + part
            name = f"{role}-{number}" if role else str(len(examples) + part)
            example.guid = example.guid or name
            label = parse_label(example.label, spellings) if role else None
            if is_labelled and label is None:
                _refuse_label(task, row, example.label, is_first=is_table and row is rows[0])
            example.label = None if label == "" else label
        kept = [item for item in row_examples if item.label is not None or not is_labelled]
        examples += kept
        empty += [row.where for item in kept if not _has_texts(item)]
    if len(short) > (_ODD_SHARE * len(rows) if role == "train" else 0) or not examples:
        problem = short[0] if short else f"'{path}' holds no example"
        raise UserError(f"{problem} ({len(short)} of {len(rows)} rows are too short).")
    header = first if is_table and columns.header else []
    _log_file(
        f"{', '.join(parts)}: {wording.counted(len(examples), 'example')}", odd, header=header
    )
    has_names = not columns.render and (columns.header or not is_table)
    keys = [key for key in columns[:2] if key is not None and has_names]
    return TaskData(examples, parts, tuple(first[key] if is_table else key for key in keys))


def _refuse_label(task: Task, row: Row, label: Any, *, is_first: bool) -> None:
    labels = wording.listed(task.labels or ["numbers"], 12)
    hint = " If it is a header, give --header." if is_first else ""
    raise UserError(f"{row.where}: the label is {label!r}. Labels: {labels}.{hint}")


def _log_file(summary: str, odd: Mapping[str, List[str]], *, header: Sequence[str]) -> None:
    """Logs a line with the header and the places of odd rows; a warning if there are any."""
    notes = [f"{what}: {len(places)} (first {places[0]})" for what, places in odd.items() if places]
    level = logging.WARNING if notes else logging.INFO
    if header:
        notes.append(f"header: {wording.listed([cell[:40] for cell in header])}")
    _LOGGER.log(level, "%s.", "; ".join([summary, *notes]))


def _has_texts(example: InputExample) -> bool:
    return bool(example.text_a.strip() and (example.text_b is None or example.text_b.strip()))


def _long_rows(path: str, rows: Sequence[Row]) -> List[str]:
    """Where rows have more cells than the first. Warns of quotes as CSV has them.

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
    fields: Mapping[Any, Any], columns: Columns, is_labelled: bool
) -> List[InputExample]:
    """The examples of a row, their labels as they stand there; KeyError for a row cut short."""
    if columns.render:
        return columns.render(fields)
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


def _find_columns(
    task: Task, rows: Sequence[Row], candidates: Sequence[Columns], *, needed: int
) -> Columns:
    """The first candidate of which a file has the columns in the `needed` fields, with `header`.

    Columns become numbers of cells or names of fields; None for what is not there.
    """
    first = rows[0].values
    for columns in candidates:
        positions = [_place(column, rows[0]) for column in columns[:4]]
        pairs = zip(columns[:needed], positions)
        if all(column is None or position is not None for column, position in pairs):
            header = isinstance(first, list) and _has_header(columns, positions, first, task=task)
            return Columns._make([*positions, header, columns.render])
    missing = [
        " or ".join(map(str, _spellings(column)))
        for column in candidates[0][:needed]
        if column is not None
    ]
    raise UserError(
        f"{rows[0].where}: there are no columns {', '.join(missing)}. There are "
        f"{', '.join(map(str, first))[:200]}. Correct the header, or name other columns."
    )


def _text_columns(task: Task, rows: Sequence[Row], names: Sequence[Any]) -> List[Columns]:
    """Where texts may be: under the task's names, under usual ones, or in the only columns."""
    texts = (FIRST_NAMES, SECOND_NAMES) if task.is_pair else (TEXT_NAMES,)
    width, last = 1 + task.is_pair, rows[-1].values
    trained = [Columns(*names)] if len(names) == width else []
    named = [
        columns._replace(guid=(columns.guid, *GUID_NAMES), header=None)
        for columns in (*trained, *task.columns, Columns(*texts))
        if not isinstance(columns.text_a, int)
    ]
    if not isinstance(last, list) or len(rows[0].values) != width:
        return named
    # Two columns may be a text and its label.
    is_label = task.is_pair and parse_label(last[-1], label_spellings(task)) is not None
    alone = Columns(0, 1 if task.is_pair else None, header=False)
    return named if is_label else [*named, alone]


def _spellings(column: Column) -> Tuple[Any, ...]:
    return column if isinstance(column, tuple) else (column,)


def _place(column: Column, row: Row) -> Any:
    """The number of a cell, or the name of a field, where a column is; None if it is not there."""
    first = row.values
    for name in _spellings(column):
        if name in first:
            csv_rows.check_header(list(first), [name], row.where)
            return name if isinstance(first, dict) else first.index(name)
        if isinstance(name, int) and isinstance(first, list) and -len(first) <= name < len(first):
            return name % len(first)
    return None


def _has_header(
    columns: Columns, positions: Sequence[Any], first: Sequence[str], *, task: Task
) -> bool:
    """Whether the first row is a header.

    It is if a column was found by its name; with numbers for columns, if it has usual names for the
    label or for all texts, and no label.
    """
    if columns.header is not None:
        return columns.header
    present = [pair for pair in zip(columns[:3], positions) if pair[1] is not None]
    if not all(isinstance(column, int) for column, _ in present):
        return True
    words = {column: first[position].strip().lower() for column, position in present}
    label = words.pop(columns.label, "")
    if parse_label(label, label_spellings(task)) is not None:
        return False
    return label in _LABEL_WORDS or _TEXT_WORDS.issuperset(words.values())


# ---------------------------------------------------------------------------------------- labels


def _number_names(task: Task, path: str, columns: Columns) -> Sequence[str]:
    """The names of labels that are numbers in a file; () where these are the labels."""
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
