# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder's element-wise work as custom-gradient functions over XLA clusters.

The functions and their results are the same as in `ops.plain`, which has the docstrings. Each
function keeps only its inputs for the backward pass, and recomputes the rest there. Each forward
and each backward body is one compiled pass over memory. Matrix products run outside the clusters.
"""

import functools
from typing import Callable, List, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.ops import plain
from albert.ops.plain import LAYER_NORM_EPSILON, Dense, Norm
from albert.runtimes import compat

_GELU_SCALE = np.float32(np.sqrt(2.0 / np.pi))
_GELU_CUBIC = np.float32(0.044715)


def _float32(tensor: tf.Tensor) -> tf.Tensor:
    return tf.cast(tensor, tf.float32)


def _with_gradient(forward: Callable, backward: Callable) -> Callable:
    """Returns `forward` with the gradients backward(upstream, output, *inputs)."""

    @tf.custom_gradient
    def function(*inputs):
        output = forward(*inputs)
        return output, lambda upstream: backward(upstream, output, *inputs)

    return function


def column_sum(matrix: tf.Tensor) -> tf.Tensor:
    """Returns the sum over rows of [T, H] as [H]. Multiplies by ones, which is fast in oneDNN."""
    ones = tf.ones([1, tf.shape(matrix)[0]], matrix.dtype)
    return tf.reshape(tf.matmul(ones, matrix), [-1])


@compat.xla_cluster
def _bias_cluster(product, bias):
    return tf.cast(_float32(product) + _float32(bias), product.dtype)


def _add_bias(product: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Returns a product [T, H] plus bias [H].

    In bfloat16, does not use BiasAdd: TensorFlow's graph optimizer joins it with the product before
    it, and with a matrix unit, oneDNN's joined operation has 0.6 times the product's speed.
    """
    if product.dtype == tf.bfloat16:
        return _bias_cluster(product, bias)
    return tf.nn.bias_add(product, bias)


def _dense_backward(upstream, _, *inputs):
    x, kernel, _ = inputs
    return (
        tf.matmul(upstream, kernel, transpose_b=True),
        tf.matmul(x, upstream, transpose_a=True),
        column_sum(upstream),
    )


def dense(inputs: tf.Tensor, weights: Dense) -> tf.Tensor:
    """Returns inputs [T, in] times kernel plus bias: [T, out]."""
    affine = _with_gradient(
        lambda x, kernel, bias: _add_bias(tf.matmul(x, kernel), bias), _dense_backward
    )
    return affine(inputs, *weights)


# ---- gelu ---------------------------------------------------------------------------------------


def _gelu_tanh(x):
    return tf.tanh(_GELU_SCALE * (x + _GELU_CUBIC * x * x * x))


@compat.xla_cluster
def _gelu_forward(hidden, bias):
    x = _float32(hidden) + _float32(bias)
    return tf.cast(0.5 * x * (1.0 + _gelu_tanh(x)), hidden.dtype)


@compat.xla_cluster
def _gelu_backward(hidden, bias, upstream):
    """Returns gelu(hidden + bias) and the gradient of hidden + bias, which need the same tanh."""
    x = _float32(hidden) + _float32(bias)
    tanh = _gelu_tanh(x)
    half = 0.5 * (1.0 + tanh)
    slope = _GELU_SCALE * (1.0 + 3.0 * _GELU_CUBIC * x * x)
    gradient = _float32(upstream) * (half + 0.5 * x * (1.0 - tanh * tanh) * slope)
    return tf.cast(x * half, hidden.dtype), tf.cast(gradient, hidden.dtype)


def feed_forward(
    inputs: tf.Tensor, intermediate: Dense, output: Dense, *, activation: Optional[Callable]
) -> tf.Tensor:
    """Returns the feed-forward block.

    With gelu, keeps only the product before it for the backward pass, and recomputes gelu in the
    cluster that needs its tanh anyway. Other activations run as plain operations.
    """
    if activation is not plain.gelu:
        return plain.feed_forward(inputs, intermediate, output, activation=activation)

    @tf.custom_gradient
    def gelu_block(*tensors):
        x, kernel_in, bias_in, kernel_out, bias_out = tensors
        hidden = tf.matmul(x, kernel_in)  # [T, I]
        result = _add_bias(tf.matmul(_gelu_forward(hidden, bias_in), kernel_out), bias_out)

        def gradient(upstream):
            d_activated = tf.matmul(upstream, kernel_out, transpose_b=True)  # [T, I]
            activated, d_hidden = _gelu_backward(hidden, bias_in, d_activated)
            return (
                tf.matmul(d_hidden, kernel_in, transpose_b=True),
                tf.matmul(x, d_hidden, transpose_a=True),
                column_sum(d_hidden),
                tf.matmul(activated, upstream, transpose_a=True),
                column_sum(upstream),
            )

        return result, gradient

    return gelu_block(inputs, *intermediate, *output)


