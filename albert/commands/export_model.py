# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a model as a small file for TensorFlow Lite or ONNX Runtime.

  python -m albert export_model --model_dir=output/mrpc --output_dir=export/mrpc-int8 \\
      --format=onnx --quantize=int8 --eval_file=glue/MRPC/dev.tsv

--model_dir is the --output_dir of a training run, or the folder or name of a pretrained model.
--quantize=int8 makes the file four times smaller, and its computations use 8-bit integers.

The command evaluates the model and the exported file on --eval_file. It prints the score, time and
size of both and writes them to export.json. If the score drops by more than --max_loss, it writes
nothing. The new folder also holds the vocabulary, so you can pass it to albert.load and
`albert predict`. With --format=onnx, Optimum and transformers.js load it too.
"""

import sys

from albert.formats.flags import ModelExportFlags as Flags
from albert.util import cli


def main(flags: Flags):
    """Runs the script."""
    import albert
    from albert.training import measured_export

    measured_export.export(flags, albert.load)
    print(f"Wrote {flags.output_dir}.", file=sys.stderr)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
