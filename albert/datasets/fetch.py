# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From the files of a data set's publishers to a folder as the scripts read it."""

import fnmatch
import os
import shutil
import time
from typing import Callable, Dict, List, Optional, Sequence

from albert.datasets.table import DataSet
from albert.downloads import archives, cache
from albert.downloads.settings import USUAL_LIMITS, Limits
from albert.util.errors import UserError

_KNOWN_FROM = "the list of published files (to take this one, give its hash by --sha256)"
_MRPC_TEST_HEADER = "index\t#1 ID\t#2 ID\t#1 String\t#2 String"


def obtain(
    data_set: DataSet,
    data_dir: str,
    *,
    base_url: Optional[str] = None,
    sha256: Sequence[str] = (),
    limits: Limits = USUAL_LIMITS,
    wait: Callable[[float], None] = time.sleep,
) -> str:
    """Returns the folder of a data set below `data_dir`, after downloading it if it is not there.

    Args:
      data_set: which one.
      data_dir: a folder of this machine.
      base_url: address of a folder that holds the files: a mirror.
      sha256: what its files must have, in their order, in place of what is published.
      limits, wait: see transfer.fetch.

    Raises:
      ValueError: see cache.obtain; or it cannot be had by an address.
      ConnectionError: see cache.obtain.
    """
    folder = os.path.join(data_dir, data_set.folder)
    if data_set.by_hand:
        return _made_by_hand(data_set, folder)
    if sha256 and len(sha256) != len(data_set.sources):
        raise UserError(
            f"--sha256 has {len(sha256)} hashes, and {data_set.name} {len(data_set.sources)} files "
            "(--list shows them). Give one for each, in this order, with commas between them."
        )
    sources = []
    for number, published in enumerate(data_set.sources):
        source = cache.Source(published.url, published.sha256, _KNOWN_FROM, published.size)
        if sha256:
            source = cache.Source(published.url, sha256[number])
        if base_url:
            source = source._replace(url=f"{base_url.rstrip('/')}/{source.name}")
        sources.append(source)

    def make(paths: List[str], new: str) -> None:
        FORMS[data_set.form](data_set, paths, new)

    cache.obtain(folder, sources, make, limits=limits, wait=wait)
    return folder


def _made_by_hand(data_set: DataSet, folder: str) -> str:
    missing = [name for name in data_set.files if not os.path.exists(os.path.join(folder, name))]
    if missing:
        raise UserError(
            f"{data_set.name} is given on request only: ask for it at {data_set.by_hand}, and put "
            f"{', '.join(missing)} into {folder}."
        )
    return folder


# ---------------------------------------------------------------------------------------------
# Forms.


def _files(data_set: DataSet, paths: List[str], folder: str) -> None:
    """Takes files out of archives, and single files as they are."""
    for number, path in enumerate(paths):
        if not archives.is_archive(path):
            # A user's own file stays; one of ours is removed by who fetched it.
            shutil.copyfile(path, os.path.join(folder, data_set.files[number]))
            continue
        unpacked = os.path.join(folder, ".archive")
        found = archives.unpack(
            path, unpacked, is_wanted=lambda name: any(_ends(name, data_set.files))
        )
        # Some archives hold earlier versions too, in folders of their own below.
        depth = min((name.count("/") - _depth(name, data_set.files) for name in found), default=0)
        for name in found:
            if name.count("/") - _depth(name, data_set.files) == depth:
                target = os.path.join(folder, *name.split("/")[depth:])
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.rename(os.path.join(unpacked, name), target)
        shutil.rmtree(unpacked, ignore_errors=True)
    _check_complete(data_set, folder)


def _ends(name: str, patterns: Sequence[str]) -> List[str]:
    """The patterns that the last components of a path fit."""
    parts = name.split("/")
    return [
        pattern
        for pattern in patterns
        if len(parts) > pattern.count("/")
        and all(map(fnmatch.fnmatchcase, parts[-1 - pattern.count("/") :], pattern.split("/")))
    ]


def _depth(name: str, patterns: Sequence[str]) -> int:
    return _ends(name, patterns)[0].count("/")


def _check_complete(data_set: DataSet, folder: str) -> None:
    present = [
        os.path.relpath(os.path.join(parent, name), folder)
        for parent, _, names in os.walk(folder)
        for name in names
    ]
    missing = [
        pattern for pattern in data_set.files if not any(_ends(name, [pattern]) for name in present)
    ]
    if missing:
        raise UserError(f"it holds no {', '.join(missing)}.")


def _mrpc(data_set: DataSet, paths: List[str], folder: str) -> None:
    """GLUE's MRPC: Microsoft's two files, from which the pairs with these ids are the dev data."""
    train_path, test_path, ids_path = paths
    dev_ids = {tuple(line.split("\t")) for line in _lines(ids_path)}
    header, *rows = _lines(train_path)
    parts: Dict[str, List[str]] = {"train.tsv": [header], "dev.tsv": [header]}
    for row in rows:
        cells = _cells(row, train_path)
        name = "dev.tsv" if (cells[1], cells[2]) in dev_ids else "train.tsv"
        parts[name].append(row)
    tests = [_cells(row, test_path)[1:] for row in _lines(test_path)[1:]]
    parts["test.tsv"] = [_MRPC_TEST_HEADER]
    parts["test.tsv"] += ["\t".join([str(number), *cells]) for number, cells in enumerate(tests)]
    for name in data_set.files:
        if len(parts[name]) < 2:
            raise UserError(f"no row of it is for {name}.")
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in parts[name])


def _lines(path: str) -> List[str]:
    """The lines of a text that are not blank, without white space around them."""
    with open(path, encoding="utf-8") as stream:
        try:
            return [line.strip() for line in stream if line.strip()]
        except UnicodeDecodeError as error:
            raise UserError(f"{os.path.basename(path)} is not UTF-8 text ({error}).") from error


def _cells(row: str, path: str) -> List[str]:
    cells = row.split("\t")
    if len(cells) != 5:
        raise UserError(f"{os.path.basename(path)} has a row of {len(cells)} columns, not 5.")
    return cells


FORMS: Dict[str, Callable[[DataSet, List[str], str], None]] = {"files": _files, "mrpc": _mrpc}
