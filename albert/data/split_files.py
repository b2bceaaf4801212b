# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The training, development and test files in a folder, by the words in their names.

find(flags, "train", [".conll"])    # ["wnut/my_train.conll"]
"""

import os
import re
from typing import Container, List

from albert.configs.shared_flags import SplitFileFlags
from albert.data import parquet
from albert.util import UserError, files

_NAMES = {
    "train": {"train", "training"},
    "dev": {"dev", "devel", "development", "valid", "validation", "testa"},
    "test": {"test", "testb"},
}


def find(flags: SplitFileFlags, split: str, endings: Container[str]) -> List[str]:
    """Returns the files that --SPLIT_file names or, without it, that have a word for this split.

    Raises:
      UserError: no file has such a name.
    """
    folder, pattern = flags.data_dir, getattr(flags, f"{split}_file")
    if pattern:
        return files.expand_patterns(os.path.join(folder, pattern), f"{split}_file")
    paths = []
    for path in parquet.find(f"{folder}/[!.]*"):
        name = os.path.basename(path).lower()
        words = set(re.findall("[a-z]+", name))
        splits = [key for key, names in _NAMES.items() if words & names]
        is_data = files.ending(name) in endings and not files.is_folder(path)
        if is_data and splits == [split]:  # not train_dev.txt
            paths.append(path)
    if not paths:
        raise UserError(
            f"--data_dir={folder} has no {split} data, such as {split}.jsonl. Name the file with "
            f"--{split}_file."
        )
    return paths
