# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads the texts and labels of a data set from where a declaration says they are.

    split = Split("train", (Source("train.tsv", Columns(text_a=3, text_b=4, label=0)),))
    data = read_split(split, ["glue/MRPC"], Labels(("0", "1")))

Texts stay as written. A TSV cell ends at a tab and a line at a line feed; quotes are plain text. In
a .csv file, which is read in place of a TSV file, quotes are CSV's.
Repairs are counted, and errors name file and line.
"""

import bisect
import codecs
import collections
import dataclasses
import io
import itertools
import math
import os
from typing import (
    Any,
    Callable,
    Counter,
    Dict,
    Iterator,
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

Column = Any  # a number, from 0 or from the end, or the name in the header row

# With more damaged lines than this (the larger of both) a file is refused as of another kind.
_DAMAGED_SHARE = 0.01
_DAMAGED_AT_LEAST = 10

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


class Columns(NamedTuple):
    """The columns of a TSV or CSV file. Named columns need a header."""

    text_a: Column
    text_b: Optional[Column] = None
    label: Optional[Column] = None
    guid: Optional[Column] = None  # None: "<split>-<row>"
    header: Optional[bool] = None  # None: the first row decides
    only: Optional[Tuple[Column, str]] = None  # (column, value): other rows are left out
    short_rows_are_skipped: bool = False


class Texts(NamedTuple):
    """An example in a line."""

    text_a: str
    text_b: Optional[str]
    label: Any


class Fields(NamedTuple):
    """The fields of the objects in a JSON-lines file, or the columns of a Parquet file.

    A list of strings is joined by spaces.

    `render` replaces this where a field is not the text itself: object -> examples. The names then
    only say which fields there are.
    """

    text_a: str
    text_b: Optional[str] = None
    label: Optional[str] = "label"
    guid: Optional[str] = None  # None: "<split>-<row>"; without effect if there is `render`
    render: Optional[Callable[[Mapping[str, Any]], List[Texts]]] = None
    # Where labels are numbers, counted from 0: their names. -1 stands for no label. Without them
    # those that a Parquet file has.
    label_names: Tuple[str, ...] = ()


Reading = Union[Columns, Fields]


class Source(NamedTuple):
    """One way in which a split is distributed."""

    file: str  # below the task's folder; of Parquet files the name may be a pattern
    reading: Reading


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


# ----------------------------------------------------------------------------------------- lines


class Row(NamedTuple):
    """One line: the cells of a TSV line, or a JSON object."""

    number: int  # from 0, over all lines of the file; of CSV, of the row's first line
    values: Any


class Table(NamedTuple):
    """The lines of a file that are not blank."""

    path: str
    rows: List[Row]
    dirt: Counter[str]  # what was repaired -> how often
    files: Tuple[str, ...] = ()  # of Parquet, `path` may be their pattern
    starts: Tuple[int, ...] = ()  # the number of the first row of each of them
    label_names: Mapping[str, Sequence[str]] = {}  # by column

    def where(self, row: Row) -> str:
        """Returns "file:line", the line (of Parquet: the row of the part) counted from 1."""
        if not self.files:
            return f"{self.path}:{row.number + 1}"
        part = bisect.bisect(self.starts, row.number) - 1
        return f"{self.files[part]}:{row.number - self.starts[part] + 1}"

    def check_damage(self, what: str, damaged: Sequence[Row]) -> None:
        """Raises ValueError if more than 1% of the rows, and more than ten, are damaged."""
        if len(damaged) > max(_DAMAGED_AT_LEAST, _DAMAGED_SHARE * len(self.rows)):
            raise UserError(
                f"'{self.path}': {len(damaged)} of {len(self.rows)} rows cannot be used ({what}; "
                f"the first is {self.where(damaged[0])}), more than {_DAMAGED_SHARE:.0%}. Is this "
                "the right file, with tabs (in a .csv file: commas) between its columns?"
            )


def read_tsv(path: str) -> Table:
    """Returns the rows of a TSV file; ValueError if it is missing or not UTF-8."""
    return _read_lines(path, lambda line, where: line.split("\t"))


def read_csv(path: str) -> Table:
    """Returns the rows of a CSV file; ValueError as `read_tsv`, or where quotes are wrong."""
    dirt: Counter[str] = collections.Counter()
    lines = io.StringIO(_read_text(path, dirt), newline="")
    rows = [Row(number - 1, cells) for number, cells in csv_rows.rows(lines, str(path))]
    kept = [row for row in rows if any(cell.strip() for cell in row.values)]
    dirt["blank line"] = len(rows) - len(kept)
    return Table(str(path), kept, +dirt)


def read_parquet(path: str) -> Table:
    """Returns the rows of a Parquet file, or of those that a pattern fits; errors as its reader."""
    found = parquet.parts(path)
    if not found:
        raise UserError(f"File '{path}' does not exist. Check the path.")
    rows: List[Row] = []
    starts = []
    for part in found:
        starts.append(len(rows))
        rows += map(Row, itertools.count(len(rows)), parquet.read_rows(part))
    names = parquet.label_names(found[0])
    return Table(path, rows, collections.Counter(), tuple(found), tuple(starts), names)


def hub_files(split: str) -> Tuple[str, ...]:
    """Returns the patterns of a split's Parquet files in a data set's folder of a hub."""
    name = split.replace("dev", "validation")
    return tuple(
        pattern.format(name) + parquet.ENDING for pattern in ("{}-*", "data/{}-*", "{}/*", "{}")
    )


def reader_of(path: str, otherwise: Callable[[str], Table]) -> Callable[[str], Table]:
    """Returns what reads a file by its ending."""
    readers = {csv_rows.ENDING: read_csv, parquet.ENDING: read_parquet}
    return readers.get(os.path.splitext(path)[1], otherwise)


def read_json_lines(path: str) -> Table:
    """Returns the rows of a file of JSON objects; ValueError if it is something else."""
    return _read_lines(path, _parse_object)


def _parse_object(line: str, where: str) -> Dict[str, Any]:
    value = files.parse_json(line, f"{where}:")
    if not isinstance(value, dict):
        raise UserError(
            f"{where}: {str(value)[:80]!r} is not a JSON object. Each line must be one, such as "
            '{"sentence": "...", "label": "0"}.'
        )
    return value


def _read_text(path: str, dirt: Counter[str]) -> str:
    import tensorflow.compat.v1 as tf  # here: the table of tasks is read before it is loaded

    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise UserError(f"File '{path}' does not exist. Check the path.")
    return _decode(path, files.read_bytes(path), dirt)


def _read_lines(path: str, parse: Callable[[str, str], Any]) -> Table:
    path = str(path)
    dirt: Counter[str] = collections.Counter()
    lines = _read_text(path, dirt).split("\n")
    if not lines[-1]:
        lines.pop()
    lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    dirt["blank line"] = sum(not line.strip() for line in lines)
    rows = [
        Row(number, parse(line, f"{path}:{number + 1}"))
        for number, line in enumerate(lines)
        if line.strip()
    ]
    return Table(path, rows, +dirt)


def _decode(path: str, content: bytes, dirt: Counter[str]) -> str:
    """UTF-8 in which a few lines may be damaged."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"'{path}' is UTF-16 text. Convert it: iconv -f UTF-16 -t UTF-8 {path}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        first = content.count(b"\n", 0, error.start) + 1
    text = content.decode("utf-8-sig", "replace")
    originals = content.split(b"\n")
    damaged = sum(
        "\ufffd" in line and b"\xef\xbf\xbd" not in original
        for line, original in zip(text.split("\n"), originals)
    )
    if damaged > max(_DAMAGED_AT_LEAST, _DAMAGED_SHARE * len(originals)):
        raise UserError(
            f"'{path}' is not UTF-8 text: {damaged} lines are not, the first is line {first}. "
            f"Convert it, for example: iconv -f GB18030 -t UTF-8 {path}"
        )
    dirt["line with bytes that are not UTF-8, replaced"] += damaged
    return text


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
    notes = collections.Counter(table.dirt)
    if isinstance(reading, Fields):
        reading = reading._replace(label_names=_label_names(reading, table, labels))
        found = _read_objects(reading, table, split.role)
        texts = [] if reading.render else [reading.text_a, reading.text_b]
    else:
        first = table.rows[0].values
        columns = _numbered(reading, first)
        has_header = bool(_names_of(reading)) or _has_header(columns, first, notes, labels=labels)
        if reading.header is None and not has_header and not split.needs_labels:
            notes[f"first row taken as an example, not as a header: {str(first)[:80]}"] += 1
        found = _read_rows(columns, table, notes, split=split, has_header=has_header)
        places = [place for place in columns[:2] if place in range(-len(first), len(first))]
        texts = [first[place] for place in places if has_header]
    examples = []
    for where, example in found:
        label = _label_text(example.label, labels.names)
        if label in labels.dropped and split.needs_labels:
            notes[f"example dropped: its label is {label!r}"] += 1
            continue
        example.label = parse_label(label, labels)
        if example.label is None and split.needs_labels:
            raise UserError(f"{where}: {_label_problem(label, labels)}")
        examples.append(example)
    if not examples:
        raise UserError(f"'{table.path}' holds no example for {split.name}.")
    notes["example with an empty text"] = sum(not item.text_a.strip() for item in examples)
    counts = [f"{number} x {what}" for what, number in notes.items() if number]
    names = tuple(name for name in texts if name)
    return TaskData(examples, list(table.files) or [table.path], counts, names)


