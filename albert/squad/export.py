# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a SQuAD model is exported with.

Exports read input_ids, input_mask and segment_ids, from which it follows where an answer may be.
Dimensions: B batch, S max_seq_length.
"""

import logging
import os
from typing import Callable

import tensorflow.compat.v1 as tf

from albert.pretrained import exported, warm_start
from albert.pretrained.exported import SEQUENCES, Tensors
from albert.runtimes import estimator
from albert.util import files

TFLITE_NAME = "albert_model.tflite"

_LOGGER = logging.getLogger("albert")


def answer_mask(inputs: Tensors) -> tf.Tensor:
    """Returns p_mask, float32 [B, S]: 0 at [CLS] and the paragraph's tokens, else 1.

    The paragraph is segment 1 without its last place in use, which is [SEP].
    """
    used = tf.cast(inputs["input_mask"], tf.float32)
    has_next = tf.pad(used[:, 1:], [[0, 0], [0, 1]])
    paragraph = tf.cast(inputs["segment_ids"], tf.float32) * used * has_next
    first = tf.pad(tf.ones_like(used[:, :1]), [[0, 0], [0, tf.shape(used)[1] - 1]])
    return 1.0 - tf.maximum(paragraph, first)


def export_tflite(
    export_dir: str,
    build: Callable[[Tensors], Tensors],
    checkpoint: str,
    *,
    max_seq_length: int,
) -> None:
    """Writes export_dir/albert_model.tflite, which reads int32 [1, S].

    Args:
      export_dir: folder; made if need be.
      build: builds the network of v1 on its inputs; start_logits and end_logits are [1, S].
      checkpoint: path prefix of the weights.
      max_seq_length: S.

    Raises:
      UserError: the checkpoint does not fit the model.
    """
    shape = (1, max_seq_length)
    with warm_start.open_graph(build, SEQUENCES, checkpoint, shape=shape) as opened:
        content = exported.converted(*opened)
    path = os.path.join(export_dir, TFLITE_NAME)
    tf.io.gfile.makedirs(export_dir)
    files.atomic_write_bytes(path, content)
    _LOGGER.info("Wrote %s.", path)


def build_serving_input_fn(seq_length):
    """Returns a function that makes a ServingInputReceiver of int32 [1, seq_length] each."""

    def input_fn():
        inputs = {name: tf.placeholder(tf.int32, [1, seq_length], name) for name in SEQUENCES}
        return estimator.export.ServingInputReceiver(inputs, inputs)

    return input_fn
