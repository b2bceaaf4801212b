# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From the files of a data set to examples: texts and labels, by a declaration of where they are.

A `Split` ("train", "dev", ...) lists the ways it is distributed, each a file name and a reading:
`Columns` of a TSV file or `Fields` of JSON lines. The first whose file is there and fits is taken.

    columns = Columns(text_a=3, text_b=4, label=0, header=True)
    split = Split("train", (Source("train.tsv", columns),))
    data = read_split(split, ["glue/MRPC"], Labels(("0", "1")))
    data.examples[0].text_a, data.notes

Texts stay as they were written; a tokenizer's own preparation comes later.
"""

import collections
import math
import os
import sys
from typing import (
    Any,
    Callable,
    Counter,
    FrozenSet,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from albert.classification import tables

Column = Union[int, str]  # a number, from 0 or from the end, or the name in the header row

# Cells that only a header row holds, in the places of texts and labels.
_HEADER_WORDS = frozenset(
    """
    text text_a text_b texta textb text1 text2 title content
    sentence sentence1 sentence2 sentence_a sentence_b premise hypothesis hypo
    question question1 question2 query query1 query2
    label labels gold_label score quality is_duplicate
    """.split()  # noqa: SIM905
) | {"#1 string", "#2 string"}


class InputExample:
    """A text or a pair of texts, with its label if that is known.

    Attributes:
      guid: what the example is called in results.
      text_a, text_b: the texts; text_b is None where a single text is classified.
      label: a name, a number (regression), or None where it is not known.
    """

    def __init__(self, guid, text_a, text_b=None, label=None):
        self.guid = guid
        self.text_a = text_a
        self.text_b = text_b
        self.label = label

    def __repr__(self) -> str:
        return (
            f"InputExample(guid={self.guid!r}, text_a={self.text_a!r}, text_b={self.text_b!r}, "
            f"label={self.label!r})"
        )


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


# --------------------------------------------------------------------------------------- reading


class _Context(NamedTuple):
    """What every row of a file is read with."""

    table: tables.Table
    split: Split
    labels: Labels
    header_words: FrozenSet[str]  # cells that only a header row holds
    skipped: Counter[str]  # damaged rows
    dropped: Counter[str]  # rows that the declaration leaves out


def read_split(
    split: Split,
    folders: Sequence[str],
    labels: Labels,
    *,
    training_header: Sequence[str] = (),
) -> TaskData:
    """Reads the examples of a split.

    Args:
      split: the declaration.
      folders: where the files may lie; the first folder that has one of them is it.
      labels: the labels there are.
      training_header: cells of the header row of the training file, if that has one: where the
        declaration leaves it open, a first row with one of them is a header, and a file that seems
        to have none is said to.

    Raises:
      ValueError: no file is there, none fits the declaration, too many rows are damaged, a row
        lacks columns or has an unknown label (file and line are named), or there is no example.
    """
    source, table = _find_source(split, folders)
    cells = {cell.strip().lower() for cell in training_header}
    words = frozenset(_HEADER_WORDS | (cells - {""}))
    context = _Context(table, split, labels, words, collections.Counter(), collections.Counter())
    if isinstance(source.reading, Fields):
        examples = _read_objects(source.reading, context)
    else:
        examples = _read_rows(source.reading, context)
    if not examples:
        raise ValueError(f"'{table.path}' holds no example for {split.name}.")
    empty = sum(not example.text_a.strip() for example in examples)
    counts = [table.dirt, context.skipped, context.dropped, {"example with an empty text": empty}]
    notes = [f"{number} x {what}" for part in counts for what, number in part.items() if number]
    notes += _missing_header(source.reading, table, context) if training_header else []
    return TaskData(examples, [table.path], notes)


def _missing_header(
    reading: Union[Columns, Fields], table: tables.Table, context: _Context
) -> List[str]:
    """A note on a first row that counts as an example though the training file has a header."""
    first = table.rows[0].values
    if isinstance(reading, Fields) or reading.header is not None or _named_columns(reading):
        return []
    if _has_header(reading, first, context):
        return []
    shown = ", ".join(cell[:30] for cell in first)[:120]
    return [f"the first row is taken as an example, not as a header as in training: {shown}"]


def header_of(split: Split, folders: Sequence[str], labels: Labels) -> List[str]:
    """Returns the header row of a split's file: its cells; [] if it has none or is not there.

    Arguments and errors are those of `read_split`.
    """
    if not find_files(split, folders):
        return []
    source, table = _find_source(split, folders)
    if isinstance(source.reading, Fields):
        return []
    first = table.rows[0].values
    counters = collections.Counter(), collections.Counter()
    context = _Context(table, split, labels, _HEADER_WORDS, *counters)
    by_number = _numbered(source.reading, first)
    named = bool(_named_columns(source.reading))
    return list(first) if named or _has_header(by_number, first, context) else []


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


def _find_source(split: Split, folders: Sequence[str]) -> Tuple[Source, tables.Table]:
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
            table = _read_table(path, source.reading)
            reading = _without_missing_label(source.reading, split, table)
            problem = _mismatch(reading, table)
            if not problem:
                return Source(source.file, reading), table
            problems.append(problem)
    raise ValueError(f"'{found[0]}' cannot be read for {split.name}: {'; '.join(problems)}.")


def _read_table(path: str, reading: Union[Columns, Fields]) -> tables.Table:
    """Reads a file as its declaration says it is."""
    return tables.read_json_lines(path) if isinstance(reading, Fields) else tables.read_tsv(path)


def _without_missing_label(
    reading: Union[Columns, Fields], split: Split, table: tables.Table
) -> Union[Columns, Fields]:
    """Test files come with labels and without: a column for them that is not there is no error."""
    if split.needs_labels or isinstance(reading, Fields) or reading.label is None:
        return reading
    cells = table.rows[0].values if table.rows else []
    numbers = range(-len(cells), len(cells))
    there = reading.label in (cells if isinstance(reading.label, str) else numbers)
    return reading if there else reading._replace(label=None)


def _mismatch(reading: Union[Columns, Fields], table: tables.Table) -> str:
    """Says why a table is not what a declaration describes; "" if it may be."""
    if not table.rows:
        return "it is empty"
    named = [name for name in _named_columns(reading) if name not in table.rows[0].values]
    if named:
        return f"its first row has no column {', '.join(map(repr, named))}"
    return ""


def _named_columns(reading: Union[Columns, Fields]) -> List[str]:
    """The columns a header must name."""
    if isinstance(reading, Fields):
        return []
    columns = [reading.text_a, reading.text_b, reading.label, reading.guid]
    columns += [reading.only[0]] if reading.only else []
    return [column for column in columns if isinstance(column, str)]


def _guid(context: _Context, number: int) -> str:
    """The name of an example whose file gives it none."""
    return f"{context.split.role}-{number}"


def _read_objects(fields: Fields, context: _Context) -> List[InputExample]:
    """The examples of a JSON-lines file."""
    examples = []
    render = fields.render or (lambda values: [_plain_texts(fields, values)])
    for row in context.table.rows:
        where = context.table.where(row)
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
            guid = _guid(context, row.number * len(rendered) + part)
            if fields.guid is not None and not fields.render:
                guid = str(row.values.get(fields.guid, guid))
            _append(examples, texts, guid, context=context, where=where)
    return examples


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


def _read_rows(columns: Columns, context: _Context) -> List[InputExample]:
    """The examples of a TSV file."""
    rows = context.table.rows
    by_number = _numbered(columns, rows[0].values)
    header = bool(_named_columns(columns)) or _has_header(by_number, rows[0].values, context)
    needed = _columns_needed(by_number)
    examples: List[InputExample] = []
    first_short = ""
    _note_long(rows, context, has_header=header)
    for row in rows[int(header) :]:
        cells = row.values
        if len(cells) < needed:
            first_short = first_short or context.table.where(row)
            _check_short(by_number, context, where=context.table.where(row), cells=cells)
            context.skipped["row with too few columns, skipped"] += 1
        elif columns.only and cells[by_number.only[0]] != columns.only[1]:
            context.dropped[f"row left out: not '{columns.only[1]}'"] += 1
        else:
            texts = Texts(*(_cell(cells, column) for column in by_number[:3]))
            guid = _cell(cells, by_number.guid) or _guid(context, row.number)
            where = context.table.where(row)
            _append(examples, texts, guid, context=context, where=where)
    tables.check_share(context.table, context.skipped, first_short)
    return examples


def _note_long(rows: Sequence[tables.Row], context: _Context, *, has_header: bool) -> None:
    """Counts the rows with more cells than the header: a tab in a text moves what comes behind."""
    width = len(rows[0].values) if has_header else sys.maxsize
    wide = [row for row in rows if any(cell.strip() for cell in row.values[width:])]
    if wide:
        first = context.table.where(wide[0])
        what = "row with more columns than the header"
        tables.check_share(context.table, {what: len(wide)}, first)
        context.dropped[f"{what}, kept (the first: {first})"] += len(wide)


def _numbered(columns: Columns, header: Sequence[str]) -> Columns:
    """The declaration with each name replaced by its place in the header."""

    def number(column: Optional[Column]) -> Optional[int]:
        return list(header).index(column) if isinstance(column, str) else column

    only = columns.only and (number(columns.only[0]), columns.only[1])
    places = {name: number(getattr(columns, name)) for name in ("text_a", "text_b", "label")}
    return columns._replace(guid=number(columns.guid), only=only, **places)


def _columns_needed(columns: Columns) -> int:
    """How many cells a row must have; one counted from the end comes after the others."""
    used = [columns.text_a, columns.text_b, columns.label, columns.guid]
    used += [columns.only[0]] if columns.only else []
    places = [column for column in used if column is not None]
    first = 1 + max([place for place in places if place >= 0], default=-1)
    return first + max([-place for place in places if place < 0], default=0)


def _check_short(columns: Columns, context: _Context, *, where: str, cells: List[str]) -> None:
    """Refuses a row with too few columns unless the data set is known to hold some."""
    if not columns.short_rows_are_skipped:
        raise ValueError(
            f"{where}: the row has {len(cells)} columns where at least {_columns_needed(columns)} "
            f"are needed for {context.split.name}. Columns are separated by tabs. The row begins "
            f"{cells[0][:60]!r}."
        )


def _has_header(columns: Columns, cells: Sequence[str], context: _Context) -> bool:
    """Whether the first row names columns; where the file is not as declared, the file is right."""
    label = _safe_cell(cells, columns.label)
    if label is not None and parse_label(label.strip(), context.labels) is not None:
        if columns.header:
            context.dropped["header row missing: the first row is an example"] += 1
        return False
    if columns.header is not None:
        unexpected = not columns.header and (label or "").strip().lower() in context.header_words
        if unexpected:
            context.dropped["header row left out that such files do not have"] += 1
        return columns.header or unexpected
    named = [(_safe_cell(cells, place) or "").strip().lower() for place in columns[:3]]
    return any(word in context.header_words for word in named)


def _safe_cell(cells: Sequence[str], column: Optional[int]) -> Optional[str]:
    """A cell, or None where there is none."""
    is_there = column is not None and -len(cells) <= column < len(cells)
    return cells[column] if is_there else None


def _cell(cells: Sequence[str], column: Optional[int]) -> Optional[str]:
    """A cell, or None where the declaration names no column."""
    return None if column is None else cells[column]


def _append(
    examples: List[InputExample], texts: Texts, guid: str, *, context: _Context, where: str
) -> None:
    """Adds an example, if its label is one to learn from; what is to be predicted stays whole."""
    label = _label_text(texts.label)
    if label in context.labels.dropped and context.split.needs_labels:
        context.dropped[f"example dropped: its label is {label!r}"] += 1
        return
    value = parse_label(label, context.labels)
    if value is None and context.split.needs_labels:
        raise ValueError(f"{where}: {_label_problem(label, context.labels)}")
    examples.append(InputExample(guid, texts.text_a, texts.text_b, label=value))


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


def dirt_line(name: str, data: TaskData) -> str:
    """Returns one line for the log: what was read and what was found on the way."""
    notes = f" ({'; '.join(data.notes)})" if data.notes else ""
    return f"{name}: {len(data.examples)} examples from {', '.join(data.files)}{notes}"