def find_files(split: Split, folders: Sequence[str]) -> List[str]:
    """Returns the files, or patterns of files, that exist for a split, the preferred one first."""
    names = dict.fromkeys(source.file for source in split.sources)
    for folder in folders:
        paths = [os.path.join(folder, name) for name in names]
        import tensorflow.compat.v1 as tf

        found = [
            path
            for path in paths
            if (parquet.find(path) if path.endswith(parquet.ENDING) else tf.io.gfile.exists(path))
        ]
        if found:
            return found
    return []


def _find_table(split: Split, folders: Sequence[str], advice: str) -> Tuple[Reading, Table]:
    """The first source whose file exists and has the columns."""
    found = find_files(split, folders)
    if not found:
        names = wording.listed(list(dict.fromkeys(source.file for source in split.sources)))
        places = ", ".join(f"'{folder}'" for folder in folders)
        raise UserError(
            f"The {split.name} data was not found: none of {names} is in {places}. {advice}"
        )
    problems = []
    for path in found:
        for source in split.sources:
            if not path.endswith(source.file):
                continue
            is_json = isinstance(source.reading, Fields)
            table = reader_of(path, read_json_lines if is_json else read_tsv)(path)
            reading = _without_missing_label(source.reading, split, table)
            problem = _mismatch(reading, table)
            if not problem:
                return reading, table
            problems.append(problem)
    raise UserError(f"'{found[0]}' cannot be read for {split.name}: {'; '.join(problems)}.")


