# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the records of record files are, so that a reader can begin anywhere in them.

    found = record_index.load(paths, folder=output_dir)
    sum(one.count for one in found)

It is in a file's metadata. Files without metadata are walked once, from header to header.
"""

import json
import logging
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.util import files, many_files

_LOGGER = logging.getLogger("albert")
INDEX_NAME = "record_index.json"  # in the output folder, for files without metadata
_FILES_AT_ONCE = 32  # remote ones answer slowly
_SECONDS_BETWEEN_SAVES = 60.0
_FORMAT_VERSION = 1
# Of all files of a call together: about ten megabytes as JSON, forty as numbers.
_MOST_OFFSETS = 1 << 20
# Of a file: with many files a reader splits each into at most this many runs.
_FEWEST_OFFSETS = 16


class FileBlocks(NamedTuple):
    """Where the blocks of a record file begin."""

    path: str
    size: int  # bytes
    count: int  # type: ignore[assignment]  # of records; a tuple's method
    block_records: int  # of each block; the last one may have fewer
    offsets: Sequence[int]  # first byte of each block


def load(
    paths: Sequence[str], *, folder: Optional[str] = None, enough: Optional[int] = None
) -> List[FileBlocks]:
    """Returns the blocks of record files, in their order.

    They are in a file's metadata. Files without it are walked from record header to record header,
    many at a time, and what was found is kept for the next start. Of more than 256 files each has
    fewer blocks, so that all of them fit into memory; how many follows from the files alone, on
    every host and at every start.

    Args:
      paths: record files.
      folder: where it is kept, as INDEX_NAME; None: nowhere.
      enough: once so many records are found, further files are left out, in groups of 32.

    Raises:
      ValueError: a file is damaged, cut off, not there, or no record file.
    """
    index = _Index(folder, max(_FEWEST_OFFSETS, _MOST_OFFSETS // max(1, len(paths))))
    found: List[FileBlocks] = []
    at_once = len(paths) if enough is None else _FILES_AT_ONCE
    while len(found) < len(paths):
        if enough is not None and sum(blocks.count for blocks in found) >= enough:
            break
        group = paths[len(found) : len(found) + at_once]
        known = dict(zip(group, many_files.each(index.look_up, group, "Looking at the records")))
        known.update(index.walk([path for path in group if known[path] is None]))
        found += [known[path] for path in group]
    index.save()
    return found


class _Index:
    """What is known of record files, from their metadata or from an earlier walk."""

    def __init__(self, folder: Optional[str], most_offsets: int):
        """Reads what was kept in the folder; `most_offsets`: of a file."""
        self._path = f"{str(folder).rstrip('/')}/{INDEX_NAME}" if folder else None
        self._most_offsets = most_offsets
        self._kept = self._read()
        self._walked: Dict[str, Dict] = {}
        self._saved = time.time()

    def look_up(self, path: str) -> Optional[FileBlocks]:
        """Returns the blocks of a file; None if it has to be walked."""
        sidecar, size = record_files.fitting_sidecar(path)
        known = sidecar and _from_json(path, size, sidecar._asdict())
        if known:
            return self._thinned(known)
        kept = self._kept.get(path)
        if not isinstance(kept, dict) or kept.get("state") != files.state_of(path):
            return None
        found = _from_json(path, size, kept)
        return self._thinned(found) if found and self._is_fine(found) else None

    def walk(self, paths: Sequence[str]) -> Dict[str, FileBlocks]:
        """Returns the blocks of files, and keeps them as it goes."""
        found = {}
        walks = many_files.each(_walk, paths, "Counting the records")
        for path, (size, state, blocks) in zip(paths, walks):
            found[path] = self._thinned(
                FileBlocks(path, size, blocks.count, blocks.block_records, blocks.offsets)
            )
            if state == files.state_of(path):
                self._walked[path] = {"state": state, **_to_json(found[path])}
            if time.time() - self._saved > _SECONDS_BETWEEN_SAVES:
                self._write({**self._kept, **self._walked})
                self._saved = time.time()
        return found

    def save(self) -> None:
        """Keeps what was walked, beside what is known of other files that are there."""
        if not self._walked or not self._path:
            return
        known = self._read()  # another process may have added to it
        there = many_files.each(tf.io.gfile.exists, list(known))
        known = {path: one for (path, one), is_there in zip(known.items(), there) if is_there}
        self._write({**known, **self._walked})

    def _thinned(self, blocks: FileBlocks) -> FileBlocks:
        """Fewer, larger blocks, thinned as record_files.BlockOffsets does."""
        while len(blocks.offsets) > self._most_offsets:
            blocks = blocks._replace(
                block_records=2 * blocks.block_records, offsets=blocks.offsets[::2]
            )
        return blocks

    def _is_fine(self, blocks: FileBlocks) -> bool:
        """True if a rescan would not add blocks; a call with more files keeps fewer of each."""
        finest = record_files.BlockOffsets().block_records
        halves = -(-2 * blocks.count // blocks.block_records)
        return blocks.block_records <= finest or halves > self._most_offsets

    def _read(self) -> Dict[str, Any]:
        """The cached entries by path; none if another version wrote the file."""
        if not self._path or not tf.io.gfile.exists(self._path):
            return {}
        try:
            content = files.read_json_object(self._path, {"format_version": int, "files": dict})
        except ValueError as error:
            _LOGGER.warning("%s It is made again.", error)
            return {}
        return content["files"] if content["format_version"] == _FORMAT_VERSION else {}

    def _write(self, known: Dict[str, Any]) -> None:
        if self._path:
            tf.io.gfile.makedirs(self._path.rsplit("/", 1)[0])
            content = {"format_version": _FORMAT_VERSION, "files": known}
            files.atomic_write_text(self._path, json.dumps(content))


def _walk(path: str) -> Tuple[int, Optional[List[int]], record_files.BlockOffsets]:
    """The size of a file and its state before it is walked, and its blocks."""
    size, state = tf.io.gfile.stat(path).length, files.state_of(path)
    return size, state, record_files.walk_records(path, size)


def _to_json(blocks: FileBlocks) -> Dict[str, Any]:
    offsets = " ".join(map(str, blocks.offsets))
    return {"count": blocks.count, "blocks": {"records": blocks.block_records, "offsets": offsets}}


def _from_json(path: str, size: int, known: Mapping[str, Any]) -> Optional[FileBlocks]:
    """The cached entry, or None if it contradicts the file."""
    try:
        count, blocks = known["count"], known["blocks"]
        records, offsets = blocks["records"], [int(text) for text in blocks["offsets"].split()]
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
    ascends = all(one < other for one, other in zip(offsets, [*offsets[1:], size]))
    if not ascends or records < 1 or len(offsets) != -(-count // records):
        return None
    return FileBlocks(path, size, count, records, offsets)
