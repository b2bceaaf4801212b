# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the records of record files are, so that a reader can begin anywhere in them.

    found = record_index.load(paths, folder=output_dir)
    sum(one.count for one in found)

A file's metadata tells it. Files without metadata are walked once, from header to header.
"""

import json
import logging
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert import files, many_files

_LOGGER = logging.getLogger("albert")
# In the output folder: where the records of files without metadata are.
INDEX_NAME = "record_index.json"
_FILES_AT_ONCE = 32  # remote ones answer slowly
_SECONDS_BETWEEN_SAVES = 60.0


class FileBlocks(NamedTuple):
    """Where the blocks of a record file begin.

    Attributes:
      path: the file.
      size: its bytes.
      count: its records.
      block_records: records of each block; the last one may have fewer.
      offsets: first byte of each block.
    """

    path: str
    size: int
    count: int
    block_records: int
    offsets: Sequence[int]


def load(
    paths: Sequence[str], *, folder: Optional[str] = None, enough: Optional[int] = None
) -> List[FileBlocks]:
    """Returns the blocks of record files, in their order.

    A file's metadata tells them. Files without it are walked from record header to record header,
    many at a time, and what was found is kept for the next start.

    Args:
      paths: record files.
      folder: where it is kept, as INDEX_NAME; None: nowhere.
      enough: once so many records are found, further files are left out.

    Raises:
      ValueError: a file is damaged, cut off, not there, or no record file.
    """
    index = _Index(folder)
    found: List[FileBlocks] = []
    at_once = len(paths) if enough is None else _FILES_AT_ONCE
    while len(found) < len(paths):
        if enough is not None and sum(blocks.count for blocks in found) >= enough:
            break
        group = paths[len(found) : len(found) + at_once]
        known = dict(zip(group, many_files.each(index.look_up, group, "Looking at the records")))
        known.update(index.walk([path for path in group if known[path] is None]))
        found += [known[path] for path in group]
    return found


class _Index:
    """What is known of record files, from their metadata or from an earlier walk."""

    def __init__(self, folder: Optional[str]):
        """Reads what was kept in the folder."""
        self._path = f"{str(folder).rstrip('/')}/{INDEX_NAME}" if folder else None
        self._kept: Dict[str, Dict] = {}
        if self._path and tf.io.gfile.exists(self._path):
            try:
                self._kept = files.read_json_object(self._path)
            except ValueError as error:
                _LOGGER.warning("%s It is made again.", error)

    def look_up(self, path: str) -> Optional[FileBlocks]:
        """Returns the blocks of a file; None if it has to be walked."""
        sidecar, size = files.fitting_sidecar(path)
        told = sidecar and _from_json(path, size, sidecar._asdict())
        if told:
            return told
        kept = self._kept.get(path)
        if not isinstance(kept, dict) or kept.get("state") != many_files.state_of(path):
            return None
        return _from_json(path, size, kept)

    def walk(self, paths: Sequence[str]) -> Dict[str, FileBlocks]:
        """Returns the blocks of files, and keeps them as it goes."""
        found = {}
        saved = time.time()
        walks = many_files.each(_walk, paths, "Counting the records")
        for path, (size, state, blocks) in zip(paths, walks):
            found[path] = FileBlocks(path, size, blocks.count, blocks.block_records, blocks.offsets)
            known = {"state": state, "count": blocks.count, "blocks": blocks.as_json()}
            if state == many_files.state_of(path):
                self._kept[path] = known
            if time.time() - saved > _SECONDS_BETWEEN_SAVES:
                self._save()
                saved = time.time()
        if found:
            self._save()
        return found

    def _save(self) -> None:
        if self._path:
            tf.io.gfile.makedirs(self._path.rsplit("/", 1)[0])
            files.atomic_write_text(self._path, json.dumps(self._kept))


def _walk(path: str) -> Tuple[int, Optional[List[int]], files.BlockOffsets]:
    """The size of a file and its state before it is walked, and its blocks."""
    size, state = tf.io.gfile.stat(path).length, many_files.state_of(path)
    return size, state, files.walk_records(path, size)


def _from_json(path: str, size: int, known: Mapping[str, Any]) -> Optional[FileBlocks]:
    """What was written down, if it can be true of the file."""
    try:
        count, blocks = known["count"], known["blocks"]
        records, offsets = blocks["records"], [int(text) for text in blocks["offsets"].split()]
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
    ascends = all(one < other for one, other in zip(offsets, [*offsets[1:], size]))
    if not ascends or records < 1 or len(offsets) != -(-count // records):
        return None
    return FileBlocks(path, size, count, records, offsets)
