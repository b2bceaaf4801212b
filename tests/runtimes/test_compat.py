# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Number formats and compiled clusters."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.runtimes import compat


def test_unknown_precision_is_named():
    with pytest.raises(ValueError, match="--precision='fp8'"):
        compat.compute_dtype("fp8")


@compat.xla_cluster
def _sum_and_product(a, b):
    return a + b, tf.reduce_sum(a * b, axis=-1)


def test_cluster_gives_plain_result():
    with tf.Graph().as_default(), tf.Session() as session:
        for shape, dtype in (([2, 3], tf.float32), ([4], tf.float32), ([2, 3], tf.bfloat16)):
            a = tf.cast(tf.reshape(tf.range(1, np.prod(shape) + 1), shape), dtype)
            total, product = _sum_and_product(a, 2 * a)
            assert total.shape.as_list() == shape and total.dtype == dtype
            values = session.run([tf.cast(t, tf.float32) for t in (a, total, product)])
            np.testing.assert_allclose(values[1], 3 * values[0])
            np.testing.assert_allclose(values[2], (2 * values[0] ** 2).sum(-1), rtol=1e-2)


@pytest.mark.skipif(not compat.is_tf2(), reason="TensorFlow 1.15 compiles nothing")
def test_cluster_is_one_compiled_operation():
    with tf.Graph().as_default() as graph:
        _sum_and_product(tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2]))
        types = {operation.type for operation in graph.get_operations()}
    assert types & {"PartitionedCall", "StatefulPartitionedCall"}
    assert "AddV2" not in types and "Mul" not in types


def test_cluster_runs_on_callers_device():
    with tf.Graph().as_default(), tf.device("/job:worker/task:1/device:GPU:1"):
        total, _ = _sum_and_product(tf.ones([2]), tf.ones([2]))
    assert total.op.device == "/job:worker/task:1/device:GPU:1"
