# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The training, development and test files in a folder, by the words in their names.

find("wnut", "train", [".conll"])    # ["wnut/my_train.conll"]
"""

import os
import re
from typing import Container, List, Optional

from albert.data import parquet
from albert.util import files
from albert.util.errors import UserError

_NAMES = {
    "train": {"train", "training"},
    "dev": {"dev", "devel", "development", "valid", "validation", "testa"},
    "test": {"test", "testb"},
}


def find(data_dir: str, split: str, endings: Container[str]) -> List[str]:
    """Returns the files whose names have a word for this split only, such as my_train.txt.

    Raises:
      UserError: no file has such a name.
    """
    paths = []
    for path in parquet.find(f"{data_dir}/[!.]*"):
        name = os.path.basename(path).lower()
        words = set(re.findall("[a-z]+", name))
        splits = [key for key, names in _NAMES.items() if words & names]
        is_data = files.ending(name) in endings and not files.is_folder(path)
        if is_data and splits == [split]:
            paths.append(path)
    if not paths:
        raise UserError(
            f"--data_dir={data_dir} has no {split} data, such as {split}.jsonl. Name the file with "
            f"--{split}_file."
        )
    return paths


def of_split(
    data_dir: str, name: Optional[str], split: str, *, endings: Container[str]
) -> List[str]:
    """Returns the files that --SPLIT_file names; without it, those of `find`."""
    if name:
        return files.expand_patterns(os.path.join(data_dir, name), f"{split}_file")
    return find(data_dir, split, endings)
