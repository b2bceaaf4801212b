# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models from albert_zh, and from and to Hugging Face.

  python -m albert convert_checkpoint from_albert_zh --input_dir=albert_base_zh --output_dir=mine
  python -m albert convert_checkpoint from_huggingface --input_dir=albert-base-v2 --output_dir=mine
  python -m albert convert_checkpoint to_huggingface --input_dir=albert_base --output_dir=theirs
  python -m albert convert_checkpoint to_google_layout --input_dir=mine --output_dir=wide

The command prints which variables it converted, ignored and did not find. If a whole head is
missing, the command only reports it. If any other variable is missing or has another shape, it
writes nothing. It reads and writes Hugging Face's weights as safetensors, and needs neither torch
nor transformers.
"""

import sys

from albert.formats.flags import ConversionFlags as Flags
from albert.util import cli, files


def main(flags: Flags) -> None:
    """Runs the script."""
    from albert.formats import albert_zh, huggingface
    from albert.models import pretrained, released

    folder = released.local_folder(flags.input_dir)
    flags = flags.replace(input_dir=folder)
    with files.atomic_folder(flags.output_dir) as new_folder:
        if flags.direction == "from_huggingface":
            report = huggingface.from_huggingface(flags, new_folder)
        else:
            model = pretrained.find_model(flags, needs_vocabulary=False, albert_dir=folder)
            if flags.direction == "to_huggingface":
                report = huggingface.to_huggingface(flags, model, new_folder)
            else:
                report = albert_zh.convert(
                    model.config,
                    model.checkpoint,
                    new_folder,
                    vocabulary=model.vocabulary,
                    is_ours=flags.direction == "to_google_layout",
                    to_google=flags.layout == "google",
                )
    print(report)
    names = files.names_in(flags.output_dir)
    print(f"Wrote {flags.output_dir}: {', '.join(names)}.", file=sys.stderr)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
