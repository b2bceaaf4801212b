# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rate at which this machine multiplies large matrices, against which steps are judged."""

import time

import tensorflow.compat.v1 as tf

# A dense layer of albert-base on a batch of 32 x 128 tokens: [ROWS, INNER] times [INNER, COLUMNS].
_ROWS, _INNER, _COLUMNS = 4096, 768, 3072


def measure(dtype: tf.DType, *, repeats: int = 20, session: tf.Session = None) -> float:
    """Returns floating-point operations a second of a large product, the best of `repeats`.

    Args:
      dtype: tf.float32 or tf.bfloat16.
      repeats: how often the product runs.
      session: one to run in, with its graph; None for a new one.
    """
    if session is None:
        with tf.Graph().as_default(), tf.Session() as own:
            return measure(dtype, repeats=repeats, session=own)
    with session.graph.as_default():
        shapes = ([_ROWS, _INNER], [_INNER, _COLUMNS])
        left, right = (tf.Variable(tf.cast(tf.random.normal(shape), dtype)) for shape in shapes)
        product = tf.matmul(left, right).op
    session.run([left.initializer, right.initializer])
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        session.run(product)
        seconds.append(time.perf_counter() - start)
    return 2 * _ROWS * _INNER * _COLUMNS / min(seconds)
