# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as transactions: a reader finds either the whole old file or the whole new one.

Every path may be anything `tf.io.gfile` takes (gs:// too). TensorFlow is imported on first use
only: processes that merely import this module start without it.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import socket
import stat
import uuid
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Union,
)

from albert.util.errors import UserError

_CHUNK_BYTES = 1 << 22
_JSON_TYPES = {dict: "an object", list: "a list", str: "a string", int: "an integer"}
_JSON_TYPES.update({float: "a number", bool: "true or false", type(None): "null"})

# Errors that mean that no more fits, and the system's words for them, which TensorFlow's have.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_WORDS = re.compile("|".join(map(os.strerror, _FULL)))


class DiskFullError(OSError):
    """There is no room for a file, which the message names."""


def gfile() -> Any:
    """Returns tf.io.gfile; imports TensorFlow only where a file is really touched."""
    import tensorflow.compat.v1 as tf

    return tf.io.gfile


# ------------------------------------------------------------------------------ atomic replacement


def random_suffix() -> str:
    """Returns the end of a temporary name, which cannot be foreseen (to lay a link there)."""
    return uuid.uuid4().hex[:16]


def _create_temporary(path: str) -> str:
    """Makes an empty file; its name holds host and process for _remove_abandoned."""
    folder, base = os.path.split(path)
    name = f".{base}.tmp-{socket.gethostname()}-{os.getpid()}-{random_suffix()}"
    temporary = os.path.join(folder, name)
    if "://" not in path:  # elsewhere there are no links to follow
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


