# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Atomic files: a reader gets either the complete old file or the complete new one.

A path is any path that `tf.io.gfile` takes. Only for a path with a scheme, such as
gs://bucket/file, this module imports TensorFlow, which takes seconds.
"""

import contextlib
import fcntl
import functools
import glob as local_glob
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import uuid
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Set

from albert.util.errors import UserError, in_one_line, is_file_error

# Names of `atomic_path`'s temporary folders, and folders from which leftovers were removed.
_HIDDEN = re.compile(r"\..+\.tmp-[0-9a-f]{16}")
_tidied: Set[str] = set()
JSON_LINES = (".json", ".jsonl")  # file name endings of JSON lines


def _function(name: str, local: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Returns a function that calls `local`, or tf.io.gfile's `name` if a path has a scheme."""

    def call(*arguments: str) -> Any:
        if not any("://" in str(argument) for argument in arguments):
            return local(*arguments)
        import tensorflow.compat.v1 as tf

        return getattr(tf.io.gfile, name)(*arguments, **options)

    return call


exists = _function("exists", os.path.exists)
is_folder = _function("isdir", os.path.isdir)
make_folders = _function("makedirs", functools.partial(os.makedirs, exist_ok=True))
glob = _function("glob", local_glob.glob)
copy = _function("copy", shutil.copyfile)
open_bytes = _function("GFile", open)  # (path, "rb" or "wb")
rename = _function("rename", os.replace, overwrite=True)
remove = _function("remove", os.remove)
remove_tree = _function("rmtree", shutil.rmtree)
_names = _function("listdir", os.listdir)
_state = _function("stat", os.stat)


@contextlib.contextmanager
def naming_path(path: str) -> Iterator[None]:
    """Turns a file system's error (no such file, a full disk) into a UserError with `path`."""
    try:
        yield
    except Exception as error:
        named = str(getattr(error, "filename", None) or path)
        if _HIDDEN.search(named):  # a temporary name of `path`
            named = str(path)
        # The error is about another file of the block, not about `path` or a folder above it.
        is_other = os.path.basename(path) not in named and not str(path).startswith(named)
        if is_other or not is_file_error(error):
            raise
        reason = getattr(error, "strerror", None) or in_one_line(error)
        raise UserError(f"'{named}': {reason}.") from error


# ------------------------------------------------------------------------------------------ writing


def random_suffix() -> str:
    """Returns the end of a temporary name: 8 digits for this host, and 8 random digits."""
    return f"{_host()}{uuid.uuid4().hex[:8]}"


@functools.lru_cache(maxsize=None)
def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode("utf-8")).hexdigest()[:8]


