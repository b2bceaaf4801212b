# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts a model's folder: see convert_checkpoint."""

from typing import List, NamedTuple

import tensorflow.compat.v1 as tf

from albert.checkpoints import weights
from albert.conversion import albert_zh, huggingface
from albert.conversion.settings import ConversionFlags
from albert.pretrained import released

_FUNCTIONS = {
    "from_albert_zh": albert_zh.from_albert_zh,
    "from_huggingface": huggingface.from_huggingface,
    "to_huggingface": huggingface.to_huggingface,
    "to_google_layout": albert_zh.to_google_layout,
}


class Converted(NamedTuple):
    """A converted folder."""

    report: weights.Report
    other_files: List[str]  # beside the weights


def convert(settings: ConversionFlags) -> Converted:
    """Converts a model and prints the report.

    Raises:
      ValueError: as the direction's function does.
    """
    if settings.direction.startswith("to_"):  # from a model of ours
        place = settings.input_dir
        folder = released.local_folder(place, f"--input_dir={place}")
        settings = settings.replace(input_dir=folder)
    report = _FUNCTIONS[settings.direction](settings)
    print(weights.format_report(report))
    there = sorted(tf.io.gfile.listdir(settings.output_dir))
    others = [name for name in there if not name.startswith(("model.ckpt", "model.safetensors"))]
    print(f"{settings.output_dir}: weights, {', '.join(others)}")
    return Converted(report, others)
