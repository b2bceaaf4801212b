# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder's element-wise work as custom-gradient functions over XLA clusters.

The functions and their results are the same as in `ops.plain`, which has the docstrings. Each
function keeps little more than its inputs for the backward pass, and computes the rest again there.
A cluster is a compiled pass over memory. Matrix products and the softmax run outside the clusters,
because oneDNN is faster at them.
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


@tf.custom_gradient
def _bfloat16(tensor):
    # Rounds half to even. In integers, because XLA's cast takes as long as the rest of gelu.
    bits = tf.bitcast(tensor, tf.uint32)
    is_odd = tf.bitwise.bitwise_and(tf.bitwise.right_shift(bits, 16), 1)
    high = tf.bitwise.right_shift(bits + 0x7FFF + is_odd, 16)
    high = tf.where_v2(tf.math.is_nan(tensor), tf.constant(0x7FC0, tf.uint32), high)
    return tf.bitcast(tf.cast(high, tf.uint16), tf.bfloat16), _float32


def _rounded(tensor: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Casts float32 to a dtype inside a cluster."""
    if dtype == tf.bfloat16 and compat.is_tf2():
        return _bfloat16(tensor)
    return tf.cast(tensor, dtype)


def column_sum(matrix: tf.Tensor) -> tf.Tensor:
    """Returns the sum over rows of [T, H] as [H]. Multiplies by ones, which is fast in oneDNN."""
    ones = tf.ones([1, tf.shape(matrix)[0]], matrix.dtype)
    return tf.reshape(tf.matmul(ones, matrix), [-1])


def product_and_sum(
    x: tf.Tensor, y: tf.Tensor, addend: tf.Tensor, *, transpose_y: bool = False
) -> tf.Tensor:
    """Returns x @ y + addend, [..., ..., M, N], as one operation of oneDNN without a gradient."""
    return compat.onednn(
        "_MklFusedBatchMatMulV2",
        x=x,
        y=y,
        args=[tf.ones([], x.dtype), tf.cast(addend, x.dtype)],
        adj_x=False,
        adj_y=transpose_y,
        fused_ops=["Mul", "Add"],
        epsilon=0.0,  # this and the next are of other joined operations
        leakyrelu_alpha=0.0,
    )


def affine(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Returns x [T, in] times kernel plus bias: [T, out]; in bfloat16 without a gradient.

    The operation that TensorFlow's graph optimizer makes of a product and a bias has half the speed
    of the product where a matrix unit is.
    """
    if x.dtype != tf.bfloat16 or not compat.has_onednn():
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)
    matrices = (matrix[tf.newaxis, tf.newaxis] for matrix in (x, kernel, bias[tf.newaxis]))
    return tf.squeeze(product_and_sum(*matrices), [0, 1])


def _dense_gradients(x, kernel, upstream):
    """Returns the gradients of the input, the kernel and the bias."""
    return (
        tf.matmul(upstream, kernel, transpose_b=True),
        tf.matmul(x, upstream, transpose_a=True),
        column_sum(upstream),
    )


def dense(inputs: tf.Tensor, weights: Dense) -> tf.Tensor:
    """Returns inputs [T, in] times kernel plus bias: [T, out]."""

    @tf.custom_gradient
    def function(x, kernel, bias):
        return affine(x, kernel, bias), lambda upstream: _dense_gradients(x, kernel, upstream)

    return function(inputs, *weights)


# ---- gelu ---------------------------------------------------------------------------------------


def _gelu_tanh(x):
    return tf.tanh(_GELU_SCALE * (x + _GELU_CUBIC * x * x * x))