@contextlib.contextmanager
def atomic_path(path: str) -> Iterator[str]:
    """Yields a temporary path that becomes `path` if the block succeeds and vanishes if it fails.

    The block creates a file or folder at the temporary path. That path is in a hidden folder beside
    `path`, so that the rename is atomic and no user's pattern matches it. If the process is killed,
    the next process that writes into the same local folder removes the hidden folder. For a device
    or pipe, such as /dev/stdout, the block writes to `path` itself.

    Raises:
      UserError: the file system reports an error, such as a full disk.
    """
    path = str(path).rstrip("/")
    folder, name = os.path.split(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        yield path
        return
    hidden = os.path.join(folder, f".{name}.tmp-{random_suffix()}")
    temporary = os.path.join(hidden, f".{name}")
    with naming_path(path), contextlib.ExitStack() as stack:
        make_folders(hidden)
        stack.callback(remove_tree, hidden)
        if "://" not in path:
            _remove_leftovers(folder or ".")
            descriptor = _open_folder(hidden, stack)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield temporary
        rename(temporary, path)


def _open_folder(folder: str, stack: contextlib.ExitStack) -> int:
    """Opens a folder. The stack closes the descriptor."""
    descriptor = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    return descriptor


def _remove_leftovers(folder: str) -> None:
    """Removes temporary folders of killed processes, once per folder and process.

    Removes only folders of this host. Other hosts may be writing into theirs, and not every shared
    file system shows their locks.
    """
    if folder in _tidied:
        return
    _tidied.add(folder)
    names: List[str] = []
    with contextlib.suppress(OSError):  # no permission to list the folder
        names = os.listdir(folder)
    for name in names:
        if f".tmp-{_host()}" not in name or not _HIDDEN.fullmatch(name):
            continue
        hidden = os.path.join(folder, name)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            # An empty folder may belong to a process that has not locked it yet.
            content = os.listdir(hidden)
            fcntl.flock(_open_folder(hidden, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if content:
                shutil.rmtree(hidden)


@contextlib.contextmanager
def atomic_folder(path: str) -> Iterator[str]:
    """Yields a new temporary folder that becomes `path` if the block succeeds.

    Raises:
      UserError: `path` exists, or the file system reports an error, such as a full disk.
    """
    _check_new(path)
    with atomic_path(path) as temporary:
        make_folders(temporary)
        yield temporary
        _check_new(path)  # Another process may have created it in the meantime.


def _check_new(path: str) -> None:
    if exists(path):
        raise UserError(f"'{path}' exists. Choose a new folder.")


def atomic_write_bytes(path: str, content: bytes) -> None:
    """Replaces `path` by `content` in one step."""
    with atomic_path(path) as temporary, open_bytes(temporary, "wb") as stream:
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

    JSON has no numbers for NaN and infinity: they become the texts "NaN", "Infinity", "-Infinity".
    """
    strict = json.loads(json.dumps(value), parse_constant=str)
    return json.dumps(strict, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def unused_name(path: str) -> str:
    """Returns path.old-1, or path.old-N with the next free number N."""
    names = (f"{path}.old-{number}" for number in itertools.count(1))
    return next(name for name in names if not exists(name))


# ------------------------------------------------------------------------------------------ reading


@contextlib.contextmanager
def open_to_read(path: str) -> Iterator[Any]:
    """Yields a stream of the bytes of a file, local or remote.

    Raises:
      UserError: the file does not exist or cannot be read; or it is a folder, a device, or a pipe
        such as <(...), which cannot be read twice.
    """
    check_regular(path)
    with naming_path(path), open_bytes(path, "rb") as stream:
        yield stream


def check_regular(path: str) -> None:
    """Raises UserError if `path` is a folder, a pipe or a device. Reading a pipe may block."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UserError(f"'{path}' is not a regular file. Give the path of a file.")


def read_bytes(path: str) -> bytes:
    """Returns the content of `path`. Raises UserError as `open_to_read` does."""
    with open_to_read(path) as stream:
        return stream.read()


def read_text(path: str) -> str:
    """Returns the text of `path` (UTF-8), without a byte order mark.

    Raises:
      UserError: see open_to_read and check_line_ends; or a line is not UTF-8.
    """
    content = read_bytes(path)
    check_line_ends(content, path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"'{path}', line {line}, is not UTF-8. Convert the file.") from None


def check_line_ends(content: bytes, path: str) -> None:
    """Raises UserError if lines end in CR alone: the text would be read as one line."""
    if b"\r" in content and b"\n" not in content:
        raise UserError(
            f"'{path}': lines end in CR alone. Convert the line ends, as with tr '\\r' '\\n'."
        )


def ending(path: str) -> str:
    """Returns the ending of a file's name in lower case, such as ".csv"."""
    return os.path.splitext(path)[1].lower()


# ------------------------------------------------------------------------------------------ finding


def _check_names(paths: Iterable[str], where: str) -> None:
    """Raises UserError if a file name is not UTF-8."""
    for path in paths:
        name = os.fsencode(os.path.basename(path))
        try:
            name.decode("utf-8")
        except UnicodeDecodeError:
            raise UserError(
                f"{where}: the file name {name!r} is not UTF-8. Rename the file."
            ) from None


def names_in(folder: str) -> List[str]:
    """Returns the names in a folder, sorted; [] if there is no such folder.

    Raises:
      UserError: a name is not UTF-8.
    """
    folder = folder or "."
    # If the file system cannot be reached, `exists` raises, but `isdir` returns False.
    if not (exists(folder) and is_folder(folder)):
        return []
    names = sorted(name.rstrip("/") for name in _names(folder))
    _check_names(names, f"'{folder}'")
    return names


def split_paths(text: str) -> List[str]:
    """Splits comma-separated paths, and expands "~". An existing file's name may have commas."""
    paths = [text] if os.path.exists(text) else text.split(",")
    return [os.path.expanduser(path.strip()) for path in paths if path.strip()]


def expand_patterns(patterns: str, flag_name: str) -> List[str]:
    """Returns the files that match comma-separated names and glob patterns.

    Args:
      patterns: such as "a.txt,data/*.tfrecord". An existing file's name may have any characters.
      flag_name: the flag with the patterns, for the error message.

    Returns:
      Each file once, sorted by name, without hidden files (metadata, unfinished files).

    Raises:
      UserError: there is no pattern, or a pattern matches no file.
    """
    paths = set()
    for pattern in split_paths(patterns) or [""]:
        where = f"--{flag_name}: {pattern}"
        with naming_path(where):  # TensorFlow 1.15: no such folder
            matches = [pattern] if exists(pattern) else glob(pattern)
        _check_names(matches, where)
        matches = [path for path in matches if not os.path.basename(path).startswith(".")]
        if not matches or os.path.isdir(pattern):
            raise UserError(
                f"--{flag_name}: '{pattern}' matches no file. Give files or patterns such as "
                "data/*.txt, separated by commas."
            )
        paths.update(matches)
    return sorted(paths)


# ---------------------------------------------------------------------------- has a file changed?


def state_of(path: str) -> List[int]:
    """Returns a file's size and modification time (ns), which tell whether it has changed."""
    with naming_path(path):
        state = _state(path)
    if "://" in path:
        return [state.length, state.mtime_nsec]
    return [state.st_size, state.st_mtime_ns]


def sha256(path: str) -> str:
    """Returns the SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with open_to_read(path) as stream:
        for chunk in iter(lambda: stream.read(4_000_000), b""):
            digest.update(chunk)
    return digest.hexdigest()
