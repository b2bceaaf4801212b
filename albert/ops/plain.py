# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder's layers as plain operations, which every runtime can load and differentiate.

`ops.fused` has the same functions as compiled clusters for training, and `ops.onednn` as operations
for prediction on CPUs. A model uses one of the modules. Exports (TF-Hub, SavedModel, TFLite) use
this one.

Dimensions: T tokens (batch times sequence), H hidden or embedding size, I intermediate size, B
batch, N heads, S sequence.
"""

import math
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

LAYER_NORM_EPSILON = 1e-12


class Dense(NamedTuple):
    """Weights of an affine layer, in the compute dtype: kernel [in, out] and bias [out]."""

    kernel: tf.Tensor
    bias: tf.Tensor


class Norm(NamedTuple):
    """Weights of a LayerNorm, float32 [H] each."""

    beta: tf.Tensor
    gamma: tf.Tensor


def gelu(x: tf.Tensor) -> tf.Tensor:
    """Returns the tanh form of gelu, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    Source: arXiv:1606.08415, section 2. TensorFlow Lite's converter fuses the operations if they
    are in this order. Float16 inputs are computed in float32, because the gradient squares x, which
    overflows in float16 if x is above 256.
    """
    if x.dtype == tf.float16:
        return tf.cast(gelu(tf.cast(x, tf.float32)), tf.float16)
    # TensorFlow 2 joins gelu with the matrix product before it, but only if the names of these
    # operations sort after "BiasAdd": it orders the inputs of each product and sum by name.
    with tf.name_scope("Gelu"):
        scale = math.sqrt(2.0 / math.pi)
        return 0.5 * x * (1.0 + tf.tanh(scale * (x + 0.044715 * tf.pow(x, 3))))


def dense(inputs: tf.Tensor, weights: Dense) -> tf.Tensor:
    """Returns inputs [T, in] times kernel plus bias: [T, out]."""
    return tf.nn.bias_add(tf.matmul(inputs, weights.kernel), weights.bias)


def feed_forward(
    inputs: tf.Tensor, intermediate: Dense, output: Dense, *, activation: Optional[Callable]
) -> tf.Tensor:
    """Returns the feed-forward block of [T, H]: dense [H, I], activation, dense [I, H].

    The activation is a function of a tensor, or None.
    """
    hidden = dense(inputs, intermediate)  # [T, I]
    return dense(activation(hidden) if activation else hidden, output)


def layer_norm(inputs: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm (arXiv:1607.06450) over the last axis, with float32 statistics."""
    x = tf.cast(inputs, tf.float32)
    mean, variance = tf.nn.moments(x, axes=[-1], keep_dims=True)
    standard = (x - mean) * tf.math.rsqrt(variance + LAYER_NORM_EPSILON)
    return tf.cast(standard * norm.gamma + norm.beta, inputs.dtype)


def residual_layer_norm(inputs: tf.Tensor, update: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm(inputs + update) over the last axis of [T, H], in the input's dtype."""
    return layer_norm(inputs + update, norm)


def masked_softmax(scores: tf.Tensor, attention_bias: tf.Tensor) -> tf.Tensor:
    """Returns softmax(scores + attention_bias) over the last axis, computed in float32.

    Scores are [B, N, S, S]. The bias is float32 and broadcastable: a large negative number for a
    masked key.
    """
    return tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32) + attention_bias), scores.dtype)


def attention(
    query: tf.Tensor, key: tf.Tensor, attention_bias: tf.Tensor
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns the scores of [B, N, S, D] queries and keys, and their `masked_softmax`."""
    scores = tf.matmul(query, key, transpose_b=True)
    return scores, masked_softmax(scores, attention_bias)


def split_heads(joined: tf.Tensor, sizes: Sequence) -> List[tf.Tensor]:
    """Returns queries, keys and values, [B, N, S, D] each, from [T, 3H]. `sizes`: [B, S, N, D]."""
    batch, length, heads, size = sizes
    # TensorFlow Lite of 1.15 can transpose at most four dimensions.
    split = swap_heads(tf.reshape(joined, [batch, length, 3 * heads, size]))  # [B, 3N, S, D]
    return tf.raw_ops.Split(axis=1, value=split, num_split=3)


def swap_heads(tensor: tf.Tensor) -> tf.Tensor:
    """Swaps the second and third dimension: [B, S, N, D] <-> [B, N, S, D]."""
    return tf.transpose(tensor, [0, 2, 1, 3])


def attend(
    scores: tf.Tensor, probabilities: tf.Tensor, dropped: tf.Tensor, *, value: tf.Tensor
) -> tf.Tensor:
    """Returns each query's weighted sum of the values: [B, S, N, D].

    The first two arguments are for the gradient of `ops.fused`.

    Args:
      scores: before the softmax, [B, N, S, S].
      probabilities: `masked_softmax` of the scores.
      dropped: the probabilities after dropout: the weights.
      value: [B, N, S, D].
    """
    return swap_heads(tf.matmul(dropped, value))


def dropout(inputs: tf.Tensor, keep: tf.Tensor, rate: float) -> tf.Tensor:
    """Returns `inputs` with elements zero where `keep` (bool) is False, the rest / (1 - rate)."""
    scaled = inputs * tf.cast(1.0 / (1.0 - rate), inputs.dtype)
    return tf.where(keep, scaled, tf.zeros_like(scaled))


def logits(inputs: tf.Tensor, weights: Dense) -> tf.Tensor:
    """Returns the logits of N positions [N, E] over a vocabulary of V words, float32 [N, V].

    The kernel is the word embedding table, [V, E].
    """
    return tf.nn.bias_add(tf.matmul(inputs, weights.kernel, transpose_b=True), weights.bias)


def gather_columns(scores: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """Returns the score in column columns[n] of each row n, from [N, V]: [N]."""
    return tf.squeeze(tf.gather(scores, columns[:, tf.newaxis], batch_dims=1), 1)


def vocabulary_loss(
    inputs: tf.Tensor, weights: Dense, labels: tf.Tensor, *, compute_dtype: tf.DType
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns the cross entropy of each label [N] and the logits [N, V], float32.

    Arguments are as for `logits`. Plain operations compute in float32.
    """
    scores = logits(inputs, weights)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores), scores
