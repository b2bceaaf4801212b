# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TFRecord files and the metadata beside them; finds damaged records.

Beside `data.tfrecord` lies `.data.tfrecord.meta.json` (the sidecar) with the number of records, the
size, where blocks of records begin, and the fingerprint of what the file was made from; a program
that would make the file compares the fingerprint with its own, and makes it again if they differ.

    with record_files.create("data.tfrecord", fingerprint) as file:
        file.write(serialized)
    with record_files.explained():      # names the damaged record that stops a training
        estimator.train(...)
"""

import bisect
import collections
import contextlib
import dataclasses
import functools
import itertools
import logging
import os
import re
import sys
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.util import files, json_files, parallel, provenance
from albert.util.errors import UserError

FORMAT_VERSION = 1
NOT_THERE = "the file does not exist"

_HEADER_BYTES = 12  # of a record: its length (8) and the checksum of that (4)
_FOOTER_BYTES = 4  # checksum of the data
_MOST_OFFSETS = 4096  # that the metadata of a file keeps
INDEX_NAME = "record_index.json"  # in the output folder, for files without metadata
# For all files of a call together: about ten megabytes as JSON, forty as numbers.
_MOST_OFFSETS_TOGETHER = 1 << 20
# Per file: with many files, a reader splits each into at most this many runs.
_FEWEST_OFFSETS = 16

_LOGGER = logging.getLogger("albert")


# ---------------------------------------------------------------------------------------- metadata

SCHEMA = {
    "bytes": json_files.COUNT,
    "count": json_files.COUNT,
    "fingerprint": {
        "maker": (str, None),
        "text": ([{"name": str}], None),
    },
    "blocks": {
        "records": range(1, json_files.COUNT.stop),
        "offsets": re.compile("(?#numbers)([0-9]{1,18}( [0-9]{1,18})*)?"),
    },
}


@dataclasses.dataclass
class RecordFile:
    """The metadata of a TFRecord file: offsets of its blocks of records, and its origin.

    The blocks grow with the file. `writer` is what `write` writes to.
    """

    path: str = ""
    bytes: int = 0
    count: int = 0  # records
    block_records: int = 64  # of each block; the last one may have fewer
    offsets: List[int] = dataclasses.field(default_factory=list)  # first byte of each block
    fingerprint: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    writer: Any = None

    def write(self, record: Any) -> None:
        """Appends a serialised record."""
        self.writer.write(record)
        self.add(len(record))

    def add(self, length: int) -> None:
        """Counts one more record, of `length` bytes."""
        if self.count % self.block_records == 0:
            self.offsets.append(self.bytes)
            self.thin(_MOST_OFFSETS)
        self.count += 1
        self.bytes += _HEADER_BYTES + length + _FOOTER_BYTES

    def thin(self, most: int) -> None:
        """Makes blocks twice as large until there are `most` at most."""
        while len(self.offsets) > most:
            self.offsets = self.offsets[::2]
            self.block_records *= 2

    def as_json(self) -> Dict[str, Any]:
        """Returns the metadata; the offsets are on one line."""
        offsets = " ".join(map(str, self.offsets))
        return {
            "format_version": FORMAT_VERSION,
            "bytes": self.bytes,
            "count": self.count,
            "fingerprint": self.fingerprint,
            "blocks": {"records": self.block_records, "offsets": offsets},
        }

    @classmethod
    def from_json(cls, path: str, values: Mapping[str, Any]) -> "RecordFile":
        """Returns a file of which `as_json` gave these values."""
        blocks = values["blocks"]
        offsets = list(map(int, blocks["offsets"].split()))
        return cls(
            path,
            values["bytes"],
            values["count"],
            blocks["records"],
            offsets,
            values["fingerprint"],
        )


def sidecar_path(path: str) -> str:
    """Returns the path of the metadata of the record file `path`."""
    folder, base = os.path.split(str(path))
    return os.path.join(folder, f".{base}.meta.json")


def write_sidecar(file: RecordFile) -> None:
    """Writes the metadata of a finished record file."""
    files.atomic_write_json(sidecar_path(file.path), file.as_json())


@contextlib.contextmanager
def create(path: str, fingerprint: Mapping[str, Any] = {}) -> Iterator[RecordFile]:
    """Yields a file for records. It appears with its metadata when the block succeeds.

    If the block ends with an exception nothing remains, and an older file stays as it was.
    `fingerprint`: JSON values that say what the records are made from.
    """
    file = RecordFile(str(path), fingerprint=fingerprint)
    with files.atomic_path(file.path) as temporary:
        with tf.io.TFRecordWriter(temporary) as file.writer:
            yield file
        # The old metadata must never describe the new file, not even after a kill.
        with contextlib.suppress(tf.errors.NotFoundError):
            tf.io.gfile.remove(sidecar_path(file.path))
    write_sidecar(file)


def read_sidecar(path: str) -> Optional[RecordFile]:
    """Returns the metadata of `path`; None if it is missing or unreadable."""
    sidecar = sidecar_path(path)
    return parse_sidecar(files.read_bytes(sidecar), path) if tf.io.gfile.exists(sidecar) else None


def parse_sidecar(content: bytes, path: str) -> Optional[RecordFile]:
    """Returns the metadata in a sidecar's content; None, with a warning, if it is unreadable.

    Args:
      content: of the sidecar.
      path: the record file.
    """
    try:
        values = json_files.parse(content, f"'{sidecar_path(path)}'", SCHEMA)
    except UserError as error:
        _LOGGER.warning("Ignoring damaged metadata: %s", error)
        return None
    return RecordFile.from_json(path, values)


def why_stale(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns why the record file `path` cannot be used for `fingerprint`; "" if it can.

    The text is made for one log line, e.g. "max_seq_length was 128 and is 512".
    """
    if not tf.io.gfile.exists(str(path)):
        return NOT_THERE
    (size, _), sidecar = files.state_of(path), read_sidecar(path)
    if sidecar is None:
        return "it has no metadata about what it was made from"
    return provenance.difference(
        {"bytes": sidecar.bytes, **sidecar.fingerprint}, {"bytes": size, **fingerprint}
    )


