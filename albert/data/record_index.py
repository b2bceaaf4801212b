# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the records of record files are, so that a reader can begin anywhere in them.

    found = record_index.load(paths, folder=output_dir)
    sum(blocks.count for blocks in found)

It is in a file's metadata. Files without metadata are walked once, from header to header.
"""

import functools
import json
import os
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from albert.data import record_files
from albert.util import files, many_files
from albert.util.errors import UserError

INDEX_NAME = "record_index.json"  # in the output folder, for files without metadata
_SECONDS_BETWEEN_SAVES = 60.0
# Of all files of a call together: about ten megabytes as JSON, forty as numbers.
_MOST_OFFSETS = 1 << 20
# Of a file: with many files a reader splits each into at most this many runs.
_FEWEST_OFFSETS = 16

_Entry = Dict[str, Any]  # of the index: BlockOffsets.as_json, and the state of the file
_ENTRY_TYPES = {"state": [int], "count": int, "blocks": record_files.BLOCK_TYPES}


def load(
    paths: Sequence[str], *, folder: Optional[str] = None, enough: Optional[int] = None
) -> List[record_files.BlockOffsets]:
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
    locate = functools.partial(_locate, entries=_read(index), most=most)
    found: List[record_files.BlockOffsets] = []
    walked: Dict[str, _Entry] = {}
    count, saved = 0, time.time()
    for blocks, entry in many_files.each(locate, paths, "Looking at the records"):
        found.append(blocks)
        count += blocks.count
        if entry:
            walked[blocks.path] = entry
        if time.time() - saved > _SECONDS_BETWEEN_SAVES:
            _save(index, walked)
            saved = time.time()
        if enough is not None and count >= enough:
            break
    _save(index, walked)
    return found


def _locate(
    path: str, *, entries: Mapping[str, _Entry], most: int
) -> Tuple[record_files.BlockOffsets, Optional[_Entry]]:
    """At most `most` blocks of a file, and its new entry of the index if it had to be walked."""
    sidecar, state = record_files.fitting_sidecar(path), files.state_of(path)
    known = entries.get(path)
    if sidecar and sidecar.blocks:
        known = sidecar._asdict()
    elif known and not (known["state"] == state and _is_finest(known, most)):
        known = None
    if known:
        blocks = record_files.BlockOffsets.from_json(path, state[0], known)
    else:
        blocks = record_files.walk_records(path)
    blocks.thin(most)
    return blocks, None if known else {"state": state, **blocks.as_json()}


def _is_finest(entry: _Entry, most: int) -> bool:
    """Whether a walk would find no smaller blocks; a call with more files keeps fewer of each."""
    records = entry["blocks"]["records"]
    halves = -(-2 * entry["count"] // records)
    return records == record_files.BlockOffsets.block_records or halves > most


def _read(index: str) -> Dict[str, _Entry]:
    """The entries of the index by path; none if it is not there or is damaged."""
    try:
        return files.read_json_object(index, {"files": {str: _ENTRY_TYPES}})["files"]
    except UserError:
        return {}


def _save(index: str, walked: Mapping[str, _Entry]) -> None:
    """Adds entries to the index, to which another process may have added others."""
    if index and walked:
        content = {"format_version": 1, "files": {**_read(index), **walked}}
        files.atomic_write_text(index, json.dumps(content))
