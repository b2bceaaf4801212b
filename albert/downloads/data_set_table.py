# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The public data sets: addresses, sizes, hashes, licences, and the files that are kept.

They are in table.json. Addresses, sizes and SHA-256 are those that two public lists of downloads
record: dataset_infos.json of huggingface/datasets and url_checksums of tensorflow/datasets. (The
lists have RACE by http; https is where that leads.) Where they have no size and hash, the first
download's are recorded. None of the files was fetched to write the table.
"""

import json
import os
import pathlib
import shlex
from typing import Container, List, NamedTuple, Sequence

from albert.downloads.flags import Source
from albert.util import wording
from albert.util.errors import UserError


class DataSet(NamedTuple):
    """A data set, which becomes a folder below --data_dir."""

    name: str
    folder: str
    sources: Sequence[Source]
    # What is kept: of archives the ends of paths, in which * stands for a part of a name; of a
    # single file its new name.
    files: Sequence[str]
    licence: str
    flags: str  # that take it, of `script`
    script: str = "run_classifier"
    group: str = ""  # a name for several
    by_hand: str = ""  # where to ask for it, if it is not to be had by an address

    @property
    def size(self) -> int:
        """Returns the bytes to fetch; 0 if that is not known."""
        sizes = [source.size for source in self.sources]
        return sum(sizes) if all(sizes) else 0


_ROWS = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
DATA_SETS = {
    row["name"]: DataSet(**{**row, "sources": [Source(**source) for source in row["sources"]]})
    for row in _ROWS
}
GROUPS = tuple(dict.fromkeys(item.group for item in DATA_SETS.values() if item.group))


def find(name: str) -> List[DataSet]:
    """Returns the data sets for comma-separated names of data sets or groups.

    Raises:
      ValueError: one is unknown; the message has the nearest, and all.
    """
    data_sets = {}
    for part in filter(None, (part.strip().lower() for part in name.split(","))):
        several = [item for item in DATA_SETS.values() if part in (item.name, item.group)]
        if not several:
            names = [*GROUPS, *DATA_SETS]
            hint = wording.did_you_mean(part, names)
            raise UserError(f"Unknown data set {part!r}.{hint} Names: {', '.join(names)}.")
        data_sets.update({item.name: item for item in several})
    return list(data_sets.values())


def how_to_get(folders: Container[str], data_dir: str) -> str:
    """Returns advice for a message about missing data: how to get them; "" if unknown.

    Args:
      folders: the names that the folder of the data set may have, of which the table knows one.
      data_dir: where that folder is missed, or itself.
    """
    for item in DATA_SETS.values():
        if item.folder not in folders or "://" in data_dir:
            continue
        parent, name = os.path.split(os.path.normpath(data_dir))
        folder = (parent or ".") if name == item.folder else os.path.join(parent, name)
        if os.path.isfile(folder) or os.path.lexists(os.path.join(folder, item.folder)):
            continue  # a download leaves it as it is
        if item.by_hand:
            return f" {item.name} is available on request only: {item.by_hand}."
        command = f"python -m albert download_data {item.name} --data_dir={shlex.quote(folder)}"
        return f" To download it, run: {command}"
    return ""