# ---- LayerNorm -----------------------------------------------------------------------------------


def _standardise(total):
    """Scales rows of [T, H] to mean 0 and variance 1. Also returns 1 / deviation, [T, 1]."""
    centred = total - tf.reduce_mean(total, axis=-1, keepdims=True)
    variance = tf.reduce_mean(centred * centred, axis=-1, keepdims=True)
    inverse_deviation = tf.math.rsqrt(variance + LAYER_NORM_EPSILON)
    return centred * inverse_deviation, inverse_deviation


def _total(parts):
    """Returns the float32 sum of one or two tensors."""
    return tf.add_n([_float32(part) for part in parts])


@compat.xla_cluster
def _norm_forward(*tensors):
    *parts, beta, gamma = tensors
    standard, _ = _standardise(_total(parts))
    return tf.cast(standard * gamma + beta, parts[0].dtype)


@compat.xla_cluster
def _norm_backward(*tensors):
    """Returns the gradients of each part [T, H], beta [H] and gamma [H]."""
    *parts, gamma, upstream = tensors
    standard, inverse_deviation = _standardise(_total(parts))
    upstream = _float32(upstream)
    scaled = upstream * gamma
    projection = tf.reduce_mean(scaled * standard, axis=-1, keepdims=True)
    mean = tf.reduce_mean(scaled, axis=-1, keepdims=True)
    d_total = inverse_deviation * (scaled - mean - standard * projection)
    d_total = tf.cast(d_total, parts[0].dtype)
    return d_total, tf.reduce_sum(upstream, axis=0), tf.reduce_sum(upstream * standard, axis=0)


def _normalise(norm: Norm, *parts: tf.Tensor) -> tf.Tensor:
    def backward(upstream, _, *tensors):
        *parts, _, gamma = tensors
        d_total, *d_norm = _norm_backward(*parts, gamma, upstream)
        return [d_total] * len(parts) + d_norm

    return _with_gradient(_norm_forward, backward)(*parts, *norm)


