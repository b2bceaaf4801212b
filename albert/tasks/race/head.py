# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head for multiple choice.

Dimensions: B batch, C options, S sequence, H hidden.
"""

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data.packing import SEQUENCES
from albert.fine_tuning_utils import (
    HEAD_INITIALIZER_RANGE,
    Encoder,
    Features,
    HeadOutput,
    softmax_output,
)
from albert.models.network import LOWEST


def choice_head(
    features: Features, encoder: Encoder, dropout_prob: float, *, has_padding: bool = False
) -> HeadOutput:
    """Builds a softmax over the options' scores, one score per pooled output.

    Features are int32 [B, C, S], and label_ids [B] if there are labels. With `has_padding`, options
    without tokens get the probability 0.
    """
    num_choices, length = modeling.get_shape_list(features["input_ids"])[1:]
    sequences = [tf.reshape(features[name], [-1, length]) for name in SEQUENCES]  # [B * C, S]
    pooled = encoder(*sequences).pooled_output  # [B * C, H]
    shape = [1, int(pooled.shape[-1])]
    weights = modeling.get_weight("output_weights", shape, HEAD_INITIALIZER_RANGE)
    bias = tf.get_variable("output_bias", [1], initializer=tf.zeros_initializer())
    pooled = encoder.dropout(pooled, dropout_prob)
    scores = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)  # [B * C, 1]
    logits = tf.reshape(scores, [-1, num_choices])  # [B, C]
    if has_padding:
        is_option = tf.reduce_max(features["input_mask"], axis=-1) > 0  # [B, C]
        logits = tf.where(is_option, logits, tf.fill(tf.shape(logits), LOWEST))
    return softmax_output(logits, features)
