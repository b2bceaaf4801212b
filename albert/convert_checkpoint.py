# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models from albert_zh, and from and to Hugging Face.

  python -m albert.convert_checkpoint from_albert_zh --input_dir=albert_base_zh --output_dir=mine
  python -m albert.convert_checkpoint from_huggingface --input_dir=albert-base-v2 --output_dir=mine
  python -m albert.convert_checkpoint to_huggingface --input_dir=albert_base --output_dir=theirs
  python -m albert.convert_checkpoint to_google_layout --input_dir=mine --output_dir=wide

The command prints which variables it converted, ignored and did not find. If a whole head is
missing, the command only reports it. If any other variable is missing or has another shape, it
writes nothing. It reads and writes Hugging Face's weights as safetensors, and needs neither torch
nor transformers.
"""

from albert.command_line import cli
from albert.conversion.settings import ConversionFlags as Flags


def main(settings: Flags) -> None:
    """Runs the script."""
    from albert.conversion import convert

    convert.convert(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
