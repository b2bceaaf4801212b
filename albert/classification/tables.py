# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of TSV and JSON-lines files as people really have them; what is dirty is counted.

    table = read_tsv("MRPC/train.tsv")
    table.rows[0].values        # ["Quality", "#1 ID", ...]
    table.dirt                  # {"byte-order mark removed": 1, ...}

A TSV cell ends at a tab and a line at a line feed, and at nothing else: quotes are text like any
other (the files people share hold unpaired ones), and so are the exotic line ends of Unicode.
TensorFlow is imported only to open a file.
"""

import codecs
import collections
import json
from typing import Any, Counter, Dict, List, Mapping, NamedTuple, Tuple, Union

from albert.util import files

# Lines that may be damaged before a file counts as another kind of file.
DAMAGED_SHARE = 0.01
DAMAGED_AT_LEAST = 10

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Row(NamedTuple):
    """One line."""

    number: int  # from 0, over all lines of the file
    values: Union[List[str], Dict[str, Any]]  # the cells of a TSV line; a JSON object


class Table(NamedTuple):
    """The lines of a file that are not blank."""

    path: str
    rows: List[Row]
    dirt: Counter[str]  # what was found and mended -> how often

    def where(self, row: Row) -> str:
        """Returns "file:line", the line counted from 1 as editors do."""
        return f"{self.path}:{row.number + 1}"


def read_tsv(path: str) -> Table:
    """Returns the rows of a file of tab-separated values, quotes taken as text.

    Raises:
      ValueError: the file is missing, or not UTF-8 text.
    """
    lines, dirt = _read_lines(path)
    rows = []
    for number, line in enumerate(lines):
        if line.strip():
            rows.append(Row(number, line.split("\t")))
            dirt["line with an unpaired quote, kept as text"] += line.count('"') % 2
    return Table(str(path), rows, +dirt)


def read_json_lines(path: str) -> Table:
    """Returns the rows of a file with one JSON object a line.

    A file that is one JSON array of objects is taken as well.

    Raises:
      ValueError: the file is missing, not UTF-8 text, or a line is no JSON object.
    """
    lines, dirt = _read_lines(path)
    text_start = next((line.lstrip() for line in lines if line.strip()), "")
    if text_start.startswith("["):
        values = _parse(path, 0, "\n".join(lines))
        rows = [Row(number, value) for number, value in enumerate(values)]
    else:
        rows = [
            Row(number, _parse(path, number, line))
            for number, line in enumerate(lines)
            if line.strip()
        ]
    for row in rows:
        if not isinstance(row.values, dict):
            raise ValueError(
                f"{path}:{row.number + 1}: {str(row.values)[:80]!r} is not a JSON object. Each "
                'line must be one, such as {"sentence": "...", "label": "0"}.'
            )
    return Table(str(path), rows, +dirt)


def looks_like_json(path: str) -> bool:
    """Returns whether the first line that is not blank begins a JSON object or array of them."""
    lines, _ = _read_lines(path)
    start = next((line.lstrip() for line in lines if line.strip()), "")
    return start.startswith(("{", "[{")) or start.rstrip() == "["


def check_share(table: Table, skipped: Mapping[str, int], first: str) -> None:
    """Makes sure that only a few rows were left out as damaged.

    Args:
      table: all rows.
      skipped: reason -> number of rows.
      first: where the first of them is, "file:line".

    Raises:
      ValueError: more than 1% of the rows (and more than ten) were.
    """
    count = sum(skipped.values())
    if count > max(DAMAGED_AT_LEAST, DAMAGED_SHARE * len(table.rows)):
        reasons = ", ".join(f"{number} x {reason}" for reason, number in skipped.items())
        raise ValueError(
            f"'{table.path}': {count} of {len(table.rows)} rows cannot be used ({reasons}; the "
            f"first is {first}), more than {DAMAGED_SHARE:.0%}. Is this the right file, with tabs "
            "between its columns?"
        )


def _parse(path: str, number: int, text: str) -> Any:
    """One JSON value; Infinity and NaN are no data."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path}:{number + 1}: not JSON ({error}). The file must hold one JSON object a line."
        ) from None


def _read_lines(path: str) -> Tuple[List[str], Counter[str]]:
    """The lines without their ends; counts byte-order marks, carriage returns, blank lines."""
    import tensorflow.compat.v1 as tf

    if not tf.io.gfile.exists(str(path)) or tf.io.gfile.isdir(str(path)):
        raise ValueError(f"File '{path}' does not exist. Check the path.")
    content = files.read_bytes(path)
    dirt = collections.Counter()
    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
        dirt["byte-order mark removed"] += 1
    if content.startswith(_UTF16):
        raise ValueError(f"'{path}' is UTF-16 text. Convert it: iconv -f UTF-16 -t UTF-8 {path}")
    lines = _decode(path, content, dirt).split("\n")
    if not lines[-1]:
        lines.pop()
    dirt["line with a carriage return at its end"] += sum(line.endswith("\r") for line in lines)
    dirt["blank line"] += sum(not line.strip() for line in lines)
    return [line[:-1] if line.endswith("\r") else line for line in lines], dirt


def _decode(path: str, content: bytes, dirt: Counter[str]) -> str:
    """UTF-8 in which a few lines may be damaged."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        first = content.count(b"\n", 0, error.start) + 1
    text = content.decode("utf-8", "replace")
    originals = content.split(b"\n")
    damaged = sum(
        "\ufffd" in line and b"\xef\xbf\xbd" not in original
        for line, original in zip(text.split("\n"), originals)
    )
    if damaged > max(DAMAGED_AT_LEAST, DAMAGED_SHARE * len(originals)):
        raise ValueError(
            f"'{path}' is not UTF-8 text: {damaged} lines are not, the first is line {first}. "
            f"Convert it, for example: iconv -f GB18030 -t UTF-8 {path}"
        )
    dirt["line with bytes that are not UTF-8, replaced"] += damaged
    return text
