# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a classification task is, and how its texts and labels are read from a file.

    data = read_file(task, "glue/MRPC/train.tsv", task.split("train"))

Texts stay as written. A TSV cell ends at a tab and a line at a line feed; quotes are plain text. In
a .csv file quotes are CSV's. Repairs are counted, and errors name file and line.
"""

import collections
import dataclasses
import io
import itertools
import math
from typing import (
    Any,
    Callable,
    Counter,
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
from albert.util import files, wording
from albert.util.errors import UserError

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
_HEADER_WORDS = {name.lower() for name in (*TEXT_NAMES, *FIRST_NAMES, *SECOND_NAMES, *LABEL_NAMES)}


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
    """Where an example is in a row. A list of strings in a field is joined by spaces."""

    text_a: Column
    text_b: Column = None
    label: Column = None
    guid: Column = None  # None: "<split>-<row>"
    header: Optional[bool] = None  # of TSV and CSV; None: the first row decides
    # Makes examples of an object whose fields are not the texts themselves.
    render: Optional[Callable[[Mapping[str, Any]], List[InputExample]]] = None


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


class Split(NamedTuple):
    """A part of a data set."""

    name: str  # "train", or begins with "dev" or "test"
    file: str = ""  # below the task's folder; "": the first of the usual ones that exists

    @property
    def role(self) -> str:
        """Returns "train", "dev" or "test"."""
        return self.name.split("_")[0]

    @property
    def needs_labels(self) -> bool:
        """Returns whether an example without a label is an error."""
        return self.role != "test"

    @property
    def files(self) -> List[str]:
        """Returns where the split may be; the last are patterns, for the Parquet files of a hub."""
        if self.file:
            return [self.file]
        stems = _STEMS.get(self.name, self.name).split()
        hub = self.name.replace("dev", "validation")
        hub_stems = (f"{hub}-*", f"data/{hub}-*", f"{hub}/*", hub, self.name)
        usual = [stem + ending for stem in stems for ending in _ENDINGS]
        return usual + [stem + parquet.ENDING for stem in hub_stems]


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


class Task(NamedTuple):
    """A classification or regression task."""

    name: str
    folders: Tuple[str, ...]  # names of its folder, the official one first; any case is accepted
    splits: Tuple[Split, ...]
    labels: Tuple[str, ...]  # in the order of their ids; () is regression
    columns: Tuple[Columns, ...]  # the first that a file has count
    recipe: Recipe
    glue_name: str = ""  # of its files in GLUE's zip
    # Measured beside eval_loss; the first chooses the checkpoint, on the first dev split.
    metrics: Tuple[str, ...] = ("eval_accuracy",)
    label_aliases: Mapping[str, str] = {}  # other spellings -> label; "": drop these examples
    # The names of labels that are numbers from 0; (): those that a Parquet file has.
    hub_labels: Tuple[str, ...] = ()
    language: str = ""  # in the column "language" of a TSV file with several
    examples_per_row: int = 1  # in the data file; of several, the most probable one is the answer

    @property
    def best_metric(self) -> str:
        """Returns the metric that chooses the checkpoint."""
        return self.metrics[0]

    @property
    def is_regression(self) -> bool:
        """Returns whether the label is a number."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Returns whether an example has two texts."""
        return self.columns[0].text_b is not None

    @property
    def submissions(self) -> Dict[str, str]:
        """Returns the file name in GLUE's zip for each test split."""
        parts = {"test": "", "test_matched": "-m", "test_mismatched": "-mm"}
        names = self.split_names("test") if self.glue_name else ()
        return {split: f"{self.glue_name}{parts[split]}.tsv" for split in names}

    def split_names(self, role: str) -> List[str]:
        """Returns the names of the splits of a role; the first of "dev" decides."""
        return [split.name for split in self.splits if split.role == role]

    def split(self, name: str) -> Split:
        """Returns a split, "dev" and "test" being the first of each; ValueError if it has none."""
        for split in self.splits:
            if name in (split.name, split.role):
                return split
        names = ", ".join(split.name for split in self.splits)
        raise UserError(f"Task '{self.name}' has no {name} data; it has: {names}.")

    def suffix(self, split: str) -> str:
        """Returns what a split's file names add: "_mismatched", or "" for the first of its role."""
        name, role = self.split(split).name, self.split(split).role
        return "" if name == self.split(role).name else name[len(role) :]


