# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TFRecord files and their metadata; finds damaged records.

The metadata of `data.tfrecord` is in `.data.tfrecord.meta.json` (the sidecar): the number of
records, the size, the offsets of blocks of records, and a fingerprint of the inputs and settings. A
program compares the fingerprint with its own, and makes the file again if they differ.

    with record_files.create("data.tfrecord", fingerprint) as file:
        file.write(serialized)
    with record_files.explained():      # if a record is damaged, the error has its file and number
        estimator.train(...)
"""

import bisect
import collections
import contextlib
import dataclasses
import functools
import itertools
import os
import re
import sys
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import google_crc32c

from albert.util import UserError, files, json_files, log, parallel, provenance

FORMAT_VERSION = 1
NOT_THERE = "the file does not exist"

_HEADER_BYTES = 12  # the record's length (8 bytes) and the length's checksum (4 bytes)
_FOOTER_BYTES = 4  # the data's checksum
_MOST_OFFSETS = 4096  # in the metadata of a file
INDEX_NAME = "record_index.json"  # in the output folder, for files without metadata
# For all files of a call: about ten megabytes as JSON, and forty in memory.
_MOST_OFFSETS_TOGETHER = 1 << 20
# Per file. If there are many files, a reader splits each into at most this many runs.
_FEWEST_OFFSETS = 16


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
    """The metadata of a TFRecord file: offsets of its blocks of records, and its fingerprint.

    The blocks grow with the file.
    """

    path: str = ""
    bytes: int = 0
    count: int = 0  # records
    block_records: int = 64  # records per block; the last block may have fewer
    offsets: List[int] = dataclasses.field(default_factory=list)  # first byte of each block
    fingerprint: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    stream: Any = None  # of bytes, for `write`

    def write(self, record: Any) -> None:
        """Appends a serialised record."""
        length = len(record).to_bytes(8, "little")
        self.stream.write(b"".join([length, _checksum(length), record, _checksum(record)]))
        self.add(len(record))

    def add(self, length: int) -> None:
        """Counts one more record, of `length` bytes."""
        if self.count % self.block_records == 0:
            self.offsets.append(self.bytes)
            self.thin(_MOST_OFFSETS)
        self.count += 1
        self.bytes += _HEADER_BYTES + length + _FOOTER_BYTES

    def thin(self, most: int) -> None:
        """Doubles the size of the blocks until there are at most `most` blocks."""
        while len(self.offsets) > most:
            self.offsets = self.offsets[::2]
            self.block_records *= 2

    def as_json(self) -> Dict[str, Any]:
        """Returns the metadata as a JSON object. The offsets are one text, to be on one line."""
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
        """Returns a RecordFile from values that `as_json` returned."""
        blocks = values["blocks"]
        return cls(
            path,
            values["bytes"],
            values["count"],
            blocks["records"],
            list(map(int, blocks["offsets"].split())),
            values["fingerprint"],
        )


def _checksum(content: bytes) -> bytes:
    """Returns the masked CRC-32C that TFRecord files have after each length and record."""
    crc = google_crc32c.value(content)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


def sidecar_path(path: str) -> str:
    """Returns the path of the metadata of the record file `path`."""
    folder, base = os.path.split(str(path))
    return os.path.join(folder, f".{base}.meta.json")


def write_sidecar(file: RecordFile) -> None:
    """Writes the metadata of a finished record file."""
    files.atomic_write_json(sidecar_path(file.path), file.as_json())


@contextlib.contextmanager
def create(path: str, fingerprint: Mapping[str, Any] = {}) -> Iterator[RecordFile]:
    """Yields a new record file, which appears with its metadata if the block succeeds.

    If the block raises an exception, an older file stays as it was.
    `fingerprint`: JSON values that identify the inputs and settings.
    """
    file = RecordFile(str(path), fingerprint=fingerprint)
    with files.atomic_path(file.path) as temporary:
        with files.open_bytes(temporary, "wb") as file.stream:
            yield file
        # The old metadata must never describe the new file, not even after a kill.
        if files.exists(sidecar_path(file.path)):
            files.remove(sidecar_path(file.path))
    write_sidecar(file)


def read_sidecar(path: str) -> Optional[RecordFile]:
    """Returns the metadata of `path`; None if it is missing or unreadable."""
    sidecar = sidecar_path(path)
    return parse_sidecar(files.read_bytes(sidecar), path) if files.exists(sidecar) else None


def parse_sidecar(content: bytes, path: str) -> Optional[RecordFile]:
    """Parses the content of a sidecar. If it is damaged, logs a warning and returns None.

    Args:
      content: the sidecar's content.
      path: the record file.
    """
    try:
        values = json_files.parse(content, f"'{sidecar_path(path)}'", SCHEMA)
    except UserError as error:
        log.warning("Ignoring damaged metadata: %s", error)
        return None
    return RecordFile.from_json(path, values)


def why_stale(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns why the record file `path` does not fit `fingerprint`; "" if it fits.

    The text fits into a log line, such as "max_seq_length was 128 and is 512".
    """
    if not files.exists(str(path)):
        return NOT_THERE
    (size, _), sidecar = files.state_of(path), read_sidecar(path)
    if sidecar is None:
        return "it has no metadata about what it was made from"
    return provenance.difference(
        {"bytes": sidecar.bytes, **sidecar.fingerprint}, {"bytes": size, **fingerprint}
    )


# ----------------------------------------------------------------------------------------- records