def layer_norm(inputs: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm (arXiv:1607.06450) over the last axis of [T, H], in the input's dtype."""
    return _normalise(norm, inputs)


def residual_layer_norm(inputs: tf.Tensor, update: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm(inputs + update) over the last axis of [T, H], in the input's dtype."""
    return _normalise(norm, inputs, update)


# ---- attention probabilities ---------------------------------------------------------------------


@compat.xla_cluster
def _softmax_forward(scores, attention_bias):
    logits = _float32(scores) + attention_bias
    exponentials = tf.exp(logits - tf.reduce_max(logits, axis=-1, keepdims=True))
    total = tf.reduce_sum(exponentials, axis=-1, keepdims=True)
    return tf.cast(exponentials / total, scores.dtype)


@compat.xla_cluster
def _softmax_backward(probabilities, upstream):
    weighted = _float32(probabilities) * _float32(upstream)
    total = tf.reduce_sum(weighted, axis=-1, keepdims=True)
    return tf.cast(weighted - _float32(probabilities) * total, probabilities.dtype)


def masked_softmax(scores: tf.Tensor, attention_bias: tf.Tensor) -> tf.Tensor:
    """Returns softmax(scores + attention_bias) over the last axis; the bias gets no gradient."""

    softmax = _with_gradient(
        lambda logits: _softmax_forward(logits, attention_bias),
        lambda upstream, probabilities, _: _softmax_backward(probabilities, upstream),
    )
    return softmax(scores)


# ---- dropout -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _dropout_cluster(rate: float):
    """Compiles `ops.plain.dropout` for one rate."""

    def drop(tensor, keep):
        return plain.dropout(tensor, keep, rate)

    return compat.xla_cluster(drop)


def dropout(inputs: tf.Tensor, keep: tf.Tensor, rate: float) -> tf.Tensor:
    """Returns `inputs` with elements zero where `keep` (bool) is False, the rest / (1 - rate)."""
    drop = _dropout_cluster(rate)
    dropped = _with_gradient(lambda x: drop(x, keep), lambda upstream, *_: drop(upstream, keep))
    return dropped(inputs)


# ---- shared weights ------------------------------------------------------------------------------


def _sums(*tensors):
    # TensorFlow adds float32 as fast. Only a cast and a sum in one pass are worth compiling.
    half = len(tensors) // 2
    return tuple(_float32(x) + y for x, y in zip(tensors[:half], tensors[half:]))


_cast_sums = compat.xla_cluster(_sums)


def shared(
    weights: Sequence[tf.Tensor], used: Sequence[tf.Tensor]
) -> Tuple[List[tf.Tensor], List[tf.Tensor]]:
    """Returns (tensors for one use of shared weights, weights for the next use).

    The backward pass adds the gradient of each use in float32 as it reaches it. Otherwise it would
    keep the gradients of all layers to add them at the end.

    Args:
      weights: float32.
      used: the same weights in the dtype of this use.
    """
    constants = [tf.stop_gradient(tensor) for tensor in used]

    @tf.custom_gradient
    def split(*tensors):
        def gradient(*upstream):
            add = _sums if used[0].dtype == tf.float32 else _cast_sums
            return add(*upstream)

        return [tf.identity(tensor) for tensor in (*constants, *tensors)], gradient

    both = split(*weights)
    return both[: len(weights)], both[len(weights) :]


# ---- the loss over the vocabulary ----------------------------------------------------------------


@compat.xla_cluster
def _normaliser_forward(logits):
    """Returns log(sum(exp(row))) of each row, [N, V] -> [N]."""
    return tf.reduce_logsumexp(logits, axis=-1)


@functools.lru_cache(maxsize=None)
def _vocabulary_backward(dtype: tf.DType):
    """Compiles the function that returns the gradient of the logits in a dtype."""

    def gradient(logits, *rest):
        normaliser, labels, upstream = rest
        words = tf.cast(tf.range(tf.shape(logits)[-1]), labels.dtype)
        is_label = tf.cast(tf.equal(words, labels[:, tf.newaxis]), tf.float32)
        probabilities = tf.exp(logits - normaliser[:, tf.newaxis])
        return tf.cast((probabilities - is_label) * upstream[:, tf.newaxis], dtype)

    return compat.xla_cluster(gradient)


def vocabulary_loss(
    inputs: tf.Tensor, weights: Dense, labels: tf.Tensor, *, compute_dtype: tf.DType
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns (cross entropies, logits). The logits have no gradient.

    The logits are float32 products. If `compute_dtype` is bfloat16, the gradient of the logits and
    its products are bfloat16. In float16, most of that gradient would be zero.
    """
    dtype = tf.bfloat16 if compute_dtype == tf.bfloat16 else tf.float32
    table, bias = (tf.convert_to_tensor(weight) for weight in weights)
    logits = tf.stop_gradient(plain.logits(inputs, weights))

    @tf.custom_gradient
    def cross_entropy(x, kernel, offset):
        del offset
        normaliser = _normaliser_forward(logits)
        # A label outside the vocabulary is an error on CPUs. On GPUs, which would gather 0, the
        # loss becomes NaN.
        label_logits = plain.gather_columns(logits, labels)
        is_valid = (labels >= 0) & (labels < tf.shape(logits, out_type=labels.dtype)[1])
        label_logits = tf.where(is_valid, label_logits, float("nan") * tf.ones_like(label_logits))

        def gradient(upstream):
            d_logits = _vocabulary_backward(dtype)(logits, normaliser, labels, upstream)
            d_x = tf.matmul(d_logits, tf.cast(kernel, dtype))
            d_kernel = tf.matmul(d_logits, tf.cast(x, dtype), transpose_a=True)
            return _float32(d_x), _float32(d_kernel), _float32(column_sum(d_logits))

        return normaliser - label_logits, gradient

    return cross_entropy(inputs, table, bias), logits
