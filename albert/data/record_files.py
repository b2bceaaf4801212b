# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TFRecord files and the metadata beside them, which says what they were made from.

Beside `data.tfrecord` lies `.data.tfrecord.meta.json` (the sidecar) with the number of records, the
size, where blocks of records begin, and the fingerprint of what the file was made from; a program
that would make the file compares the fingerprint with its own, and makes it again if they differ.
"""

import hashlib
import json
import logging
import os
import struct
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.util import files, many_files
from albert.util.errors import UserError

FORMAT_VERSION = 1
NOT_THERE = "it does not exist"
HEADER_BYTES = 12  # of a record: its length (8) and the checksum of that (4)
FOOTER_BYTES = 4  # checksum of the data

_CHUNK_BYTES = 1 << 22
_LENGTH = struct.Struct("<Q")
_MOST_OFFSETS = 4096  # that the metadata of a file keeps

_LOGGER = logging.getLogger("albert")


# ---------------------------------------------------------------------------------------- metadata


class Sidecar(NamedTuple):
    """What is known about a record file without reading it."""

    format_version: int
    count: int  # type: ignore[assignment]  # of records; a tuple's method
    bytes: int  # size of the record file
    fingerprint: Dict[str, Any]
    blocks: Optional[Dict[str, Any]] = None  # BlockOffsets.as_json; older files have none


_SIDECAR_TYPES = {
    **{"format_version": int, "count": int, "bytes": int, "blocks": (dict, None)},
    "fingerprint": {"vocab_size": (int, None), "tokenizer": (dict, None), "settings": (dict, None)},
}


class BlockOffsets:
    """The offset of every n-th record of a TFRecord file; n grows with the file."""

    def __init__(self):
        """Begins with an empty file."""
        self.count = 0
        self.block_records = 64
        self.offsets: List[int] = []
        self._end = 0

    def add(self, length: int) -> None:
        """Counts one more record, of `length` bytes."""
        if len(self.offsets) == _MOST_OFFSETS and self.count % self.block_records == 0:
            self.offsets = self.offsets[::2]
            self.block_records *= 2
        if self.count % self.block_records == 0:
            self.offsets.append(self._end)
        self.count += 1
        self._end += HEADER_BYTES + length + FOOTER_BYTES

    def as_json(self) -> Dict[str, Any]:
        """Returns what the metadata of the file keeps; the offsets on one line."""
        return {"records": self.block_records, "offsets": " ".join(map(str, self.offsets))}


def sidecar_path(path: str) -> str:
    """Returns where the metadata of the record file `path` lies."""
    folder, base = os.path.split(str(path))
    return os.path.join(folder, f".{base}.meta.json")


def sidecar_text(blocks: BlockOffsets, size: int, fingerprint: Mapping[str, Any]) -> str:
    """Returns the metadata of a record file of `size` bytes with these blocks."""
    return files.json_text(
        {
            "format_version": FORMAT_VERSION,
            "count": blocks.count,
            "bytes": size,
            "fingerprint": files.normalized_fingerprint(fingerprint),
            "blocks": blocks.as_json(),
        }
    )


def write_sidecar(path: str, blocks: BlockOffsets, fingerprint: Mapping[str, Any]) -> None:
    """Writes the metadata of the finished record file `path`."""
    size = tf.io.gfile.stat(str(path)).length
    files.atomic_write_text(sidecar_path(path), sidecar_text(blocks, size, fingerprint))


def remove_sidecar(path: str) -> None:
    """Removes the metadata of `path` if there is some, before `path` itself is replaced."""
    if tf.io.gfile.exists(sidecar_path(path)):
        tf.io.gfile.remove(sidecar_path(path))


def read_sidecar(path: str) -> Optional[Sidecar]:
    """Returns the metadata of the record file `path`; None if there is none or it is unreadable."""
    sidecar = sidecar_path(path)
    if not tf.io.gfile.exists(sidecar):
        return None
    return parse_sidecar(files.read_bytes(sidecar), sidecar)


def parse_sidecar(content: bytes, sidecar: str) -> Optional[Sidecar]:
    """Returns the metadata in the content of the file `sidecar`; None, with a warning, if none."""
    try:
        values = files.parse_json(content, f"'{sidecar}'")
        files.check_types(values, _SIDECAR_TYPES, f"'{sidecar}'")
        return Sidecar(**{name: values.get(name) for name in Sidecar._fields})
    except ValueError as error:
        _LOGGER.warning("Ignoring record metadata: %s", error)
        return None


def why_stale(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns why the record file `path` cannot be used for `fingerprint`; "" if it can.

    The text is made for one log line, e.g. "max_seq_length was 128 and is 512".
    """
    if not tf.io.gfile.exists(str(path)):
        return NOT_THERE
    sidecar, size = read_sidecar(path), tf.io.gfile.stat(str(path)).length
    if sidecar is None:
        return "it has no metadata that says what it was made from"
    if sidecar.format_version != FORMAT_VERSION:
        return f"its format version was {sidecar.format_version} and is {FORMAT_VERSION}"
    if sidecar.bytes != size:
        return f"it holds {size} bytes where {sidecar.bytes} were written"
    return files.fingerprint_difference(sidecar.fingerprint, fingerprint)


def content_identities(paths: Sequence[str]) -> List[Dict[str, Any]]:
    """Returns for each record file JSON values that differ if the content does.

    Where the metadata fits the file it is what the records were made from; otherwise it is
    files.file_fingerprint.
    """
    return list(many_files.each(_identity, paths, "Looking at the records"))


