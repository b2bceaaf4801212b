# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Atomic files: a reader finds either the complete old file or the complete new one.

Every path may be anything `tf.io.gfile` takes (gs:// too). TensorFlow is imported on first use
only: processes that merely import this module start without it.
"""

import contextlib
import fcntl
import functools
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import uuid
from typing import Any, Iterator, List, Mapping, Set

from albert.util.errors import UserError, in_one_line, is_refusal

# Folders of `atomic_path`, and the folders in which this process has looked for leftovers.
_HIDDEN = re.compile(r"\..+\.tmp-[0-9a-f]{16}")
_tidied: Set[str] = set()
JSON_LINES = (".json", ".jsonl")  # the endings of files of JSON lines


def gfile() -> Any:
    """Returns tf.io.gfile; imports TensorFlow only where a file is really touched."""
    import tensorflow.compat.v1 as tf

    return tf.io.gfile


@contextlib.contextmanager
def naming_path(path: str) -> Iterator[None]:
    """Turns what a file system refuses (no such file, a full disk) into a UserError with `path`."""
    try:
        yield
    except Exception as error:
        named = str(getattr(error, "filename", None) or path)
        # A file of the block's own is neither `path` nor a folder above it.
        is_other = os.path.basename(path) not in named and not str(path).startswith(named)
        if is_other or not is_refusal(error):
            raise
        reason = getattr(error, "strerror", None) or in_one_line(error)
        raise UserError(f"'{named}': {reason}.") from error


# ------------------------------------------------------------------------------------------ writing


def random_suffix() -> str:
    """Returns the end of a temporary name: 8 digits of this host, and 8 random ones."""
    return f"{_host()}{uuid.uuid4().hex[:8]}"


@functools.lru_cache(maxsize=None)
def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode("utf-8")).hexdigest()[:8]


@contextlib.contextmanager
def atomic_path(path: str) -> Iterator[str]:
    """Yields a temporary path that becomes `path` if the block succeeds and vanishes if it fails.

    The block makes a file or a folder there. The temporary path is in a hidden folder beside
    `path`, so that the rename is atomic and no pattern of the user matches it. If the process is
    killed, the next one that writes into the same local folder removes it. A device or pipe, such
    as /dev/stdout, is written to as it is.

    Raises:
      UserError: the file system refuses, as where the disk is full.
    """
    path = str(path).rstrip("/")
    folder, name = os.path.split(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        yield path
        return
    hidden = os.path.join(folder, f".{name}.tmp-{random_suffix()}")
    temporary = os.path.join(hidden, f".{name}")
    with naming_path(path), contextlib.ExitStack() as stack:
        gfile().makedirs(hidden)
        stack.callback(gfile().rmtree, hidden)
        if "://" not in path:
            _remove_leftovers(folder or ".")
            descriptor = _open_folder(hidden, stack)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield temporary
        gfile().rename(temporary, path, overwrite=True)


def _open_folder(folder: str, stack: contextlib.ExitStack) -> int:
    """Returns a descriptor of a folder, which the stack closes."""
    descriptor = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    return descriptor


def _remove_leftovers(folder: str) -> None:
    """Removes what killed processes of this host left; looks once into each folder.

    Other hosts may write into a shared folder, and may not see the lock.
    """
    if folder in _tidied:
        return
    _tidied.add(folder)
    names: List[str] = []
    with contextlib.suppress(OSError):  # a folder that may be written to, but not listed
        names = os.listdir(folder)
    for name in names:
        if f".tmp-{_host()}" not in name or not _HIDDEN.fullmatch(name):
            continue
        hidden = os.path.join(folder, name)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            content = os.listdir(hidden)  # empty until its process has locked it
            fcntl.flock(_open_folder(hidden, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if content:
                shutil.rmtree(hidden)


@contextlib.contextmanager
def atomic_folder(path: str) -> Iterator[str]:
    """Yields a new folder that becomes `path` unless the block fails.

    Raises:
      UserError: `path` exists, or the file system refuses, as where the disk is full.
    """
    _check_new(path)
    with atomic_path(path) as temporary:
        gfile().makedirs(temporary)
        yield temporary
        _check_new(path)  # another process may have made it


def _check_new(path: str) -> None:
    if gfile().exists(path):
        raise UserError(f"'{path}' exists. Choose a new folder.")


def atomic_write_bytes(path: str, content: bytes) -> None:
    """Replaces `path` by `content` in one step."""
    with atomic_path(path) as temporary, gfile().GFile(temporary, "wb") as stream:
        stream.write(content)


def atomic_write_all(folder: str, contents: Mapping[str, bytes]) -> None:
    """Replaces files of a folder by their `contents`, each in one step."""
    for name, content in contents.items():
        atomic_write_bytes(os.path.join(folder, name), content)


def atomic_write_text(path: str, text: str) -> None:
    """Replaces `path` by `text` (UTF-8) in one step."""
    atomic_write_bytes(path, text.encode("utf-8"))


def atomic_write_json(path: str, value: Any) -> None:
    """Replaces `path` by `value` as `json_text` in one step."""
    atomic_write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """Returns `value` as indented JSON with sorted keys and a newline at the end.

    Numbers that are not finite, which JSON lacks, become the texts "NaN", "Infinity", "-Infinity".
    """
    strict = json.loads(json.dumps(value), parse_constant=str)
    return json.dumps(strict, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def unused_name(path: str) -> str:
    """Returns path.old-1, or path.old-N with the next free number N."""
    names = (f"{path}.old-{number}" for number in itertools.count(1))
    return next(name for name in names if not gfile().exists(name))


# ------------------------------------------------------------------------------------------ reading


@contextlib.contextmanager
def open_to_read(path: str) -> Iterator[Any]:
    """Yields a stream of the bytes of a file, local or remote.

    Raises:
      UserError: there is no such file, it cannot be read, or it is a folder, a pipe such as <(...)
        or a device: files are read twice.
    """
    check_regular(path)
    opener = gfile().GFile if "://" in str(path) else open
    with naming_path(path), opener(path, "rb") as stream:
        yield stream


def check_regular(path: str) -> None:
    """Raises UserError for a folder, and for a pipe or a device, which may block its reader."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UserError(f"'{path}' is not a regular file. Give the path of a file.")


def read_bytes(path: str) -> bytes:
    """Returns the content of `path`; UserError as in open_to_read."""
    with open_to_read(path) as stream:
        return stream.read()


def read_text(path: str) -> str:
    """Returns the text of `path` (UTF-8), without a byte order mark.

    Raises:
      UserError: as in open_to_read and check_line_ends, or it is not UTF-8; the line is named.
    """
    content = read_bytes(path)
    check_line_ends(content, path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"'{path}', line {line}, is not UTF-8. Convert the file.") from None


def check_line_ends(content: bytes, path: str) -> None:
    """Raises UserError for a text whose lines end in CR alone: it would be one line."""
    if b"\r" in content and b"\n" not in content:
        raise UserError(
            f"'{path}': lines end in CR alone. Convert the line ends, as with tr '\\r' '\\n'."
        )


def ending(path: str) -> str:
    """Returns the ending of a file's name in small letters, such as ".csv"."""
    return os.path.splitext(path)[1].lower()


# ------------------------------------------------------------------------------------------ finding


@contextlib.contextmanager
def naming_odd_names(where: str) -> Iterator[None]:
    """Turns the error of a listing that has a file name that is not UTF-8 into a UserError."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UserError(
            f"{where}: the file name {error.object!r} is not UTF-8. Rename the file."
        ) from error


def names_in(folder: str) -> List[str]:
    """Returns the names in a folder, sorted; [] if there is no such folder.

    Raises:
      UserError: a name is not UTF-8.
    """
    folder = folder or "."
    # `exists` raises where a file system cannot be reached; for `isdir`, nothing is there.
    if not (gfile().exists(folder) and gfile().isdir(folder)):
        return []
    with naming_odd_names(f"'{folder}'"):
        return sorted(name.rstrip("/") for name in gfile().listdir(folder))


def split_paths(text: str) -> List[str]:
    """Returns the paths of a text with commas between them; "~" is expanded.

    The name of a file that exists is taken as it is.
    """
    paths = [text] if os.path.exists(text) else text.split(",")
    return [os.path.expanduser(path.strip()) for path in paths if path.strip()]


def expand_patterns(patterns: str, flag_name: str) -> List[str]:
    """Returns the files that match comma-separated names and glob patterns.

    Args:
      patterns: such as "a.txt,data/*.tfrecord". A file of exactly that name is taken literally,
        whatever characters the name holds.
      flag_name: the flag the user wrote them in, for the error message.

    Returns:
      Each file once, sorted by name, without hidden files (metadata, unfinished ones).

    Raises:
      UserError: no pattern at all, or one that matches no file.
    """
    paths = set()
    for pattern in split_paths(patterns) or [""]:
        where = f"--{flag_name}: {pattern}"
        with naming_path(where), naming_odd_names(where):  # TensorFlow 1.15: no such folder
            # An empty pattern would list the whole folder.
            matches = [pattern] if gfile().exists(pattern) else pattern and gfile().glob(pattern)
        matches = [path for path in matches if not os.path.basename(path).startswith(".")]
        if not matches or os.path.isdir(pattern):
            raise UserError(
                f"--{flag_name}: '{pattern}' matches no file. Give files or patterns such as "
                "data/*.txt, separated by commas."
            )
        paths.update(matches)
    return sorted(paths)


# ----------------------------------------------------------------------- was it made from the same?


def state_of(path: str) -> List[int]:
    """Returns size and modification time (ns) of a file, which change with it."""
    with naming_path(path):
        if "://" in path:
            remote = gfile().stat(path)
            return [remote.length, remote.mtime_nsec]
        local = os.stat(path)  # gfile knows whole seconds only
        return [local.st_size, local.st_mtime_ns]


def sha256(path: str) -> str:
    """Returns the hash of a file's content, hexadecimal."""
    digest = hashlib.sha256()
    with open_to_read(path) as stream:
        for chunk in iter(lambda: stream.read(4_000_000), b""):
            digest.update(chunk)
    return digest.hexdigest()
