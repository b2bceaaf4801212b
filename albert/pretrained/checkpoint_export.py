# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model's folder anew, without the optimizer: see export_checkpoints."""

import contextlib
import logging
import os

import tensorflow.compat.v1 as tf

from albert.pretrained import inference, model_vocabulary, released, warm_start
from albert.pretrained.settings import CheckpointExportFlags
from albert.runtimes import compat
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")


def export(settings: CheckpointExportFlags) -> str:
    """Writes the checkpoint that the settings ask for; returns its prefix.

    Raises:
      UserError: a part of the model is missing or does not fit, or a file that would be written
        exists.
    """
    place, name = settings.albert_directory, settings.checkpoint_name
    folder = released.local_folder(place, f"--albert_directory={place}")
    checkpoint = name and os.path.join(folder, name)
    model = released.open_model(
        folder,
        settings,
        label=folder,
        named=released.ModelFiles(None, checkpoint, settings.spm_model_file, settings.vocab_file),
        vocabulary="optional",
    )
    target, name = os.path.split(settings.export_path)
    if not name or tf.io.gfile.isdir(settings.export_path):
        target, name = settings.export_path.rstrip("/"), warm_start.BEST_CHECKPOINT
    names = [released.CONFIG_NAME, model_vocabulary.RECORD_NAME]
    if model.vocabulary:
        names.append(os.path.basename(model.vocabulary.path))
    else:
        _LOGGER.warning(
            "%s has no vocabulary. Name it by --spm_model_file or --vocab_file.", folder
        )
    for base in (f"{name}.index", *names):
        path = os.path.join(target, base)
        if tf.io.gfile.exists(path):
            raise UserError(f"{path} exists. Choose another --export_path, best in a new folder.")
    is_there = tf.io.gfile.isdir(target or ".")
    with contextlib.nullcontext(target) if is_there else files.atomic_folder(target) as place:
        start = _write_weights(model, os.path.join(place, name))
        config = os.path.join(place, released.CONFIG_NAME)
        tf.io.gfile.copy(model.files.albert_config_file, config)
        if model.vocabulary:
            model_vocabulary.put(place, model.vocabulary)
    prefix = os.path.join(target, name)
    _LOGGER.info("Wrote %s, %s. %s", prefix, ", ".join(names), warm_start.format_report(start))
    return prefix


def _write_weights(model: released.OpenModel, prefix: str) -> warm_start.WarmStart:
    """Writes encoder and pretraining heads, with the graph that bert-for-tf2 looks for (.meta)."""
    with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
        zeros = tf.zeros([1, 1], tf.int32)
        inputs = dict.fromkeys((*inference.SEQUENCES, inference.POSITIONS), zeros)
        inference.pretraining_outputs(model.config, inputs)
        variables = tf.trainable_variables()
        start = warm_start.warm_start(
            model.files.init_checkpoint, variables, required_scopes=("bert", "cls")
        )
        session.run(tf.global_variables_initializer())
        tf.train.Saver(variables).save(session, prefix, write_state=False)
    return start
