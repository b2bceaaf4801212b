# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as transactions: temporary name, then rename; a sidecar says what a record file holds.

Whoever reads a file finds either the whole old one or the whole new one, never half of either.
Beside a record file `data.tfrecord` lies the sidecar `.data.tfrecord.meta.json` with the number of
records, the size, and the fingerprint of what it was made from; a reader compares the fingerprint
with its own and rebuilds on a difference.

Every path may be anything `tf.io.gfile` takes (gs:// too). TensorFlow is imported on first use
only: processes that merely import this module start without it.
"""

import contextlib
import errno
import hashlib
import json
import logging
import os
import re
import socket
import stat
import struct
import uuid
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

FORMAT_VERSION = 1
NOT_THERE = "it does not exist"

_CHUNK_BYTES = 1 << 22
_HEADER_BYTES = 12  # of a TFRecord: length (8) and its checksum (4)
_FOOTER_BYTES = 4  # checksum of the data
_LENGTH = struct.Struct("<Q")
_MOST_OFFSETS = 4096  # that the metadata of a file keeps

# Errors that mean that no more fits, and the system's words, by which TensorFlow tells of them.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_WORDS = re.compile("|".join(map(os.strerror, _FULL)))

_LOGGER = logging.getLogger("albert")


class DiskFullError(OSError):
    """There is no room for a file, which the message names."""


def _gfile() -> Any:
    """Imports TensorFlow only where a file is really touched."""
    import tensorflow.compat.v1 as tf

    return tf.io.gfile


# ------------------------------------------------------------------------------ atomic replacement


def random_suffix() -> str:
    """Returns the end of a temporary name: nobody can foresee it and lay a link there."""
    return uuid.uuid4().hex[:16]


def _create_temporary(path: str) -> str:
    """Makes an empty file under a new name, which holds host and process for _remove_abandoned."""
    folder, base = os.path.split(path)
    name = f".{base}.tmp-{socket.gethostname()}-{os.getpid()}-{random_suffix()}"
    temporary = os.path.join(folder, name)
    if "://" not in path:  # elsewhere there are no links to follow
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


@contextlib.contextmanager
def naming_full_disk(path: str) -> Iterator[None]:
    """Makes the errors of a full disk name the file (or folder) that is written in the block.

    Raises:
      DiskFullError: there is no room for it.
    """
    try:
        yield
    except DiskFullError:
        raise
    except Exception as error:
        reason = _why_full(error)
        if not reason:
            raise
        raise DiskFullError(
            f"'{path}' cannot be written: {reason}. Make room (or name another place), then give "
            "the same command again."
        ) from error


def _why_full(error: Exception) -> str:
    """The system's words if no more can be written; "" for any other error."""
    import tensorflow.compat.v1 as tf

    if isinstance(error, OSError) and error.errno in _FULL:
        return os.strerror(error.errno)
    found = isinstance(error, tf.errors.OpError) and _FULL_WORDS.search(error.message)
    return found.group() if found else ""


def _is_running(process_id: str) -> bool:
    """Errs on the side of True: a file that may be in use must stay."""
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        return True
    return True


def _remove_abandoned(path: str) -> None:
    """A killed process cannot tidy up; the next writer of the same path on that host does."""
    folder, base = os.path.split(path)
    if "://" in path or not os.path.isdir(folder or "."):
        return
    prefix = f".{base}.tmp-{socket.gethostname()}-"
    for name in os.listdir(folder or "."):
        if name.startswith(prefix) and not _is_running(name[len(prefix) :].split("-")[0]):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name))


@contextlib.contextmanager
def atomic_path(path: str) -> Iterator[str]:
    """Yields a temporary path that becomes `path` if the block succeeds and vanishes if it fails.

    The folder is created if need be. The temporary file lies in the same folder under a hidden
    name, so that the rename is atomic and no pattern of the user matches it. It is there already,
    empty: made anew, so that what is written never goes through a link that another user laid.

    Raises:
      DiskFullError: there is no room; whatever the block wrote is gone.
    """
    gfile = _gfile()
    path = str(path)
    with naming_full_disk(path):
        if os.path.dirname(path):
            gfile.makedirs(os.path.dirname(path))
        _remove_abandoned(path)
        temporary = _create_temporary(path)
        try:
            yield temporary
            gfile.rename(temporary, path, overwrite=True)
        finally:
            if gfile.exists(temporary):
                gfile.remove(temporary)