# --------------------------------------------------------------------------------- finding records


def count_records(path: str) -> int:
    """Returns the number of records in a TFRecord file, from its metadata or by counting.

    Raises:
      UserError: the file is shorter than what was written or ends inside a record, is no TFRecord
        file, or is not there.
    """
    return (fitting_sidecar(path) or walk_records(path)).count


def fitting_sidecar(path: str) -> Optional[RecordFile]:
    """Returns what the metadata says of a file; None if there is none of a file of this size.

    Raises:
      UserError: the file is shorter than what was written, or is not there.
    """
    (size, _), sidecar = files.state_of(path), read_sidecar(path)
    if sidecar and size < sidecar.bytes:
        # It may end between two records, which reading the headers would not detect.
        raise UserError(
            f"Record file '{path}' was cut off: it has only {size} of {sidecar.bytes} bytes. "
            f"Create it again. If you replaced it on purpose, remove its metadata, "
            f"'{sidecar_path(path)}'."
        )
    return sidecar if sidecar and sidecar.bytes == size else None


def walk_records(path: str) -> RecordFile:
    """Returns where the blocks of a TFRecord file begin, by its record headers alone.

    Raises:
      UserError: the file ends inside a record, or is no TFRecord file.
    """
    walked = RecordFile(path)
    with files.open_to_read(path) as stream:
        for _, length in headers(path, stream):
            walked.add(length)
    return walked


def first_records(path: str, count: int = 1) -> List[bytes]:
    """Returns the first records of a TFRecord file, `count` at most.

    (TensorFlow's iterator reads sixteen megabytes ahead.)

    Raises:
      UserError: the file ends inside a record, or is no TFRecord file.
    """
    with files.open_to_read(path) as stream:
        positions = itertools.islice(headers(path, stream), count)
        return [stream.read(length) for _, length in positions]


