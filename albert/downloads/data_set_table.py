# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The public data sets: addresses, sizes, hashes, licences, and the files to keep.

data_set_table.json has them. Addresses, sizes and SHA-256 come from two public lists of downloads:
dataset_infos.json of huggingface/datasets and url_checksums of tensorflow/datasets. (The lists have
RACE's http address, which redirects to https.) If they lack a file's size and hash, the first
download records them. We wrote the table without downloading the files.
"""

import json
import os
import pathlib
import shlex
from typing import Container, List, NamedTuple, Sequence

from albert.downloads.flags import Source
from albert.util import UserError, wording


class DataSet(NamedTuple):
    """A data set, which becomes a folder below --data_dir."""

    name: str
    folder: str
    sources: Sequence[Source]
    # The files to keep: for an archive, the ends of their paths, with * for any part of a name; for
    # a single file, its new name.
    files: Sequence[str]
    licence: str
    flags: str  # flags with which `script` reads the data set
    script: str = "run_classifier"
    group: str = ""  # a name for several data sets
    by_hand: str = ""  # where to ask for the data set, if it has no address

    @property
    def size(self) -> int:
        """Returns the bytes to download; 0 if unknown."""
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
      UserError: a name is unknown. The message has similar names, and all names.
    """
    data_sets = {}
    for part in filter(None, (part.strip().lower() for part in name.split(","))):
        matches = [item for item in DATA_SETS.values() if part in (item.name, item.group)]
        if not matches:
            names = [*GROUPS, *DATA_SETS]
            hint = wording.did_you_mean(part, names)
            raise UserError(f"Unknown data set {part!r}.{hint} Names: {', '.join(names)}.")
        data_sets.update({item.name: item for item in matches})
    return list(data_sets.values())


def how_to_get(folders: Container[str], data_dir: str) -> str:
    """Returns a sentence on how to get missing data; "" if the data set is unknown.

    Args:
      folders: the names that the folder of the data set may have.
      data_dir: the missing folder, or the folder that should have it.
    """
    for item in DATA_SETS.values():
        if item.folder not in folders or "://" in data_dir:
            continue
        parent, name = os.path.split(os.path.normpath(data_dir))
        folder = (parent or ".") if name == item.folder else os.path.join(parent, name)
        if os.path.isfile(folder) or os.path.lexists(os.path.join(folder, item.folder)):
            continue  # A download would not replace it.
        if item.by_hand:
            return f" {item.name} is available on request only: {item.by_hand}."
        command = f"python -m albert download_data {item.name} --data_dir={shlex.quote(folder)}"
        return f" To download it, run: {command}"
    return ""
