# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification tasks, and reading their texts and labels from files.

    data = read_file(task, "glue/MRPC/train.tsv", "train")

Texts stay as they are in the file (see `data.rows`). Skipped and repaired rows are counted, and
errors name the file and the line.
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
from albert.util import UserError, files, log, wording

_QUOTED = re.compile('"(?:[^"]|"")*"')  # a cell as CSV quotes it
_MAX_ODD_FRACTION = 0.01  # a file with more odd rows probably has another format

# Usual names of columns and fields, in search order.
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

# Values in the column of a label.
_ABSENT, _PRESENT = ("0", "0.0", "false"), ("1", "1.0", "true")

# Usual names of a split's files without ending, in search order. OCNLI's training files have the
# number of examples in their names; the largest comes first. CLUE's test files have the version of
# the leaderboard; the newest comes first.
_STEMS = {
    "train": "train train.50k train.30k train.10k train.3k train.1k multinli.train.zh "
    "multinli/multinli.train.zh",
    "dev": "dev xnli.dev",
    "test": "test test1.1 test1.0 xnli.test diagnostic",
}
_ENDINGS = (".tsv", ".csv", ".txt", ".json", ".jsonl")


@dataclasses.dataclass(eq=False)
class InputExample:
    """A text or a pair of texts.

    The label is a name, a number (regression), or None (test data); where an example can have
    several, a tuple of names.
    """

    guid: str  # ID of the example in results
    text_a: str
    text_b: Optional[str] = None
    label: Any = None


# ---------------------------------------------------------------------------------- declarations


# A column number (from 0, or negative from the end), the name of a column or JSON field, a tuple of
# names (the first that exists counts), or None.
Column = Any


class Columns(NamedTuple):
    """The columns of an example's parts. A list of strings in a field is joined by spaces."""

    text_a: Column
    text_b: Column = None
    label: Column = None  # a list: the names of labels, each with a column of 0 and 1
    guid: Column = None  # if None or missing, the ID is "<role>-<row>"
    header: Optional[bool] = None  # of TSV and CSV; None: the first row decides
    # Builds examples from a row whose fields are not the texts themselves.
    render: Optional[Callable[[Mapping[str, Any]], List[InputExample]]] = None

    def required(self, is_labelled: bool) -> List[Column]:
        """Returns the columns of texts and, in labelled data, of labels; some can be None."""
        labels = self.label if isinstance(self.label, list) else [self.label]
        return [*self[:2], *labels] if is_labelled else [*self[:2]]


PAIR = Columns(FIRST_NAMES, SECOND_NAMES, LABEL_NAMES)
TEXT = Columns(TEXT_NAMES, None, LABEL_NAMES)


class Recipe(NamedTuple):
    """Hyper-parameters that work well. They have either train_step or num_train_epochs."""

    max_seq_length: int
    train_batch_size: int
    learning_rate: float
    train_step: int = 0
    warmup_step: int = 0
    save_checkpoints_steps: int = 0  # 0: once an epoch
    num_train_epochs: float = 0.0
    warmup_proportion: float = 0.0


def role_of(split: str) -> str:
    """Returns a split's role, "train", "dev" or "test": "dev" for "dev_matched"."""
    return split.split("_")[0]