class TaskData(NamedTuple):
    """The examples of a split."""

    examples: List[InputExample]
    files: List[str]
    notes: List[str]  # what was repaired, dropped or skipped, with counts
    columns: Tuple[str, ...] = ()  # names of the texts' columns or fields, where the file has them

    def log_line(self, name: str) -> str:
        """Returns one line that says what was read."""
        notes = f" ({'; '.join(self.notes)})" if self.notes else ""
        count = wording.counted(len(self.examples), "example")
        return f"{name}: {count} from {', '.join(self.files)}{notes}"


# ------------------------------------------------------------------------------------------ rows


class Row(NamedTuple):
    """A row: a list of cells, or a dict of values by the names of fields."""

    where: str  # file:line, from 1; of a Parquet file the row
    number: int  # from 0, over all files of the table
    values: Any


class Table(NamedTuple):
    """The rows of a file that are not blank, at least one."""

    path: str
    files: List[str]  # of Parquet, `path` may be their pattern
    rows: List[Row]


def read_table(path: str) -> Table:
    """Returns the rows of a .csv, .parquet, TSV or JSON-lines file; the path may be a pattern.

    JSON lines are a .json or .jsonl file, or one that begins with "{" and does not end in .tsv.

    Raises:
      ValueError: the file is missing or empty, or is not of its kind; the line is named.
    """
    path = str(path)
    parts = (path.endswith(parquet.ENDING) and parquet.parts(path)) or [path]
    found = ((f"{part}:{line}", row) for part in parts for line, row in _rows(part))
    rows = [
        Row(where, number, values)
        for number, (where, values) in enumerate(found)
        if isinstance(values, dict) or any(map(str.strip, values))
    ]
    if not rows:
        raise UserError(f"'{path}' is empty.")
    return Table(path, parts, rows)


def _rows(path: str) -> Iterable[Tuple[int, Any]]:
    """The number of each row's line, from 1, and the row."""
    if path.endswith(parquet.ENDING):
        return enumerate(parquet.read_rows(path), start=1)
    text = files.read_text(path)
    if path.endswith(csv_rows.ENDING):
        return csv_rows.rows(io.StringIO(text, newline=""), path)
    lines = enumerate(text.replace("\r\n", "\n").rstrip("\n").split("\n"), start=1)
    is_json = path.endswith((".json", ".jsonl")) or text.lstrip()[:1] == "{"
    if is_json and not path.endswith(".tsv"):
        return ((line, text.strip() and _object(text, f"{path}:{line}")) for line, text in lines)
    return ((line, text.split("\t")) for line, text in lines)


def _object(line: str, where: str) -> Any:
    value = files.parse_json(line, where)
    files.check_types(value, dict, where)
    return value


# --------------------------------------------------------------------------------------- columns


def find_columns(
    table: Table, candidates: Sequence[Columns], task: Task, *, needs_labels: bool
) -> Columns:
    """Returns the first candidate whose columns a table has, with `header` known.

    Columns become numbers of cells or names of fields; None for a label or guid that is not there.
    Raises ValueError if no candidate fits.
    """
    first = table.rows[0].values
    keys = _keys(first)
    for columns in candidates:
        places: List[Any] = [_place(column, keys) for column in columns[:4]]
        if all(_place(column, keys) is not None for column in _required(columns, needs_labels)):
            header = isinstance(first, list) and _has_header(columns, places, first, task=task)
            return Columns(*[*places, header, columns.render])
    wanted = _required(candidates[0], needs_labels)
    names = [" or ".join(column) if isinstance(column, tuple) else str(column) for column in wanted]
    raise UserError(
        f"'{table.path}' does not have the columns {', '.join(names)}; its first row is "
        f"{str(list(first))[:200]}. Correct its header, or name other columns."
    )


