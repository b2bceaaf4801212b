# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of Parquet files, Hugging Face's format for data sets. Imports pyarrow on first use."""

import contextlib
import fnmatch
import os
import re
from typing import Any, Dict, Iterator, List

from albert.data import csv_rows
from albert.util import files, json_files, wording
from albert.util.errors import UserError, needing

ENDING = ".parquet"
# The schema of the metadata that `datasets` writes.
_METADATA = {"info": ({"features": ({str: object}, None)}, None)}
# "train-00000-of-00002.parquet", or with a hash before the ending.
_PART = re.compile(r"(.*)-(\d+)-of-(\d+)(?:-[0-9a-f]+)?\.parquet")


def find(pattern: str) -> List[str]:
    """Returns the files that match a pattern, in order.

    Args:
      pattern: such as "mnli/train-*.parquet"; only the last component is a pattern.
    """
    folder, name = os.path.split(pattern)
    return [os.path.join(folder, name) for name in fnmatch.filter(files.names_in(folder), name)]


def parts(pattern: str) -> List[str]:
    """Returns the files that match a pattern, and checks that they are all parts of one table.

    Raises:
      UserError: files have numbers such as "-00000-of-00002", but a part is missing, is there
        twice, or is of another table.
    """
    paths = find(pattern)
    names = [os.path.basename(path) for path in paths]
    marks = [mark for mark in map(_PART.fullmatch, names) if mark]
    if not marks or "*" not in os.path.basename(pattern):  # The pattern is a file's name.
        return paths
    numbered = sorted((mark[1], int(mark[2]), int(mark[3])) for mark in marks)
    if numbered != [(marks[0][1], number, len(names)) for number in range(len(names))]:
        raise UserError(
            f"'{pattern}' must match all parts of one table, each once; found "
            f"{wording.listed(names)}. Add the missing parts, and move other files away."
        )
    return paths


def read_rows(path: str) -> Iterator[Dict[str, Any]]:
    """Yields each row of a file as {column: value}.

    Values are str, numbers, lists and dicts. A float32 becomes the shortest decimal number that
    rounds to it: 3.8, not 3.799999952316284.

    Raises:
      UserError: pyarrow is not installed, or the file is not a Parquet file.
    """
    import numpy as np  # Imported here, because the tables of tasks load without it.

    with _opened(path) as file:
        table = file.read()
        csv_rows.check_header(table.column_names, table.column_names, f"'{path}'")
        short = [field.name for field in table.schema if str(field.type) == "float"]  # 32 bits
        for batch in table.to_batches(max_chunksize=1000):
            columns = batch.to_pydict()
            for name in short:
                columns[name] = [
                    None if value is None else float(str(np.float32(value)))
                    for value in columns[name]
                ]
            for values in zip(*columns.values()):
                yield dict(zip(columns, values))


def label_names(path: str) -> Dict[str, List[str]]:
    """Returns {column: names of the labels} from the metadata that `datasets` writes, if any.

    Raises:
      UserError: see `read_rows`.
    """
    with _opened(path) as file:
        metadata = file.schema_arrow.metadata or {}
    where = f"'{path}', metadata"
    info = json_files.parse(metadata.get(b"huggingface", b"{}"), where, _METADATA).get("info") or {}
    names = {}
    for column, feature in (info.get("features") or {}).items():
        # If a column has lists, "feature" describes their items. Older versions wrote [feature].
        item = feature[0] if isinstance(feature, list) and feature else feature
        item = item.get("feature", item) if isinstance(item, dict) else item
        if isinstance(item, dict) and item.get("_type") == "ClassLabel":
            json_files.check(item, {"names": [str]}, f"{where}: {column}")
            names[column] = item["names"]
    return names


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Any]:
    """Yields pyarrow's ParquetFile. Turns pyarrow's errors in the block into UserErrors."""
    with needing("parquet", f"'{path}' is a Parquet file, and"):
        import pyarrow
        from pyarrow import parquet
    try:
        yield parquet.ParquetFile(pyarrow.BufferReader(files.read_bytes(path)))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"'{path}' is not a Parquet file ({error}).") from error