class TaskSpec(NamedTuple):
    """The declaration of a classification or regression task."""

    name: str
    labels: Tuple[str, ...]  # in the order of their ids; () is regression
    recipe: Recipe
    folders: Tuple[str, ...]  # names of the data folder, the official one first; case-insensitive
    columns: Tuple[Columns, ...]  # the first that a file has is used
    splits: Tuple[str, ...] = ("train", "dev", "test")  # names begin with train, dev or test
    submissions: Mapping[str, str] = {}  # GLUE: test split -> file with its predictions
    # Metrics besides eval_loss. The first one, on the first dev split, chooses the best checkpoint.
    metrics: Tuple[str, ...] = ("eval_accuracy",)
    label_aliases: Mapping[str, str] = {}  # other spelling -> label; "": drop the example
    # Names of the labels 0, 1, ... in files of a hub; (): a Parquet file has the names.
    hub_labels: Tuple[str, ...] = ()
    language: str = ""  # rows to use if a file has the column "language"
    examples_per_row: int = 1  # if more, the answer is the most probable example of a row
    # Split -> file in the data folder; None: search for usual names.
    files: Mapping[str, Optional[str]] = {}
    label_separator: str = ""  # of an example's labels in a cell; "": each example has one label

    @property
    def is_multi_label(self) -> bool:
        """Whether an example can have several labels, or none."""
        return bool(self.label_separator)

    @property
    def suitable_metrics(self) -> Tuple[str, ...]:
        """The metrics that suit the labels, the usual one to choose by first."""
        if self.is_regression:
            return ("pearson", "spearman", "MSE", "eval_loss")
        averages = ("micro_f1", "macro_f1", "weighted_f1", "eval_loss")
        if self.is_multi_label:
            return (*averages, "samples_f1", "exact_match", "average_precision")
        if len(self.labels) > 2:
            return ("eval_accuracy", "matthew_corr", *averages)
        return ("eval_accuracy", "matthew_corr", "f1", *averages)

    @property
    def is_regression(self) -> bool:
        """Whether the label is a number."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Whether an example has two texts."""
        return self.columns[0].text_b is not None

    def split_names(self, role: str) -> List[str]:
        """Returns the splits of a role. The first "dev" split chooses the best checkpoint."""
        return [split for split in self.splits if role_of(split) == role]

    def suffix(self, split: str) -> str:
        """Returns the suffix of a split's files: "_mismatched", or "" for a role's first split."""
        role = role_of(split)
        return "" if split == self.split_names(role)[0] else split[len(role) :]

    def files_of(self, split: str) -> List[str]:
        """Returns possible names of a split's file; the last ones are patterns for Parquet."""
        file_name = self.files.get(split)
        if file_name:
            return [file_name]
        stems = _STEMS.get(split, split).split()
        if split not in _STEMS and not self.suffix(split):
            stems.append(role_of(split))
        hub = split.replace("dev", "validation")
        hub_stems = (f"{hub}-*", f"data/{hub}-*", f"{hub}/*", hub, split)
        usual = [stem + ending for stem in stems for ending in _ENDINGS]
        return usual + [stem + parquet.ENDING for stem in hub_stems]


# --------------------------------------------------------------------------------------- reading


class TaskData(NamedTuple):
    """The examples of a split."""

    examples: List[InputExample]
    files: List[str]
    columns: Tuple[str, ...]  # names of the texts' columns or fields, if the file has names


def read_file(task: TaskSpec, path: str, split: str = "", *, names: Sequence[str] = ()) -> TaskData:
    """Reads examples from a file; see `data.rows`. Skips short rows of training data if few.

    Args:
      task: declaration of the task.
      path: a file, or a pattern for Parquet files.
      split: name or role of the split. "" reads texts to predict: their columns have the names in
        `names`, the task's names or usual names, or are the only columns. Labels are not read.
        Examples without an ID are numbered from 0.
      names: names of the texts' columns in the training data.

    Raises:
      UserError: the file is missing, lacks columns or has no example; too many rows are too short
        or too long; or a label is unknown. The message names the file and the line.
    """
    parts, rows = _read_parts(path)
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
            label = parse_label(example.label, spellings, task.label_separator) if role else None
            if is_labelled and label is None:
                _refuse_label(task, row, example.label, is_first=first.is_table and row is first)
            if is_labelled and label == "":
                continue
            example.label = None if label == "" else label
            examples.append(example)
            if not (example.text_a.strip() and (example.text_b is None or example.text_b.strip())):
                empty.append(row.where)
    if len(short) > (_MAX_ODD_FRACTION * len(rows) if role == "train" else 0) or not examples:
        problem = short[0] if short else f"'{path}' holds no example"
        raise UserError(f"{problem} ({len(short)} of {len(rows)} rows are too short).")
    odd = {"long rows cut": long, "short rows skipped": short, "empty texts": empty}
    summary = f"{', '.join(parts)}: {wording.counted(len(examples), 'example')}"
    _log_file(summary, odd, header=first.values if columns.header else [])
    has_names = not columns.render and (columns.header or not first.is_table)
    texts = dict(zip(first.fields, first.values)) if has_names else {}
    return TaskData(examples, parts, tuple(texts[key] for key in columns[:2] if key in texts))


def _read_parts(path: str) -> Tuple[List[str], List[Row]]:
    """Returns the files of a path or a pattern, and their rows; UserError if there are none."""
    path = os.path.expanduser(str(path))
    parts = (files.ending(path) == parquet.ENDING and parquet.parts(path)) or [path]
    rows = read_rows(parts)
    if not rows:
        raise UserError(f"'{path}' is empty.")
    return parts, rows


