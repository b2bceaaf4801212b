# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model's folder anew, without the optimizer: see export_checkpoints."""

import logging
import os

import tensorflow.compat.v1 as tf

from albert.pretrained import inference, model_vocabulary, released, warm_start
from albert.pretrained.settings import CheckpointExportFlags
from albert.runtimes import compat
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")


def export(settings: CheckpointExportFlags) -> str:
    """Writes the checkpoint that the settings ask for; returns its prefix.

    Raises:
      UserError: a part of the model is missing or does not fit, or a file that would be written
        exists.
    """
    folder, checkpoint = released.local_folder(settings.albert_directory), settings.checkpoint_name
    model = inference.folder_source(
        folder,
        settings,
        needs_vocabulary=False,
        init_checkpoint=checkpoint and os.path.join(folder, checkpoint),
    )
    target, name = os.path.split(settings.export_path)
    if not name or tf.io.gfile.isdir(settings.export_path):
        target, name = settings.export_path, warm_start.BEST_CHECKPOINT
    names = [f"{name}.index", released.CONFIG_NAME, model_vocabulary.RECORD_NAME]
    if model.vocabulary:
        names.append(os.path.basename(model.vocabulary.path))
    else:
        _LOGGER.warning(
            "%s has no vocabulary. Name it by --spm_model_file or --vocab_file.", folder
        )
    for path in (os.path.join(target, name) for name in names):
        if tf.io.gfile.exists(path):
            raise UserError(f"{path} exists. Choose another --export_path, best in a new folder.")
    prefix = os.path.join(target, name)
    _write_weights(model, prefix)
    tf.io.gfile.copy(model.config_file, os.path.join(target, released.CONFIG_NAME))
    if model.vocabulary:
        model_vocabulary.put(target, model.vocabulary)
    _LOGGER.info("Wrote %s.", prefix)
    return prefix


def _write_weights(model: inference.Source, prefix: str) -> None:
    """Writes encoder and pretraining heads, with the graph that bert-for-tf2 looks for (.meta)."""
    with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
        zeros = tf.zeros([1, 1], tf.int32)
        inputs = dict.fromkeys((*inference.SEQUENCES, inference.POSITIONS), zeros)
        inference.pretraining_outputs(model.config, inputs)
        warm_start.restore_weights(session, model.checkpoint)
        tf.io.gfile.makedirs(os.path.dirname(prefix) or ".")
        tf.train.Saver().save(session, prefix, write_state=False)
