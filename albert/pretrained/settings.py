# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags of the scripts that run a pretrained or fine-tuned model, as typed settings, and
values that some of them take.
"""

import dataclasses
from typing import Optional, TypeVar

from albert.util.flags import EncoderSettings, Settings

BASE_URL = "https://storage.googleapis.com/albert_models"  # of the released models
ALBERT_ZH_URL = "https://storage.googleapis.com/albert_zh"  # of albert_zh's
CACHE_DIR = "~/.cache/albert"
CONFIG_NAME, SPM_MODEL_NAME = "albert_config.json", "30k-clean.model"  # in a model's folder
MODULE_FORMATS = ("tf1", "tf2")  # of a TF-Hub module
POOLINGS = ("pooled", "mean", "first")
LAST_LAYER = -1

# Those of any script whose flags name a model.
ModelSettings = TypeVar("ModelSettings", bound=Settings)


@dataclasses.dataclass(frozen=True)
class PretrainedSettings(EncoderSettings):
    """The flags of util.flags.define_encoder_flags: which pretrained model it is."""

    albert_dir: Optional[str]


@dataclasses.dataclass(frozen=True)
class TextSettings(Settings):
    """The flags of util.flags.define_text_flags: where texts come from and answers go."""

    input_file: str
    columns: Optional[str]
    output_file: str
    predict_batch_size: int
    precision: str
