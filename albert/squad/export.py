# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The inputs of exported SQuAD models.

Exports read input_ids, input_mask and segment_ids, and compute from them where an answer may be.
Dimensions: B batch, S max_seq_length.
"""

import tensorflow.compat.v1 as tf

from albert.pretrained.exported import SEQUENCES, Tensors
from albert.runtimes import estimator

TFLITE_NAME = "albert_model.tflite"


def answer_mask(features: Tensors) -> tf.Tensor:
    """Returns p_mask, float32 [B, S]: 0 at [CLS] and the paragraph's tokens, else 1.

    The paragraph is segment 1 without its last place in use, which is [SEP].
    """
    used = tf.cast(features["input_mask"], tf.float32)
    has_next = tf.pad(used[:, 1:], [[0, 0], [0, 1]])
    paragraph = tf.cast(features["segment_ids"], tf.float32) * used * has_next
    first = tf.pad(tf.ones_like(used[:, :1]), [[0, 0], [0, tf.shape(used)[1] - 1]])
    return 1.0 - tf.maximum(paragraph, first)


def build_serving_input_fn(seq_length):
    """Returns a function that makes a ServingInputReceiver of int32 [1, seq_length] each."""

    def input_fn():
        inputs = {name: tf.placeholder(tf.int32, [1, seq_length], name) for name in SEQUENCES}
        return estimator.export.ServingInputReceiver(inputs, inputs)

    return input_fn