def headers(path: str, stream: Any, position: int = 0) -> Iterator[Tuple[int, int]]:
    """Yields offset and length of each record from a position on; `stream` is then at its data.

    Raises:
      UserError: the file ends inside a record, or is no TFRecord file.
    """
    size, _ = files.state_of(path)
    while position < size:
        stream.seek(position)
        length = int.from_bytes(stream.read(_HEADER_BYTES)[:8], "little")
        begin, position = position, position + _HEADER_BYTES + length + _FOOTER_BYTES
        if position > size:
            raise UserError(
                f"Record file '{path}' was cut off, or is not an uncompressed TFRecord file: it "
                "ends inside a record. Create it again."
            )
        yield begin, length


def load(
    paths: Sequence[str], *, folder: Optional[str] = None, enough: int = sys.maxsize
) -> List[RecordFile]:
    """Returns the blocks of record files, in their order.

    The metadata of a file has them. Files without metadata are read from record header to record
    header, many at a time, and the index is kept for the next start. With more than 256 files, the
    index keeps fewer blocks per file, to limit memory. All hosts compute the same index.

    Args:
      paths: record files.
      folder: where the index is kept, as INDEX_NAME; None: nowhere.
      enough: a number of records. Files after the first ones that have so many are left out.

    Raises:
      UserError: a file is damaged, cut off, not there, or no record file.
    """
    index = os.path.join(folder or "", INDEX_NAME)
    before = _read_index(index) if folder else {}
    kept, record_files, count = dict(before), [], 0
    most = max(_FEWEST_OFFSETS, _MOST_OFFSETS_TOGETHER // max(1, len(paths)))

    def locate(path: str) -> RecordFile:
        file = fitting_sidecar(path)
        if file is None:
            state = [*files.state_of(path), most]
            if kept.get(path, {}).get("state") != state:
                walked = walk_records(path)
                walked.thin(most)
                kept[path] = dict(walked.as_json(), state=state)
            file = RecordFile.from_json(path, kept[path])
        file.thin(most)
        return file

    for file in parallel.in_threads(locate, paths, "Indexing the records"):
        record_files.append(file)
        count += file.count
        if count >= enough:
            break
    if folder and kept != before:  # another process may have added files
        files.atomic_write_json(index, {"files": {**_read_index(index), **kept}})
    _read.update((file.path, file) for file in record_files)
    return record_files


def _read_index(index: str) -> Dict[str, Dict[str, Any]]:
    """RecordFile.as_json() and the state of files, by path; {} if there is no index to read."""
    try:
        return json_files.read(index, {"files": {str: SCHEMA}})["files"]
    except UserError:
        return {}


# ------------------------------------------------------------------------------------------ damage

_PLACE = re.compile(r"(?:corrupted|truncated) record at (\d+)")
_read: Dict[str, RecordFile] = {}  # the files that data sets of this process read, by path


def records(path: str) -> Iterator[bytes]:
    """Yields the records of a TFRecord file, whose checksums are verified.

    Raises:
      UserError: a record is damaged; the message has the file and the record's number.
    """
    number = 0
    try:
        for record in tf.python_io.tf_record_iterator(str(path)):
            yield record
            number += 1
    except tf.errors.DataLossError:
        raise UserError(
            f"Record file '{path}' is damaged in record {number} (counted from 0), or is not an "
            "uncompressed TFRecord file: a checksum is wrong. Delete the file or create it again. "
            "Then run the same command again."
        ) from None


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Adds the file and the record's number to errors about damaged records in this context.

    TensorFlow says at which byte a record is damaged, but not of which file.

    Raises:
      UserError: a record that was read in the block is damaged.
    """
    try:
        yield
    except tf.errors.DataLossError as error:
        for offset in _PLACE.findall(error.message):
            check = functools.partial(_check_record, int(offset))
            list(parallel.in_threads(check, list(_read.values())[::-1]))
        raise


def _check_record(offset: int, file: RecordFile) -> None:
    """Raises UserError if a record that begins at a byte, or whose data does, is damaged."""
    if offset >= file.bytes:
        return
    block = file.offsets[bisect.bisect_right(file.offsets, offset) - 1]
    with files.open_to_read(file.path) as stream:
        for begin, _ in headers(file.path, stream, block):
            if begin >= offset - _HEADER_BYTES:
                break
    if begin in (offset, offset - _HEADER_BYTES):
        collections.deque(records(file.path), maxlen=0)
