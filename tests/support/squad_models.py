# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tiny models with the head of SQuAD v1 and random weights."""

import pathlib
import shutil
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.squad import heads
from tests.support import pretrained_models


def build(config: modeling.AlbertConfig, ids: tf.Tensor, mask: tf.Tensor, segments: tf.Tensor):
    """The logits of where an answer starts and ends."""
    encoder = fine_tuning_utils.Encoder(config, False)
    features = {"input_ids": ids, "input_mask": mask, "segment_ids": segments}
    return heads.span_logits(encoder, features)


def write(folder: Any, **changes: Any) -> str:
    """Writes configuration, checkpoint and vocabulary, and returns the folder."""
    folder = pathlib.Path(str(folder))
    folder.mkdir(parents=True)
    config = pretrained_models.config(**changes)
    with tf.Graph().as_default(), tf.Session() as session:
        build(config, *[tf.zeros([1, 4], tf.int32)] * 3)
        generator = np.random.RandomState(1)
        session.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            shape = variable.shape.as_list()
            session.run(variable.assign(generator.normal(0.2, 0.4, shape)))
        tf.train.Saver().save(session, str(folder / "model.ckpt-best"), write_meta_graph=False)
    (folder / "albert_config.json").write_text(config.to_json_string(), encoding="utf-8")
    shutil.copy(str(pretrained_models.VOCABULARY), str(folder / "30k-clean.model"))
    return str(folder)