def declaration(path: str, named: Columns, separator: str = "") -> Dict[str, Any]:
    """Returns the columns and the labels of training data, as a task file has them.

    The labels are "regression" if all are numbers, and not all are whole numbers. An example can
    have several if they are lists.

    Args:
      path: a file, or a pattern for Parquet files.
      named: columns that flags name. The others have usual names.
      separator: of several labels in a cell; "": each example has one label.

    Raises:
      UserError: the file is missing or has no such columns.
    """
    rows = _read_parts(path)[1]
    usual = [PAIR, TEXT] if named.text_a is None else [TEXT]
    changes = {name: column for name, column in named._asdict().items() if column is not None}
    candidates = tuple(columns._replace(**changes) for columns in usual)
    task = TaskSpec("", (), Recipe(0, 0, 0), (), candidates)
    columns = _find_columns(task, rows, "train", names=())
    if isinstance(columns.label, dict):  # a flag has the labels
        columns = columns._replace(label=None)
    values = [row.fields.get(columns.label) for row in rows[columns.header or 0 :]]
    present = (value for value in values if value not in (None, ""))
    # pandas writes 1 as 1.0 if a column has missing values.
    texts = {
        re.sub(r"^(-?\d+)\.0$", r"\1", part)
        for value in present
        for part in _label_texts(value, separator)
    } - {"nan"}
    numbers: List[Any] = [parse_label(text, {}) for text in texts]
    is_numeric = None not in numbers
    labels: Any = sorted(sorted(texts), key=float if is_numeric else str)
    if is_numeric and any(number % 1 for number in numbers):
        labels = "regression"
    names = dict(zip(rows[0].fields, rows[0].values)) if columns.header else {}
    keys = zip(Columns._fields, columns[:3])
    declared = {name: names.get(key, key) for name, key in keys if key is not None}
    if any(isinstance(value, list) for value in values):
        declared["multi_label"] = True
    return {**declared, "labels": labels}


def _refuse_label(task: TaskSpec, row: Row, label: Any, *, is_first: bool) -> None:
    labels = wording.listed(task.labels or ["numbers"], 12)
    hint = " If it is a header, give --header." if is_first else ""
    raise UserError(f"{row.where}: the label is {label!r}. Labels: {labels}.{hint}")


def _log_file(summary: str, odd: Mapping[str, List[str]], *, header: Sequence[str]) -> None:
    """Logs a line with the header and the odd rows; it is a warning if a row is odd."""
    notes = [f"{kind}: {len(lines)} (first {lines[0]})" for kind, lines in odd.items() if lines]
    level = logging.WARNING if notes else logging.INFO
    if header:
        notes.append(f"header: {wording.listed([name[:40] for name in header])}")
    log.log(level, "%s.", "; ".join([summary, *notes]))


