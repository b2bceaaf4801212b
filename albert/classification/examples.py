# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads the texts and labels of a data set from where a declaration says they are.

    split = Split("train", (Source("train.tsv", Columns(text_a=3, text_b=4, label=0)),))
    data = read_split(split, ["glue/MRPC"], Labels(("0", "1")))

Texts stay as written. A TSV cell ends at a tab and a line at a line feed; quotes are plain text. In
a .csv file, which is read in place of a TSV file, quotes are CSV's.
Repairs are counted, and errors name file and line.
"""

import collections
import dataclasses
import functools
import io
import math
import os
from typing import (
    Any,
    Callable,
    Counter,
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

_ODD_SHARE = 0.01  # of the rows; with more a file is taken to be of another kind
_JSON = (".json", ".jsonl", ".ndjson")
Column = Any  # a number, from 0 or from the end, or the name in the header row

# Cells that only a header row holds, in the places of texts and labels.
_HEADER_WORDS = frozenset(
    """
    text text_a text_b texta textb text1 text2 title content
    sentence sentence1 sentence2 sentence_a sentence_b premise hypothesis hypo
    question question1 question2 query query1 query2
    label labels gold_label score quality is_duplicate
    """.split()  # noqa: SIM905
) | {"#1 string", "#2 string"}


@dataclasses.dataclass(eq=False)
class InputExample:
    """A text or a pair of texts; the label is a name, a number (regression) or None (unknown)."""

    guid: str  # the example's name in results
    text_a: str
    text_b: Optional[str] = None
    label: Union[str, float, None] = None


# ---------------------------------------------------------------------------------- declarations


class Texts(NamedTuple):
    """An example in a row."""

    text_a: str
    text_b: Optional[str]
    label: Any
    guid: Any = None


class Columns(NamedTuple):
    """The columns of a TSV, CSV or Parquet file, or the fields of the objects in JSON lines.

    In TSV and CSV files names need a header. A list of strings in a field is joined by spaces.
    """

    text_a: Column
    text_b: Optional[Column] = None
    label: Optional[Column] = None
    guid: Optional[Column] = None  # None: "<split>-<row>"
    filter: Optional[Column] = None  # rows with another value than `filter_value` are left out
    filter_value: str = ""
    header: Optional[bool] = None  # of TSV and CSV; None: the first row decides
    short_rows_are_skipped: bool = False
    # Makes examples of an object whose fields are not the texts themselves.
    render: Optional[Callable[[Mapping[str, Any]], List[Texts]]] = None
    # Where labels are numbers, counted from 0: their names. -1 stands for no label. Without them
    # those that a Parquet file has.
    label_names: Tuple[str, ...] = ()


Fields = functools.partial(Columns, label="label")


class Source(NamedTuple):
    """One way in which a split is distributed."""

    file: str  # below the task's folder; of Parquet files the name may be a pattern
    reading: Columns


class Split(NamedTuple):
    """A part of a data set. Of its sources the first whose file exists and fits is read."""

    name: str  # "train", or begins with "dev" or "test"
    sources: Tuple[Source, ...]

    @property
    def role(self) -> str:
        """Returns "train", "dev" or "test"."""
        return self.name.split("_")[0]

    @property
    def needs_labels(self) -> bool:
        """Returns whether an example without a label is an error."""
        return self.role != "test"


class Labels(NamedTuple):
    """The labels of a task. No names: regression."""

    names: Tuple[str, ...]
    aliases: Mapping[str, str] = {}  # other spellings -> name
    dropped: Tuple[str, ...] = ()  # examples with these, on which annotators disagreed, are dropped


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
    blank_rows: int


def read_table(path: str) -> Table:
    """Returns the rows of a .csv, .parquet, TSV or JSON-lines file; the path may be a pattern.

    A file with another ending is JSON lines if it begins with "{".

    Raises:
      ValueError: the file is missing or empty, or is not of its kind; the line is named.
    """
    path = str(path)
    parts = parquet.parts(path) if path.endswith(parquet.ENDING) else []
    parts = parts or [path]
    found = [(f"{part}:{line}", row) for part in parts for line, row in _rows(part)]
    rows = [
        Row(where, number, values)
        for number, (where, values) in enumerate(found)
        if isinstance(values, dict) or any(map(str.strip, values))
    ]
    if not rows:
        raise UserError(f"'{path}' is empty.")
    return Table(path, parts, rows, len(found) - len(rows))


def _rows(path: str) -> Iterable[Tuple[int, Any]]:
    """The number of each row's line, from 1, and the row."""
    if path.endswith(parquet.ENDING):
        return enumerate(parquet.read_rows(path), start=1)
    text = files.read_text(path)
    if path.endswith(csv_rows.ENDING):
        return csv_rows.rows(io.StringIO(text, newline=""), path)
    lines = enumerate(text.replace("\r\n", "\n").rstrip("\n").split("\n"), start=1)
    if path.endswith(_JSON) or text.lstrip()[:1] == "{" and not path.endswith(".tsv"):
        return (
            (number, line.strip() and _object(line, f"{path}:{number}")) for number, line in lines
        )
    return ((number, line.split("\t")) for number, line in lines)