@contextlib.contextmanager
def naming_full_disk(path: str) -> Iterator[None]:
    """Turns the errors of a full disk into a DiskFullError that names the file or folder `path`."""
    try:
        yield
    except DiskFullError:
        raise
    except Exception as error:
        reason = _why_full(error)
        if not reason:
            raise
        raise DiskFullError(
            f"'{path}' cannot be written: {reason}. Make room (or name another place), then run "
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
    """True in doubt: a file that may be in use must stay."""
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        return True
    return True


def _remove_abandoned(path: str) -> None:
    """Removes what killed writers of the same path on this host left."""
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

    The folder is created if need be. The temporary file is hidden in the same folder, so that the
    rename is atomic and no pattern of the user matches it. It exists already, empty, so that what
    is written never goes through a link of another user. A device or pipe, such as /dev/stdout, is
    written to as it is.

    Raises:
      DiskFullError: there is no room; whatever the block wrote is gone.
    """
    filesystem = gfile()
    path = str(path)
    with naming_full_disk(path):
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            yield path
            return
        if os.path.dirname(path):
            filesystem.makedirs(os.path.dirname(path))
        _remove_abandoned(path)
        temporary = _create_temporary(path)
        try:
            yield temporary
            filesystem.rename(temporary, path, overwrite=True)
        finally:
            if filesystem.exists(temporary):
                filesystem.remove(temporary)


@contextlib.contextmanager
def atomic_folder(path: str) -> Iterator[str]:
    """Yields a new folder that becomes `path` unless the block fails.

    The folders above it are made if need be, and go again where the block fails (local ones).

    Raises:
      UserError: `path` exists.
      DiskFullError: there is no room.
    """
    filesystem = gfile()
    if filesystem.exists(path):
        raise UserError(f"'{path}' exists already. Choose a new folder.")
    temporary = f"{str(path).rstrip('/')}.temp-{random_suffix()}"
    with naming_full_disk(path), _folders_above(temporary):
        try:
            filesystem.makedirs(temporary)
            yield temporary
            filesystem.rename(temporary, path)
        finally:
            if filesystem.exists(temporary):
                filesystem.rmtree(temporary)


@contextlib.contextmanager
def _folders_above(path: str) -> Iterator[None]:
    """Makes the folders above `path`; of these, those that stay empty go again."""
    filesystem, folder = gfile(), os.path.dirname(path)
    missing = []
    while folder and not filesystem.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    try:
        filesystem.makedirs(os.path.dirname(path) or ".")
        yield
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):  # it holds something
                os.rmdir(folder)


def atomic_write_bytes(path: str, content: bytes) -> None:
    """Replaces `path` by `content` in one step."""
    with atomic_path(path) as temporary, gfile().GFile(temporary, "wb") as stream:
        stream.write(content)


def atomic_write_text(path: str, text: str) -> None:
    """Replaces `path` by `text` (UTF-8) in one step."""
    atomic_write_bytes(path, text.encode("utf-8"))


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
      ValueError: a folder, a pipe such as <(...), a device such as /dev/zero, or a socket.
    """
    try:
        mode = None if "://" in str(path) else os.stat(str(path)).st_mode
    except OSError:
        return
    if mode is None or stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise UserError(f"'{path}' is a folder. Name a file.")
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise UserError(
        f"'{path}' is {kind}, not a file. It would be read more than once: write the content to a "
        "file, and name that."
    )


def open_to_read(path: str) -> Any:
    """Returns a stream of the bytes of a file, local or remote; ValueError if it is no file."""
    check_is_file(path)
    return gfile().GFile(str(path), "rb")


def read_bytes(path: str) -> bytes:
    """Returns the content of `path`; ValueError if it is no file."""
    with open_to_read(path) as stream:
        return stream.read()


def read_text(path: str) -> str:
    """Returns the content of `path`; ValueError if it is no file, or `decode` refuses it."""
    return decode(read_bytes(path), path)


def decode(content: bytes, path: str) -> str:
    """Returns the text of the file `path` with these bytes, without a byte order mark.

    Raises:
      ValueError: it is not UTF-8; file and line are named.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"'{path}' is not UTF-8 text (line {line}: {error.reason} at byte {error.start}). Is "
            "it the right file? Text in another encoding has to be converted to UTF-8."
        ) from None


def read_json(path: str) -> Any:
    """Returns the JSON value in a file; a ValueError names the file."""
    return parse_json(read_text(path), f"'{path}'")


def read_json_object(path: str, types: Any = dict) -> Dict[str, Any]:
    """Returns the JSON object in a file; a ValueError names the file. `types`: see check_types."""
    value = read_json(path)
    check_types(value, types, f"'{path}'")
    return value


def check_types(value: Any, types: Any, where: str) -> None:
    """Checks the types in a JSON value.

    Args:
      value: what was read.
      types: a type; [that of the items of a list]; {key: its type} of an object, or
        {str: the type of each value}; or a tuple of these, in which None allows null and a missing
        key.
      where: the file, for the message.

    Raises:
      ValueError: a value has another type; where and which key are named.
    """
    kinds = types if isinstance(types, tuple) else (types,)
    by_type = {kind if isinstance(kind, type) else type(kind): kind for kind in kinds}
    if type(value) not in by_type:
        names = " or ".join(map(_JSON_TYPES.get, by_type))
        found = "missing" if value is None else json.dumps(value)[:60]
        raise UserError(f"{where} is {found}; it must be {names}.")
    kind = by_type[type(value)]
    if isinstance(kind, dict):
        for key in value if str in kind else kind:
            check_types(value.get(key), kind.get(key, kind.get(str)), f"{where}: {key}")
    elif isinstance(kind, list):
        for number, item in enumerate(value):
            check_types(item, kind[0], f"{where}[{number}]")


def parse_json(text: str, where: str) -> Any:
    """Returns a JSON value; a ValueError, also for one nested too deeply, begins with `where`."""
    try:
        return json.loads(text)
    except RecursionError:
        raise UserError(f"{where} is JSON nested too deeply to be read.") from None
    except ValueError as error:
        raise UserError(f"{where} is not JSON ({error}).") from None


# --------------------------------------------------------------------------------- finding, hashing


def split_paths(paths: Union[str, Iterable[str]]) -> List[str]:
    """Returns the paths of a text with commas between them, or of several; "~" is expanded."""
    texts = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    parts = [part.strip() for text in texts for part in str(text).split(",")]
    return [os.path.expanduser(part) for part in parts if part]


def expand_patterns(patterns: Union[str, Iterable[str]], flag_name: str) -> List[str]:
    """Returns the files that comma-separated names and glob patterns stand for.

    Args:
      patterns: "a.txt,data/*.tfrecord" or a list of such strings. A file of exactly that name is
        taken literally, whatever characters the name holds.
      flag_name: the flag the user wrote them in, for the error message.

    Returns:
      Each file once, sorted by name, without hidden files (metadata, unfinished ones).

    Raises:
      ValueError: no pattern at all, a pattern that matches nothing, or a folder.
    """
    single = split_paths(patterns)
    if not single:
        raise UserError(f"--{flag_name} names no file. Give a path or a pattern like data/*.txt.")
    found = set()
    for pattern in single:
        found.update(_expand_pattern(pattern, flag_name))
    return sorted(found)


def _expand_pattern(pattern: str, flag_name: str) -> List[str]:
    """One pattern of expand_patterns."""
    if gfile().exists(pattern):
        if gfile().isdir(pattern):
            raise UserError(
                f"--{flag_name}: '{pattern}' is a folder. Name the files in it, for example "
                f"'{os.path.join(pattern, '*')}'."
            )
        check_is_file(pattern)
        return [pattern]
    files = [name for name in _glob(pattern) if not os.path.basename(name).startswith(".")]
    if not files:
        raise UserError(
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
    while gfile().exists(f"{path}.old-{number}"):
        number += 1
    return f"{path}.old-{number}"


def file_fingerprint(path: str, on_bytes: Optional[Callable[[int], None]] = None) -> Dict[str, Any]:
    """Returns {"name", "size", "sha256"} of a file: equal exactly if name and content are equal.

    `on_bytes` is called with the number of bytes that were just read. `many_files.fingerprints`
    hashes many files, or large ones.
    """
    digest = hashlib.sha256()
    size = 0
    with open_to_read(path) as stream:
        for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
            digest.update(chunk)
            size += len(chunk)
            if on_bytes is not None:
                on_bytes(len(chunk))
    return {"name": os.path.basename(str(path)), "size": size, "sha256": digest.hexdigest()}


def normalized_fingerprint(fingerprint: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the fingerprint as it looks after a trip through JSON (tuples become lists)."""
    return json.loads(json.dumps(dict(fingerprint), sort_keys=True))


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
    """One change in words; files are named, their hashes are not."""
    old_names, new_names = _file_names(old), _file_names(new)
    if old_names and old_names == new_names:
        return f"the content of {_short(', '.join(new_names))} is not the same as before"
    if key == "settings" and isinstance(old, dict) and isinstance(new, dict):
        return fingerprint_difference(old, new)  # only the flags that changed
    return f"{key} was {_in_words(old, old_names)} and is {_in_words(new, new_names)}"


def _file_names(value: Any) -> List[str]:
    """The names in a fingerprint of files; [] if it is of something else."""
    entries = value if isinstance(value, list) else [value]
    names = [entry.get("name") for entry in entries if isinstance(entry, dict)]
    is_named = len(names) == len(entries) and all(isinstance(name, str) for name in names)
    return names if is_named else []


def _in_words(value: Any, names: Sequence[str]) -> str:
    if names:
        return _short(", ".join(names))
    return _short(value if isinstance(value, str) else json.dumps(value, sort_keys=True))


def _short(text: str) -> str:
    """Long lists would bury the log line."""
    return text if len(text) <= 80 else text[:77] + "..."