@contextlib.contextmanager
def atomic_folder(path: str) -> Iterator[str]:
    """Yields the name of a folder to make, which becomes `path` if the block succeeds.

    If it fails, the folder vanishes.

    Raises:
      DiskFullError: there is no room.
    """
    gfile = _gfile()
    temporary = f"{str(path).rstrip('/')}.temp-{random_suffix()}"
    with naming_full_disk(path):
        try:
            yield temporary
            gfile.rename(temporary, path)
        finally:
            if gfile.exists(temporary):
                gfile.rmtree(temporary)


def atomic_write_text(path: str, text: str) -> None:
    """Replaces `path` by `text` (UTF-8) in one step."""
    with atomic_path(path) as temporary, _gfile().GFile(temporary, "wb") as stream:
        stream.write(text.encode("utf-8"))


def atomic_write_json(path: str, value: Any) -> None:
    """Replaces `path` by `value` as indented JSON with sorted keys and a newline at the end."""
    atomic_write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """Returns `value` as indented JSON with sorted keys and a newline at the end."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


# ------------------------------------------------------------------------------------------ reading


def check_is_file(path: str) -> None:
    """Refuses what does not end, or is not the same when it is read again.

    Raises:
      ValueError: a folder, a pipe such as <(...), a device such as /dev/zero, or a socket. A file
        that is not there is left to whoever opens it.
    """
    try:
        mode = None if "://" in str(path) else os.stat(str(path)).st_mode
    except OSError:
        return
    if mode is None or stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise ValueError(f"'{path}' is a folder. Name a file.")
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise ValueError(
        f"'{path}' is {kind} and no file. It would be read more than once: write the content to a "
        "file, and name that."
    )


def open_to_read(path: str) -> Any:
    """Returns a stream of the bytes of a file, local or remote.

    Raises:
      ValueError: see check_is_file.
    """
    check_is_file(path)
    return _gfile().GFile(str(path), "rb")


def read_bytes(path: str) -> bytes:
    """Returns the content of `path`; ValueError if it is no file."""
    with open_to_read(path) as stream:
        return stream.read()


def read_text(path: str) -> str:
    """Returns the content of `path`, decoded from UTF-8, without a byte order mark.

    Raises:
      ValueError: it is not UTF-8 (file and line are named), or no file.
    """
    return decode(read_bytes(path), path)


def decode(content: bytes, path: str) -> str:
    """Returns the text of the file `path`, whose bytes these are; errors are those of read_text."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"'{path}' is not UTF-8 text (line {line}: {error.reason} at byte {error.start}). Is "
            "it the right file? Text in another encoding has to be converted to UTF-8."
        ) from None


def read_json(path: str) -> Any:
    """Returns the JSON value in a file.

    Raises:
      ValueError: it is not UTF-8, not JSON, or nested too deeply; the file is named.
    """
    return parse_json(read_text(path), f"'{path}'")


def read_json_object(path: str) -> Dict[str, Any]:
    """Returns the JSON object in a file.

    Raises:
      ValueError: as read_json, or the value is no object.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise ValueError(f"'{path}' must hold one JSON object, and holds {str(value)[:60]!r}.")
    return value


def parse_json(text: str, where: str) -> Any:
    """Returns a JSON value; a ValueError, also for one nested too deeply, begins with `where`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(f"{where} is JSON nested too deeply to be read.") from None
    except ValueError as error:
        raise ValueError(f"{where} is not JSON ({error}).") from None


# --------------------------------------------------------------------------------- finding, hashing


def expand_patterns(patterns: Union[str, Iterable[str]], flag_name: str) -> List[str]:
    """Returns the files that comma-separated names and glob patterns stand for.

    Args:
      patterns: "a.txt,data/*.tfrecord" or a list of such strings. A file that exists under exactly
        that name is taken literally, whatever characters the name holds.
      flag_name: the flag the user wrote them in, for the error message.

    Returns:
      Each file once, sorted by name; hidden files (sidecars, unfinished ones) are left out.

    Raises:
      ValueError: no pattern at all, a pattern that matches nothing, or a folder.
    """
    gfile = _gfile()
    texts = [patterns] if isinstance(patterns, (str, os.PathLike)) else list(patterns)
    single = [part.strip() for text in texts for part in str(text).split(",") if part.strip()]
    if not single:
        raise ValueError(f"--{flag_name} names no file. Give a path or a pattern like data/*.txt.")
    found = set()
    for pattern in single:
        found.update(_expand_pattern(gfile, os.path.expanduser(pattern), flag_name))
    return sorted(found)