def _required(columns: Columns, needs_labels: bool) -> List[Column]:
    """Returns the columns that a file must have; names to choose an ID from are optional."""
    own_guid = None if isinstance(columns.guid, tuple) else columns.guid
    needed = (*columns[: 2 + needs_labels], own_guid)
    return [column for column in needed if column is not None]


def _keys(first: Any) -> Dict[Any, Any]:
    """Returns {name or number of a column: its number, or the name of a field}."""
    if isinstance(first, dict):
        return {name: name for name in first}
    count = len(first)
    numbers = {number: number % count for number in range(-count, count)}
    return {**numbers, **dict(zip(reversed(first), range(count - 1, -1, -1)))}  # the first wins


def _place(column: Column, keys: Mapping[Any, Any]) -> Any:
    names = column if isinstance(column, tuple) else (column,)
    return next((keys[name] for name in names if name in keys), None)


def _has_header(
    columns: Columns, places: Sequence[Any], first: Sequence[str], *, task: Task
) -> bool:
    """Whether the first row is a header: it has a name, and no label but what says so."""
    cells = ["" if place is None else first[place].strip() for place in places]
    names = [cell for cell in cells if cell and cell in columns]
    if names and columns.header is False:
        raise UserError(
            f"The first row has the name of a column, {names[0]}, and --header=false says that it "
            "is an example. Leave the flag out."
        )
    if names:
        return True
    if parse_label(cells[2], label_spellings(task)) is not None:
        return False
    if columns.header is not None:
        return columns.header
    return any(cell.lower() in _HEADER_WORDS for cell in cells[:3])


# --------------------------------------------------------------------------------------- reading


def read_file(task: Task, path: str, split: Split) -> TaskData:
    """Reads the examples of a split from a file.

    Raises:
      ValueError: there is no such file, it lacks the columns, too many rows are damaged, a label is
        unknown (file and line are named), or there is no example.
    """
    table = read_table(path)
    columns = find_columns(table, task.columns, task, needs_labels=split.needs_labels)
    return read_rows(table, columns, task, split=split)


def read_rows(table: Table, columns: Columns, task: Task, *, split: Split) -> TaskData:
    """Reads the examples in a table's columns, which are those of `find_columns`."""
    notes: Counter[str] = collections.Counter()
    first = table.rows[0].values
    rows: Iterable[Row] = table.rows
    names: List[Any] = [place for place in columns[:2] if place is not None and not columns.render]
    if isinstance(first, list):
        names = [first[place] for place in names if columns.header]
        rows = _whole_rows(table, columns, split, notes=notes)
    spellings = label_spellings(task, _number_names(columns, table, task))
    language = _keys(first).get("language")
    examples = []
    for row in rows:
        if task.language and row.values.get(language, task.language) != task.language:
            continue
        found = _examples_of(row, columns)
        for part, example in enumerate(found):
            text = example.label
            example.label = _label_of(text, task, spellings, split=split, where=row.where)
            if example.label == "":
                notes[f"example dropped: its label is {text!r}"] += 1
                continue
            if example.guid in (None, ""):
                example.guid = f"{split.role}-{row.number * len(found) + part}"
            example.guid = str(example.guid)
            examples.append(example)
    if not examples:
        raise UserError(f"'{table.path}' holds no example for {split.name}.")
    notes["example with an empty text"] = sum(not item.text_a.strip() for item in examples)
    counts = [f"{number} x {what}" for what, number in notes.items() if number]
    return TaskData(examples, table.files, counts, tuple(names))


