# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tiny pretrained models with random weights, in folders laid out as released archives."""

import pathlib
import shutil
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from tests.support import fine_tuned_models

VOCABULARY = fine_tuned_models.VOCABULARY
WORDPIECES = fine_tuned_models.FIXTURES / "wordpiece_vocab.txt"


def config(**changes: Any) -> modeling.AlbertConfig:
    return modeling.AlbertConfig.from_dict(dict(fine_tuned_models.CONFIG, **changes))


def build(of_config: modeling.AlbertConfig, ids: tf.Tensor, mask: tf.Tensor, segments: tf.Tensor):
    """The model with both heads; returns its outputs by name, for masked position 1."""
    model = modeling.AlbertModel(
        of_config, False, ids, input_mask=mask, token_type_ids=segments, scope="bert"
    )
    words = modeling.masked_lm_logits(
        of_config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        positions=tf.ones_like(ids[:, :1]),
        projection=model.get_embedding_projection(),
    )
    order = modeling.sentence_order_logits(of_config, model.get_pooled_output())
    return {
        "pooled_output": model.get_pooled_output(),
        "sequence_output": model.get_sequence_output(),
        "sop_log_probs": tf.nn.log_softmax(order),
        "mlm_logits": words,
    }


def write_archive(folder: Any, *, wordpiece: bool = False, seed: int = 0, **changes: Any) -> str:
    """Writes configuration, checkpoint and vocabulary, and returns the folder."""
    folder = pathlib.Path(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    of_config = config(**changes)
    with tf.Graph().as_default(), tf.Session() as session:
        build(of_config, *[tf.zeros([1, 4], tf.int32)] * 3)
        generator = np.random.RandomState(seed)
        session.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            centre = 1.0 if variable.op.name.endswith("gamma") else 0.0
            session.run(variable.assign(generator.normal(centre, 0.5, variable.shape.as_list())))
        tf.train.Saver().save(session, str(folder / "model.ckpt-best"), write_meta_graph=False)
    (folder / "albert_config.json").write_text(of_config.to_json_string(), encoding="utf-8")
    if wordpiece:
        shutil.copy(str(WORDPIECES), str(folder / "vocab_chinese.txt"))
    else:
        shutil.copy(str(VOCABULARY), str(folder / "30k-clean.model"))
        (folder / "30k-clean.vocab").write_text("the\t0\n", encoding="utf-8")
    return str(folder)


def inputs(length: int = 9, batch: int = 3) -> dict:
    """A batch of different lengths."""
    generator = np.random.RandomState(5)
    places = np.arange(length)[None]
    mask = (places < np.array([[length], [length - 2], [4]])[:batch]).astype(np.int32)
    return {
        "input_ids": generator.randint(0, 200, [batch, length]).astype(np.int32) * mask,
        "input_mask": mask,
        "segment_ids": (places > 2).astype(np.int32) * mask,
    }


def outputs(folder: str, batch: dict) -> dict:
    """What the model in the folder makes of a batch, as arrays."""
    of_config = modeling.AlbertConfig.from_json_file(f"{folder}/albert_config.json")
    with tf.Graph().as_default(), tf.Session() as session:
        # With inputs of one row that are constants, or whose shape is, TensorFlow 2.15 crashes.
        inputs = [tf.placeholder(tf.int32, [None, None]) for _ in batch]
        built = build(of_config, *inputs)
        tf.train.Saver().restore(session, f"{folder}/model.ckpt-best")
        return session.run(built, dict(zip(inputs, batch.values())))
