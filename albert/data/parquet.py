# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of Parquet files, in which the hubs keep data sets; pyarrow is imported to read one only."""

import fnmatch
import os
from typing import Any, Dict, Iterator, List, Sequence

from albert.util import files

ENDING = ".parquet"


def parts(pattern: str) -> List[str]:
    """Returns the files of a folder whose names fit, in order: a table may have several parts.

    Args:
      pattern: such as "mnli/train-*.parquet"; only the last component is a pattern.
    """
    filesystem, (folder, name) = files.gfile(), os.path.split(pattern)
    if not filesystem.isdir(folder or "."):
        return []
    return [
        os.path.join(folder, found)
        for found in sorted(filesystem.listdir(folder or "."))
        if fnmatch.fnmatchcase(found, name)
    ]


def read_rows(paths: Sequence[str]) -> Iterator[Dict[str, Any]]:
    """Yields the rows of files, one after the other, by the names of their columns.

    Texts are str, lists are lists and structures dicts. A float32 is the number that was rounded to
    it: 3.8, not 3.799999952316284.

    Raises:
      ValueError: pyarrow is not installed, or a file is no Parquet file.
    """
    import numpy as np  # here: tables of tasks are read before it is loaded

    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError(
            f"'{paths[0]}' is a Parquet file, which pyarrow reads: pip install 'albert-tf[parquet]'"
        ) from error
    for path in paths:
        try:
            table = parquet.read_table(pyarrow.BufferReader(files.read_bytes(path)))
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"'{path}' is not a Parquet file ({error}).") from error
        short = [field.name for field in table.schema if pyarrow.types.is_float32(field.type)]
        for batch in table.to_batches(max_chunksize=1000):
            columns = batch.to_pydict()
            for name in short:
                columns[name] = [
                    None if value is None else float(str(np.float32(value)))
                    for value in columns[name]
                ]
            for values in zip(*columns.values()):
                yield dict(zip(columns, values))