def _without_missing_label(reading: Reading, split: Split, table: Table) -> Reading:
    """Test files come with and without labels: a missing label column is no error there."""
    if split.needs_labels or isinstance(reading, Fields) or reading.label is None:
        return reading
    cells = table.rows[0].values if table.rows else []
    numbers = range(-len(cells), len(cells))
    exists = reading.label in (cells if isinstance(reading.label, str) else numbers)
    return reading if exists else reading._replace(label=None)


def _mismatch(reading: Reading, table: Table) -> str:
    """Says why a table is not what a declaration describes; "" if it may be."""
    if not table.rows:
        return "it is empty"
    there = table.rows[0].values
    missing = [name for name in _names_of(reading) if name not in there]
    if not missing:
        return ""
    return (
        f"its first row has no column {', '.join(map(repr, missing))}, but "
        f"{wording.listed(list(map(repr, there)))}"
    )


def _columns_of(columns: Columns) -> List[Column]:
    used = [*columns[:4], columns.only and columns.only[0]]
    return [column for column in used if column is not None]


def _names_of(reading: Reading) -> List[str]:
    """The columns that a header must name."""
    columns = [] if isinstance(reading, Fields) else _columns_of(reading)
    return [column for column in columns if isinstance(column, str)]


def _read_objects(fields: Fields, table: Table, role: str) -> Iterator[Tuple[str, InputExample]]:
    """The place of each example in a JSON-lines file, and the example."""
    render = fields.render or (lambda values: [_plain_texts(fields, values)])
    for row in table.rows:
        where = table.where(row)
        try:
            rendered = render(row.values)
        except (KeyError, TypeError, IndexError) as error:
            raise UserError(
                f"{where}: the object does not have the fields of this task ({error!r}); it has "
                f"{sorted(row.values)}."
            ) from None
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None
        for part, texts in enumerate(rendered):
            guid = f"{role}-{row.number * len(rendered) + part}"
            if fields.guid is not None and not fields.render:
                guid = str(row.values.get(fields.guid, guid))
            label = _named(texts.label, fields.label_names)
            yield where, InputExample(guid, texts.text_a, texts.text_b, label)


def _label_names(fields: Fields, table: Table, labels: Labels) -> Tuple[str, ...]:
    """The names of labels that are numbers; () where the task's own labels are these numbers."""
    names, own = table.label_names.get(fields.label or "", ()), set(labels.names)
    is_numbered = own <= set(map(str, range(len(names)))) and not (own and own <= set(names))
    return fields.label_names or (() if is_numbered else tuple(names))


def _named(label: Any, names: Sequence[str]) -> Any:
    """The name of a label that is a number."""
    label = whole(label) if names else label
    return names[label] if isinstance(label, int) and 0 <= label < len(names) else label


