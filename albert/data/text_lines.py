# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Texts, one or two on a line, from files and pipes of any length, and files for the answers.

A line is a JSON object with text_a (and text_b), or the text (TAB the second text); fields and
columns may have other names. In a .csv file each row is a line. Lines are handed on as they come,
so that a program on the other end of a pipe is answered at once.
"""

import contextlib
import json
import queue
import re
import sys
import threading
from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    TextIO,
    Tuple,
)

import tensorflow.compat.v1 as tf

from albert.data import csv_rows
from albert.util import files
from albert.util.errors import UserError

STANDARD = "-"
_MOST_LINES = 4096  # in memory, and answered together
_JSON_FIELDS = ("text_a", "text_b")


class Line(NamedTuple):
    """A line of input and its number, from 1."""

    number: int
    text: Any  # a str; of a CSV row the list of its cells


def read_lines(stream: Any, name: str) -> Iterator[List[Line]]:
    """Yields the lines of a stream of bytes in groups: at least one, and all that have come.

    A thread of its own reads the stream; `name` is for messages.

    Raises:
      ValueError: a line is not UTF-8.
    """
    lines: queue.Queue = queue.Queue(_MOST_LINES)  # of lines, then None or an error
    threading.Thread(target=_read, args=(stream, name, lines.put), daemon=True).start()
    while True:
        items = [lines.get()]
        with contextlib.suppress(queue.Empty):
            while isinstance(items[-1], Line) and len(items) < _MOST_LINES:
                items.append(lines.get_nowait())
        group = [item for item in items if isinstance(item, Line)]
        if group:
            yield group
        if isinstance(items[-1], Exception):
            raise items[-1]
        if items[-1] is None:
            return


def _read(stream: Any, name: str, put: Callable[[Any], None]) -> None:
    """Puts each line, and None at the end; an error takes the place of the rest."""
    lines = (
        _decoded(content, f"{name}:{number}", is_first=number == 1)
        for number, content in enumerate(stream, 1)
    )
    numbered: Iterable[Any] = enumerate((line.rstrip("\r\n") for line in lines), 1)
    if name.endswith(csv_rows.ENDING):
        numbered = csv_rows.rows(lines, name)
    try:
        for number, text in numbered:
            put(Line(number, text))
        put(None)
    except (ValueError, OSError, tf.errors.OpError) as error:
        put(error)


def _decoded(content: bytes, where: str, *, is_first: bool) -> str:
    try:
        return content.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: the line is not UTF-8 ({error}). Convert the input.") from error


def _cells(line: Line) -> List[str]:
    return line.text.split("\t") if isinstance(line.text, str) else line.text


def _is_number(name: str) -> bool:
    """Whether a column is given by its number; digits of other scripts are none."""
    return re.fullmatch("[0-9]+", name) is not None


class TextReader:
    """Finds the texts in lines; the first one decides on the format."""

    def __init__(self, name: str, columns: Optional[str], known: Sequence[str] = ()):
        """Takes the input's name, for messages, and where the texts are, with commas.

        A first line with all `known` names is a header; without columns it says where texts are.

        Raises:
          ValueError: more than two columns.
        """
        self._name = name
        self._columns = [part.strip() for part in (columns or "").split(",") if part.strip()]
        if len(self._columns) > 2:
            raise UserError(f"--columns={columns} names more than two; give one, or two for pairs.")
        self._known = list(known)
        self._find: Any = None  # (Line) -> its texts, once the columns are known
        self._blank: Optional[Line] = None  # the first of those that may be the input's end

    def texts(self, lines: Sequence[Line]) -> List[Tuple[str, ...]]:
        """Returns a text or a pair for each line; a header line has none, nor have blank ones."""
        found = []
        for line in lines:
            if not "".join(line.text).strip():
                self._blank = self._blank or (self._find and line)
                continue
            if self._blank:
                raise UserError(
                    f"{self._where(self._blank)}: the line is blank, though others follow. Every "
                    "line is answered: give it a text, or remove it."
                )
            if self._find is None and self._is_header(line):
                continue
            found.append(self._find(line))
        return found

    def _is_header(self, line: Line) -> bool:
        """Looks at the first line that is not blank, and at no other."""
        if isinstance(line.text, str) and line.text.lstrip().startswith("{"):
            self._find = self._from_json
            return False
        header = _cells(line)
        known = self._known_in(header)
        if self._columns and all(map(_is_number, self._columns)):
            places = list(map(int, self._columns))
            is_header = bool(known)
        else:
            names = self._columns or known
            missing = [name for name in names if name not in header]
            if missing:
                raise UserError(
                    f"{self._where(line)}: no column is named {', '.join(missing)}; there are "
                    f"{', '.join(header)}."
                )
            places = [header.index(name) for name in names]
            is_header = bool(names)
        self._find = lambda row: self._from_cells(row, places)
        return is_header

    def _known_in(self, names: Iterable[str]) -> List[str]:
        return self._known if set(self._known) <= set(names) else []

    def _where(self, line: Line) -> str:
        return f"{self._name}:{line.number}"

    def _from_json(self, line: Line) -> Tuple[str, ...]:
        try:
            values = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{self._where(line)}: not a JSON object ({error}).") from error
        if not isinstance(values, dict):
            shown = line.text.strip()[:60]
            raise UserError(f"{self._where(line)}: not a JSON object, as others are, but {shown}.")
        usual = self._known_in(values) or [name for name in _JSON_FIELDS if name in values]
        names = self._columns or usual
        texts = tuple(values[name] for name in names if name in values)
        if not texts or len(texts) < len(names) or not all(isinstance(t, str) for t in texts):
            raise UserError(
                f"{self._where(line)}: the object needs texts named "
                f"{' and '.join(names or _JSON_FIELDS)}; it has {', '.join(values)}. --columns "
                "names other fields."
            )
        return texts

    def _from_cells(self, line: Line, places: Sequence[int]) -> Tuple[str, ...]:
        cells = _cells(line)
        if not places and len(cells) <= 2:
            return tuple(cells)
        if not places or max(places) >= len(cells):
            raise UserError(
                f"{self._where(line)}: the line has {len(cells)} columns. A text, or two with "
                "a TAB between them, are expected; --columns names the columns of others."
            )
        return tuple(cells[place] for place in places)


@contextlib.contextmanager
def open_input(path: str) -> Iterator[Any]:
    """Yields a stream of bytes; STANDARD is standard input.

    Raises:
      ValueError: --input_file does not exist.
    """
    if path == STANDARD:
        yield sys.stdin.buffer
        return
    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise UserError(f"--input_file={path} was not found.")
    with files.open_to_read(path) as stream:
        yield stream


@contextlib.contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Yields a stream of text; a file is there when it is complete."""
    if path == STANDARD:
        yield sys.stdout
        return
    with files.atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "w") as stream:
        yield stream
