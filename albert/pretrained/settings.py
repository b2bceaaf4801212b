# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Names of a model's files, and the flags of scripts that answer texts."""

import dataclasses
import functools
from typing import Optional

from albert.configs.flags import PRECISIONS
from albert.util.flags import Settings, flag

BASE_URL = "https://storage.googleapis.com/albert_models"  # of the released models
ALBERT_ZH_URL = "https://storage.googleapis.com/albert_zh"  # of albert_zh's
CACHE_DIR = "~/.cache/albert"
CONFIG_NAME, SPM_MODEL_NAME = "albert_config.json", "30k-clean.model"  # in a model's folder
MODULE_FORMATS = ("tf1", "tf2")  # of a TF-Hub module
POOLINGS = ("pooled", "mean", "first")
LAST_LAYER = -1

_data = functools.partial(flag, group="Data")
_speed = functools.partial(flag, group="Memory and speed")


@dataclasses.dataclass(frozen=True)
class TextFlags(Settings):
    """Where texts come from and answers go."""

    input_file: str = _data("-", "Texts, one per line; - is standard input.", path=True)
    columns: Optional[str] = _data(None, "Columns or JSON fields of the text or the two texts.")
    output_file: str = flag("-", "File to write; - is standard output.", path=True, group="Output")
    predict_batch_size: int = _speed(32, "Texts per batch.", lower=1)
    precision: str = _speed("float32", "Type of activations.", choices=PRECISIONS)
