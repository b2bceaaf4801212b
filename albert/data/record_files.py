# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TFRecord files and the metadata beside them, which says what they were made from.

Beside `data.tfrecord` lies `.data.tfrecord.meta.json` (the sidecar) with the number of records, the
size, where blocks of records begin, and the fingerprint of what the file was made from; a program
that would make the file compares the fingerprint with its own, and makes it again if they differ.
"""

import dataclasses
import hashlib
import json
import logging
import os
import struct
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.util import files, many_files
from albert.util.errors import UserError

FORMAT_VERSION = 1
NOT_THERE = "it does not exist"
HEADER_BYTES = 12  # of a record: its length (8) and the checksum of that (4)
FOOTER_BYTES = 4  # checksum of the data

_MOST_OFFSETS = 4096  # that the metadata of a file keeps

_LOGGER = logging.getLogger("albert")


# ---------------------------------------------------------------------------------------- metadata


class Sidecar(NamedTuple):
    """What is known about a record file without reading it."""

    format_version: int
    count: int  # type: ignore[assignment]  # of records; a tuple's method
    bytes: int  # size of the record file
    fingerprint: Dict[str, Any]
    blocks: Optional[Dict[str, Any]] = None  # see BlockOffsets.as_json; older files have none


BLOCK_TYPES = {"records": int, "offsets": str}
_SIDECAR_TYPES = {
    **{"format_version": int, "count": int, "bytes": int, "blocks": (BLOCK_TYPES, None)},
    "fingerprint": {"vocab_size": (int, None), "tokenizer": (dict, None), "settings": (dict, None)},
}


@dataclasses.dataclass
class BlockOffsets:
    """Where a TFRecord file's blocks of records begin; the blocks grow with the file."""

    path: str = ""
    size: int = 0  # bytes
    count: int = 0  # records
    block_records: int = 64  # of each block; the last one may have fewer
    offsets: List[int] = dataclasses.field(default_factory=list)  # first byte of each block

    def add(self, length: int) -> None:
        """Counts one more record, of `length` bytes."""
        if self.count % self.block_records == 0:
            self.offsets.append(self.size)
            self.thin(_MOST_OFFSETS)
        self.count += 1
        self.size += HEADER_BYTES + length + FOOTER_BYTES

    def thin(self, most: int) -> None:
        """Makes blocks twice as large until there are `most` at most."""
        while len(self.offsets) > most:
            self.offsets = self.offsets[::2]
            self.block_records *= 2

    def as_json(self) -> Dict[str, Any]:
        """Returns what the metadata of the file keeps; the offsets on one line."""
        offsets = " ".join(map(str, self.offsets))
        return {"count": self.count, "blocks": {"records": self.block_records, "offsets": offsets}}

    @classmethod
    def from_json(cls, path: str, size: int, values: Mapping[str, Any]) -> "BlockOffsets":
        """Returns the blocks of a file of `size` bytes; `values` as of as_json."""
        blocks = values["blocks"]
        offsets = list(map(int, blocks["offsets"].split()))
        return cls(path, size, values["count"], blocks["records"], offsets)


def sidecar_path(path: str) -> str:
    """Returns where the metadata of the record file `path` lies."""
    folder, base = os.path.split(str(path))
    return os.path.join(folder, f".{base}.meta.json")


def sidecar_text(blocks: BlockOffsets, size: int, fingerprint: Mapping[str, Any]) -> str:
    """Returns the metadata of a record file of `size` bytes with these blocks."""
    return files.json_text(
        {
            "format_version": FORMAT_VERSION,
            "bytes": size,
            "fingerprint": fingerprint,
            **blocks.as_json(),
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
    return files.fingerprint_difference(
        {"format_version": sidecar.format_version, "bytes": sidecar.bytes, **sidecar.fingerprint},
        {"format_version": FORMAT_VERSION, "bytes": size, **fingerprint},
    )


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
      UserError: the file is shorter than what was written or ends inside a record, is no TFRecord
        file, or is not there.
    """
    known = fitting_sidecar(str(path)) or walk_records(str(path))
    return known.count


def fitting_sidecar(path: str) -> Optional[Sidecar]:
    """Returns the metadata of a TFRecord file, or None if there is none of a file of this size.

    Raises:
      UserError: the file is shorter than what was written, or is not there.
    """
    size, _ = files.state_of(path)
    sidecar = read_sidecar(path)
    if sidecar and size < sidecar.bytes:
        # It may end between two records, which reading the headers would not detect.
        raise UserError(
            f"Record file '{path}' holds {size} bytes where {sidecar.bytes} were written: it was "
            f"cut off. Create it again (or, if it was replaced on purpose, remove "
            f"'{sidecar_path(path)}')."
        )
    return sidecar if sidecar and sidecar.bytes == size else None


def walk_records(path: str) -> BlockOffsets:
    """Returns where the blocks of a TFRecord file begin, by its record headers alone.

    Raises:
      UserError: the file ends inside a record, or is no TFRecord file.
    """
    blocks = BlockOffsets(path)
    size, _ = files.state_of(path)
    with files.open_to_read(path) as stream:
        while blocks.size < size:
            header = stream.read(HEADER_BYTES)
            if not blocks.count and not _is_header(header):
                raise UserError(damaged_record(path, 0))
            if _end(blocks.size, header) > size:
                raise UserError(
                    f"Record file '{path}' is damaged or was cut off: after {blocks.count} whole "
                    f"records it ends inside a record (byte {size}). Create it again."
                )
            blocks.add(_length(header))
            if "://" in path:  # in order: each jump in a remote file is a request
                stream.read(_length(header) + FOOTER_BYTES)
            else:
                stream.seek(blocks.size)
    return blocks


def end_of_record(stream: Any, position: int) -> int:
    """Returns where the record that begins at `position` ends; its checksums are not verified."""
    return _end(position, _read_at(stream, position, HEADER_BYTES))


def read_record(stream: Any, position: int) -> Optional[bytes]:
    """Returns the record that begins at `position`; None if a checksum is wrong."""
    header = _read_at(stream, position, HEADER_BYTES)
    if not _is_header(header):
        return None
    record = stream.read(_length(header))
    return record if _checksum(record) == stream.read(FOOTER_BYTES) else None


def read_first_record(path: str) -> Optional[bytes]:
    """Returns the first record of a TFRecord file; None if the file is empty.

    (TensorFlow's iterator reads sixteen megabytes ahead.)

    Raises:
      UserError: the record is damaged, or the file is no TFRecord file.
    """
    with files.open_to_read(path) as stream:
        record = read_record(stream, 0)
    if record is None and files.state_of(path)[0]:
        raise UserError(damaged_record(path, 0))
    return record


def damaged_record(path: str, number: int) -> str:
    """Returns the message for a record whose checksum is wrong."""
    other = "" if number else ", or is no uncompressed TFRecord file"
    return (
        f"Record file '{path}' is damaged in record {number} (counted from 0){other}: its "
        "checksum is wrong. Delete the file or create it again, and give the same command again."
    )


def _read_at(stream: Any, position: int, count: int) -> bytes:
    stream.seek(position)
    return stream.read(count)


def _length(header: bytes) -> int:
    """The bytes of data in the record with this header."""
    return int.from_bytes(header[:8], "little")


def _end(position: int, header: bytes) -> int:
    return position + HEADER_BYTES + _length(header) + FOOTER_BYTES


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
