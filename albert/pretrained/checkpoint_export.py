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
        label=f"--albert_directory={folder}",
        named=released.ModelFiles(None, checkpoint, settings.spm_model_file, settings.vocab_file),
        vocabulary="optional",
    )
    copies = {released.CONFIG_NAME: model.files.albert_config_file}
    if model.vocabulary:
        path = model.vocabulary.path
        for source in filter(None, (path, model_vocabulary.listing(path))):
            copies[os.path.basename(source)] = source
    else:
        _LOGGER.warning(
            "%s has no vocabulary. Name it by --spm_model_file or --vocab_file.", folder
        )
    target, name = os.path.split(settings.export_path)
    if not name or tf.io.gfile.isdir(settings.export_path):
        target, name = settings.export_path.rstrip("/"), warm_start.BEST_CHECKPOINT
    target = target or "."
    for new in (f"{name}.index", model_vocabulary.RECORD_NAME, *copies):
        path = os.path.join(target, new)
        if tf.io.gfile.exists(path):
            raise UserError(f"{path} exists. Choose another --export_path, best in a new folder.")
    is_there = tf.io.gfile.isdir(target)
    with contextlib.nullcontext(target) if is_there else files.atomic_folder(target) as new:
        start = _write_weights(model, os.path.join(new, name))
        for base, source in copies.items():
            tf.io.gfile.copy(source, os.path.join(new, base))
        if model.vocabulary:
            model_vocabulary.put(new, model.vocabulary)
    prefix = os.path.join(target, name)
    report = warm_start.format_report(start)
    _LOGGER.info("Wrote %s, and %s. %s", prefix, ", ".join(sorted(copies)), report)
    return prefix


def _write_weights(model: released.OpenModel, prefix: str) -> warm_start.WarmStart:
    """Writes encoder and pretraining heads, with the graph that bert-for-tf2 looks for (.meta)."""
    with tf.Graph().as_default():
        zeros = tf.zeros([1, 1], tf.int32)
        inputs = dict.fromkeys((*inference.SEQUENCES, inference.POSITIONS), zeros)
        inference.pretraining_outputs(model.config, inputs, False)
        variables = tf.trainable_variables()
        start = warm_start.warm_start(
            model.files.init_checkpoint, variables, required_scopes=("bert", "cls")
        )
        with tf.Session(config=compat.session_config()) as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver(variables).save(session, prefix, write_state=False)
    meta_graph = tf.MetaGraphDef.FromString(files.read_bytes(f"{prefix}.meta"))
    content = meta_graph.SerializeToString(deterministic=True)
    files.atomic_write_bytes(f"{prefix}.meta", content)
    return start
