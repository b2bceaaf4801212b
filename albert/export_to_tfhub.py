# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a pretrained model as a TF-Hub module.

  python -m albert.export_to_tfhub --albert_directory=albert_base --export_path=modules/albert_base

--albert_directory is a folder of run_pretraining or export_checkpoints, or an unpacked archive, or
the name of a released model. Configuration, checkpoint and vocabulary are found there as by
--albert_dir of the other commands; flags name them where there are several. The module of
--format=tf1 (the default) is for --albert_hub_module_handle of the other commands, and for
hub.Module; that of --format=tf2 is for hub.load and hub.KerasLayer. Every TensorFlow writes both.
"""

import dataclasses
import os
from typing import Optional

from absl import flags

from albert.command_line import process_flags, script
from albert.pretrained.settings import MODULE_FORMATS
from albert.util import flags as flags_lib
from albert.util.errors import UserError


@dataclasses.dataclass(frozen=True)
class HubExportSettings(flags_lib.Settings):
    """The script's flags."""

    albert_directory: str
    export_path: str
    checkpoint_name: Optional[str]
    config_name: Optional[str]
    spm_model_name: Optional[str]
    spm_vocab_name: Optional[str]
    vocab_file: Optional[str]
    do_lower_case: bool
    use_einsum: bool
    format: str


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.path(
        flag_values,
        "albert_directory",
        help="Folder of the model: configuration, checkpoint and vocabulary.",
        required=True,
    )
    flags_lib.path(flag_values, "export_path", help="The new folder of the module.", required=True)
    names = {
        "checkpoint_name": "the checkpoint, without .index; by default model.ckpt-best, or else "
        "the newest.",
        "config_name": "the configuration; by default albert_config.json, or else the only one.",
        "spm_model_name": "the SentencePiece model; by default the one that is recorded there, "
        "30k-clean.model, or else the only one.",
        "spm_vocab_name": "its tokens as text, which the module also gets; by default those that "
        "are named as the model is.",
        "vocab_file": "a WordPiece vocabulary, in place of a SentencePiece model; found likewise.",
    }
    for name, text in names.items():
        flags_lib.string(flag_values, name, None, help=f"In --albert_directory: {text}")
    flags_lib.boolean(flag_values, "do_lower_case", True, help="Whether the model is uncased.")
    flags_lib.boolean(
        flag_values,
        "use_einsum",
        True,
        help="Ignored; kept for compatibility.",
    )
    flags_lib.choice(flag_values, "format", "tf1", choices=MODULE_FORMATS, help="Kind of module.")
    return HubExportSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

import tensorflow.compat.v1 as tf

from albert.pretrained import hub, model_vocabulary, released


def export(settings: HubExportSettings) -> str:
    """Exports the model; returns the folder.

    Raises:
      ValueError: a file is missing, or the files do not belong together.
    """
    if not settings.use_einsum:
        print("--use_einsum=false changes nothing: the graph has no einsum.")
    place = settings.albert_directory
    folder = released.local_folder(place, f"--albert_directory={place}")
    model = released.open_model(
        folder,
        settings,
        label=f"--albert_directory={folder}",
        named=released.ModelFiles(
            _file(folder, settings.config_name),
            released.named_checkpoint(folder, settings.checkpoint_name),
            None if settings.vocab_file else _file(folder, settings.spm_model_name),
            _file(folder, settings.vocab_file),
        ),
    )
    path = model.vocabulary.path
    listed = _file(folder, settings.spm_vocab_name) or model_vocabulary.listing(path)
    assets = hub.Assets(
        config_file=model.files.albert_config_file,
        vocab_file=path,
        others=[listed] if listed else [],
        do_lower_case=bool(model.vocabulary.do_lower_case),
    )
    checkpoint = model.files.init_checkpoint
    hub.export(
        settings.export_path, model.config, checkpoint, assets=assets, format_name=settings.format
    )
    return settings.export_path


def _file(folder: str, name: Optional[str]) -> Optional[str]:
    """The path of a file in the folder, if a flag names one."""
    path = os.path.join(folder, name) if name else None
    if path and not tf.io.gfile.exists(path):
        raise UserError(f"--albert_directory={folder} has no {name}.")
    return path


@process_flags.reads_flags(define_flags)
def main(settings: HubExportSettings):
    """Runs the script."""
    export(settings)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
