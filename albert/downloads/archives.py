# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Unpacks .tar.gz and .zip archives from untrusted sources."""

import errno
import gzip
import lzma
import os
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import Any, Callable, Iterator, List, Tuple

from albert.util import UserError

# An archive that unpacks to more than this many times its size may be an attack on the disk.
_MAX_GROWTH = 50
_ALWAYS_ALLOWED_BYTES = 100 * 10**6
_FILE_BYTES = 4096  # the disk space of the smallest file
_MAX_HEADER = 1 << 16  # bytes of a name or attributes in a .tar
_HEADERS = {
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
}
# macOS adds these files to an archive.
_COMPANIONS = ("__MACOSX", "._", ".DS_Store")
# zipfile raises RuntimeError for a password or an unknown compression.
_FAULTS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    UnicodeError,
)
_DISK_FAULTS = ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EACCES", "EPERM", "EROFS")


def unpack(
    archive: str, folder: str, is_wanted: Callable[[str], bool] = lambda path: True
) -> List[str]:
    """Unpacks an archive. Ignores its owners, its permissions, and macOS's companion files.

    Args:
      archive: a local .zip or .tar.gz file.
      folder: the folder to write to. After an error, files that were already written stay there.
      is_wanted: takes a path in the archive; returns whether to write the file. All files are
        checked.

    Returns:
      The paths of the files, relative to the folder, in the archive's order.

    Raises:
      UserError: the archive is damaged; a member is a link, a device or outside the folder; or the
        content is far too large.
    """
    folder, paths = os.path.abspath(folder), []
    allowed = _ALWAYS_ALLOWED_BYTES + _MAX_GROWTH * os.path.getsize(archive)
    unpacked = 0
    try:
        for name, size, content, read in _members(archive):
            target = os.path.normpath(os.path.join(folder, name))
            if not content or "\0" in name or not target.startswith(folder + os.sep):
                raise UserError(f"{archive}: {name!r} is a link, a device, or outside the folder.")
            unpacked += size + _FILE_BYTES
            if max(unpacked, read) > allowed:
                raise UserError(f"{archive} unpacks to far more than its size.")
            path = os.path.relpath(target, folder)
            is_companion = any(part.startswith(_COMPANIONS) for part in path.split(os.sep))
            if is_wanted(path) and not is_companion:
                _write(content, target)
                paths.append(path)
        return paths
    except _FAULTS as error:
        if errno.errorcode.get(getattr(error, "errno", None)) in _DISK_FAULTS:
            raise
        raise UserError(
            f"{archive} is damaged or not an archive ({error}). Download it again; if that does "
            "not help, the file on the server is damaged."
        ) from error


def _write(content: Any, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as stream:
        shutil.copyfileobj(content, stream, 1 << 20)


class _Member(tarfile.TarInfo):
    """A member of a .tar. Refuses a long header, because tarfile would read it into memory."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: Any, errors: Any) -> Any:
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _MAX_HEADER:
            raise tarfile.ReadError(f"a header of {member.size} bytes")
        return member


def _members(archive: str) -> Iterator[Tuple[str, int, Any, int]]:
    """Yields (name, size, content, bytes of a .tar read so far) of each member except folders.

    The content is None if the member is not a regular file.
    """
    if archive.endswith(".zip"):
        with zipfile.ZipFile(archive) as members:
            infos = [item for item in members.infolist() if not item.filename.endswith("/")]
            for info in infos:
                kind = stat.S_IFMT(info.external_attr >> 16)  # 0 if Unix did not write it
                content = members.open(info) if kind in (0, stat.S_IFREG) else None
                yield info.filename, info.file_size, content, 0
        return
    with gzip.open(archive) as stream, tarfile.open(
        fileobj=stream, mode="r|", tarinfo=_Member
    ) as members:
        for member in members:
            content = members.extractfile(member) if member.isreg() else None
            if not member.isdir():
                yield member.name, abs(member.size), content, stream.tell()
        stream.read(1 << 24)  # Verifies gzip's checksum, which follows padding after the archive.
