# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A classifier of the public google-research/albert script's shape, to measure against.

Einsum products on [B, S, H], separate query, key and value, element-wise operations one by one,
autodiff everywhere, in float32.
"""

import numpy as np
import tensorflow.compat.v1 as tf

from albert import optimization
from albert.ops import plain


def weight(name, shape, value=None):
    """A shared variable by its name: drawn at random, or of one value."""
    initializer = tf.truncated_normal_initializer(stddev=0.02)
    if value is not None:
        initializer = tf.constant_initializer(value)
    with tf.variable_scope("plain", reuse=tf.AUTO_REUSE):
        return tf.get_variable(name, shape, initializer=initializer)


def layer_norm(x, name):
    """LayerNorm from moments."""
    size = [int(x.shape[-1])]
    beta, gamma = weight(f"{name}_beta", size, 0), weight(f"{name}_gamma", size, 1)
    return plain.layer_norm(x, plain.Norm(beta, gamma))


def layer(x, attention_bias, config):
    """One layer on [B, S, H] with an einsum for every dense layer."""
    hidden, inner = config.hidden_size, config.intermediate_size
    heads, size = config.num_attention_heads, hidden // config.num_attention_heads

    def project(name):
        kernel = tf.reshape(weight(name, [hidden, hidden]), [hidden, heads, size])
        bias = tf.reshape(weight(f"{name}_bias", [hidden]), [heads, size])
        return tf.transpose(tf.einsum("BFH,HND->BFND", x, kernel) + bias, [0, 2, 1, 3])

    query, key, value = map(project, ("query", "key", "value"))
    scores = tf.matmul(query, key, transpose_b=True) * (1.0 / np.sqrt(size))
    context = tf.matmul(tf.nn.softmax(scores + attention_bias), value)  # [B, N, S, D]
    context = tf.transpose(context, [0, 2, 1, 3])
    kernel = tf.reshape(weight("output", [hidden, hidden]), [heads, size, hidden])
    attended = tf.einsum("BFND,NDH->BFH", context, kernel) + weight("output_bias", [hidden])
    x = layer_norm(x + attended, "attention_norm")
    middle = tf.einsum("BFH,HI->BFI", x, weight("wide", [hidden, inner]))
    middle = plain.gelu(middle + weight("wide_bias", [inner]))
    narrow = tf.einsum("BFI,IH->BFH", middle, weight("narrow", [inner, hidden]))
    return layer_norm(x + narrow + weight("narrow_bias", [hidden]), "ffn_norm")


def logits(config, ids, mask):
    """The logits of two classes, [B, 2]; `ids` and `mask` are [B, S], and S is known."""
    embedding, hidden = config.embedding_size, config.hidden_size
    x = tf.nn.embedding_lookup(weight("words", [config.vocab_size, embedding]), ids)
    x += weight("types", [config.type_vocab_size, embedding])[0]
    x += weight("positions", [512, embedding])[: int(ids.shape[1])]
    x = layer_norm(x, "embedding_norm")
    x = tf.einsum("BFE,EH->BFH", x, weight("mapping", [embedding, hidden]))
    x += weight("mapping_bias", [hidden])
    attention_bias = (1.0 - tf.cast(mask[:, None, None, :], tf.float32)) * -10000.0
    for _ in range(config.num_hidden_layers):
        x = layer(x, attention_bias, config)
    pooled = tf.tanh(tf.matmul(x[:, 0], weight("pooler", [hidden, hidden])))
    return tf.matmul(pooled, weight("head", [hidden, 2]))


def update(loss):
    """Clipping and AdamW as separate operations on every variable."""
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    optimizer = optimization.AdamWeightDecayOptimizer(1e-5, 0.01)
    return optimizer.apply_gradients(zip(gradients, variables))
