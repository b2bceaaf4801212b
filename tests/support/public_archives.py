# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small files in the shape of those that the publishers of data sets have on their servers."""

import hashlib
import io
import os
import stat
import tarfile
import zipfile

from albert.downloads import data_set_table
from tests.support import FIXTURES, read_json

# The type in a .tar and the mode in a .zip.
KINDS = {
    "file": (tarfile.REGTYPE, stat.S_IFREG),
    "folder": (tarfile.DIRTYPE, stat.S_IFDIR),
    "link": (tarfile.SYMTYPE, stat.S_IFLNK),
    "hard link": (tarfile.LNKTYPE, stat.S_IFLNK),
    "device": (tarfile.CHRTYPE, stat.S_IFCHR),
}


def member(name, content=b"text", kind="file"):
    """What an archive has; a link leads out of the folder."""
    return name, b"../../evil" if "link" in kind else content, kind


def tar_of(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content, kind in members:
            info = tarfile.TarInfo(name)
            info.type, info.mode = KINDS[kind][0], 0o4777
            if "link" in kind:
                info.linkname = content.decode("ascii")
            else:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def zip_of(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content, kind in members:
            info = zipfile.ZipInfo(f"{name}/" if kind == "folder" else name)
            info.external_attr = (KINDS[kind][1] | 0o4777) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return stream.getvalue()


def zipped(files):
    """A .zip of texts by name."""
    return zip_of(member(name, text.encode("utf-8")) for name, text in files.items())


def tarred(files):
    """A .tar.gz of texts by name."""
    return tar_of(member(name, text.encode("utf-8")) for name, text in files.items())


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def visible(folder):
    """The names in a folder that are no locks."""
    return sorted(name for name in os.listdir(folder) if not name.endswith(".lock"))


def files():
    """The files by their names on the servers."""
    texts = read_json(FIXTURES / "public_files.json")
    archives = {"zip": zipped, "gz": tarred}
    return {
        name: archives.get(name.rpartition(".")[2], str.encode)(content)
        for name, content in texts.items()
    }


def table_of(content):
    """The table of data sets with the sizes and hashes of these files."""
    return {
        name: data_set._replace(
            sources=tuple(
                source._replace(size=len(found), sha256=sha256(found))
                for source in data_set.sources
                for found in [content[source.url.rpartition("/")[2]]]
            )
        )
        for name, data_set in data_set_table.DATA_SETS.items()
    }
