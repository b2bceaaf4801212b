# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models of albert_zh and of Hugging Face to this package's format, and back.

  python -m albert.convert_checkpoint from_albert_zh --input_dir=albert_base_zh --output_dir=mine
  python -m albert.convert_checkpoint from_huggingface --input_dir=albert-base-v2 --output_dir=mine
  python -m albert.convert_checkpoint to_huggingface --input_dir=albert_base --output_dir=theirs
  python -m albert.convert_checkpoint to_google_layout --input_dir=mine --output_dir=wide

Every variable is found with its shape, or nothing is written; a report says what was converted,
ignored and missing. Neither torch nor transformers is needed. Weights of Hugging Face are read and
written as safetensors.
"""

from albert.command_line import cli
from albert.conversion.settings import ConversionFlags as Flags


def main(settings: Flags) -> None:
    """Runs the script."""
    from albert.conversion import convert

    convert.convert(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
