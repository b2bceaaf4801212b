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
import functools
import os
from typing import Optional

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.command_line import cli
from albert.pretrained import hub, model_vocabulary, released
from albert.pretrained.settings import MODULE_FORMATS
from albert.util.errors import UserError
from albert.util.flags import Settings, flag

_name = functools.partial(flag, None)


@dataclasses.dataclass(frozen=True)
class Flags(Settings):
    """The script's flags; names are those of files in --albert_directory."""

    albert_directory: str = flag(None, "Folder of the model.", path=True, required=True)
    export_path: str = flag(None, "The new folder of the module.", path=True, required=True)
    checkpoint_name: Optional[str] = _name("Checkpoint; default: model.ckpt-best, or the newest.")
    config_name: Optional[str] = _name("Configuration; default: albert_config.json.")
    spm_model_name: Optional[str] = _name("SentencePiece model; default: the one there.")
    spm_vocab_name: Optional[str] = _name("Its tokens as text; default: the file of its name.")
    vocab_file: Optional[str] = _name("WordPiece vocabulary, in place of SentencePiece.")
    do_lower_case: bool = flag(True, "Lower-case the text, as the model was trained.")
    use_einsum: bool = flag(True, "Ignored; kept for existing command lines.")
    format: str = flag("tf1", "Format of the module.", choices=MODULE_FORMATS)


def export(settings: Flags) -> str:
    """Exports the model; returns the folder.

    Raises:
      ValueError: a file is missing, or the files do not belong together.
    """
    if not settings.use_einsum:
        print("--use_einsum=false changes nothing: the graph has no einsum.")
    folder = released.local_folder(
        settings.albert_directory, f"--albert_directory={settings.albert_directory}"
    )
    label = f"--albert_directory={folder}"
    named = released.ModelFiles(
        _file(folder, settings.config_name),
        released.named_checkpoint(folder, settings.checkpoint_name),
        None if settings.vocab_file else _file(folder, settings.spm_model_name),
        _file(folder, settings.vocab_file),
    )
    found = released.find_files(folder, named, label=label)
    vocabulary = released.vocabulary_of(found, folder, settings, label=label)
    config = modeling.AlbertConfig.from_json_file(found.albert_config_file)
    lower = bool(vocabulary.do_lower_case)
    tokenizer = tokenization.FullTokenizer(found.vocab_file, lower, found.spm_model_file)
    tokenization.check_vocab_size(tokenizer, config.vocab_size)
    listed = _file(folder, settings.spm_vocab_name) or model_vocabulary.listing(vocabulary.path)
    return hub.export(
        settings.export_path,
        config,
        found.init_checkpoint,
        assets=hub.Assets(
            config_file=found.albert_config_file,
            vocab_file=vocabulary.path,
            others=[listed] if listed else [],
            do_lower_case=lower,
        ),
        format_name=settings.format,
    )


def _file(folder: str, name: Optional[str]) -> Optional[str]:
    """The path of a file in the folder, if a flag names one."""
    if not name or not tf.io.gfile.isdir(folder):
        return None
    path = os.path.join(folder, name)
    if not tf.io.gfile.exists(path):
        there = ", ".join(sorted(tf.io.gfile.listdir(folder))) or "nothing"
        raise UserError(f"--albert_directory={folder} has no {name}; it has {there}.")
    return path


@cli.reads_flags(Flags)
def main(settings: Flags):
    """Runs the script."""
    export(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