def _expand_pattern(gfile: Any, pattern: str, flag_name: str) -> List[str]:
    """One pattern of expand_patterns."""
    if gfile.exists(pattern):
        if gfile.isdir(pattern):
            raise ValueError(
                f"--{flag_name}: '{pattern}' is a folder. Name the files in it, for example "
                f"'{os.path.join(pattern, '*')}'."
            )
        check_is_file(pattern)
        return [pattern]
    files = [name for name in _glob(pattern) if not os.path.basename(name).startswith(".")]
    if not files:
        raise ValueError(
            f"--{flag_name}: no file matches '{pattern}' (from {os.getcwd()}). Check the path; "
            "several files are separated by commas."
        )
    return files


def _glob(pattern: str) -> List[str]:
    """A pattern in a folder that is not there matches nothing; TF 1.15 raises."""
    import tensorflow.compat.v1 as tf

    try:
        return tf.io.gfile.glob(pattern)
    except tf.errors.NotFoundError:
        return []


def unused_name(path: str) -> str:
    """Returns path.old-1, or that with the next number that is free."""
    number = 1
    while _gfile().exists(f"{path}.old-{number}"):
        number += 1
    return f"{path}.old-{number}"


def file_fingerprint(path: str, on_bytes: Optional[Callable[[int], None]] = None) -> Dict[str, Any]:
    """Returns {"name", "size", "sha256"} of a file: equal exactly if name and content are equal.

    Args:
      path: of the file. `many_files.fingerprints` hashes many, or large ones.
      on_bytes: called with the number of bytes that were just read.
    """
    digest = hashlib.sha256()
    size = 0
    with open_to_read(path) as stream:
        while True:
            chunk = stream.read(_CHUNK_BYTES)
            if not chunk:
                break
            digest.update(chunk)
            size += len(chunk)
            if on_bytes is not None:
                on_bytes(len(chunk))
    return {"name": os.path.basename(str(path)), "size": size, "sha256": digest.hexdigest()}


# --------------------------------------------------------------------------------- record sidecars


class Sidecar(NamedTuple):
    """What is known about a record file without reading it."""

    format_version: int
    count: int  # type: ignore[assignment]  # of records; a tuple's method
    bytes: int  # size of the record file
    fingerprint: Dict[str, Any]
    blocks: Optional[Dict[str, Any]] = None  # BlockOffsets.as_json; files of before have none


class BlockOffsets:
    """Where every so many-th record of a TFRecord file begins: few numbers, however large it is."""

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
        self._end += _HEADER_BYTES + length + _FOOTER_BYTES

    def as_json(self) -> Dict[str, Any]:
        """Returns what the metadata of the file keeps; the offsets on one line."""
        return {"records": self.block_records, "offsets": " ".join(map(str, self.offsets))}


def sidecar_path(path: str) -> str:
    """Returns where the sidecar of the record file `path` lies."""
    folder, base = os.path.split(str(path))
    return os.path.join(folder, f".{base}.meta.json")


