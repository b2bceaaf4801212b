# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A graph of the public google-research/albert script's shape, to measure against.

Einsum products on [B, S, H], separate query, key and value, element-wise operations one by one,
autodiff everywhere, in float32.
"""

import numpy as np


def gelu(tf, x):
    """gelu as the public script writes it."""
    return x * (0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))))


def layer_norm(tf, x, name):
    """LayerNorm from moments and batch normalisation, as the public script gets it."""
    size = int(x.shape[-1])
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        beta = tf.get_variable("beta", [size], initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", [size], initializer=tf.ones_initializer())
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def weight(tf, name, shape):
    """A shared weight by name."""
    with tf.variable_scope("plain", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            name, shape, initializer=tf.truncated_normal_initializer(stddev=0.02)
        )


def layer(tf, x, *, attention_bias, config):
    """One layer on [B, S, H] with an einsum for every dense layer."""
    hidden, inner = config.hidden_size, config.intermediate_size
    heads, size = config.num_attention_heads, hidden // config.num_attention_heads

    def project(name):
        kernel = tf.reshape(weight(tf, name, [hidden, hidden]), [hidden, heads, size])
        bias = tf.reshape(weight(tf, name + "_bias", [hidden]), [heads, size])
        return tf.einsum("BFH,HND->BFND", x, kernel) + bias

    query, key, value = (tf.transpose(project(n), [0, 2, 1, 3]) for n in ("query", "key", "value"))
    scores = tf.matmul(query, key, transpose_b=True) * (1.0 / np.sqrt(size))
    context = tf.matmul(tf.nn.softmax(scores + attention_bias), value)  # [B, N, S, D]
    context = tf.transpose(context, [0, 2, 1, 3])
    kernel = tf.reshape(weight(tf, "output", [hidden, hidden]), [heads, size, hidden])
    attended = tf.einsum("BFND,NDH->BFH", context, kernel) + weight(tf, "out_b", [hidden])
    x = layer_norm(tf, x + attended, "attention_norm")
    middle = tf.einsum("BFH,HI->BFI", x, weight(tf, "wide", [hidden, inner]))
    middle = gelu(tf, middle + weight(tf, "wide_bias", [inner]))
    narrow = tf.einsum("BFI,IH->BFH", middle, weight(tf, "narrow", [inner, hidden]))
    return layer_norm(tf, x + narrow + weight(tf, "narrow_bias", [hidden]), "ffn_norm")


def sequence_output(tf, config, *, ids, mask, segments=None):
    """The encoder in the public script's shape: [B, S, H]; S must be known."""
    embedding, hidden = config.embedding_size, config.hidden_size
    x = tf.nn.embedding_lookup(weight(tf, "words", [config.vocab_size, embedding]), ids)
    types = weight(tf, "types", [config.type_vocab_size, embedding])
    x += types[0] if segments is None else tf.nn.embedding_lookup(types, segments)
    x += weight(tf, "positions", [512, embedding])[: int(ids.shape[1])]
    x = layer_norm(tf, x, "embedding_norm")
    x = tf.einsum("BFE,EH->BFH", x, weight(tf, "mapping", [embedding, hidden]))
    x += weight(tf, "mapping_bias", [hidden])
    attention_bias = (1.0 - tf.cast(mask[:, None, None, :], tf.float32)) * -10000.0
    for _ in range(config.num_hidden_layers):
        x = layer(tf, x, attention_bias=attention_bias, config=config)
    return x


def pooled_output(tf, config, *, ids, mask, segments=None):
    """The same, pooled: [B, H]."""
    x = sequence_output(tf, config, ids=ids, mask=mask, segments=segments)
    pooler = weight(tf, "pooler", [config.hidden_size, config.hidden_size])
    return tf.tanh(tf.matmul(x[:, 0], pooler))


def update(tf, loss):
    """Clipping and AdamW as separate operations on every variable."""
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    updates = []
    for variable, gradient in zip(variables, gradients):
        name = variable.op.name
        shape = variable.shape.as_list()
        m, v = (
            tf.get_variable(
                f"{name}/{s}", shape, trainable=False, initializer=tf.zeros_initializer()
            )
            for s in ("adam_m", "adam_v")
        )
        gradient = tf.convert_to_tensor(gradient)
        next_m = 0.9 * m + 0.1 * gradient
        next_v = 0.999 * v + 0.001 * tf.square(gradient)
        step = next_m / (tf.sqrt(next_v) + 1e-6) + 0.01 * variable
        updates += [variable.assign(variable - 1e-5 * step), m.assign(next_m), v.assign(next_v)]
    return tf.group(*updates)
