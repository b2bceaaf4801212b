# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder's layers for prediction on CPUs, where `compat.has_onednn()`.

The functions are the same as in `ops.plain`, which has the docstrings, without gradients and
float16. oneDNN computes in float32 inside. In bfloat16, LayerNorm's weights and the biased scores
are rounded too, so a sequence without any token attends to all its tokens alike.
"""

from typing import Callable, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert.ops import fused, plain
from albert.ops.fused import split_heads  # noqa: F401
from albert.ops.plain import LAYER_NORM_EPSILON, Dense, Norm, attend, dropout  # noqa: F401
from albert.runtimes import compat


def dense(inputs: tf.Tensor, weights: Dense) -> tf.Tensor:
    """Returns inputs [T, in] times kernel plus bias: [T, out]."""
    return fused.affine(inputs, *weights)


def feed_forward(
    inputs: tf.Tensor, intermediate: Dense, output: Dense, *, activation: Optional[Callable]
) -> tf.Tensor:
    """Returns the feed-forward block.

    Compiles gelu where a matrix unit is, for each number of tokens T. Elsewhere TensorFlow's graph
    optimizer joins it with the product before it.
    """
    has_matrix_unit = inputs.dtype == tf.bfloat16 and compat.cpu_has("amx_bf16")
    if not (activation is plain.gelu and has_matrix_unit):
        return plain.feed_forward(inputs, intermediate, output, activation=activation)
    hidden = tf.matmul(inputs, intermediate.kernel)
    return dense(fused.gelu_forward(hidden, intermediate.bias), output)


def layer_norm(inputs: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm (arXiv:1607.06450) over the last axis of [T, H], in the input's dtype."""
    return compat.onednn(
        "_MklLayerNorm",
        x=inputs,
        scale=tf.cast(norm.gamma, inputs.dtype),
        offset=tf.cast(norm.beta, inputs.dtype),
        epsilon=LAYER_NORM_EPSILON,
    )


def residual_layer_norm(inputs: tf.Tensor, update: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm(inputs + update) over the last axis of [T, H], in the input's dtype."""
    return layer_norm(inputs + update, norm)


def attention(
    query: tf.Tensor, key: tf.Tensor, attention_bias: tf.Tensor
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns the scores plus the bias [B, N, S, S], and their softmax."""
    scores = fused.product_and_sum(query, key, attention_bias, transpose_y=True)
    return scores, tf.nn.softmax(scores)
