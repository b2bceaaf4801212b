# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads texts, one or two per line, from files and pipes, and writes the predictions.

A line is a JSON object with text_a (and text_b), or a text, or two texts separated by a TAB. Fields
and columns may have other names. In a .csv or .parquet file, each row is a line. Lines from a pipe
are yielded as they arrive.
"""

import contextlib
import itertools
import json
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, TextIO, Tuple

import tensorflow.compat.v1 as tf

from albert.data import csv_rows, parquet
from albert.util import UserError, files, json_files, log

STANDARD = "-"
_GROUP_BYTES = 1 << 16  # the most to read, and to answer, at a time
_GROUP_ROWS = 1000  # rows of CSV or Parquet to answer at a time
_JSON_FIELDS = ("text_a", "text_b")


class Line(NamedTuple):
    """A line of input and its number, from 1."""

    number: int
    text: Any  # a str; for CSV, the list of the row's cells; for Parquet, the dict of its values


class TextRow(NamedTuple):
    """The text or pair of texts of a line."""

    texts: Tuple[str, ...]
    kept: Dict[str, Any] = {}  # the values of the columns to copy into the output
    where: str = ""  # file and line


def read_lines(stream: Any, name: str) -> Iterator[List[Line]]:
    """Yields the lines of a stream of bytes in groups: all that have arrived, at least one.

    Args:
      stream: the bytes. If it has `read1`, a group does not wait for more bytes than have arrived.
      name: the input's name, for messages. If it ends in .csv or .parquet, each Line is a row.

    Raises:
      UserError: a line is not UTF-8, a row is not CSV, or the file is not a Parquet file.
    """
    groups = _decoded(stream, name)
    rows: Iterator[Tuple[int, Any]]
    if files.ending(name) == csv_rows.ENDING:
        rows = csv_rows.rows((f"{line.text}\n" for lines in groups for line in lines), name)
    elif files.ending(name) == parquet.ENDING:
        rows = enumerate(parquet.read_rows(name), start=1)
    else:
        return groups
    return iter(lambda: [Line(*row) for row in itertools.islice(rows, _GROUP_ROWS)], [])


def _decoded(stream: Any, name: str) -> Iterator[List[Line]]:
    def decode(content: bytes, number: int) -> Line:
        try:
            return Line(number, content.decode("utf-8" if number > 1 else "utf-8-sig"))
        except UnicodeDecodeError as error:
            raise UserError(f"{name}:{number}: not UTF-8 ({error}). Convert the input.") from error

    read, numbers = getattr(stream, "read1", stream.read), itertools.count(1)
    parts: List[bytes] = []  # the beginning of a line whose end has not arrived
    for content in iter(lambda: read(_GROUP_BYTES), b""):
        *lines, rest = content.split(b"\n")
        if lines:
            lines[0] = b"".join([*parts, lines[0]])
            yield list(map(decode, lines, numbers))
            parts = []
        parts.append(rest)
    if any(parts):
        last, number = b"".join(parts), next(numbers)
        if number == 1:
            files.check_line_ends(last, name)
        yield [decode(last, number)]


class TextReader:
    """Finds the texts in lines. The first line decides the format.

    Attributes:
      empty: "file:line" of each empty text.
    """

    def __init__(
        self,
        name: str,
        columns: Optional[str],
        training_columns: Sequence[str] = (),
        *,
        keep_columns: Sequence[str] = (),
    ):
        """Creates a reader.

        Args:
          name: the input's name, for messages.
          columns: the comma-separated columns of the texts: names, or numbers from 0.
          training_columns: the columns of the texts in the training data. A first line with all of
            these names is a header. Without `columns`, the texts are in these columns.
          keep_columns: the columns for `TextRow.kept`: names, or numbers from 0.

        Raises:
          UserError: more than two columns.
        """
        self._name, self._training_columns = name, list(training_columns)
        self._source = "standard input" if name == STANDARD else name
        self._columns, self._keep_columns = split_columns(columns), keep_columns
        if len(self._columns) > 2:
            raise UserError(f"--columns={columns} names more than two; give one, or two for pairs.")
        self._is_json: Optional[bool] = None  # None before the first line
        self._header: List[str] = []
        self._blank = ""  # "file:line" of the first blank line after other lines
        self.empty: List[str] = []

    def rows(self, lines: Sequence[Line]) -> List[TextRow]:
        """Returns each line's text or pair. Skips the header, and blank lines at both ends."""
        text_rows = []
        for line in lines:
            where = f"{self._source}:{line.number}"
            if not "".join(line.text).strip():
                self._blank = self._blank or (where if self._is_json is not None else "")
                continue
            if self._blank:
                raise UserError(
                    f"{self._blank}: blank line. Every line gets an answer, so fill or remove it."
                )
            is_header = self._is_json is None and self._is_header(line.text)
            row = self._row_of(line.text, where)
            if is_header:
                log.info("%s is the header: %s.", where, ", ".join(_cells(line.text))[:200])
                continue
            text_rows.append(row)
            if not all(map(str.strip, row.texts)):
                self.empty.append(where)
        return text_rows

    def _is_header(self, text: Any) -> bool:
        """Sets the format from the first line that is not blank. Returns whether it is a header."""
        is_named = files.ending(self._name) in (*files.JSON_LINES, parquet.ENDING)
        self._is_json = is_named or (isinstance(text, str) and text.lstrip().startswith("{"))
        header = _cells(text)
        training_columns = set(self._training_columns)
        is_training_header = bool(training_columns) and training_columns <= set(header)
        has_numbers = all(map(str.isdecimal, (*self._columns, *self._keep_columns)))
        if self._is_json or (has_numbers and not is_training_header):
            return False
        if not (self._columns and has_numbers):
            self._header = header
        return True

    def _row_of(self, text: Any, where: str) -> TextRow:
        row: Dict[str, Any]
        if self._is_json:
            row = text if isinstance(text, dict) else json_files.parse_data(text, where, dict)
            usual = [name for name in _JSON_FIELDS if name in row]
        else:
            cells = _cells(text)
            if self._header and any(cells[len(self._header) :]):
                raise UserError(
                    f"{where}: {len(cells)} columns, but the header has {len(self._header)}. "
                    "Remove tabs (in CSV: quote commas) inside the texts."
                )
            row = dict(zip(self._header or map(str, itertools.count()), cells))
            usual = list(row)
        training_columns = self._training_columns
        if not set(training_columns) <= set(self._header or row):
            training_columns = []
        names = self._columns or training_columns or usual
        csv_rows.check_header(self._header, [*names, *self._keep_columns], where)
        texts = tuple(row.get(name) for name in names)
        if not 1 <= len(texts) <= 2 or not all(isinstance(text, str) for text in texts):
            raise UserError(
                f"{where}: expected one or two texts in {' and '.join(names or _JSON_FIELDS)}; "
                f"found {json.dumps(row, ensure_ascii=False, default=str)[:200]}. Name the columns "
                "with --columns; tabs separate columns."
            )
        try:
            return TextRow(texts, {name: row[name] for name in self._keep_columns}, where)
        except KeyError as error:
            raise UserError(
                f"{where}: --keep_columns names {error}, which is not one of {', '.join(row):.200}."
            ) from error


def split_columns(columns: Optional[str]) -> List[str]:
    """Splits comma-separated columns."""
    return [part.strip() for part in (columns or "").split(",") if part.strip()]


def _cells(text: Any) -> List[str]:
    return text.rstrip("\r").split("\t") if isinstance(text, str) else text


def open_input(path: str) -> Any:
    """Opens a stream of bytes. STANDARD is standard input. Raises UserError for a missing file."""
    if path == STANDARD:
        return contextlib.nullcontext(sys.stdin.buffer)
    return files.open_to_read(path)


@contextlib.contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Yields a stream to write text to. A file appears when it is complete."""
    if path == STANDARD:
        yield sys.stdout
        return
    with files.atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "w") as stream:
        yield stream