def _object(line: str, where: str) -> Any:
    value = files.parse_json(line, where)
    files.check_types(value, dict, where)
    return value


def hub_files(split: str) -> Tuple[str, ...]:
    """Returns the patterns of a split's Parquet files in a data set's folder of a hub."""
    name = split.replace("dev", "validation")
    patterns = (f"{name}-*", f"data/{name}-*", f"{name}/*", name)
    return tuple(pattern + parquet.ENDING for pattern in patterns)


# --------------------------------------------------------------------------------------- reading


def read_split(
    split: Split, folders: Sequence[str], labels: Labels, *, advice: str = "Check --data_dir."
) -> TaskData:
    """Reads the examples of a split from the first of the folders that has one of its files.

    `advice` is what to do if there is none.

    Raises:
      ValueError: there is no such file, none fits the declaration, too many rows are damaged, a
        row lacks columns or has an unknown label (file and line are named), or there is no example.
    """
    reading, table = _find_table(split, folders, advice)
    notes = collections.Counter({"blank line": table.blank_rows})
    rows, names = table.rows, [] if reading.render else list(reading[:2])
    if isinstance(rows[0].values, list):
        reading, rows, names = _select_rows(reading, table, notes, split=split, labels=labels)
    label_names = _label_names(reading, table, labels)
    examples = []
    for row in rows:
        found = _texts_of(row, reading)
        for part, texts in enumerate(found):
            text = _label_text(texts.label, label_names, labels)
            if text in labels.dropped and split.needs_labels:
                notes[f"example dropped: its label is {text!r}"] += 1
                continue
            label = parse_label(text, labels)
            if label is None and split.needs_labels:
                problem = "no label" if text is None else f"the label {text[:60]!r} is unknown"
                wanted = wording.listed(labels.names, 12) if labels.names else "numbers"
                raise UserError(f"{row.where}: {problem}. Labels: {wanted}.")
            guid = texts.guid
            if guid in (None, ""):
                guid = f"{split.role}-{row.number * len(found) + part}"
            examples.append(InputExample(str(guid), texts.text_a, texts.text_b, label))
    if not examples:
        raise UserError(f"'{table.path}' holds no example for {split.name}.")
    notes["example with an empty text"] = sum(not item.text_a.strip() for item in examples)
    counts = [f"{number} x {what}" for what, number in notes.items() if number]
    return TaskData(examples, table.files, counts, tuple(filter(None, names)))


def find_files(split: Split, folders: Sequence[str]) -> List[Source]:
    """Returns the sources that the first folder with any has, with their paths."""
    names = {source.file for source in split.sources}
    for folder in folders:
        paths = {name: os.path.join(folder, name) for name in names}
        there = {name for name, path in paths.items() if _exists(path)}
        if there:
            return [Source(paths[name], how) for name, how in split.sources if name in there]
    return []


def _exists(path: str) -> bool:
    return bool(parquet.find(path)) if "*" in path else files.gfile().exists(path)


def _find_table(split: Split, folders: Sequence[str], advice: str) -> Tuple[Columns, Table]:
    """The first source whose file exists and has the columns."""
    table, problem = None, ""
    for path, reading in find_files(split, folders):
        if table is None or table.path != path:
            table = read_table(path)
        first = table.rows[0].values
        if isinstance(first, dict):  # a field may have a number for its name
            fields = [place if place is None else str(place) for place in reading[:4]]
            return _with_places(reading, fields), table
        if not split.needs_labels and not _has(first, reading.label):
            reading = reading._replace(label=None)
        missing = [name for name in reading[:5] if isinstance(name, str) and name not in first]
        if not missing:
            return reading, table
        problem = f"'{path}' has no column {missing[0]!r}, but {wording.listed(first)}."
    if not problem:
        names = wording.listed(list(dict.fromkeys(source.file for source in split.sources)))
        places = ", ".join(map(repr, folders))
        problem = f"The {split.name} data was not found: none of {names} is in {places}. {advice}"
    raise UserError(problem)


def _with_places(columns: Columns, places: Sequence[Optional[Column]]) -> Columns:
    return columns._replace(**dict(zip(columns._fields, places)))


def _has(cells: Sequence[str], column: Optional[Column]) -> bool:
    """Whether a row has a column; a name is one in the header row."""
    return column in (cells if isinstance(column, str) else range(-len(cells), len(cells)))


