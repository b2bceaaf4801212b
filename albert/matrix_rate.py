# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rate at which this machine multiplies large matrices, against which steps are judged."""

import time
from typing import Callable, Optional

import tensorflow.compat.v1 as tf

# A dense layer of albert-base on a batch of 32 x 128 tokens: [ROWS, INNER] times [INNER, COLUMNS].
_ROWS, _INNER, _COLUMNS = 4096, 768, 3072


def measure(
    dtype: tf.DType,
    *,
    repeats: int = 20,
    session: Optional[tf.Session] = None,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Returns floating-point operations a second of a large product, the best of `repeats`.

    Args:
      dtype: tf.float32 or tf.bfloat16.
      repeats: how often the product runs.
      session: one to run in, with its graph; None for a new one.
      clock: what counts the seconds; time.process_time for those of the processor, of which all
        threads spend some, and which other programs do not stretch.
    """
    if session is None:
        with tf.Graph().as_default(), tf.Session() as own:
            return measure(dtype, repeats=repeats, session=own, clock=clock)
    with session.graph.as_default():
        shapes = ([_ROWS, _INNER], [_INNER, _COLUMNS])
        left, right = (tf.Variable(tf.cast(tf.random.normal(shape), dtype)) for shape in shapes)
        product = tf.matmul(left, right).op
    session.run([left.initializer, right.initializer])
    seconds = []
    for _ in range(repeats):
        start = clock()
        session.run(product)
        seconds.append(clock() - start)
    return 2 * _ROWS * _INNER * _COLUMNS / min(seconds)
