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

from typing import List, NamedTuple, Type, cast

from absl import flags

from albert.command_line import script
from albert.conversion.settings import HEADS, LAYOUTS, ConversionSettings
from albert.pretrained import releases
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_DIRECTIONS = ("from_albert_zh", "from_huggingface", "to_huggingface", "to_google_layout")
# Flags that mean something in some directions only.
_DIRECTIONS_OF = {
    "layout": ("from_albert_zh",),
    "head": ("from_huggingface", "to_huggingface"),
    "approximate_gelu": ("from_huggingface",),
    "albert_config_file": ("from_albert_zh", "to_huggingface", "to_google_layout"),
    "init_checkpoint": ("from_albert_zh", "to_huggingface", "to_google_layout"),
}


_PATHS = {
    "albert_config_file": "The configuration, if it does not lie in --input_dir under its usual "
    "name.",
    "init_checkpoint": "The checkpoint, if it is not model.ckpt-best, the newest or the only one "
    "in --input_dir.",
}
_SWITCHES = {
    "approximate_gelu": "Take a model with the exact gelu as if it had the tanh form.",
}


def define_flags(flag_values: flags.FlagValues) -> Type[ConversionSettings]:
    """Defines the script's flags; returns the class of its settings."""
    flags_lib.string(
        flag_values,
        "direction",
        None,
        help=f"One of {', '.join(_DIRECTIONS)}; --direction= may be left out.",
    )
    flags_lib.mark(flag_values, "required", "direction")
    flags_lib.path(
        flag_values,
        "input_dir",
        required=True,
        help="Folder of the model to convert; to_...: or a released model's name.",
    )
    flags_lib.path(flag_values, "output_dir", required=True, help="The new folder.")
    for name, text in _PATHS.items():
        flags_lib.path(flag_values, name, help=text)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.choice(
        flag_values,
        "layout",
        "native",
        choices=LAYOUTS,
        help="Of a model of albert_zh: native keeps embedding_layout albert_zh; google makes a "
        "plain model of the same outputs, whose table [V, H] is the product W P.",
    )
    flags_lib.choice(
        flag_values,
        "head",
        "auto",
        choices=("auto", *HEADS),
        help="The head to convert to or from Hugging Face; auto: the one that there is.",
    )
    for name, text in _SWITCHES.items():
        flags_lib.boolean(flag_values, name, False, help=text)
    return ConversionSettings


def check(settings: ConversionSettings) -> bool:
    """Returns False; raises ValueError for what is wrong whatever the model has.

    That is an unknown direction or name of a model, or a flag that does not belong to it.
    """
    if settings.direction not in _DIRECTIONS:
        raise UserError(
            f"Unknown direction {settings.direction!r}. Write one of {', '.join(_DIRECTIONS)} "
            "after the command's name."
        )
    ordinary = {"layout": "native", "head": "auto"}
    for name, directions in _DIRECTIONS_OF.items():
        value = getattr(settings, name)
        if value and value != ordinary.get(name) and settings.direction not in directions:
            raise UserError(
                f"--{name}={value} has no meaning in {settings.direction}; it belongs to "
                f"{' and '.join(directions)}."
            )
    if settings.direction.startswith("to_"):  # from a model of ours
        releases.named(settings.input_dir, f"--input_dir={settings.input_dir}")
    return False


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__, positional="direction", answer=check)

import tensorflow.compat.v1 as tf

from albert.checkpoints import weights
from albert.conversion import albert_zh, huggingface
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


def convert(settings: ConversionSettings) -> Converted:
    """Converts a model and prints the report.

    Raises:
      ValueError: an unknown direction, a flag that does not belong to it, or an error of the
        direction's function.
    """
    check(settings)
    if settings.direction.startswith("to_"):  # from a model of ours
        place = settings.input_dir
        folder = released.local_folder(place, f"--input_dir={place}")
        settings = cast(ConversionSettings, settings.replace(input_dir=folder))
    report = _FUNCTIONS[settings.direction](settings)
    print(weights.format_report(report))
    there = sorted(tf.io.gfile.listdir(settings.output_dir))
    others = [name for name in there if not name.startswith(("model.ckpt", "model.safetensors"))]
    print(f"{settings.output_dir}: weights, {', '.join(others)}")
    return Converted(report, others)


def main(settings: ConversionSettings):
    """Runs the script."""
    convert(settings)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__, positional="direction")  # type: ignore[arg-type]


if __name__ == "__main__":
    cli()
