# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads a data set, and arranges its files as the scripts read them."""

import fnmatch
import functools
import glob
import os
import shutil
from typing import List

from albert.downloads import archives, verified_cache
from albert.downloads.data_set_table import DataSet
from albert.downloads.flags import USUAL, TransferFlags
from albert.util import UserError

_MRPC_TEST_HEADER = "index\t#1 ID\t#2 ID\t#1 String\t#2 String"


def obtain(data_set: DataSet, data_dir: str, flags: TransferFlags = USUAL) -> str:
    """Returns the folder of a data set below `data_dir`; downloads it if it is missing.

    Args:
      data_set: a row of the table.
      data_dir: a folder on this machine.
      flags: the source and the limits of the download.

    Raises:
      UserError: see cache.obtain; or the data set is missing, and available on request only.
    """
    folder = os.path.join(data_dir, data_set.folder)
    if data_set.by_hand:
        missing = _missing(data_set, folder)
        if missing:
            raise UserError(
                f"{data_set.name} is available on request only. Ask for it at {data_set.by_hand}, "
                f"and put {missing} into {folder}."
            )
        return folder
    make = _make_mrpc if data_set.name == "mrpc" else _unpack
    verified_cache.obtain(folder, data_set.sources, functools.partial(make, data_set), flags=flags)
    return folder


def _missing(data_set: DataSet, folder: str) -> str:
    """Lists the data set's files that a folder lacks; "" if it has all."""
    inside = os.path.join(glob.escape(folder), "")
    return ", ".join(name for name in data_set.files if not glob.glob(inside + name))


def _unpack(data_set: DataSet, paths: List[str], folder: str) -> None:
    """Unpacks archives, and copies single files."""

    def is_wanted(path: str) -> bool:
        return any(fnmatch.fnmatchcase(f"/{path}", f"*/{name}") for name in data_set.files)

    for path, name in zip(paths, data_set.files):
        if not path.endswith((".zip", ".tar.gz")):
            shutil.copyfile(path, os.path.join(folder, name))
            continue
        unpacked = os.path.join(folder, ".archive")
        members = archives.unpack(path, unpacked, is_wanted)
        # Some archives also have earlier versions, in subfolders.
        top = min((member.count("/") for member in members), default=0)
        for member in members:
            if member.count("/") == top:
                target = os.path.join(folder, *member.split("/")[top - name.count("/") :])
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.rename(os.path.join(unpacked, member), target)
        shutil.rmtree(unpacked, ignore_errors=True)
    missing = _missing(data_set, folder)
    if missing:
        raise UserError(f"{', '.join(paths)} should contain {missing}, but does not.")


def _make_mrpc(data_set: DataSet, paths: List[str], folder: str) -> None:
    """Makes GLUE's MRPC from Microsoft's two files and the list of dev ids."""
    (header, *rows), (_, *tests), dev_ids = map(_rows, paths)
    parts = {name: [header] for name in data_set.files}
    for row in rows:
        parts["dev.tsv" if row[1:3] in dev_ids else "train.tsv"].append(row)
    tests = [[str(number), *row[1:]] for number, row in enumerate(tests)]
    parts["test.tsv"] = [_MRPC_TEST_HEADER.split("\t"), *tests]
    for name, lines in parts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines("\t".join(line) + "\n" for line in lines)


def _rows(path: str) -> List[List[str]]:
    """Returns the cells of each line that is not blank."""
    with open(path, encoding="utf-8") as stream:
        return [line.strip().split("\t") for line in stream if line.strip()]
