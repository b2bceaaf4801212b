# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a model as a small, fast file for TensorFlow Lite or ONNX Runtime.

  python -m albert.export_model --model_dir=output/mrpc --output_dir=export/mrpc-int8 \\
      --format=onnx --quantize=int8 --eval_file=glue/MRPC/dev.tsv

--model_dir is the --output_dir of a training, or the folder or name of a pretrained model. Weights
that layers share stand in the file once. With --quantize=int8 they are bytes, and so are the
products' inputs.

Before the new folder gets its name, model and export answer --eval_file: score, time and size of
both are printed and kept in export.json, and an export that loses more than --max_loss is refused.
The folder also has the vocabulary; albert.load and albert.predict take it as a model's folder.
"""

from albert.command_line import cli
from albert.conversion.settings import ModelExportFlags as Flags


def main(settings: Flags):
    """Runs the script."""
    from albert import predictor
    from albert.conversion import exports

    exports.export(settings, predictor.load)
    print(f"Wrote {settings.output_dir}.")


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
