# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tiny models with a head of SQuAD and random weights."""

import pathlib
import shutil

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from albert.tasks.squad import head
from tests.support import fine_tuned_models, pretrained_models


def build(config, ids, mask, segments):
    """The logits of where an answer starts and ends."""
    encoder = fine_tuning_utils.Encoder(config, False)
    features = {"input_ids": ids, "input_mask": mask, "segment_ids": segments}
    return head.span_logits(encoder, features)


def build_v2(config, *inputs):
    """The beams of the head of SQuAD v2."""
    names = ("input_ids", "input_mask", "segment_ids")
    features = dict(zip(names, inputs), p_mask=tf.zeros_like(inputs[0]))
    return head.v2_head(features, fine_tuning_utils.Encoder(config, False), head.V2Options())


def write(folder, *, is_v2=False, **changes):
    """Writes configuration, checkpoint and vocabulary, and returns the folder."""
    config = pretrained_models.config(**changes)
    folder = fine_tuned_models.write_model(folder, config, build_v2 if is_v2 else build, seed=1)
    shutil.copy(pretrained_models.VOCABULARY, folder / "30k-clean.model")
    return str(folder)


def write_reader(folder, *, is_v2, **description):
    """Writes a model as run_squad_v1 or run_squad_v2 leaves it, and returns the folder."""
    path = pathlib.Path(write(folder, is_v2=is_v2)) / "squad.json"
    task = "squad_v2" if is_v2 else "squad_v1"
    sizes = {"doc_stride": 8, "max_query_length": 8}
    content = {"vocabulary": "30k-clean.model", "task": task, **sizes, **description}
    return fine_tuned_models.describe(path, **content)
