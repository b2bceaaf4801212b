# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags of the scripts that run a pretrained or fine-tuned model, as typed settings."""

import dataclasses
from typing import Optional, TypeVar

from albert.fine_tuning_utils import EncoderSettings
from albert.util.flags import Settings

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
