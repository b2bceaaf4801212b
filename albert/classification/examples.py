# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From the files of a data set to examples: texts and labels, by a declaration of where they are.

A `Split` ("train", "dev", ...) lists the ways it is distributed, each a file name and a reading:
`Columns` of a TSV file or `Fields` of JSON lines. The first whose file is there and fits is taken.

    columns = Columns(text_a=3, text_b=4, label=0, header=True)
    split = Split("train", (Source("train.tsv", columns),))
    data = read_split(split, ["glue/MRPC"], Labels(("0", "1")))
    data.examples[0].text_a, data.notes

Texts stay as they were written; a tokenizer's own preparation comes later. A TSV cell ends at a tab
and a line at a line feed, and at nothing else: quotes are text like any other. What is dirty is
counted, and an error names file and line. TensorFlow is imported only to open a file.
"""

import codecs
import collections
import dataclasses
import json
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

from albert.util import files

Column = Union[int, str]  # a number, from 0 or from the end, or the name in the header row

# Lines that may be damaged before a file counts as another kind of file.
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
    """A text or a pair of texts, with its label if that is known.

    Attributes:
      guid: what the example is called in results.
      text_a, text_b: the texts; text_b is None where a single text is classified.
      label: a name, a number (regression), or None where it is not known.
    """

    guid: str
    text_a: str
    text_b: Optional[str] = None
    label: Union[str, float, None] = None


# ---------------------------------------------------------------------------------- declarations


class Columns(NamedTuple):
    """Where a TSV file holds what. `label` may be None: there is none.

    With `header` None the first row is looked at. Columns that are named need a header.
    """

    text_a: Column
    text_b: Optional[Column] = None
    label: Optional[Column] = None
    guid: Optional[Column] = None  # None: "<split>-<row>"
    header: Optional[bool] = None
    only: Optional[Tuple[Column, str]] = None  # (column, value): other rows are left out
    short_rows_are_skipped: bool = False


class Texts(NamedTuple):
    """What one line says of one example."""

    text_a: str
    text_b: Optional[str]
    label: Any


class Fields(NamedTuple):
    """Where the objects of a JSON-lines file hold what; a list of strings is joined by spaces.

    `render` takes over where a field is not the text itself: object -> examples. The names then
    only say what there is.
    """

    text_a: str
    text_b: Optional[str] = None
    label: Optional[str] = "label"
    guid: Optional[str] = None  # None: "<split>-<row>"; without effect where there is `render`
    render: Optional[Callable[[Mapping[str, Any]], List[Texts]]] = None


class Source(NamedTuple):
    """One way in which a split is distributed."""

    file: str  # below the task's folder
    reading: Union[Columns, Fields]


class Split(NamedTuple):
    """A part of a data set. Of its sources the first whose file is there and fits is read."""

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
    dropped: Tuple[str, ...] = ()  # examples with these are left out: nobody agreed on them


class TaskData(NamedTuple):
    """The examples of a split and where they come from."""

    examples: List[InputExample]
    files: List[str]
    notes: List[str]  # what was dirty, dropped or skipped, in words, with counts


# ----------------------------------------------------------------------------------------- lines


class Row(NamedTuple):
    """One line."""

    number: int  # from 0, over all lines of the file
    values: Union[List[str], Dict[str, Any]]  # the cells of a TSV line; a JSON object


class Table(NamedTuple):
    """The lines of a file that are not blank."""

    path: str
    rows: List[Row]
    dirt: Counter[str]  # what was found -> how often

    def where(self, row: Row) -> str:
        """Returns "file:line", the line counted from 1 as editors do."""
        return f"{self.path}:{row.number + 1}"

    def check_damage(self, counts: Mapping[str, int], first: str) -> None:
        """Makes sure that only a few rows are damaged.

        Args:
          counts: what is wrong -> number of rows.
          first: where the first of them is, "file:line".

        Raises:
          ValueError: more than 1% of the rows (and more than ten) are.
        """
        count = sum(counts.values())
        if count > max(_DAMAGED_AT_LEAST, _DAMAGED_SHARE * len(self.rows)):
            reasons = ", ".join(f"{number} x {reason}" for reason, number in counts.items())
            raise ValueError(
                f"'{self.path}': {count} of {len(self.rows)} rows cannot be used ({reasons}; the "
                f"first is {first}), more than {_DAMAGED_SHARE:.0%}. Is this the right file, with "
                "tabs between its columns?"
            )


def read_tsv(path: str) -> Table:
    """Returns the rows of a file of tab-separated values, quotes taken as text.

    Raises:
      ValueError: the file is missing, or not UTF-8 text.
    """
    return _read_lines(path, lambda line, where: line.split("\t"))


def read_json_lines(path: str) -> Table:
    """Returns the rows of a file with one JSON object a line.

    Raises:
      ValueError: the file is missing, not UTF-8 text, or a line is no JSON object.
    """
    return _read_lines(path, _parse_object)


def _parse_object(line: str, where: str) -> Dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{where}: not JSON ({error}). The file must hold one JSON object a line."
        ) from None
    if not isinstance(value, dict):
        raise ValueError(
            f"{where}: {str(value)[:80]!r} is not a JSON object. Each line must be one, such as "
            '{"sentence": "...", "label": "0"}.'
        )
    return value


def _read_lines(path: str, parse: Callable[[str, str], Any]) -> Table:
    """Parses the lines of a file, without their ends, that are not blank."""
    import tensorflow.compat.v1 as tf

    path = str(path)
    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise ValueError(f"File '{path}' does not exist. Check the path.")
    dirt = collections.Counter()
    lines = _decode(path, files.read_bytes(path), dirt).split("\n")
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
        raise ValueError(f"'{path}' is UTF-16 text. Convert it: iconv -f UTF-16 -t UTF-8 {path}")
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
        raise ValueError(
            f"'{path}' is not UTF-8 text: {damaged} lines are not, the first is line {first}. "
            f"Convert it, for example: iconv -f GB18030 -t UTF-8 {path}"
        )
    dirt["line with bytes that are not UTF-8, replaced"] += damaged
    return text


# --------------------------------------------------------------------------------------- reading


def read_split(split: Split, folders: Sequence[str], labels: Labels) -> TaskData:
    """Reads the examples of a split.

    Args:
      split: the declaration.
      folders: where the files may lie; the first folder that has one of them is it.
      labels: the labels there are.

    Raises:
      ValueError: no file is there, none fits the declaration, too many rows are damaged, a row
        lacks columns or has an unknown label (file and line are named), or there is no example.
    """
    source, table = _find_source(split, folders)
    notes = collections.Counter(table.dirt)
    read = _read_objects if isinstance(source.reading, Fields) else _read_rows
    examples = []
    for where, example in read(source.reading, table, notes, split=split, labels=labels):
        label = _label_text(example.label)
        if label in labels.dropped and split.needs_labels:
            notes[f"example dropped: its label is {label!r}"] += 1
            continue
        example.label = parse_label(label, labels)
        if example.label is None and split.needs_labels:
            raise ValueError(f"{where}: {_label_problem(label, labels)}")
        examples.append(example)
    if not examples:
        raise ValueError(f"'{table.path}' holds no example for {split.name}.")
    notes["example with an empty text"] = sum(not item.text_a.strip() for item in examples)
    counts = [f"{number} x {what}" for what, number in notes.items() if number]
    return TaskData(examples, [table.path], counts)


def dirt_line(name: str, data: TaskData) -> str:
    """Returns one line for the log: what was read and what was found on the way."""
    notes = f" ({'; '.join(data.notes)})" if data.notes else ""
    return f"{name}: {len(data.examples)} examples from {', '.join(data.files)}{notes}"


def find_files(split: Split, folders: Sequence[str]) -> List[str]:
    """Returns the files that are there for a split, the preferred one first."""
    import tensorflow.compat.v1 as tf

    names = dict.fromkeys(source.file for source in split.sources)
    for folder in folders:
        paths = [os.path.join(folder, *name.split("/")) for name in names]
        found = [path for path in paths if tf.io.gfile.exists(path)]
        if found:
            return found
    return []


def _find_source(split: Split, folders: Sequence[str]) -> Tuple[Source, Table]:
    """The first source whose file is there and has the columns."""
    found = find_files(split, folders)
    if not found:
        names = ", ".join(dict.fromkeys(source.file for source in split.sources))
        places = ", ".join(f"'{folder}'" for folder in folders)
        raise ValueError(
            f"The {split.name} data was not found: none of {names} is in {places}. --data_dir must "
            "be the folder of all tasks or the task's own."
        )
    problems = []
    for path in found:
        for source in split.sources:
            if not path.endswith(os.path.join("", *source.file.split("/"))):
                continue
            is_json = isinstance(source.reading, Fields)
            table = read_json_lines(path) if is_json else read_tsv(path)
            reading = _without_missing_label(source.reading, split, table)
            problem = _mismatch(reading, table)
            if not problem:
                return Source(source.file, reading), table
            problems.append(problem)
    raise ValueError(f"'{found[0]}' cannot be read for {split.name}: {'; '.join(problems)}.")


def _without_missing_label(
    reading: Union[Columns, Fields], split: Split, table: Table
) -> Union[Columns, Fields]:
    """Test files come with labels and without: a column for them that is not there is no error."""
    if split.needs_labels or isinstance(reading, Fields) or reading.label is None:
        return reading
    cells = table.rows[0].values if table.rows else []
    numbers = range(-len(cells), len(cells))
    there = reading.label in (cells if isinstance(reading.label, str) else numbers)
    return reading if there else reading._replace(label=None)


def _mismatch(reading: Union[Columns, Fields], table: Table) -> str:
    """Says why a table is not what a declaration describes; "" if it may be."""
    if not table.rows:
        return "it is empty"
    named = [name for name in _named_columns(reading) if name not in table.rows[0].values]
    return f"its first row has no column {', '.join(map(repr, named))}" if named else ""


def _named_columns(reading: Union[Columns, Fields]) -> List[str]:
    """The columns a header must name."""
    if isinstance(reading, Fields):
        return []
    return [column for column in _columns_of(reading) if isinstance(column, str)]


def _columns_of(columns: Columns) -> List[Column]:
    """The columns that a declaration uses."""
    used = [columns.text_a, columns.text_b, columns.label, columns.guid]
    used += [columns.only[0]] if columns.only else []
    return [column for column in used if column is not None]


def _read_objects(
    fields: Fields, table: Table, notes: Counter[str], *, split: Split, labels: Labels
) -> Iterator[Tuple[str, InputExample]]:
    """The examples of a JSON-lines file, and where each of them is."""
    del notes, labels
    render = fields.render or (lambda values: [_plain_texts(fields, values)])
    for row in table.rows:
        where = table.where(row)
        try:
            rendered = render(row.values)
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(
                f"{where}: the object has not the fields of this task ({error!r}); it has "
                f"{sorted(row.values)}."
            ) from None
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        for part, texts in enumerate(rendered):
            guid = f"{split.role}-{row.number * len(rendered) + part}"
            if fields.guid is not None and not fields.render:
                guid = str(row.values.get(fields.guid, guid))
            yield where, InputExample(guid, *texts)


def _plain_texts(fields: Fields, values: Mapping[str, Any]) -> Texts:
    """One example whose texts are fields of the object."""
    return Texts(
        text_of(values[fields.text_a]),
        None if fields.text_b is None else text_of(values[fields.text_b]),
        None if fields.label is None else values.get(fields.label),
    )


def text_of(value: Any) -> str:
    """Returns a JSON value as text: a list of texts joined by spaces.

    Raises:
      TypeError: it is neither text, a number nor a list of them.
    """
    if isinstance(value, list):
        return " ".join(text_of(item) for item in value)
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"{str(value)[:60]!r} is no text")


def _read_rows(
    columns: Columns, table: Table, notes: Counter[str], *, split: Split, labels: Labels
) -> Iterator[Tuple[str, InputExample]]:
    """The examples of a TSV file, and where each of them is."""
    first = table.rows[0].values
    by_number = _numbered(columns, first)
    is_named = bool(_named_columns(columns))
    has_header = is_named or _has_header(by_number, first, notes, labels=labels)
    if columns.header is None and not has_header and not split.needs_labels:
        notes[f"first row taken as an example, not as a header: {str(first)[:80]}"] += 1
    if has_header:
        _note_long(table, notes)
    needed = columns_needed(by_number)
    short: List[str] = []
    for row in table.rows[int(has_header) :]:
        cells, where = row.values, table.where(row)
        if len(cells) < needed:
            short.append(where)
            if not columns.short_rows_are_skipped:
                raise ValueError(
                    f"{where}: the row has {len(cells)} columns where at least {needed} are needed "
                    f"for {split.name}. Columns are separated by tabs. The row begins "
                    f"{cells[0][:60]!r}."
                )
        elif columns.only and cells[by_number.only[0]] != columns.only[1]:
            notes[f"row left out: not '{columns.only[1]}'"] += 1
        else:
            parts = [None if place is None else cells[place] for place in by_number[:4]]
            yield where, InputExample(parts.pop() or f"{split.role}-{row.number}", *parts)
    if short:
        what = "row with too few columns, skipped"
        table.check_damage({what: len(short)}, short[0])
        notes[what] = len(short)


def _note_long(table: Table, notes: Counter[str]) -> None:
    """Counts the rows with more cells than the header: a tab in a text moves what comes behind."""
    width = len(table.rows[0].values)
    wide = [row for row in table.rows if any(cell.strip() for cell in row.values[width:])]
    if wide:
        first = table.where(wide[0])
        what = "row with more columns than the header"
        table.check_damage({what: len(wide)}, first)
        notes[f"{what}, kept (the first: {first})"] += len(wide)


def _numbered(columns: Columns, header: Sequence[str]) -> Columns:
    """The declaration with each name replaced by its place in the header."""

    def number(column: Optional[Column]) -> Optional[int]:
        return list(header).index(column) if isinstance(column, str) else column

    only = columns.only and (number(columns.only[0]), columns.only[1])
    places = [number(column) for column in columns[:4]]
    return columns._replace(**dict(zip(columns._fields, places)), only=only)


def columns_needed(columns: Columns) -> int:
    """Returns how many cells a row must have; one counted from the end comes after the others."""
    places = _columns_of(columns)
    first = 1 + max([place for place in places if place >= 0], default=-1)
    return first + max([-place for place in places if place < 0], default=0)


def _has_header(
    columns: Columns, cells: Sequence[str], notes: Counter[str], *, labels: Labels
) -> bool:
    """Whether the first row names columns; where the file is not as declared, the file is right."""

    def word(place: Optional[int]) -> str:
        is_there = place is not None and -len(cells) <= place < len(cells)
        return cells[place].strip() if is_there else ""

    label = word(columns.label)
    if parse_label(label, labels) is not None:
        notes["header row missing: the first row is an example"] += bool(columns.header)
        return False
    if columns.header is None:
        return any(word(place).lower() in _HEADER_WORDS for place in columns[:3])
    unexpected = not columns.header and label.lower() in _HEADER_WORDS
    notes["header row left out that such files do not have"] += unexpected
    return columns.header or unexpected


def _label_text(label: Any) -> Optional[str]:
    """A label as TSV files would hold it: JSON has numbers and booleans too."""
    if label is None:
        return None
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
    """What to tell the user of a label that is missing or unknown."""
    if label is None:
        return "the example has no label, and training and evaluation need one."
    if not labels.names:
        return f"the label {label[:60]!r} is not a number."
    names = ", ".join(labels.names[:12]) + (", ..." if len(labels.names) > 12 else "")
    return f"unknown label {label[:60]!r}; the labels are: {names}."