def _long_rows(path: str, rows: Sequence[Row]) -> List[str]:
    """Returns the lines of rows with more cells than the first. Warns about cells quoted as in CSV.

    Raises:
      UserError: many rows are too long, for example because a text has a tab.
    """
    width = len(rows[0].values)
    long = [row.where for row in rows if any(map(str.strip, row.values[width:]))]
    if len(long) > _MAX_ODD_FRACTION * len(rows):
        raise UserError(f"{long[0]}: {len(long)} of {len(rows)} rows have too many columns.")
    quoted = [cell for row in rows for cell in row.values if '"' in cell]
    is_csv = files.ending(path) == csv_rows.ENDING
    if len(quoted) > 1 and not is_csv and all(map(_QUOTED.fullmatch, quoted)):
        log.warning(
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
    """Returns a row's examples, with labels as in the file; KeyError if the row is too short."""
    fields = row.fields
    if columns.render:
        return columns.render(dict(zip(first.values, row.values)) if row.is_table else fields)
    text_b = None if columns.text_b is None else text_of(fields[columns.text_b])
    guid = fields.get(columns.guid)
    if not isinstance(columns.label, dict):
        label = fields[columns.label] if is_labelled else fields.get(columns.label)
    else:
        keys = columns.label.items() if is_labelled else ()
        label = [name for name, key in keys if _is_present(fields[key], name)]
    text_a = text_of(fields[columns.text_a])
    return [InputExample("" if guid is None else str(guid), text_a, text_b, label)]


def _is_present(value: Any, label: str) -> bool:
    """Returns whether a cell of a label's column has 1; ValueError if it has neither 0 nor 1."""
    text = label_text(value)
    if text not in _ABSENT + _PRESENT:
        raise ValueError(f"{label} is {value!r}; a label's column holds 0 and 1")
    return text in _PRESENT


def text_of(value: Any) -> str:
    """Returns a JSON string or number as text, and a list of them joined by spaces.

    Raises TypeError for anything else, and for NaN, which pandas writes for a missing text.
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
    task: TaskSpec, rows: Sequence[Row], role: str, *, names: Sequence[str]
) -> Columns:
    """Returns a file's columns as keys of `Row.fields`; None for an optional column that it lacks.

    `header` says whether the first row is a header. Arguments and errors are as in `read_file`.
    """
    first = rows[0]
    is_labelled = role in ("train", "dev")
    candidates = task.columns if role else _prediction_columns(task, rows, names)
    for columns in candidates:
        needed = columns.required(is_labelled)
        if all(column is None or first.find(column) is not None for column in needed):
            keys = [first.find(column) for column in columns[:4]]
            header = first.is_table and _has_header(columns, keys, first, task=task)
            if first.is_table and not header and not is_labelled:
                log.warning("%s: no header found. Reading this row as an example.", first.where)
            return Columns._make([*keys, header, columns.render])
    missing = [
        [
            column
            for column in columns.required(is_labelled)
            if column is not None and first.find(column) is None
        ]
        for columns in candidates
    ]
    fewest = min(missing, key=lambda columns: (isinstance(columns[0], int), len(columns)))
    lines = [" or ".join(name) if isinstance(name, tuple) else str(name) for name in fewest]
    raise UserError(
        f"{first.where}: there are no columns {', '.join(lines)}. There are "
        f"{', '.join(first.values)[:200]}. Correct the header or, for a custom task, name the "
        "columns: --text_a_column, --text_b_column, --label_column."
    )


def _has_header(columns: Columns, keys: Sequence[Any], first: Row, *, task: TaskSpec) -> bool:
    """Returns whether the first row of a table is a header.

    It is a header if it has the name of a column. If all columns are numbers, it is a header if it
    has usual names for the label or for all texts, and no label of the task.
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


def _prediction_columns(task: TaskSpec, rows: Sequence[Row], names: Sequence[Any]) -> List[Columns]:
    """Returns possible columns of texts to predict: the task's names, usual names, only columns."""
    texts = (FIRST_NAMES, SECOND_NAMES) if task.is_pair else (TEXT_NAMES,)
    trained = []
    if len(names) == len(texts):
        trained = [Columns(*names)._replace(guid=task.columns[0].guid)]
    candidates = [
        columns._replace(guid=(columns.guid, *GUID_NAMES), header=None)
        for columns in (*trained, *task.columns, Columns(*texts))
        if not isinstance(columns.text_a, int)
    ]
    if rows[0].is_table and len(rows[0].values) == len(texts):
        # Two columns can be a text and its label.
        last_cell = rows[-1].values[-1]
        if not task.is_pair or parse_label(last_cell, label_spellings(task)) is None:
            candidates.append(Columns(0, 1 if task.is_pair else None, header=False))
    return candidates


# ---------------------------------------------------------------------------------------- labels


def _number_names(task: TaskSpec, path: str, columns: Columns) -> Sequence[str]:
    """Returns the names of a file's numeric labels; () if the numbers are the labels."""
    if isinstance(columns.text_a, int):  # a table
        return ()
    if task.hub_labels or files.ending(path) != parquet.ENDING:
        return task.hub_labels
    names = parquet.label_names(path).get(columns.label, ())
    return names if set(task.labels) <= set(names) else ()


def label_spellings(task: TaskSpec, number_names: Sequence[str] = ()) -> Dict[str, str]:
    """Returns spelling -> label; "" means drop the example. Returns {} for regression."""
    if task.is_regression:
        return {}
    spellings = dict(zip(task.labels, task.labels))
    spellings.update(zip(map(str, itertools.count()), number_names))
    spellings.update(task.label_aliases)
    # pandas writes 1 as 1.0 if a column has missing values.
    numbers = [text for text in spellings if re.fullmatch(r"-?\d+", text)]
    return {**{f"{number}.0": spellings[number] for number in numbers}, **spellings}


def label_text(value: Any) -> str:
    """Returns a label as text; booleans as in JSON: true, false."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _label_texts(value: Any, separator: str) -> List[str]:
    """Returns the labels that a list or a text spells, several if there is a separator."""
    parts = [value]
    if isinstance(value, list):
        parts = value
    elif separator:
        parts = label_text(value).split(separator)
    return list(filter(None, map(label_text, parts)))


def parse_label(
    value: Any, spellings: Mapping[str, str], separator: str = ""
) -> Union[str, float, Tuple[str, ...], None]:
    """Returns the label (for regression: the number) that a value spells; None if invalid.

    With a separator, returns the labels that a list or a text spells.
    """
    if separator:
        labels = [spellings.get(name) for name in _label_texts(value, separator)]
        return None if None in labels else tuple(labels)  # type: ignore[arg-type]
    text = label_text(value)
    if spellings:
        return spellings.get(text)
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None
