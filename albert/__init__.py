# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations."""

import typing

from albert.runtimes import support

__version__ = "0.1.0"

support.check_python()


def load(model: str, checkpoint: typing.Optional[str] = None, **options: typing.Any) -> typing.Any:
    """Loads the model in a folder into memory; see predictor.load.

    Args:
      model: output_dir of a fine-tuning script, the folder of a pretrained model, or the name of a
        released one, such as base_v2.
      checkpoint: weights to take in place of model.ckpt-best.
      **options: precision_name and batch_size; of an encoder also pooling and layer.
    """
    from albert import predictor

    return predictor.load(model, checkpoint, **options)
