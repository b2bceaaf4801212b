# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of TSV, CSV, JSON lines and Parquet files.

    first, *others = read_rows(["glue/MRPC/train.tsv"])
    first.where     # "glue/MRPC/train.tsv:1"
    first.values    # ["Quality", "#1 ID", ...]
    first.fields    # {0: "Quality", 1: "#1 ID", ...}

In TSV files, tabs end cells, line feeds end lines, and quotes are plain text. In .csv files, quotes
may enclose cells.
"""

import io
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from albert.data import csv_rows, parquet
from albert.util import files, json_files


class Row(NamedTuple):
    """A row of a table (TSV or CSV), or an object (JSON lines or Parquet)."""

    where: str  # file:line; for a Parquet file, file:row; from 1
    number: int  # from 0, counted over all files, with blank lines
    values: Any  # an object, or a list of cells, which takes less memory than a dict

    @property
    def is_table(self) -> bool:
        """Returns whether columns have numbers instead of names."""
        return isinstance(self.values, list)

    @property
    def fields(self) -> Dict[Any, Any]:
        """Returns the values by column: the cell's number, from 0, or the object's key."""
        return dict(enumerate(self.values)) if self.is_table else self.values

    def find(self, column: Any) -> Any:
        """Returns the key of a column in `fields`. Call it on the first row of a file.

        Args:
          column: a name; a cell's number, from 0 or (negative) from the end; or a tuple of names
            and numbers. The first of them that exists counts. A list stands for several columns.

        Returns:
          The key, or a dict name -> key of several columns; None if the file has no such column.

        Raises:
          UserError: the header has the name twice.
        """
        if isinstance(column, list):
            return {name: self.find(name) for name in column}
        names = list(self.values)
        for name in column if isinstance(column, tuple) else (column,):
            if name in names:
                csv_rows.check_header(names, [name], self.where)
                return names.index(name) if self.is_table else name
            if self.is_table and isinstance(name, int) and -len(names) <= name < len(names):
                return name % len(names)
        return None


def read_rows(paths: Sequence[str]) -> List[Row]:
    """Returns the rows of files, without blank lines.

    A file has JSON lines if its name ends in .json or .jsonl, or if its content begins with "{" and
    its name does not end in .tsv.

    Raises:
      UserError: a file is missing, or a line does not have the file's format.
    """
    lines = ((f"{path}:{line}", values) for path in paths for line, values in _lines(path))
    return [
        Row(where, number, values)
        for number, (where, values) in enumerate(lines)
        if values is not None
    ]


def _lines(path: str) -> Iterator[Tuple[int, Any]]:
    """Yields the number of each line, from 1, and its values; None for a blank line."""
    ending = files.ending(path)
    if ending == parquet.ENDING:
        yield from enumerate(parquet.read_rows(path), start=1)
        return
    text = files.read_text(path)
    if ending == csv_rows.ENDING:
        table = csv_rows.rows(io.StringIO(text, newline=""), path)
    else:
        is_object = text.lstrip()[:1] == "{" and ending != ".tsv"
        lines = enumerate(text.replace("\r\n", "\n").split("\n"), start=1)
        del text  # The text may be large, and the lines are a copy.
        if is_object or ending in files.JSON_LINES:
            for number, line in lines:
                where = f"{path}:{number}"
                yield number, json_files.parse_data(line, where, dict) if line.strip() else None
            return
        table = ((number, line.split("\t")) for number, line in lines)
    for number, cells in table:
        yield number, cells if any(map(str.strip, cells)) else None
