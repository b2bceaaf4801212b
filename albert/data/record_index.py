# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the records of record files are, so that a reader can begin anywhere in them.

    found = record_index.load(paths, folder=output_dir)
    sum(file.count for file in found)

It is in a file's metadata. Files without metadata are walked once, from header to header.
"""

import functools
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from albert.data import record_files
from albert.util import files, many_files
from albert.util.errors import UserError

INDEX_NAME = "record_index.json"  # in the output folder, for files without metadata
# Of all files of a call together: about ten megabytes as JSON, forty as numbers.
_MOST_OFFSETS = 1 << 20
# Of a file: with many files a reader splits each into at most this many runs.
_FEWEST_OFFSETS = 16

_Index = Dict[str, Dict[str, Any]]  # path -> RecordFile.as_json() and the file's state


def load(
    paths: Sequence[str], *, folder: Optional[str] = None, enough: Optional[int] = None
) -> List[record_files.RecordFile]:
    """Returns the blocks of record files, in their order.

    They are in a file's metadata. Files without it are walked from record header to record header,
    many at a time, and what was found is kept for the next start. Of more than 256 files each has
    fewer blocks, so that all of them fit into memory; how many follows from the files alone, on
    every host and at every start.

    Args:
      paths: record files.
      folder: where it is kept, as INDEX_NAME; None: nowhere.
      enough: once so many records are found, further files are left out.

    Raises:
      UserError: a file is damaged, cut off, not there, or no record file.
    """
    index = os.path.join(str(folder), INDEX_NAME) if folder else ""
    most = max(_FEWEST_OFFSETS, _MOST_OFFSETS // max(1, len(paths)))
    kept, walked = _read(index), {}
    found: List[record_files.RecordFile] = []
    count = 0
    locate = functools.partial(_locate, kept=kept, most=most)
    for file, state in many_files.each(locate, paths, "Looking at the records"):
        found.append(file)
        if state:
            walked[file.path] = dict(file.as_json(), state=state)
        count += file.count
        if enough is not None and count >= enough:
            break
    if index and {**kept, **walked} != kept:  # another process may have added files
        files.atomic_write_json(index, {"format_version": 1, "files": {**_read(index), **walked}})
    return found


def _locate(
    path: str, *, kept: Mapping[str, Any], most: int
) -> Tuple[record_files.RecordFile, List[int]]:
    """At most `most` blocks of a file, and its state if they are not in its metadata."""
    state: List[int] = []
    file = record_files.fitting_sidecar(path)
    if not file or (file.count and not file.offsets):
        state = [*files.state_of(path), most]
        if path in kept and kept[path]["state"] == state:
            file = record_files.RecordFile.from_json(path, kept[path])
        else:
            file = record_files.walk_records(path)
    file.thin(most)
    return file, state


def _read(index: str) -> _Index:
    """The files of the index; none if it is not there or is damaged."""
    try:
        entry = {"state": [int], "count": int}
        return files.read_json_object(index, {"files": {str: entry}})["files"]
    except UserError:
        return {}
