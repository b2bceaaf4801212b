# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations."""

import os
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:  # it imports TensorFlow
    from albert.predictor import AnyModel

__version__ = "0.1.0"

# TensorFlow's C++ side prints dozens of lines about devices and libraries that it did not find.
# What goes wrong comes back as an exception. Set the variable to 0 to read them.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def load(place: str, checkpoint: Optional[str] = None, **options: Any) -> "AnyModel":
    """Returns the model in a folder, in memory; see predictor.load.

    Args:
      place: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to take in place of model.ckpt-best.
      **options: precision_name and batch_size; of an encoder also pooling and layer.
    """
    from albert import predictor

    return predictor.load(place, checkpoint, **options)
