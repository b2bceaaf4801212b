# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exports a pretrained model as a TF-Hub module.

  python -m albert.export_to_tfhub --albert_directory=albert_base --export_path=modules/albert_base

--albert_directory is a folder of run_pretraining or export_checkpoints, an unpacked archive, or the
name of a released model. If the folder has several checkpoints or vocabularies, choose one with the
flags below. --format=tf1 (the default) writes a module for --albert_hub_module_handle of the other
commands and for hub.Module. --format=tf2 writes a module for hub.load and hub.KerasLayer.
"""

import dataclasses
import functools
import os
from typing import Optional

from albert.configs.shared_flags import accepted_flag
from albert.util import cli, files
from albert.util.flags import BaseFlags, flag

_name = functools.partial(flag, None)


@dataclasses.dataclass(frozen=True)
class Flags(BaseFlags):
    """The script's flags. Names of files are relative to --albert_directory."""

    albert_directory: str = flag(None, "Folder of the model.", path=True, required=True)
    export_path: str = flag(None, "The new folder of the module.", path=True, required=True)
    checkpoint_name: Optional[str] = _name(
        "Checkpoint; default: model.ckpt-best, or else the newest."
    )
    config_name: Optional[str] = _name("Configuration; default: albert_config.json.")
    spm_model_name: Optional[str] = _name("SentencePiece model; default: the only .model file.")
    spm_vocab_name: Optional[str] = _name(
        "Tokens of the SentencePiece model as text; default: the model's .vocab file."
    )
    vocab_file: Optional[str] = _name(
        "WordPiece vocabulary; replaces --spm_model_name and --spm_vocab_name.",
        replaces=("spm_model_name", "spm_vocab_name"),
    )
    do_lower_case: bool = flag(True, "Lower-case the text; must match the model's training.")
    use_einsum: bool = accepted_flag(True)
    format: str = flag("tf1", "Format of the module.", choices=("tf1", "tf2"))


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script."""
    from albert.formats import hub
    from albert.models import pretrained, released

    folder = released.local_folder(flags.albert_directory)

    def path_of(name: Optional[str]) -> Optional[str]:
        return name and os.path.join(folder, name)

    model = pretrained.find_model(
        flags,
        albert_dir=folder,
        albert_config_file=path_of(flags.config_name),
        init_checkpoint=path_of(flags.checkpoint_name),
        spm_model_file=path_of(flags.spm_model_name),
        vocab_file=path_of(flags.vocab_file),
    )
    assets = [model.vocabulary.path, model.config_file]
    listing = os.path.splitext(model.vocabulary.base_name)[0] + ".vocab"
    if flags.spm_vocab_name or files.exists(os.path.join(folder, listing)):
        assets.append(os.path.join(folder, flags.spm_vocab_name or listing))
    build = functools.partial(pretrained.pretraining_outputs, model.config)
    hub.write(flags.export_path, model, build, assets=assets, format=flags.format)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
