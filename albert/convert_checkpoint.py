# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models of albert_zh and of Hugging Face to this package's format, and back.

  python -m albert.convert_checkpoint from_albert_zh --input_dir=albert_base_zh --output_dir=mine
  python -m albert.convert_checkpoint from_huggingface --input_dir=albert-base-v2 --output_dir=mine
  python -m albert.convert_checkpoint to_huggingface --input_dir=albert_base --output_dir=theirs
  python -m albert.convert_checkpoint to_google_layout --input_dir=mine --output_dir=wide

Every variable is found with its shape, or nothing is written; a report says what was converted,
ignored and missing. Neither torch nor transformers is needed; only pytorch_model.bin is read and
written by an interpreter that has torch (--huggingface_python).
"""

from typing import List, NamedTuple

import tensorflow.compat.v1 as tf

from albert.checkpoints import weights
from albert.command_line import cli
from albert.conversion import albert_zh, huggingface
from albert.conversion.settings import ConversionFlags as Flags
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


def convert(settings: Flags) -> Converted:
    """Converts a model and prints the report.

    Raises:
      ValueError: an unknown direction, a flag that does not belong to it, or an error of the
        direction's function.
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


def main(settings: Flags):
    """Runs the script."""
    convert(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
