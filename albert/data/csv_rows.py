# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of CSV files. A quoted cell may have commas, line breaks and doubled quotes."""

import csv
from typing import Iterable, Iterator, List, Sequence, Tuple

from albert.util import UserError

ENDING = ".csv"
_LONGEST_CELL = 2**31 - 1  # characters; a document may exceed Python's default limit of 131,072


def rows(lines: Iterable[str], name: str) -> Iterator[Tuple[int, List[str]]]:
    """Yields (number of the first line, from 1; cells) of each row.

    Args:
      lines: the lines, with their line breaks.
      name: the file's name, for messages.

    Raises:
      UserError: a quote is not closed, or is inside a cell and not doubled.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(lines, strict=True)
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{name}:{number}: not a row of a CSV file ({error}). Put cells with commas, quotes or "
            "line breaks between quotes, and double the quotes in them."
        ) from None


def check_header(header: Sequence[str], names: Iterable[str], where: str) -> None:
    """Raises UserError if a header has one of these names twice."""
    for name in names:
        if header.count(name) > 1:
            raise UserError(f"{where}: the column {name!r} occurs twice. Rename one of them.")