def normalized_fingerprint(fingerprint: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the fingerprint as it looks after a trip through JSON (tuples become lists)."""
    return json.loads(json.dumps(dict(fingerprint), sort_keys=True))


def sidecar_text(blocks: BlockOffsets, size: int, fingerprint: Mapping[str, Any]) -> str:
    """Returns the content of the sidecar of a record file of `size` bytes with these blocks."""
    return json_text(
        {
            "format_version": FORMAT_VERSION,
            "count": blocks.count,
            "bytes": size,
            "fingerprint": normalized_fingerprint(fingerprint),
            "blocks": blocks.as_json(),
        }
    )


def write_sidecar(path: str, blocks: BlockOffsets, fingerprint: Mapping[str, Any]) -> None:
    """Writes the sidecar of the finished record file `path`."""
    size = _gfile().stat(str(path)).length
    atomic_write_text(sidecar_path(path), sidecar_text(blocks, size, fingerprint))


def remove_sidecar(path: str) -> None:
    """Removes the sidecar of `path` if there is one, before `path` itself is replaced."""
    if _gfile().exists(sidecar_path(path)):
        _gfile().remove(sidecar_path(path))


def read_sidecar(path: str) -> Optional[Sidecar]:
    """Returns the sidecar of the record file `path`; None if there is none or it is unreadable."""
    sidecar = sidecar_path(path)
    return parse_sidecar(read_bytes(sidecar), sidecar) if _gfile().exists(sidecar) else None


def parse_sidecar(content: bytes, sidecar: str) -> Optional[Sidecar]:
    """Returns what the file `sidecar` says; None, with a warning, if it is none."""
    try:
        values = parse_json(decode(content, sidecar), f"'{sidecar}'")
        told = {name: values[name] for name in Sidecar._fields if name != "blocks"}
        return Sidecar(blocks=values.get("blocks"), **told)
    except (ValueError, KeyError, TypeError) as error:
        _LOGGER.warning("%s is not a sidecar (%r); it is ignored.", sidecar, error)
        return None


def content_identity(path: str) -> Dict[str, Any]:
    """Returns what tells this record file's content from another's, as JSON values.

    Where a sidecar fits the file it is what the records were made from, which costs no reading;
    otherwise it is the file's SHA-256.
    """
    return made_from_identity(path) or file_fingerprint(path)


def made_from_identity(path: str) -> Optional[Dict[str, Any]]:
    """Returns the identity of a record file that a sidecar fits; None for any other."""
    sidecar = read_sidecar(path)
    if sidecar is None or sidecar.bytes != _gfile().stat(str(path)).length:
        return None
    made_from = json.dumps([sidecar.format_version, sidecar.fingerprint], sort_keys=True)
    return {
        "name": os.path.basename(str(path)),
        "size": sidecar.bytes,
        "made_from": hashlib.sha256(made_from.encode("utf-8")).hexdigest(),
    }


def why_stale(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns why the record file `path` cannot be used for `fingerprint`; "" if it can.

    The text is made for one log line, e.g. "max_seq_length was 128 and is 512".
    """
    if not _gfile().exists(str(path)):
        return NOT_THERE
    return why_sidecar_is_stale(read_sidecar(path), _gfile().stat(str(path)).length, fingerprint)


def why_sidecar_is_stale(
    sidecar: Optional[Sidecar], size: int, fingerprint: Mapping[str, Any]
) -> str:
    """Returns the same for a file of `size` bytes with this sidecar."""
    if sidecar is None:
        return "it has no sidecar that says what it was made from"
    if sidecar.format_version != FORMAT_VERSION:
        return f"its format version was {sidecar.format_version} and is {FORMAT_VERSION}"
    if sidecar.bytes != size:
        return f"it holds {size} bytes where {sidecar.bytes} were written"
    return fingerprint_difference(sidecar.fingerprint, fingerprint)


def fingerprint_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Returns what changed between two fingerprints in words; "" if nothing did."""
    old, new = normalized_fingerprint(old), normalized_fingerprint(new)
    missing = "absent"
    changes = [
        _change(key, old.get(key, missing), new.get(key, missing))
        for key in sorted(set(old) | set(new))
        if old.get(key, missing) != new.get(key, missing)
    ]
    return "; ".join(changes)


def _change(key: str, old: Any, new: Any) -> str:
    """One change in words: of files their names, or that their content is another."""
    old_names, new_names = _file_names(old), _file_names(new)
    if old_names and old_names == new_names:
        return f"the content of {_short(', '.join(new_names))} changed"
    if key == "settings" and isinstance(old, dict) and isinstance(new, dict):
        return fingerprint_difference(old, new)  # a list of flags: the others are of no interest
    return f"{key} was {_in_words(old, old_names)} and is {_in_words(new, new_names)}"


def _file_names(value: Any) -> List[str]:
    """The names in a fingerprint of files; [] if it is of something else."""
    entries = value if isinstance(value, list) else [value]
    names = [entry.get("name", "") for entry in entries if isinstance(entry, dict)]
    return names if len(names) == len(entries) and all(names) else []


def _in_words(value: Any, names: Sequence[str]) -> str:
    """Hashes tell a reader nothing."""
    if names:
        return _short(", ".join(names))
    return _short(value if isinstance(value, str) else json.dumps(value, sort_keys=True))


def _short(text: str) -> str:
    """Long lists would bury the log line."""
    return text if len(text) <= 80 else text[:77] + "..."


def is_current(path: str, fingerprint: Mapping[str, Any]) -> bool:
    """Returns whether `path` is whole and was made from exactly `fingerprint`."""
    return not why_stale(path, fingerprint)


# -------------------------------------------------------------------------------- counting records


def count_records(path: str) -> int:
    """Returns the number of records in a TFRecord file.

    The sidecar answers if it fits the file's size; otherwise the file is walked, from the header of
    one record to that of the next.

    Raises:
      ValueError: the file is shorter than what was written or ends inside a record, is no TFRecord
        file, or is not there.
    """
    path = str(path)
    sidecar, size = fitting_sidecar(path)
    return sidecar.count if sidecar else walk_records(path, size).count


def fitting_sidecar(path: str) -> Tuple[Optional[Sidecar], int]:
    """Returns the sidecar of a TFRecord file, None if none fits the file's size, and this size.

    Raises:
      ValueError: the file is shorter than what was written, or is not there.
    """
    if not _gfile().exists(path):
        raise ValueError(f"Record file '{path}' does not exist.")
    check_is_file(path)
    size = _gfile().stat(path).length
    sidecar = read_sidecar(path)
    if sidecar is not None and size < sidecar.bytes:
        # It may end between two records, where a walk would not notice.
        raise ValueError(
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
    with _open_records(path) as stream:
        while position < size:
            offset = position - buffer_start
            if is_local or offset + _HEADER_BYTES > len(buffer):
                stream.seek(position)
                buffer = stream.read(_HEADER_BYTES if is_local else _CHUNK_BYTES)
                buffer_start, offset = position, 0
            if len(buffer) - offset < _HEADER_BYTES:
                raise ValueError(_damaged(path, blocks.count, position))
            (length,) = _LENGTH.unpack_from(buffer, offset)
            if not blocks.count:
                _check_first_header(path, buffer[offset : offset + _HEADER_BYTES])
            position += _HEADER_BYTES + length + _FOOTER_BYTES
            if position > size:
                raise ValueError(_damaged(path, blocks.count, size))
            blocks.add(length)
    return blocks


def records(path: str, what: str = "Record file") -> Iterator[bytes]:
    """Yields the records of a TFRecord file, whose checksums are verified.

    Raises:
      ValueError: a record is damaged; the message has the file, after `what`, and its number.
    """
    import tensorflow.compat.v1 as tf

    count = 0
    try:
        for record in tf.python_io.tf_record_iterator(str(path)):
            yield record
            count += 1
    except tf.errors.DataLossError:
        raise ValueError(damaged_record(path, count, what)) from None


def damaged_record(path: str, number: int, what: str = "Record file") -> str:
    """Returns the message for a record whose checksum is wrong."""
    if not number and not looks_like_records(path):
        return _not_records(path)
    return (
        f"{what} '{path}' is damaged in record {number} (counted from 0): its checksum is wrong. "
        "Create the file again, or copy it anew, and give the same command again."
    )


def find_damaged_record(path: str, *, offset: Optional[int] = None) -> Optional[int]:
    """Returns the number, from 0, of the first damaged record of a TFRecord file; None without one.

    The file is read as a stream, to its end or to the record that is at the byte `offset`.
    """
    import tensorflow.compat.v1 as tf

    count = position = 0
    try:
        for record in tf.python_io.tf_record_iterator(str(path)):
            count, position = count + 1, position + _HEADER_BYTES + len(record) + _FOOTER_BYTES
            if offset is not None and position > offset:
                return None
    except tf.errors.DataLossError:
        return count
    return None


def _open_records(path: str) -> Any:
    """Of a local file what is asked for is read, and no more."""
    if "://" in path:
        return open_to_read(path)
    check_is_file(path)
    return open(path, "rb", buffering=0)


def read_first_record(path: str) -> Optional[bytes]:
    """Returns the first record of a whole TFRecord file; None if the file is empty.

    (TensorFlow's iterator reads sixteen megabytes ahead, its files half a megabyte.)

    Raises:
      ValueError: the record is damaged.
    """
    with _open_records(path) as stream:
        header = stream.read(_HEADER_BYTES)
        if not header:
            return None
        _check_first_header(str(path), header)
        (length,) = _LENGTH.unpack_from(header)
        record, stored = stream.read(length), stream.read(_FOOTER_BYTES)
        if _checksum(record) != stored:
            raise ValueError(damaged_record(str(path), 0))
    return record


def looks_like_records(path: str) -> bool:
    """Returns whether a file begins as a TFRecord file does, or is empty."""
    with open_to_read(path) as stream:
        header = stream.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        return not header
    try:
        _check_first_header(str(path), header)
    except ValueError:
        return False
    return True


def _damaged(path: str, count: int, position: int) -> str:
    """The message for a file that ends too early."""
    return (
        f"Record file '{path}' is damaged or was cut off: after {count} whole records it ends "
        f"inside a record (byte {position}). Create it again."
    )


def _check_first_header(path: str, header: bytes) -> None:
    """Tells another kind of file (text, a checkpoint) from a TFRecord file that was cut off."""
    if _checksum(header[:8]) != header[8:]:
        raise ValueError(_not_records(path))


def _checksum(data: bytes) -> bytes:
    """The checksum of bytes as the format stores it: masked, lowest byte first."""
    value = _crc32c(data)
    return struct.pack("<I", (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def _not_records(path: str) -> str:
    """The message for another kind of file."""
    return (
        f"'{path}' is not a TFRecord file (the checksum of its first record header is wrong). "
        "Name record files made by this project or by another TFRecord writer, uncompressed."
    )


def _crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli); only ever of the first record of a file."""
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ _CRC_TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def _crc_table() -> List[int]:
    """What each byte adds."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _crc_table()