def _plain_texts(fields: Fields, values: Mapping[str, Any]) -> Texts:
    return Texts(
        text_of(values[fields.text_a]),
        None if fields.text_b is None else text_of(values[fields.text_b]),
        None if fields.label is None else values.get(fields.label),
    )


def whole(label: Any) -> Any:
    """Returns a label, 1.0 (which pandas makes of 1 where some are missing) as 1."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def text_of(value: Any) -> str:
    """Returns a JSON text or number, or a list of them joined by spaces; TypeError otherwise."""
    if isinstance(value, list):
        return " ".join(text_of(item) for item in value)
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{str(value)[:60]!r} is no text")


def _read_rows(
    columns: Columns, table: Table, notes: Counter[str], *, split: Split, has_header: bool
) -> Iterator[Tuple[str, InputExample]]:
    """The place of each example in a TSV file, and the example; columns are numbers."""
    if has_header:
        _note_long(table, notes)
    needed = _columns_needed(columns)
    short: List[Row] = []
    for row in table.rows[int(has_header) :]:
        cells, where = row.values, table.where(row)
        if len(cells) < needed:
            short.append(row)
            if not columns.short_rows_are_skipped:
                raise UserError(
                    f"{where}: the row has {len(cells)} columns where at least {needed} are needed "
                    f"for {split.name}. Tabs (in a .csv file: commas) separate them. The row "
                    f"begins {cells[0][:60]!r}."
                )
        elif columns.only and cells[columns.only[0]] != columns.only[1]:
            notes[f"row left out: not '{columns.only[1]}'"] += 1
        else:
            *texts, guid = [None if place is None else cells[place] for place in columns[:4]]
            yield where, InputExample(guid or f"{split.role}-{row.number}", *texts)
    if short:
        what = "row with too few columns, skipped"
        table.check_damage(what, short)
        notes[what] = len(short)


def _note_long(table: Table, notes: Counter[str]) -> None:
    """Counts rows with more cells than the header: a tab in a text shifts the cells after it."""
    width = len(table.rows[0].values)
    wide = [row for row in table.rows if any(cell.strip() for cell in row.values[width:])]
    if wide:
        what = "row with more columns than the header"
        table.check_damage(what, wide)
        notes[f"{what}, kept (the first: {table.where(wide[0])})"] += len(wide)


def _numbered(columns: Columns, header: List[str]) -> Columns:
    """The declaration with each name replaced by its place in the header."""

    def number(column: Optional[Column]) -> Optional[int]:
        return header.index(column) if isinstance(column, str) else column

    return columns._replace(
        text_a=number(columns.text_a),
        text_b=number(columns.text_b),
        label=number(columns.label),
        guid=number(columns.guid),
        only=columns.only and (number(columns.only[0]), columns.only[1]),
    )


def _columns_needed(columns: Columns) -> int:
    """How many cells a row must have; one counted from the end comes after the others."""
    places = _columns_of(columns)
    first = 1 + max([place for place in places if place >= 0], default=-1)
    return first + max([-place for place in places if place < 0], default=0)


def _has_header(
    columns: Columns, cells: Sequence[str], notes: Counter[str], *, labels: Labels
) -> bool:
    """Whether the first row is a header. The row itself decides, against the declaration."""

    def word(place: Optional[int]) -> str:
        exists = place is not None and -len(cells) <= place < len(cells)
        return cells[place].strip() if exists else ""

    label = word(columns.label)
    if parse_label(label, labels) is not None:
        notes["header row missing: the first row is an example"] += bool(columns.header)
        return False
    if columns.header is None:
        return any(word(place).lower() in _HEADER_WORDS for place in columns[:3])
    unexpected = not columns.header and label.lower() in _HEADER_WORDS
    notes["header row left out that such files do not have"] += unexpected
    return columns.header or unexpected


def _label_text(label: Any, names: Sequence[str]) -> Optional[str]:
    """A label as TSV files would hold it: JSON has numbers and booleans too."""
    if label is None:
        return None
    label = label if str(label) in names else whole(label)
    return str(label).lower() if isinstance(label, bool) else str(label).strip()


def parse_label(label: Optional[str], labels: Labels) -> Union[str, float, None]:
    """Returns the label's name (regression: its number); None if it is none of them."""
    if label is None:
        return None
    if labels.names:
        name = labels.aliases.get(label, label)
        return name if name in labels.names else None
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _label_problem(label: Optional[str], labels: Labels) -> str:
    if label is None:
        return "the example has no label, and training and evaluation need one."
    if not labels.names:
        return f"the label {label[:60]!r} is not a number."
    names = ", ".join(labels.names[:12]) + (", ..." if len(labels.names) > 12 else "")
    return f"unknown label {label[:60]!r}; the labels are: {names}."
