# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model to a new folder, without the optimizer: see export_checkpoints."""

import logging
import os

import tensorflow.compat.v1 as tf

from albert.pretrained import inference, model_vocabulary, released, warm_start
from albert.pretrained.settings import CheckpointExportFlags
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")


def export(settings: CheckpointExportFlags) -> str:
    """Writes the checkpoint that the settings ask for; returns its prefix.

    Raises:
      UserError: a part of the model is missing or does not fit, or a file that would be written
        exists.
    """
    folder, checkpoint = released.local_folder(settings.albert_directory), settings.checkpoint_name
    model = inference.find_source(
        settings,
        needs_vocabulary=False,
        albert_dir=folder,
        init_checkpoint=checkpoint and os.path.join(folder, checkpoint),
    )
    target, name = os.path.split(settings.export_path)
    if not name or tf.io.gfile.isdir(settings.export_path):
        target, name = settings.export_path, warm_start.BEST_CHECKPOINT
    names = [f"{name}.index", released.CONFIG_NAME, model_vocabulary.RECORD_NAME]
    if model.vocabulary:
        names.append(os.path.basename(model.vocabulary.path))
    for path in (os.path.join(target, name) for name in names):
        if tf.io.gfile.exists(path):
            raise UserError(f"{path} exists. Choose another --export_path, best in a new folder.")
    prefix = os.path.join(target, name)
    with inference.open_graph(model) as (session, *_):
        tf.io.gfile.makedirs(target or ".")
        # With the graph that bert-for-tf2 looks for (.meta).
        tf.train.Saver().save(session, prefix, write_state=False)
    tf.io.gfile.copy(model.config_file, os.path.join(target, released.CONFIG_NAME))
    if model.vocabulary:
        model_vocabulary.put(target, model.vocabulary)
    _LOGGER.info("Wrote %s.", prefix)
    return prefix
