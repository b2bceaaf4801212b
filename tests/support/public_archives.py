# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small files in the shape of those that the publishers of data sets have on their servers."""

import hashlib
import io
import json
import pathlib
import tarfile
import zipfile

from albert.datasets import table

_TEXTS = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "public_files.json"


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def tarred(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode("utf-8"))
            archive.addfile(info, io.BytesIO(text.encode("utf-8")))
    return stream.getvalue()


def files():
    """The files by their names on the servers."""
    texts = json.loads(_TEXTS.read_text(encoding="utf-8"))
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
                source._replace(size=len(found), sha256=hashlib.sha256(found).hexdigest())
                for source in data_set.sources
                for found in [content[source.url.rpartition("/")[2]]]
            )
        )
        for name, data_set in table.DATA_SETS.items()
    }
