# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Names of a model's files, and the flags of scripts that read texts or export models."""

import dataclasses
import functools
import os
from typing import Optional

from albert.configs.flags import (
    PRECISIONS,
    TokenizerFlags,
    accepted_flag,
    data_flag,
    output_flag,
    speed_flag,
)
from albert.util.errors import UserError
from albert.util.flags import Settings, describe, flag

BASE_URL = "https://storage.googleapis.com/albert_models"  # of the released models
ALBERT_ZH_URL = "https://storage.googleapis.com/albert_zh"  # of albert_zh's
CACHE_DIR = "~/.cache/albert"
CONFIG_NAME, SPM_MODEL_NAME = "albert_config.json", "30k-clean.model"  # in a model's folder
POOLINGS = ("pooled", "mean", "first")
LAST_LAYER = -1

_name = functools.partial(flag, None)


@dataclasses.dataclass(frozen=True)
class TextFlags(Settings):
    """The flags for the input texts and the output."""

    input_file: str = data_flag("-", "Texts, one per line; - is standard input.", path=True)
    columns: Optional[str] = data_flag(
        None, "Columns or JSON fields of the text (or of both texts)."
    )
    output_file: str = output_flag("-", "File to write; - is standard output.", path=True)
    predict_batch_size: int = speed_flag(32, "Texts per batch.", lower=1)
    precision: str = speed_flag("float32", "Number format of activations.", choices=PRECISIONS)

    def check(self) -> None:
        """Checks that the output replaces no file that another flag names."""
        super().check()
        output = os.path.realpath(self.output_file)
        inputs = {
            os.path.realpath(str(getattr(self, name)))
            for name, options in describe(type(self)).items()
            if options.get("path") and name != "output_file"
        }
        if self.output_file != "-" and output in inputs:
            raise UserError(f"--output_file={self.output_file} is read too. Write to another file.")


@dataclasses.dataclass(frozen=True)
class CheckpointExportFlags(TokenizerFlags):
    """The flags of export_checkpoints."""

    albert_directory: str = flag(
        None, "Folder with albert_config.json and the checkpoint.", path=True, required=True
    )
    checkpoint_name: Optional[str] = flag(
        None, "Checkpoint in --albert_directory; default: model.ckpt-best, or the newest."
    )
    export_path: str = flag(
        None, "The new checkpoint: a path prefix, or a folder.", path=True, required=True
    )


@dataclasses.dataclass(frozen=True)
class HubExportFlags(Settings):
    """The flags of export_to_tfhub; names are those of files in --albert_directory."""

    albert_directory: str = flag(None, "Folder of the model.", path=True, required=True)
    export_path: str = flag(None, "The new folder of the module.", path=True, required=True)
    checkpoint_name: Optional[str] = _name("Checkpoint; default: model.ckpt-best, or the newest.")
    config_name: Optional[str] = _name("Configuration; default: albert_config.json.")
    spm_model_name: Optional[str] = _name("SentencePiece model; default: the only one.")
    spm_vocab_name: Optional[str] = _name(
        "Tokens of the SentencePiece model as text; default: the model's name with .vocab."
    )
    vocab_file: Optional[str] = _name(
        "WordPiece vocabulary; replaces --spm_model_name and --spm_vocab_name.",
        replaces=("spm_model_name", "spm_vocab_name"),
    )
    do_lower_case: bool = flag(True, "Lower-case the text; must match the model's training.")
    use_einsum: bool = accepted_flag(True)
    format: str = flag("tf1", "Format of the module.", choices=("tf1", "tf2"))