def _label_of(
    text: Any, task: Task, spellings: Mapping[str, str], *, split: Split, where: str
) -> Union[str, float, None]:
    """The label, "" for an example to drop; None in test data without labels, as GLUE's are."""
    label = parse_label(text, spellings)
    if not split.needs_labels:
        return None if task.glue_name or label == "" else label
    if label is None:
        wanted = wording.listed(task.labels or ["numbers"], 12)
        raise UserError(f"{where}: the label is {text!r}. Labels: {wanted}.")
    return label


def _whole_rows(
    table: Table, columns: Columns, split: Split, *, notes: Counter[str]
) -> Iterable[Row]:
    """The rows after the header, without those that are cut short: {number of a cell: text}.

    What makes an example of several fields gets {name: text}.
    """
    first, rows = table.rows[0].values, table.rows[columns.header :]
    if not (columns.header or split.needs_labels):
        notes[f"first row taken as an example: {first}"[:120]] = 1
    needed = 1 + max(place for place in columns[:4] if place is not None)
    short = [row for row in rows if len(row.values) < needed]
    # A tab in a text shifts the cells after it.
    odd = short + [row for row in rows if any(map(str.strip, row.values[len(first) :]))]
    if len(odd) > _ODD_SHARE * len(rows) or short and split.role != "train":
        raise UserError(
            f"{odd[0].where}: {len(odd)} of {len(rows)} rows, of which this is the first, have too "
            "few or too many columns. Tabs (in a .csv file: commas) separate columns."
        )
    if odd:
        what = "row with too few columns, skipped, or too many, kept"
        notes[f"{what} (the first: {odd[0].where})"] = len(odd)
    whole = (row for row in rows if len(row.values) >= needed)
    keys = first if columns.render else range(len(first))
    return (row._replace(values=dict(zip(keys, row.values))) for row in whole)


def _examples_of(row: Row, columns: Columns) -> List[InputExample]:
    """The examples of a row, their labels as they stand there."""
    values = row.values
    text_a, text_b, label, guid = columns[:4]
    try:
        if columns.render:
            return columns.render(values)
        second = None if text_b is None else text_of(values[text_b])
        return [InputExample(values.get(guid), text_of(values[text_a]), second, values.get(label))]
    except (LookupError, TypeError, ValueError) as error:
        problem = f"no field {error}" if isinstance(error, KeyError) else error
        raise UserError(f"{row.where}: {problem}.") from None


def text_of(value: Any) -> str:
    """Returns a JSON text or number, or a list of them joined by spaces; TypeError otherwise."""
    if isinstance(value, list):
        return " ".join(map(text_of, value))
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{str(value)[:60]!r} is no text")


# ---------------------------------------------------------------------------------------- labels


def _number_names(columns: Columns, table: Table, task: Task) -> Sequence[str]:
    """The names of labels that are numbers in a table; () where these are the labels."""
    if not isinstance(table.rows[0].values, dict):
        return ()
    if task.hub_labels or not table.path.endswith(parquet.ENDING):
        return task.hub_labels
    names = parquet.label_names(table.files[0]).get(columns.label, ())
    return names if set(task.labels) <= set(names) else ()


def label_spellings(task: Task, number_names: Sequence[str] = ()) -> Dict[str, str]:
    """Returns {what stands for a label: the label}; "" for examples to drop, {} for regression."""
    if task.is_regression:
        return {}
    spellings = [*zip(task.labels, task.labels), *zip(map(str, itertools.count()), number_names)]
    # pandas makes 1.0 of 1 where some are missing
    floats = {f"{text}.0": label for text, label in spellings}
    return {**floats, **dict(spellings), **task.label_aliases}


def parse_label(value: Any, spellings: Mapping[str, str]) -> Union[str, float, None]:
    """Returns the label (regression: its number) for text or a JSON value; None if it is none."""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    if spellings:
        return None if value is None else spellings.get(text)
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None
