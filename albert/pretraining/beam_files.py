# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of a pipeline, wherever Apache Beam can reach them: local, gs://, hdfs://, s3://.

The rules are those of `files`: a file appears whole or not at all, and beside records lies a
sidecar that says what they were made from. Only the way to the file system is another.
"""

import contextlib
import os
import shutil
import tempfile
import uuid
from typing import Any, BinaryIO, Iterator, List, Mapping, NamedTuple, Optional

from apache_beam.io import filesystem, filesystems

from albert.util import files

_UNCOMPRESSED = filesystem.CompressionTypes.UNCOMPRESSED
_COPY_BYTES = 1 << 22
_FileSystems = filesystems.FileSystems


class FileState(NamedTuple):
    """What tells a file from what it was before, without reading it."""

    path: str
    size: int
    changed: float  # when, in seconds since 1970


def is_remote(path: str) -> bool:
    """Returns whether a path names its file system, as gs:// does."""
    return "://" in path


def absolute(path: str) -> str:
    """Returns a path that means the same in every process on this machine."""
    return path if is_remote(path) else os.path.abspath(path)


def join(folder: str, name: str) -> str:
    """Returns the path of a file in a folder; "" is the folder the process is in."""
    return _FileSystems.join(folder, name) if folder else name


def base_name(path: str) -> str:
    """Returns the name of a file without folders."""
    return _FileSystems.split(path)[1]


def exists(path: str) -> bool:
    """Returns whether a file or folder is there."""
    return _FileSystems.exists(path)


def size(path: str) -> int:
    """Returns the bytes of a file."""
    return _FileSystems.get_filesystem(path).size(path)


def state(path: str) -> FileState:
    """Returns name, size and time of a file."""
    return FileState(path, size(path), _FileSystems.last_updated(path))


def find(pattern: str) -> List[str]:
    """Returns the files that a pattern matches, sorted."""
    (match,) = _FileSystems.match([pattern])
    return sorted(metadata.path for metadata in match.metadata_list)


def open_to_read(path: str) -> BinaryIO:
    """Returns a stream of a file's bytes as they are there, packed or not; it can seek.

    Raises:
      ValueError: see files.check_is_file.
    """
    files.check_is_file(path)
    return _FileSystems.open(path, compression_type=_UNCOMPRESSED)


def read_text(path: str) -> str:
    """Returns the content of a file, decoded from UTF-8."""
    with contextlib.closing(open_to_read(path)) as stream:
        return files.decode(stream.read(), path)


def remove(path: str) -> None:
    """Removes a file if it is there."""
    if exists(path):
        _FileSystems.delete([path])


def make_folder(folder: str) -> None:
    """Makes a folder and those above it, if need be; "" is the one the process is in."""
    if folder and not exists(folder):
        with contextlib.suppress(FileExistsError):  # another worker made it now
            _FileSystems.mkdirs(folder)


@contextlib.contextmanager
def replacement(path: str) -> Iterator[str]:
    """Yields the path of a local file to write, which becomes `path` if the block succeeds.

    Workers that write the same file at the same time, as runners let them when one is slow, do not
    meet: each has a name of its own until the last step.
    """
    folder, name = os.path.split(path)
    make_folder(folder)
    temporary = join(folder, f".{name}.tmp-{uuid.uuid4().hex}")
    with contextlib.ExitStack() as stack:
        stack.enter_context(files.naming_full_disk(path))
        stack.callback(remove, temporary)
        if is_remote(path):
            local = stack.enter_context(tempfile.TemporaryDirectory())
            written = os.path.join(local, "content")
            yield written
            _upload(written, temporary)
        else:
            yield temporary
        _move(temporary, path)


def _upload(local: str, remote: str) -> None:
    """Copies a local file to another file system."""
    with open(local, "rb") as source, contextlib.closing(
        _FileSystems.create(remote, compression_type=_UNCOMPRESSED)
    ) as target:
        shutil.copyfileobj(source, target, _COPY_BYTES)


def _move(temporary: str, path: str) -> None:
    """Gives a file its name. Some file systems do not replace one that is there (HDFS)."""
    if is_remote(path):
        remove(path)
    _FileSystems.rename([temporary], [path])


def write_text(path: str, text: str) -> None:
    """Replaces `path` by `text` (UTF-8) in one step."""
    with replacement(path) as temporary, open(temporary, "wb") as stream:
        stream.write(text.encode("utf-8"))


# --------------------------------------------------------------------------------- record sidecars


def read_sidecar(path: str) -> Optional[files.Sidecar]:
    """Returns the sidecar of the record file `path`; None if there is none or it is unreadable."""
    sidecar = files.sidecar_path(path)
    if not exists(sidecar):
        return None
    with contextlib.closing(open_to_read(sidecar)) as stream:
        return files.parse_sidecar(stream.read(), sidecar)


def write_sidecar(path: str, blocks: files.BlockOffsets, fingerprint: Mapping[str, Any]) -> None:
    """Writes the sidecar of the finished record file `path`."""
    write_text(files.sidecar_path(path), files.sidecar_text(blocks, size(path), fingerprint))


def why_stale(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns why the record file `path` cannot be used for `fingerprint`; "" if it can."""
    if not exists(path):
        return files.NOT_THERE
    return files.why_sidecar_is_stale(read_sidecar(path), size(path), fingerprint)