def _identity(path: str) -> Dict[str, Any]:
    sidecar = read_sidecar(path)
    if sidecar is None or sidecar.bytes != tf.io.gfile.stat(str(path)).length:
        return files.file_fingerprint(path)
    made_from = json.dumps([sidecar.format_version, sidecar.fingerprint], sort_keys=True)
    digest = hashlib.sha256(made_from.encode("utf-8")).hexdigest()
    return {"name": os.path.basename(str(path)), "size": sidecar.bytes, "made_from": digest}


# --------------------------------------------------------------------------------- finding records


def count_records(path: str) -> int:
    """Returns the number of records in a TFRecord file, by its metadata or by a walk.

    Raises:
      ValueError: the file is shorter than what was written or ends inside a record, is no TFRecord
        file, or is not there.
    """
    path = str(path)
    sidecar, size = fitting_sidecar(path)
    return sidecar.count if sidecar else walk_records(path, size).count


def fitting_sidecar(path: str) -> Tuple[Optional[Sidecar], int]:
    """Returns the metadata of a TFRecord file, None if none fits the file's size, and this size.

    Raises:
      ValueError: the file is shorter than what was written, or is not there.
    """
    if not tf.io.gfile.exists(path):
        raise UserError(f"Record file '{path}' does not exist.")
    files.check_is_file(path)
    size = tf.io.gfile.stat(path).length
    sidecar = read_sidecar(path)
    if sidecar is not None and size < sidecar.bytes:
        # It may end between two records, which reading the headers would not detect.
        raise UserError(
            f"Record file '{path}' holds {size} bytes where {sidecar.bytes} were written: it was "
            f"cut off. Create it again (or, if it was replaced on purpose, remove "
            f"'{sidecar_path(path)}')."
        )
    return (sidecar if sidecar and sidecar.bytes == size else None), size


def walk_records(path: str, size: int) -> BlockOffsets:
    """Returns where the blocks of a TFRecord file begin, by its record headers alone.

    A local file is read twelve bytes a record; where each read is a request, in large pieces.

    Raises:
      ValueError: the file ends inside a record, or is no TFRecord file.
    """
    blocks = BlockOffsets()
    position = 0  # of the next header
    is_local = "://" not in path
    buffer, buffer_start = b"", 0
    with open_records(path) as stream:
        while position < size:
            offset = position - buffer_start
            if is_local or offset + HEADER_BYTES > len(buffer):
                stream.seek(position)
                buffer = stream.read(HEADER_BYTES if is_local else _CHUNK_BYTES)
                buffer_start, offset = position, 0
            if len(buffer) - offset < HEADER_BYTES:
                raise UserError(_cut_off(path, blocks.count, position))
            (length,) = _LENGTH.unpack_from(buffer, offset)
            if not blocks.count and not _is_header(buffer[offset : offset + HEADER_BYTES]):
                raise UserError(damaged_record(path, 0))
            position += HEADER_BYTES + length + FOOTER_BYTES
            if position > size:
                raise UserError(_cut_off(path, blocks.count, size))
            blocks.add(length)
    return blocks


def open_records(path: str) -> Any:
    """Opens a record file; of a local one only the requested bytes are read."""
    if "://" in path:
        return files.open_to_read(path)
    files.check_is_file(path)
    return open(path, "rb", buffering=0)


def read_length(stream: Any, position: int) -> int:
    """Returns the bytes of data in the record that begins at `position`, unverified."""
    stream.seek(position)
    (length,) = _LENGTH.unpack_from(stream.read(HEADER_BYTES))
    return length


def read_record(stream: Any, position: int) -> Optional[bytes]:
    """Returns the record that begins at `position`; None if a checksum is wrong."""
    stream.seek(position)
    header = stream.read(HEADER_BYTES)
    if not _is_header(header):
        return None
    (length,) = _LENGTH.unpack_from(header)
    record = stream.read(length)
    return record if _checksum(record) == stream.read(FOOTER_BYTES) else None


def read_first_record(path: str) -> Optional[bytes]:
    """Returns the first record of a TFRecord file; None if the file is empty.

    (TensorFlow's iterator reads sixteen megabytes ahead, its files half a megabyte.)

    Raises:
      UserError: the record is damaged, or the file is no TFRecord file.
    """
    with open_records(path) as stream:
        if not stream.read(1):
            return None
        record = read_record(stream, 0)
    if record is None:
        raise UserError(damaged_record(path, 0))
    return record


def damaged_record(path: str, number: int) -> str:
    """Returns the message for a record whose checksum is wrong."""
    other = "" if number else ", or is no uncompressed TFRecord file"
    return (
        f"Record file '{path}' is damaged in record {number} (counted from 0){other}: its "
        "checksum is wrong. Delete the file or create it again, and give the same command again."
    )


def _cut_off(path: str, count: int, position: int) -> str:
    return (
        f"Record file '{path}' is damaged or was cut off: after {count} whole records it ends "
        f"inside a record (byte {position}). Create it again."
    )


def _is_header(header: bytes) -> bool:
    """Whether a TFRecord file begins so, and not text or a checkpoint."""
    return len(header) == HEADER_BYTES and _checksum(header[:8]) == header[8:]


def _checksum(data: bytes) -> bytes:
    """CRC-32C as the format stores it, masked."""
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ _CRC_TABLE[(value ^ byte) & 0xFF]
    value ^= 0xFFFFFFFF
    return struct.pack("<I", (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def _crc_table() -> List[int]:
    """What each byte adds."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _crc_table()
