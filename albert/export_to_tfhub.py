# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a pretrained model as a TF-Hub module.

  python -m albert.export_to_tfhub --albert_directory=albert_base --export_path=modules/albert_base

--albert_directory is laid out as a released archive: albert_config.json, the checkpoint,
30k-clean.model and 30k-clean.vocab; other names are told by flags, such as
--vocab_file=vocab_chinese.txt of a Chinese model. The module of --format=tf1 (the default) is for
hub.Module, and for --albert_hub_module_handle of the fine-tuning scripts; that of --format=tf2 is
for hub.load and hub.KerasLayer of TensorFlow 2.
"""

import os
from typing import Any

import tensorflow.compat.v1 as tf
from absl import flags

from albert import checkpoint_init, flags_lib, hub_export, modeling, tokenization


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.path(
        flag_values,
        "albert_directory",
        help="Folder of the model: configuration, checkpoint and vocabulary.",
        required=True,
    )
    flags_lib.path(flag_values, "export_path", help="The new folder of the module.", required=True)
    names = {
        "checkpoint_name": ("model.ckpt-best", "the checkpoint, without .index."),
        "config_name": ("albert_config.json", "the configuration."),
        "spm_model_name": ("30k-clean.model", "the SentencePiece model."),
        "spm_vocab_name": ("30k-clean.vocab", "its pieces as text, which the module also gets."),
    }
    for name, (default, text) in names.items():
        flags_lib.string(flag_values, name, default, help=f"In --albert_directory: {text}")
    flags_lib.string(
        flag_values,
        "vocab_file",
        None,
        help="In --albert_directory: a WordPiece vocabulary, in place of a SentencePiece model.",
    )
    flags_lib.boolean(flag_values, "do_lower_case", True, help="Whether the model is uncased.")
    flags_lib.boolean(
        flag_values,
        "use_einsum",
        True,
        help="Taken for the sake of existing command lines: there is one graph, of plain products.",
    )
    flags_lib.choice(
        flag_values, "format", "tf1", choices=hub_export.FORMATS, help="Kind of module."
    )


def export(settings: Any) -> str:
    """Exports the model; returns the folder.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: a file is missing, or the files do not belong together.
    """
    if not settings.use_einsum:
        print("--use_einsum=false changes nothing: the graph has no einsum.")
    config = modeling.AlbertConfig.from_json_file(_file(settings, settings.config_name))
    assets = hub_export.Assets(
        config_file=_file(settings, settings.config_name),
        vocab_file=_file(settings, settings.vocab_file or settings.spm_model_name),
        others=_further_files(settings),
        do_lower_case=settings.do_lower_case,
    )
    _check_vocabulary(settings, assets, config)
    checkpoint = os.path.join(settings.albert_directory, settings.checkpoint_name)
    return hub_export.export(
        settings.export_path,
        config,
        checkpoint_init.resolve_checkpoint(checkpoint),
        assets=assets,
        format_name=settings.format,
    )


def _file(settings: Any, name: str) -> str:
    """The path of a file in the folder.

    Raises:
      ValueError: there is none.
    """
    path = os.path.join(settings.albert_directory, name)
    if not tf.io.gfile.exists(path):
        there = ", ".join(sorted(tf.io.gfile.listdir(settings.albert_directory))) or "nothing"
        raise ValueError(
            f"--albert_directory={settings.albert_directory} has no {name}; it has {there}. Flags "
            "name files that are called otherwise (--config_name, --spm_model_name, --vocab_file)."
        )
    return path


def _further_files(settings: Any) -> list:
    """The pieces as text, if they are there: nothing needs them."""
    path = os.path.join(settings.albert_directory, settings.spm_vocab_name)
    return [path] if not settings.vocab_file and tf.io.gfile.exists(path) else []


def _check_vocabulary(
    settings: Any, assets: hub_export.Assets, config: modeling.AlbertConfig
) -> None:
    wordpieces = assets.vocab_file if settings.vocab_file else None
    pieces = None if settings.vocab_file else assets.vocab_file
    tokenizer = tokenization.FullTokenizer(wordpieces, assets.do_lower_case, pieces)
    tokenization.check_vocab_size(tokenizer, config.vocab_size)


@flags_lib.reads_flags(define_flags)
def main(settings: Any):
    """Runs the script."""
    export(settings)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
