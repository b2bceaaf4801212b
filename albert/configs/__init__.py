# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model's configuration, flags of several scripts, and JSON files that ship with the package:

    albert_{base,large,xlarge,xxlarge}_v1   Google's English models, version 1
    albert_{base,large,xlarge,xxlarge}_v2   version 2, without dropout
    albert_{base,large,xlarge,xxlarge}_zh   Google's Chinese models
    albert_zh_{tiny,small,base,large,xlarge,xxlarge}   the Chinese models of brightmart/albert_zh
    published                               results and recipes: see `published`

An `albert_config.json` beside a checkpoint takes precedence: some sizes were published with two
different numbers of heads.
"""

import pathlib
from typing import List

from albert.util import UserError, wording

_FOLDER = pathlib.Path(__file__).resolve().parent


def preset_names() -> List[str]:
    """Returns the names of all presets in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("albert_*.json"))


def preset_path(name: str) -> str:
    """Returns the path of a preset's JSON file. For an unknown name, UserError lists all names."""
    names = preset_names()
    if name not in names:
        suggestion = wording.did_you_mean(name, names)
        raise UserError(
            f"There is no published size {name!r}.{suggestion} Sizes: {', '.join(names)}. "
            "For your own, use --albert_config_file."
        )
    return str(_FOLDER / f"{name}.json")
