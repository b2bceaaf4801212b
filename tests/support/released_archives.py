# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Folders and archives in the shape of the released ones, with random weights."""

import pathlib
import shutil
import tarfile

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import weights
from tests.support import fine_tuned_models, pretrained_models

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
SPM_MODEL = pretrained_models.VOCABULARY  # 400 tokens
WORDPIECES = pretrained_models.WORDPIECES  # 257 tokens

CONFIG = dict(
    fine_tuned_models.CONFIG,
    max_position_embeddings=64,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    # Keys of the released files that name nothing in this package.
    net_structure_type=0,
    gap_size=0,
    num_memory_blocks=0,
)


def build_pretraining_model(config):
    """Makes the variables of the encoder and both pretraining heads in the default graph."""
    pretrained_models.build(config, *[tf.zeros([1, 4], tf.int32)] * 3)


def write_checkpoint(prefix, config, *, slots=None, seed=0):
    """Writes random weights, with an optimizer's slots if their kind is named; returns all."""
    generator = np.random.RandomState(seed)
    with tf.Graph().as_default():
        build_pretraining_model(config)
        shapes = {item.op.name: item.shape.as_list() for item in tf.trainable_variables()}
    if slots:
        names = [(name, f"{name}/{slots}_{kind}") for name in shapes for kind in "mv"]
        shapes.update({slot: shapes[name] for name, slot in names})
    values = {
        name: generator.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()
    }
    if slots:
        values["global_step"] = np.array(70000, np.int64)
    save(prefix, values)
    return values


def save(prefix, values):
    """Writes a checkpoint of these values."""
    weights.write_checkpoint(str(prefix), values)


def write_model(folder, *, chinese=False, slots=None, **changes):
    """Writes the folder that a released archive unpacks to, of a tiny model; returns its path."""
    folder = pathlib.Path(str(folder))
    folder.mkdir(parents=True)
    sizes = {"vocab_size": 257} if chinese else {}
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **sizes, **changes))
    (folder / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    if chinese:
        shutil.copy(str(WORDPIECES), str(folder / "vocab_chinese.txt"))
    else:
        shutil.copy(str(SPM_MODEL), str(folder / "30k-clean.model"))
        shutil.copy(str(SPM_MODEL.with_suffix(".vocab")), str(folder / "30k-clean.vocab"))
    write_checkpoint(folder / "model.ckpt-best", config, slots=slots)
    (folder / "model.ckpt-best.meta").write_bytes(b"")
    return folder


def write_archive(path, folder):
    """Packs a folder as the released archives are packed; returns the archive."""
    with tarfile.open(str(path), "w:gz") as archive:
        archive.add(str(folder), arcname="albert_base")
    return pathlib.Path(str(path))
