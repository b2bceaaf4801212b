# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shuffling more records than fit in memory: sorted parts on disk, read together in order of key.

Every record has a random 64-bit key. Whoever makes records writes them as parts, each in order of
key; the parts of a window, read together in order of key, are a uniform shuffle of the window.
`WindowShuffle` reads one narrow range of keys at a time, so that memory does not depend on how
many records there are. A part appears under its name when it is whole, and thereby is the journal
of the work done: a job that was stopped goes on after the parts it finds.

Parts are local files. Legend: N records of a part, R key ranges of a window.
"""

import contextlib
import json
import os
import zlib
from typing import (
    Any,
    BinaryIO,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np

from albert.data import records as example_batches
from albert.util import files

_MAGIC = b"albert part 1\n"
_RANGE_BYTES = 1 << 24  # of the records that are in memory together


class Part(NamedTuple):
    """What is known about a part without reading its records.

    The file: the records, their keys (8 bytes each), where they end (8 bytes each), this in JSON,
    the length of the JSON (8 bytes), and the mark of the format.
    """

    path: str
    count: int
    bytes: int  # of the records
    checksum: int  # of all before the JSON
    note: Dict[str, Any]  # the maker's own, JSON

    @property
    def keys_at(self) -> int:
        """Where the keys start in the file."""
        return self.bytes

    @property
    def ends_at(self) -> int:
        """Where the ends start."""
        return self.keys_at + 8 * self.count


def write_part(
    path: str,
    keys: np.ndarray,
    batches: Iterable[example_batches.EncodedExamples],
    *,
    note: Dict[str, Any],
) -> Part:
    """Writes a part to `path`, where it appears only when it is whole, and returns it.

    Args:
      path: a local file.
      keys: uint64 [N], ascending.
      batches: the N records, in the order of the keys; one batch is in memory at a time.
      note: JSON values to find again in Part.note; read after the last batch.
    """
    ends: List[np.ndarray] = []
    checksum = size = 0
    temporary = f"{path}.tmp-{files.random_suffix()}"
    try:
        with files.naming_full_disk(path), open(temporary, "xb") as stream:
            for batch in batches:
                stream.write(batch.data)
                checksum = zlib.crc32(batch.data, checksum)
                ends.append(batch.ends + size)
                size += len(batch.data)
            index = keys.astype("<u8").tobytes()
            index += np.concatenate(ends + [np.zeros([0], np.int64)]).astype("<u8").tobytes()
            part = Part(path, len(keys), size, zlib.crc32(index, checksum), note)
            text = json.dumps(dict(part._asdict(), path=None), sort_keys=True).encode("utf-8")
            stream.write(index + text + len(text).to_bytes(8, "little") + _MAGIC)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
    return part


def read_part(path: str, *, verify: bool = False) -> Optional[Part]:
    """Returns the part at `path`; None if there is none or it is not whole.

    Args:
      path: a local file.
      verify: also read the records and compare their checksum.
    """
    tail = len(_MAGIC) + 8
    if not os.path.isfile(path) or os.path.getsize(path) < tail:
        return None
    with open(path, "rb") as stream:
        stream.seek(-tail, os.SEEK_END)
        text_ends = stream.tell()
        footer = stream.read(tail)
        text_starts = text_ends - int.from_bytes(footer[:8], "little")
        if footer[8:] != _MAGIC or text_starts < 0:
            return None
        stream.seek(text_starts)
        part = Part(**dict(json.loads(stream.read(text_ends - text_starts).decode()), path=path))
        if verify:
            stream.seek(0)
            if _checksum(stream, text_starts) != part.checksum:
                return None
    return part


def _checksum(stream: BinaryIO, size: int) -> int:
    """Of the next `size` bytes."""
    checksum = 0
    while size > 0:
        chunk = stream.read(min(size, 1 << 20))
        checksum = zlib.crc32(chunk, checksum)
        size -= len(chunk)
    return checksum


def _split(data: bytes, ends: np.ndarray) -> List[bytes]:
    """The records that end at `ends`."""
    borders = ends.tolist()
    return [data[start:end] for start, end in zip([0] + borders, borders)]


class _Range(NamedTuple):
    """The records of one range of keys, in order."""

    number: int
    records: List[bytes]


class WindowShuffle:
    """The records of some parts in order of key."""

    def __init__(self, parts: Sequence[Part], *, range_bytes: int = _RANGE_BYTES):
        """`range_bytes`: about how many bytes of records are in memory at a time."""
        self._parts = list(parts)
        self.count = sum(part.count for part in parts)
        size = sum(part.bytes for part in parts)
        self._ranges = max(1, -(-size // range_bytes))
        self._borders: List[np.ndarray] = []  # a part's: int32 [R + 1], where each range starts
        self._starts = np.zeros([0], np.int64)  # [R + 1]: rank of the first record of each range
        self._current = _Range(-1, [])

    def _find_borders(self) -> None:
        """Reads all keys once. Keys are random, so ranges of equal width are of equal size."""
        edges = [(number << 64) // self._ranges for number in range(self._ranges)]
        edges = np.array(edges, np.uint64)
        for part in self._parts:
            with open(part.path, "rb") as stream:
                stream.seek(part.keys_at)
                keys = np.fromfile(stream, "<u8", part.count)
            border = np.append(np.searchsorted(keys, edges), part.count).astype(np.int32)
            self._borders.append(border)
        self._starts = np.sum(self._borders, axis=0, dtype=np.int64)

    def records(self, start: int, end: int) -> Iterator[bytes]:
        """Yields the records with ranks start .. end - 1.

        One stretch after another costs no more than all at once.

        Raises:
          OSError: a part has gone.
        """
        if not self._borders and self._parts:
            self._find_borders()
        while start < end:
            number = int(np.searchsorted(self._starts, start, side="right")) - 1
            if self._current.number != number:
                self._current = _Range(-1, [])  # not two in memory
                self._current = _Range(number, self._read_range(number))
            first = int(self._starts[number])
            last = min(end, int(self._starts[number + 1]))
            yield from self._current.records[start - first : last - first]
            start = last

    def _read_range(self, number: int) -> List[bytes]:
        """The records of one range of keys of all parts, merged."""
        keys, records = [], []
        for part, border in zip(self._parts, self._borders):
            first, last = int(border[number]), int(border[number + 1])
            if first < last:
                part_keys, part_records = _read_rows(part, first, last)
                keys.append(part_keys)
                records += part_records
        # Stable: records with the same key stay in order of part.
        order = np.argsort(np.concatenate(keys), kind="stable")
        return [records[row] for row in order.tolist()]


def _read_rows(part: Part, first: int, last: int) -> Tuple[np.ndarray, List[bytes]]:
    """Keys and records first .. last - 1 of a part."""
    with open(part.path, "rb", buffering=0) as stream:
        stream.seek(part.keys_at + 8 * first)
        keys = np.frombuffer(stream.read(8 * (last - first)), "<u8")
        before = 1 if first else 0
        stream.seek(part.ends_at + 8 * (first - before))
        ends = np.frombuffer(stream.read(8 * (last - first + before)), "<u8").astype(np.int64)
        start = int(ends[0]) if before else 0
        stream.seek(start)
        data = stream.read(int(ends[-1]) - start)
    return keys, _split(data, ends[before:] - start)
