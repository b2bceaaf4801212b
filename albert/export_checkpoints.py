# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a trained model without its optimiser: encoder and pretraining heads only.

  python -m albert.export_checkpoints --albert_directory=output/base \\
      --export_path=albert_mine/model.ckpt-best

--albert_directory is what run_pretraining has written, or any folder with albert_config.json and
checkpoints, or the name of a released model. The new checkpoint has less than half of the bytes.
Configuration and vocabulary are put beside it, so that the new folder is used as a released archive
is: by --albert_dir. The vocabulary is the one in --albert_directory unless a flag names another.
Nothing is overwritten.
"""

import contextlib
import dataclasses
import logging
import os
from typing import ContextManager, Optional, Sequence, Tuple

from absl import flags

from albert.command_line import process_flags, script
from albert.util import flags as flags_lib
from albert.util.errors import UserError


@dataclasses.dataclass(frozen=True)
class CheckpointExportSettings(flags_lib.Settings):
    """The script's flags."""

    albert_directory: str
    checkpoint_name: Optional[str]
    vocab_file: Optional[str]
    spm_model_file: Optional[str]
    do_lower_case: bool
    export_path: str


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags and returns the class of its settings."""
    flags_lib.path(
        flag_values,
        "albert_directory",
        required=True,
        help="Folder with albert_config.json, the checkpoint and perhaps the vocabulary.",
    )
    flags_lib.string(
        flag_values,
        "checkpoint_name",
        None,
        help="The checkpoint in --albert_directory: what its files' names begin with. By default "
        "model.ckpt-best, or else the newest.",
    )
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.path(
        flag_values,
        "export_path",
        required=True,
        help="What the new files' names begin with, e.g. albert_mine/model.ckpt-best; of a folder "
        "(one that is there, or a path that ends in /) model.ckpt-best in it.",
    )
    return CheckpointExportSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.pretrained import inference, model_vocabulary, released, warm_start
from albert.runtimes import compat
from albert.util import files

_LOGGER = logging.getLogger("albert")


def export(settings: CheckpointExportSettings) -> str:
    """Writes the checkpoint that the settings ask for; returns its prefix.

    Raises:
      ValueError: a part of the model is missing or does not fit, or a file that would be written
        exists.
    """
    place = settings.albert_directory
    folder = released.local_folder(place, f"--albert_directory={place}")
    model = released.open_model(
        folder,
        settings,
        label=f"--albert_directory={folder}",
        named=released.ModelFiles(
            init_checkpoint=released.named_checkpoint(folder, settings.checkpoint_name),
            spm_model_file=settings.spm_model_file,
            vocab_file=settings.vocab_file,
        ),
        vocabulary="optional",
    )
    copies = {released.CONFIG_NAME: model.files.albert_config_file}
    if model.vocabulary:
        path = model.vocabulary.path
        for source in filter(None, (path, model_vocabulary.listing(path))):
            copies[os.path.basename(source)] = source
    else:
        _LOGGER.warning(
            "The new folder has no vocabulary, because %s has none. Name it by --spm_model_file or "
            "--vocab_file.",
            folder,
        )
    target, name = _target(settings.export_path)
    _check_new(target, [f"{name}.index", model_vocabulary.RECORD_NAME, *copies])
    with _folder(target) as new:
        # First, because a checkpoint is the last to fit on the disk.
        report = _write_weights(model, os.path.join(new, name))
        for base, source in copies.items():
            tf.io.gfile.copy(source, os.path.join(new, base))
        if model.vocabulary:
            model_vocabulary.put(new, model.vocabulary)
    prefix = os.path.join(target, name)
    _LOGGER.info(
        "Wrote %s: %d variables, %s parameters. Left out %d variables, %d of them of the "
        "optimizer. Beside it: %s.",
        prefix,
        len(report.loaded),
        f"{warm_start.count_parameters(report.loaded):,}",
        len(report.optimizer_state + report.left_over),
        len(report.optimizer_state),
        ", ".join(sorted(copies)),
    )
    return prefix


def _target(export_path: str) -> Tuple[str, str]:
    """The folder, and the name of the checkpoint in it."""
    if export_path.endswith("/") or tf.io.gfile.isdir(export_path):
        return export_path.rstrip("/") or "/", warm_start.BEST_CHECKPOINT
    return os.path.dirname(export_path) or ".", os.path.basename(export_path)


def _check_new(folder: str, names: Sequence[str]) -> None:
    for path in (os.path.join(folder, name) for name in names):
        if tf.io.gfile.exists(path):
            raise UserError(f"{path} exists. Choose another --export_path, best in a new folder.")


def _folder(path: str) -> ContextManager[str]:
    """The folder itself if it exists, or else a new one that gets this name."""
    return contextlib.nullcontext(path) if tf.io.gfile.isdir(path) else files.atomic_folder(path)


def _write_weights(model: released.OpenModel, prefix: str) -> warm_start.Report:
    """Writes encoder and pretraining heads, with the graph that bert-for-tf2 looks for (.meta)."""
    with tf.Graph().as_default():
        zeros = tf.zeros([1, 1], tf.int32)
        inputs = dict.fromkeys((*inference.SEQUENCES, inference.POSITIONS), zeros)
        inference.pretraining_outputs(model.config, inputs, False)
        variables = tf.trainable_variables()
        report = warm_start.warm_start(
            model.files.init_checkpoint, variables, required_scopes=("bert", "cls")
        ).report
        with tf.Session(config=compat.session_config()) as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver(variables).save(session, prefix, write_state=False)
    return report


@process_flags.reads_flags(define_flags)
def main(settings: CheckpointExportSettings):
    """Runs the script."""
    export(settings)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
