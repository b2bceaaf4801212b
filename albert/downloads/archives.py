# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Unpacks .tar.gz and .zip archives, which are not trusted."""

import gzip
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Tuple

from albert.util.errors import UserError

# An archive that unpacks to far more than its own size is made to fill the disk.
_MOST_GROWTH = 50
_ALWAYS_ALLOWED_BYTES = 100 * 10**6
_MOST_HEADER_BYTES = 10**6
MOST_MEMBERS = 10**5  # three times as many as the archive with the most, RACE's
# What macOS puts beside the files of an archive.
_COMPANIONS = ("__MACOSX", "._", ".DS_Store")

# RuntimeError: with a password. NotImplementedError: packed in a way that is not known.
_FAULTS = (tarfile.TarError, EOFError, zlib.error, OSError, RuntimeError, zipfile.BadZipFile)


class DamagedArchiveError(ValueError):
    """The file is no archive, is cut off, or fails its checksum: another copy may be whole."""


class _Header(tarfile.TarInfo):
    """A header of a tar archive; long names and the like are read into memory."""

    @classmethod
    def frombuf(cls, *arguments: Any) -> "_Header":
        """Reads a header's block; raises ValueError if more of it follows than any name needs."""
        header = super().frombuf(*arguments)
        if not header.isreg() and header.size > _MOST_HEADER_BYTES:
            raise UserError(
                f"The archive holds a header of {header.size:,} bytes. Nothing of it is used."
            )
        return header


class _Unzipped(gzip.GzipFile):
    """What is packed in a .gz file."""

    def read(self, size: Optional[int] = -1) -> bytes:
        """Reads; raises ValueError if there is far too much in all."""
        content = super().read(size)
        _check_total(self.name, self.tell())
        return content


class _Member(NamedTuple):
    """A part of an archive."""

    name: str
    size: int
    is_file: bool
    is_folder: bool
    open: Callable[[], Any]  # its content


def is_archive(path: str) -> bool:
    """Returns whether a name is that of an archive."""
    return path.endswith((".zip", ".tar.gz", ".tgz"))


def unpack(
    archive: str,
    folder: str,
    *,
    is_wanted: Callable[[str], bool] = lambda path: True,
    most_members: int = MOST_MEMBERS,
) -> List[str]:
    """Unpacks an archive; owners and permissions in it are ignored, and macOS's companion files.

    Args:
      archive: a local file, .zip or .tar.gz by its content.
      folder: gets the content; what is written remains there if the rest is refused.
      is_wanted: tells by the path in the archive whether a file is written. All are checked.
      most_members: files and folders that are allowed in it.

    Returns:
      The paths of the files, relative to the folder and with slashes, in the archive's order.

    Raises:
      DamagedArchiveError: the archive cannot be read to its end.
      ValueError: a member is a link or a device, leads out of the folder or is there twice, or
        there is far too much or too many.
    """
    paths: List[str] = []
    try:
        for path, member in _checked(archive, most_members):
            is_companion = any(part.startswith(_COMPANIONS) for part in path.split("/"))
            if member.is_file and not is_companion and is_wanted(path):
                _write(member, os.path.join(folder, path))
                paths.append(path)
    except _FAULTS as error:
        if getattr(error, "errno", None) is not None:  # not the file's fault, such as a full disk
            raise
        raise DamagedArchiveError(f"{archive} is no whole archive ({error}).") from error
    return paths


def _checked(archive: str, most_members: int) -> Iterator[Tuple[str, _Member]]:
    """The members of an archive with their paths below a folder."""
    total = 0
    for number, member in enumerate(_members(archive), start=1):
        if number > most_members:
            raise UserError(
                f"The archive holds more than {most_members:,} files and folders, which none of "
                "the published ones does. Nothing of it is used."
            )
        total += abs(member.size)
        _check_total(archive, total)
        yield _checked_path(member), member


def _check_total(archive: str, total: int) -> None:
    """Raises ValueError if so many bytes are too many for an archive."""
    most_bytes = _ALWAYS_ALLOWED_BYTES + _MOST_GROWTH * os.path.getsize(archive)
    if total > most_bytes:
        raise UserError(
            f"The archive unpacks to more than {most_bytes / 1e6:.0f} MB, which no archive of its "
            "size should. Nothing of it is used."
        )


def _members(archive: str) -> Iterator[_Member]:
    with open(archive, "rb") as stream:
        is_zip = stream.read(2) == b"PK"
    return _zip_members(archive) if is_zip else _tar_members(archive)


def _tar_members(archive: str) -> Iterator[_Member]:
    with _Unzipped(archive) as stream:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as members:
            for member in members:

                def content(member: tarfile.TarInfo = member) -> Any:
                    return members.extractfile(member)

                yield _Member(member.name, member.size, member.isreg(), member.isdir(), content)
        while stream.read(1 << 20):  # the checksum comes after the archive's own end
            continue


def _zip_members(archive: str) -> Iterator[_Member]:
    # What is read of a member ends at the size that is stated for it, and its checksum is compared.
    with zipfile.ZipFile(archive) as members:
        for member in members.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)  # 0 where no Unix wrote it

            def content(member: zipfile.ZipInfo = member) -> Any:
                return members.open(member)

            is_file = not member.is_dir() and kind in (0, stat.S_IFREG)
            yield _Member(member.filename, member.file_size, is_file, member.is_dir(), content)


def _write(member: _Member, path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as target, member.open() as source:
            shutil.copyfileobj(source, target, 1 << 20)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(
            f"The archive holds {member.name!r} twice; nothing of it is used."
        ) from error


def _checked_path(member: _Member) -> str:
    """The path of a member below the folder."""
    name = member.name
    parts = [part for part in name.split("/") if part not in ("", ".")]
    leaves = name.startswith("/") or ".." in parts or any(sign in name for sign in "\\\0")
    fault = ""
    if leaves or (parts and parts[0].endswith(":")) or not (parts or member.is_folder):
        fault = "leads out of its folder"
    elif not member.is_file and not member.is_folder:
        fault = "is a link or a device and not a file"
    if fault:
        raise UserError(
            f"The archive holds {name!r}, which {fault}. It is not one of the published archives; "
            "nothing of it is used."
        )
    return "/".join(parts)
