# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Unpacks archives that came from elsewhere: nothing is written outside of the folder named.

Only plain files and folders are taken. Links, devices, absolute paths and paths with ".." are
refused, and so are two files of one name; owners and permissions of the archive are ignored.
"""

import contextlib
import gzip
import os
import shutil
import tarfile
import zlib
from typing import Any, Iterator, List

_CHUNK_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"

# What unpacks to far more than this times its own size is made to fill the disk.
_MOST_GROWTH = 50
_ALWAYS_ALLOWED_BYTES = 100 * 10**6


class DamagedArchiveError(ValueError):
    """The file is no archive, is cut off, or fails its checksum: another copy may be whole."""


def unpack(archive: str, folder: str) -> List[str]:
    """Unpacks a .tar or .tar.gz file.

    Args:
      archive: a local file.
      folder: gets the content; what is written remains there if the rest is refused.

    Returns:
      The paths of the files, relative to the folder and with slashes, in the archive's order.

    Raises:
      DamagedArchiveError: the archive cannot be read to its end.
      ValueError: a member is refused.
    """
    most_bytes = _ALWAYS_ALLOWED_BYTES + _MOST_GROWTH * os.path.getsize(archive)
    try:
        with _plain(archive) as stream:
            paths = _unpack_stream(stream, folder, most_bytes)
            # The checksum comes after the archive's own end.
            while stream.read(_CHUNK_BYTES):
                continue
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DamagedArchiveError(f"{archive} is no whole archive ({error}).") from error
    except OSError as error:
        if error.errno is not None:  # not the file's fault, such as a full disk
            raise
        raise DamagedArchiveError(f"{archive} is no whole archive ({error}).") from error
    return paths


@contextlib.contextmanager
def _plain(archive: str) -> Iterator[Any]:
    """The stream of the tar file, which may be compressed."""
    with open(archive, "rb") as raw:
        is_compressed = raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        raw.seek(0)
        if not is_compressed:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as stream:
            yield stream


def _unpack_stream(stream: Any, folder: str, most_bytes: int) -> List[str]:
    paths, total = [], 0
    with tarfile.open(fileobj=stream, mode="r|") as members:
        for member in members:
            path = _checked_path(member)
            total += member.size
            if total > most_bytes:
                raise ValueError(
                    f"The archive unpacks to more than {most_bytes / 1e6:.0f} MB, which no archive "
                    "of its size should. Nothing of it is used."
                )
            if member.isdir():
                os.makedirs(os.path.join(folder, path), exist_ok=True)
            else:
                _write(members.extractfile(member), os.path.join(folder, path), member.name)
                paths.append(path)
    return paths


def _checked_path(member: tarfile.TarInfo) -> str:
    """The path of a member below the folder.

    Raises:
      ValueError: it leads elsewhere, or the member is neither a file nor a folder.
    """
    name = member.name
    parts = [part for part in name.split("/") if part not in ("", ".")]
    leaves = name.startswith("/") or ".." in parts or any(sign in name for sign in "\\\0")
    if leaves or (parts and parts[0].endswith(":")) or not (parts or member.isdir()):
        raise ValueError(
            f"The archive holds {name!r}, which leads out of its folder. It is not one of the "
            "released archives; nothing of it is used."
        )
    if not member.isreg() and not member.isdir():
        raise ValueError(
            f"The archive holds {name!r}, which is a link or a device and not a file. It is not "
            "one of the released archives; nothing of it is used."
        )
    return "/".join(parts)


def _write(source: Any, path: str, name: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as target:
            shutil.copyfileobj(source, target, _CHUNK_BYTES)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(f"The archive holds {name!r} twice; nothing of it is used.") from error
