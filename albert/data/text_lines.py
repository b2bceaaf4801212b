# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Texts, one or two on a line, from files and pipes of any length, and files for the answers.

A line is a JSON object with text_a (and text_b), or the text (TAB the second text); fields and
columns may have other names. In a .csv file each row is a line. Lines are handed on as they come,
so that a program on the other end of a pipe is answered at once.
"""

import contextlib
import queue
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
      UserError: a line is not UTF-8, or a row is not CSV.
    """
    lines: queue.Queue = queue.Queue(_MOST_LINES)  # of lines, then None or an error
    threading.Thread(target=_read, args=(stream, name, lines.put), daemon=True).start()
    is_over = False
    while not is_over:
        items = [lines.get()]
        while len(items) < _MOST_LINES and not lines.empty():
            items.append(lines.get())
        group = [item for item in items if isinstance(item, Line)]
        if group:
            yield group
        is_over = len(group) < len(items)
    if items[-1]:
        raise items[-1]


def _read(stream: Any, name: str, put: Callable[[Any], None]) -> None:
    """Puts each line, and None at the end; an error takes the place of the rest."""
    lines = _decoded(stream, name)
    rows: Iterable[Any] = enumerate((line.rstrip("\r\n") for line in lines), 1)
    if name.endswith(csv_rows.ENDING):
        rows = csv_rows.rows(lines, name)
    try:
        for number, text in rows:
            put(Line(number, text))
        put(None)
    except (ValueError, OSError, tf.errors.OpError) as error:
        put(error)


def _decoded(stream: Any, name: str) -> Iterator[str]:
    for number, content in enumerate(stream, 1):
        try:
            yield content.decode("utf-8" if number > 1 else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise UserError(f"{name}:{number}: not UTF-8 ({error}). Convert the input.") from error


class TextReader:
    """Finds the texts in lines; the first one decides on the format."""

    def __init__(self, name: str, columns: Optional[str], known: Sequence[str] = ()):
        """Takes the input's name, for messages, and where the texts are, with commas.

        A first line with all `known` names is a header; without columns it says where texts are.

        Raises:
          UserError: more than two columns.
        """
        self._name = name
        self._columns = [part.strip() for part in (columns or "").split(",") if part.strip()]
        if len(self._columns) > 2:
            raise UserError(f"--columns={columns} names more than two; give one, or two for pairs.")
        self._known = list(known)
        self._format: Any = None  # _of_json or _of_cells, once a line was seen
        self._places: List[int] = []  # of the texts among a line's cells; none: all cells are texts
        self._blank = ""  # the first blank line after others

    def texts(self, lines: Sequence[Line]) -> List[Tuple[str, ...]]:
        """Returns a text or a pair for each line; a header line has none, nor have blank ones."""
        found = []
        for line in lines:
            where = f"{self._name}:{line.number}"
            if not "".join(line.text).strip():
                self._blank = self._blank or (self._format and where)
                continue
            if self._blank:
                raise UserError(
                    f"{self._blank}: the line is blank, though others follow. Every line is "
                    "answered: give it a text, or remove it."
                )
            if self._format or not self._is_header(line.text, where):
                found.append(self._format(line.text, where))
        return found

    def _is_header(self, text: Any, where: str) -> bool:
        """Looks at the first line that is not blank, which decides on the format."""
        if isinstance(text, str) and text.lstrip().startswith("{"):
            self._format = self._of_json
            return False
        self._format = self._of_cells
        header = _cells(text)
        known = self._known_in(header)
        if self._columns and all(name.isdecimal() for name in self._columns):
            self._places = list(map(int, self._columns))
            return bool(known)
        names = self._columns or known
        missing = [name for name in names if name not in header]
        if missing:
            raise UserError(
                f"{where}: no column is named {', '.join(missing)}; there are {', '.join(header)}."
            )
        self._places = list(map(header.index, names))
        return bool(names)

    def _known_in(self, names: Iterable[str]) -> List[str]:
        return self._known if set(self._known) <= set(names) else []

    def _of_json(self, text: str, where: str) -> Tuple[str, ...]:
        values = files.parse_json(text, where)
        files.check_types(values, dict, where)
        usual = self._known_in(values) or [name for name in _JSON_FIELDS if name in values]
        names = self._columns or usual
        texts = tuple(values.get(name) for name in names)
        if not texts or not all(isinstance(text, str) for text in texts):
            raise UserError(
                f"{where}: the object needs texts named {' and '.join(names or _JSON_FIELDS)}; it "
                f"has {', '.join(values)}. --columns names other fields."
            )
        return texts

    def _of_cells(self, text: Any, where: str) -> Tuple[str, ...]:
        cells = _cells(text)
        if len(cells) <= max(self._places, default=0) or (not self._places and len(cells) > 2):
            raise UserError(
                f"{where}: the line has {len(cells)} columns. A text, or two with a TAB between "
                "them, are expected; --columns names the columns of others."
            )
        return tuple(cells[place] for place in self._places) or tuple(cells)


def _cells(text: Any) -> List[str]:
    return text.split("\t") if isinstance(text, str) else text


@contextlib.contextmanager
def open_input(path: str) -> Iterator[Any]:
    """Yields a stream of bytes; STANDARD is standard input. UserError if there is no such file."""
    if path == STANDARD:
        yield sys.stdin.buffer
        return
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
