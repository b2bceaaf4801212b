# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What convert_checkpoint reads of a model of ours or of albert_zh."""

from typing import Any, Dict, NamedTuple, Optional

from albert import modeling
from albert.checkpoints import weights
from albert.conversion.settings import ConversionFlags
from albert.pretrained import model_vocabulary, released, warm_start


class OurModel(NamedTuple):
    """A folder of ours, or of albert_zh, read."""

    vocabulary: Optional[model_vocabulary.Vocabulary]
    config: modeling.AlbertConfig
    weights: weights.Weights
    description: Dict[str, Any]
    description_name: str


def read_model(settings: ConversionFlags) -> OurModel:
    """Returns the model in --input_dir; files that flags name come first.

    Raises:
      ValueError: a part is missing or cannot be read.
    """
    folder = settings.input_dir
    named = (getattr(settings, name) for name in released.ModelFiles._fields)
    model = released.open_model(
        folder,
        settings,
        label=f"--input_dir={folder}",
        named=released.ModelFiles(*named),
        vocabulary="optional",
    )
    checkpoint = warm_start.resolve_checkpoint(model.files.init_checkpoint)
    return OurModel(
        model.vocabulary,
        model.config,
        weights.read_checkpoint(checkpoint),
        *model_vocabulary.read_description(folder),
    )
