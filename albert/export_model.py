# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a model as a small, fast file for TensorFlow Lite or ONNX Runtime.

  python -m albert.export_model --model_dir=output/mrpc --output_dir=export/mrpc-int8 \\
      --format=onnx --quantize=int8 --eval_file=glue/MRPC/dev.tsv

--model_dir is what run_classifier, run_squad_v1 or run_squad_v2 has written, or the folder or name
of a pretrained model. Weights that layers share stand in the file once. With --quantize=int8 they
are bytes, and so are the products' inputs.

Before the new folder gets its name, model and export answer --eval_file: score, time and size of
both are printed and kept in export.json, and an export that loses more than --max_loss is refused.
The folder also has the vocabulary; albert.load and albert.predict take it as a model's folder.
"""

from absl import flags

from albert.command_line import script
from albert.conversion.settings import QUANTIZATIONS, ModelExportSettings
from albert.util import flags as flags_lib

FORMATS = ("onnx", "tflite")


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.path(
        flag_values,
        "model_dir",
        required=True,
        help="Folder of the fine-tuned or pretrained model, or the name of a released one.",
    )
    flags_lib.path(
        flag_values,
        "checkpoint",
        help="Weights to take in place of model.ckpt-best in --model_dir.",
    )
    flags_lib.path(flag_values, "output_dir", required=True, help="The new folder.")
    flags_lib.choice(
        flag_values,
        "format",
        "onnx",
        choices=FORMATS,
        help="onnx: for ONNX Runtime (pip install 'albert-tf[onnx]'); tflite: for TensorFlow Lite.",
    )
    flags_lib.choice(
        flag_values,
        "quantize",
        "none",
        choices=QUANTIZATIONS,
        help="int8: weights as bytes, a quarter of the size; none: float32.",
    )
    flags_lib.integer(
        flag_values,
        "max_seq_length",
        None,
        lower_bound=8,
        help="Longest text in tokens, of an encoder; by default what the model takes.",
    )
    flags_lib.path(
        flag_values,
        "eval_file",
        required=True,
        help="What model and export are compared on: a dev file of the task as it is distributed "
        "(of a custom task: columns or fields text_a, text_b, label; SQuAD: JSON), or for an "
        "encoder texts, one a line.",
    )
    flags_lib.integer(
        flag_values,
        "eval_examples",
        0,
        lower_bound=0,
        help="Compare on so many of the first examples of --eval_file; 0: all.",
    )
    flags_lib.floating(
        flag_values,
        "max_loss",
        0.5,
        lower_bound=0.0,
        help="Refuse an export whose score, times 100, is worse by more than this: the task's "
        "metric (lower, or higher of a loss), or an encoder's mean cosine with the model's.",
    )
    return ModelExportSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

from albert.conversion import exports


def main(settings: ModelExportSettings):
    """Runs the script."""
    exports.export(settings)
    print(f"Wrote {settings.output_dir}.")


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
