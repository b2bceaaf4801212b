# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How fast this machine is at the two things a training step consists of.

These are products of large matrices, and what happens to every number between two products, which
takes as long as the numbers take to be read and written.
"""

import time
from typing import Callable, Optional

import tensorflow.compat.v1 as tf

from albert import training_plan

# A dense layer of albert-base on a batch of 32 x 128 tokens: [ROWS, INNER] times [INNER, COLUMNS].
_ROWS, _INNER, _COLUMNS = 4096, 768, 3072
# 25 MB: more than caches hold, and less than what the C library takes from the kernel anew each
# time, which would be measured with it.
_ELEMENTS = (4096, 1536)


def measure(
    dtype: tf.DType,
    *,
    repeats: int = 20,
    session: Optional[tf.Session] = None,
    clock: Callable[[], float] = time.perf_counter,
) -> training_plan.Rates:
    """Returns both rates, each the best of `repeats`.

    Args:
      dtype: tf.float32 or tf.bfloat16, of the product.
      repeats: how often each runs.
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
        wide = tf.Variable(tf.random.normal(_ELEMENTS))
        product, applied = tf.matmul(left, right).op, tf.tanh(wide).op
    session.run([left.initializer, right.initializer, wide.initializer])

    def seconds(operation: tf.Operation) -> float:
        found = []
        for _ in range(repeats):
            start = clock()
            session.run(operation)
            found.append(clock() - start)
        return min(found)

    return training_plan.Rates(
        products=2 * _ROWS * _INNER * _COLUMNS / seconds(product),
        elements=_ELEMENTS[0] * _ELEMENTS[1] / seconds(applied),
    )