@compat.xla_cluster
def gelu_forward(hidden: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Returns gelu(hidden + bias)."""
    x = _float32(hidden) + _float32(bias)
    return _rounded(0.5 * x * (1.0 + _gelu_tanh(x)), hidden.dtype)


@compat.xla_cluster
def _gelu_backward(hidden, bias, upstream):
    """Returns gelu(hidden + bias) and the gradient of hidden + bias, which need the same tanh."""
    x = _float32(hidden) + _float32(bias)
    tanh = _gelu_tanh(x)
    half = 0.5 * (1.0 + tanh)
    slope = _GELU_SCALE * (1.0 + 3.0 * _GELU_CUBIC * x * x)
    gradient = _float32(upstream) * (half + 0.5 * x * (1.0 - tanh * tanh) * slope)
    return _rounded(x * half, hidden.dtype), _rounded(gradient, hidden.dtype)


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
        result = affine(gelu_forward(hidden, bias_in), kernel_out, bias_out)

        def gradient(upstream):
            d_activated = tf.matmul(upstream, kernel_out, transpose_b=True)  # [T, I]
            activated, d_hidden = _gelu_backward(hidden, bias_in, d_activated)
            d_kernel_out = tf.matmul(activated, upstream, transpose_a=True)
            return (*_dense_gradients(x, kernel_in, d_hidden), d_kernel_out, column_sum(upstream))

        return result, gradient

    return gelu_block(inputs, *intermediate, *output)


# ---- LayerNorm -----------------------------------------------------------------------------------


def _total(parts):
    """Returns the float32 sum of one or two tensors."""
    return tf.add_n([_float32(part) for part in parts])


def _row_mean(matrix):
    """Returns the mean of each row of [T, H] as [T, 1].

    XLA adds a row's elements one after the other, but halves of rows as vectors. Below a hundred
    columns, that is no faster.
    """
    hidden = width = int(matrix.shape[-1])
    while compat.is_tf2() and width % 2 == 0 and width > 100:
        width //= 2
        matrix = matrix[:, :width] + matrix[:, width:]
    return tf.reduce_sum(matrix, axis=-1, keepdims=True) / hidden


@compat.xla_cluster
def _norm_forward(*tensors):
    """Returns the output [T, H], and each row's mean and 1 / deviation [T, 1] for the gradient."""
    *parts, beta, gamma = tensors
    total = _total(parts)
    mean = _row_mean(total)
    variance = _row_mean(tf.square(total - mean))
    inverse_deviation = tf.math.rsqrt(variance + LAYER_NORM_EPSILON)
    output = (total - mean) * inverse_deviation * gamma + beta
    return _rounded(output, parts[0].dtype), mean, inverse_deviation


@compat.xla_cluster
def _norm_backward(*tensors):
    """Returns the gradients of each part, and of gamma before the sum over rows: [T, H] each."""
    *parts, mean, inverse_deviation, gamma, upstream = tensors
    standard = (_total(parts) - mean) * inverse_deviation
    upstream = _float32(upstream)
    scaled = upstream * gamma
    projection = standard * _row_mean(scaled * standard)
    d_total = inverse_deviation * (scaled - _row_mean(scaled) - projection)
    dtype = parts[0].dtype
    return _rounded(d_total, dtype), _rounded(upstream * standard, dtype)


def _normalise(norm: Norm, *parts: tf.Tensor) -> tf.Tensor:
    @tf.custom_gradient
    def function(*tensors):
        *parts, _, gamma = tensors
        output, mean, inverse_deviation = _norm_forward(*tensors)

        def gradient(upstream):
            d_total, d_gamma = _norm_backward(*parts, mean, inverse_deviation, gamma, upstream)
            d_norm = [_float32(column_sum(rows)) for rows in (upstream, d_gamma)]
            return [d_total] * len(parts) + d_norm

        return output, gradient

    return function(*parts, *norm)


def layer_norm(inputs: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm (arXiv:1607.06450) over the last axis of [T, H], in the input's dtype."""
    return _normalise(norm, inputs)


def residual_layer_norm(inputs: tf.Tensor, update: tf.Tensor, norm: Norm) -> tf.Tensor:
    """Returns LayerNorm(inputs + update) over the last axis of [T, H], in the input's dtype."""
    return _normalise(norm, inputs, update)


# ---- attention -----------------------------------------------------------------------------------


def split_heads(joined: tf.Tensor, sizes: Sequence) -> List[tf.Tensor]:
    """Returns queries, keys and values, [B, N, S, D] each, from [T, 3H]. `sizes`: [B, S, N, D]."""
    batch, length, heads, size = sizes
    split = tf.reshape(joined, [batch, length, 3, heads, size])
    return tf.unstack(tf.transpose(split, [2, 0, 3, 1, 4]))


def attention(
    query: tf.Tensor, key: tf.Tensor, attention_bias: tf.Tensor
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns the scores [B, N, S, S], and their softmax with the bias."""
    if query.dtype != tf.bfloat16 or not compat.is_tf2():
        return plain.attention(query, key, attention_bias)
    scores = tf.matmul(query, key, transpose_b=True)
    # oneDNN computes in float32 inside, but it needs AVX-512, or bfloat16 instructions.
    return scores, tf.nn.softmax(scores + tf.cast(attention_bias, tf.bfloat16))


@compat.xla_cluster
def _scores_gradient(*tensors):
    probabilities, dropped, d_dropped, context, d_context = map(_float32, tensors)
    # Each row's sum of dropped * d_dropped, from smaller tensors (arXiv:2205.14135, appendix B.2).
    sums = tf.reduce_sum(context * d_context, axis=-1, keepdims=True)  # [B, S, N, 1]
    gradient = dropped * d_dropped - probabilities * plain.swap_heads(sums)
    return _rounded(gradient, tensors[0].dtype)


def attend(
    scores: tf.Tensor, probabilities: tf.Tensor, dropped: tf.Tensor, *, value: tf.Tensor
) -> tf.Tensor:
    """Returns dropped @ value, [B, S, N, D]. The scores get its gradient, and `dropped` none."""

    @tf.custom_gradient
    def product(_, values):
        context = plain.swap_heads(tf.matmul(dropped, values))

        def gradient(upstream):
            d_context = plain.swap_heads(upstream)
            d_dropped = tf.matmul(d_context, values, transpose_b=True)
            return (
                _scores_gradient(probabilities, dropped, d_dropped, context, upstream),
                tf.matmul(dropped, d_context, transpose_a=True),
            )

        return context, gradient

    return product(scores, value)


# ---- dropout -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _dropout_cluster(rate: float):
    """Compiles `ops.plain.dropout` for one rate."""
    return compat.xla_cluster(functools.partial(plain.dropout, rate=rate))


def dropout(inputs: tf.Tensor, keep: tf.Tensor, rate: float) -> tf.Tensor:
    """Returns `inputs` with elements zero where `keep` (bool) is False, the rest / (1 - rate)."""
    drop = _dropout_cluster(rate)

    @tf.custom_gradient
    def dropped(x):
        return drop(x, keep), lambda upstream: drop(upstream, keep)

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
        return _rounded((probabilities - is_label) * upstream[:, tf.newaxis], dtype)

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
    def cross_entropy(x, kernel, _):
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