def _select_rows(
    columns: Columns, table: Table, notes: Counter[str], *, split: Split, labels: Labels
) -> Tuple[Columns, List[Row], List[str]]:
    """The columns as numbers, the rows that are examples, and the names of the texts' columns."""
    first, rows = table.rows[0].values, table.rows
    has_name = any(isinstance(column, str) for column in columns[:5])
    places = [first.index(one) if isinstance(one, str) else one for one in columns[:5]]
    columns = _with_places(columns, places)
    has_header = has_name or _has_header(columns, first, labels)
    unknown = columns.header is None
    if not (has_header or split.needs_labels if unknown else has_header == columns.header):
        notes[f"first row taken as {'a header' if has_header else 'an example'}: {first}"[:120]] = 1
    # A column that is counted from the end comes after the others.
    numbers = [0, *(place for place in places if place is not None)]
    needed = max(numbers) + 1 - min(numbers)
    rows = rows[has_header:]
    short = [row for row in rows if len(row.values) < needed]
    # A tab in a text shifts the cells after it.
    wide = [row for row in rows if has_header and any(map(str.strip, row.values[len(first) :]))]
    odd = short + wide
    separator = "Tabs (in a .csv file: commas) separate columns."
    if short and not columns.short_rows_are_skipped:
        raise UserError(
            f"{short[0].where}: the row has {len(short[0].values)} columns where at least {needed} "
            f"are needed for {split.name}. {separator} The row begins {short[0].values[0][:60]!r}."
        )
    if len(odd) > max(10, _ODD_SHARE * len(table.rows)):
        raise UserError(
            f"'{table.path}': {len(odd)} of {len(table.rows)} rows have too few or too many "
            f"columns; the first is {odd[0].where}. Is this the right file? {separator}"
        )
    if odd:
        what = f"too few columns, skipped, or too many, kept (the first: {odd[0].where})"
        notes[f"row with {what}"] = len(odd)
    rows = [row for row in rows if len(row.values) >= needed]
    if columns.filter is not None:
        value = columns.filter_value
        kept = [row for row in rows if row.values[columns.filter] == value]
        notes[f"row left out: not {value!r}"] = len(rows) - len(kept)
        rows = kept
    names = [first[place] for place in places[:2] if has_header and _has(first, place)]
    return columns, rows, names


def _has_header(columns: Columns, cells: Sequence[str], labels: Labels) -> bool:
    """Whether the first row is a header. The row itself decides, against the declaration."""
    words = [cells[place].strip() if _has(cells, place) else "" for place in columns[:3]]
    if parse_label(words[2], labels) is not None:
        return False
    if columns.header or words[2].lower() in _HEADER_WORDS:
        return True
    return columns.header is None and any(word.lower() in _HEADER_WORDS for word in words)


def _texts_of(row: Row, columns: Columns) -> List[Texts]:
    """The examples of a row."""
    values = row.values
    text_a, text_b, label, guid = columns[:4]
    if isinstance(values, list):
        return [Texts(*(None if place is None else values[place] for place in columns[:4]))]
    try:
        if columns.render:
            return columns.render(values)
        second = None if text_b is None else text_of(values[text_b])
        return [Texts(text_of(values[text_a]), second, values.get(label), values.get(guid))]
    except (LookupError, TypeError, ValueError) as error:
        problem = f"no field {error}" if isinstance(error, KeyError) else error
        raise UserError(f"{row.where}: {problem}. Its fields: {', '.join(values)}.") from None


def text_of(value: Any) -> str:
    """Returns a JSON text or number, or a list of them joined by spaces; TypeError otherwise."""
    if isinstance(value, list):
        return " ".join(map(text_of, value))
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{str(value)[:60]!r} is no text")


# ---------------------------------------------------------------------------------------- labels


def _label_names(columns: Columns, table: Table, labels: Labels) -> Sequence[str]:
    """The names of labels that are numbers; () where the task's own labels are these numbers."""
    if columns.label_names or not table.path.endswith(parquet.ENDING):
        return columns.label_names
    names = parquet.label_names(table.files[0]).get(columns.label, ())
    own, numbers = set(labels.names), set(map(str, range(len(names))))
    return () if own <= numbers and not (own and own <= set(names)) else names


def _label_text(label: Any, names: Sequence[str], labels: Labels) -> Optional[str]:
    """A label as TSV files would hold it: JSON has numbers and booleans too."""
    if isinstance(label, bool):
        label = str(label).lower()
    elif isinstance(label, float) and label.is_integer() and str(label) not in labels.names:
        label = int(label)  # pandas makes 1.0 of 1 where some are missing
    if isinstance(label, int) and 0 <= label < len(names):
        return names[label]
    return label if label is None else str(label).strip()


def parse_label(label: Optional[str], labels: Labels) -> Union[str, float, None]:
    """Returns the label's name (regression: its number); None if it is none of them."""
    if labels.names:
        name = labels.aliases.get(label, label)
        return name if name in labels.names else None
    try:
        number = float(label)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
