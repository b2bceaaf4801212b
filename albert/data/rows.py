# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of TSV, CSV, JSON lines and Parquet files.

    first, *others = read_rows(["glue/MRPC/train.tsv"])
    first.where     # "glue/MRPC/train.tsv:1"
    first.values    # ["Quality", "#1 ID", ...]
    first.fields    # {0: "Quality", 1: "#1 ID", ...}

A TSV cell ends at a tab and a line at a line feed; quotes are plain text. In a .csv file quotes are
CSV's.
"""

import io
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from albert.data import csv_rows, parquet
from albert.util import files, json_files


class Row(NamedTuple):
    """A row of a table (TSV or CSV), or an object (JSON lines or Parquet)."""

    where: str  # file:line, from 1; of a Parquet file the row
    number: int  # from 0, over all files and with blank lines
    values: Any  # a list of cells, which takes less memory than a dict, or an object

    @property
    def is_table(self) -> bool:
        """Returns whether columns are numbers."""
        return isinstance(self.values, list)

    @property
    def fields(self) -> Dict[Any, Any]:
        """Returns the values by column: the number of the cell, from 0, or the object's name."""
        return dict(enumerate(self.values)) if self.is_table else self.values

    def find(self, column: Any) -> Any:
        """Returns the key in `fields` of a column of the file of which this is the first row.

        Args:
          column: a name; the number of a cell, from 0 or (negative) from the end; or a tuple of
            such, of which the first that is there counts.

        Returns:
          None if it is not there.

        Raises:
          UserError: the header has the name twice.
        """
        names = list(self.values)
        for name in column if isinstance(column, tuple) else (column,):
            if name in names:
                csv_rows.check_header(names, [name], self.where)
                return names.index(name) if self.is_table else name
            if self.is_table and isinstance(name, int) and -len(names) <= name < len(names):
                return name % len(names)
        return None


def read_rows(paths: Sequence[str]) -> List[Row]:
    """Returns the rows of files, which are not blank.

    JSON lines are a .json or .jsonl file, or one that begins with "{" and does not end in .tsv.

    Raises:
      UserError: a file is missing or not of its kind; the line is named.
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
        del text  # it may be large, and the lines hold a copy
        if is_object or ending in files.JSON_LINES:
            for number, line in lines:
                where = f"{path}:{number}"
                yield number, json_files.parse_data(line, where, dict) if line.strip() else None
            return
        table = ((number, line.split("\t")) for number, line in lines)
    for number, cells in table:
        yield number, cells if any(map(str.strip, cells)) else None