def count_records(path: str) -> int:
    """Returns the number of records in a TFRecord file, from its metadata or by counting.

    Raises:
      UserError: the file does not exist, is not a TFRecord file, is shorter than its metadata says,
        or ends inside a record.
    """
    return (fitting_sidecar(path) or walk_records(path)).count


def fitting_sidecar(path: str) -> Optional[RecordFile]:
    """Returns the metadata of a file; None if it is missing, or does not fit the file's size.

    Raises:
      UserError: the file does not exist, or is shorter than its metadata says.
    """
    (size, _), sidecar = files.state_of(path), read_sidecar(path)
    if sidecar and size < sidecar.bytes:
        # If the file ends between two records, reading the headers would not detect the loss.
        raise UserError(
            f"Record file '{path}' was cut off: it has only {size} of {sidecar.bytes} bytes. "
            f"Create it again. If you replaced it on purpose, remove its metadata, "
            f"'{sidecar_path(path)}'."
        )
    return sidecar if sidecar and sidecar.bytes == size else None


def walk_records(path: str) -> RecordFile:
    """Returns the metadata of a TFRecord file. Reads only the headers of its records.

    Raises:
      UserError: the file ends inside a record, or is not a TFRecord file.
    """
    walked = RecordFile(path)
    with files.open_to_read(path) as stream:
        for _, length in headers(path, stream):
            walked.add(length)
    return walked


def first_records(path: str, count: int = 1) -> List[bytes]:
    """Returns at most `count` records from the start of a TFRecord file.

    (TensorFlow's iterator would read sixteen megabytes ahead.)

    Raises:
      UserError: the file ends inside a record, or is not a TFRecord file.
    """
    with files.open_to_read(path) as stream:
        return [stream.read(length) for _, length in itertools.islice(headers(path, stream), count)]


def headers(path: str, stream: Any, position: int = 0) -> Iterator[Tuple[int, int]]:
    """Yields (offset, length) of each record from a position on. `stream` is then at its data.

    Raises:
      UserError: the file ends inside a record, or is not a TFRecord file.
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


def load_metadata(
    paths: Sequence[str], *, folder: Optional[str] = None, enough: int = sys.maxsize
) -> List[RecordFile]:
    """Returns the metadata of record files, with the offsets of their blocks, in order.

    If a file has no metadata, reads the headers of all its records, and saves the result in an
    index for the next start. With more than 256 files, the index keeps fewer blocks per file, to
    limit memory. All hosts compute the same index.

    Args:
      paths: record files.
      folder: the folder for the index, INDEX_NAME; None: do not save it.
      enough: stop after the first files that together have this many records.

    Raises:
      UserError: a file does not exist, is damaged or cut off, or is not a record file.
    """
    index = os.path.join(folder or "", INDEX_NAME)
    old_index = _read_index(index) if folder else {}
    new_index, record_files, count = dict(old_index), [], 0
    most = max(_FEWEST_OFFSETS, _MOST_OFFSETS_TOGETHER // max(1, len(paths)))

    def locate(path: str) -> RecordFile:
        file = fitting_sidecar(path)
        if file is None:
            state = [*files.state_of(path), most]
            if new_index.get(path, {}).get("state") != state:
                walked = walk_records(path)
                walked.thin(most)
                new_index[path] = dict(walked.as_json(), state=state)
            file = RecordFile.from_json(path, new_index[path])
        file.thin(most)
        return file

    for file in parallel.in_threads(locate, paths, "Indexing the records"):
        record_files.append(file)
        count += file.count
        if count >= enough:
            break
    if folder and new_index != old_index:
        # Another process may have added files in the meantime: keep them.
        files.atomic_write_json(index, {"files": {**_read_index(index), **new_index}})
    _read.update((file.path, file) for file in record_files)
    return record_files


def _read_index(index: str) -> Dict[str, Dict[str, Any]]:
    """Returns {path: RecordFile.as_json() and the file's state}; {} if there is no valid index."""
    try:
        return json_files.read(index, {"files": {str: SCHEMA}})["files"]
    except UserError:
        return {}


# ------------------------------------------------------------------------------------------ damage

_OFFSET = re.compile(r"(?:corrupted|truncated) record at (\d+)")  # in TensorFlow's message
_read: Dict[str, RecordFile] = {}  # the files that this process reads, by path


def records(path: str) -> Iterator[bytes]:
    """Yields the records of a TFRecord file, and verifies their checksums.

    Raises:
      UserError: a record is damaged. The message has the file and the record's number.
    """
    import tensorflow.compat.v1 as tf

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
    """In this context, errors about damaged records name the file and the record's number.

    TensorFlow's error has only the offset of the record, not the file.

    Raises:
      UserError: the block read a damaged record.
    """
    import tensorflow.compat.v1 as tf

    try:
        yield
    except tf.errors.DataLossError as error:
        for offset in _OFFSET.findall(error.message):
            check = functools.partial(_check_record, int(offset))
            list(parallel.in_threads(check, list(_read.values())[::-1]))
        raise


def _check_record(offset: int, file: RecordFile) -> None:
    """Raises UserError if the record whose header or data begins at this offset is damaged."""
    if offset >= file.bytes:
        return
    block = file.offsets[bisect.bisect_right(file.offsets, offset) - 1]
    with files.open_to_read(file.path) as stream:
        for begin, _ in headers(file.path, stream, block):
            if begin >= offset - _HEADER_BYTES:
                break
    if begin in (offset, offset - _HEADER_BYTES):
        collections.deque(records(file.path), maxlen=0)
