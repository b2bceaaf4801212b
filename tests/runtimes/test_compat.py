# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compiled clusters."""

import pytest
import tensorflow.compat.v1 as tf

from albert.runtimes import compat


@compat.xla_cluster
def _sum_and_product(a, b):
    return a + b, tf.reduce_sum(a * b, axis=-1)


NEEDS_TF2 = pytest.mark.skipif(not compat.is_tf2(), reason="TensorFlow 1.15 compiles nothing")


@NEEDS_TF2
def test_cluster_is_one_compiled_operation():
    with tf.Graph().as_default() as graph:
        _sum_and_product(tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2]))
        types = {operation.type for operation in graph.get_operations()}
    assert types & {"PartitionedCall", "StatefulPartitionedCall"}
    assert "AddV2" not in types and "Mul" not in types


@NEEDS_TF2
def test_cluster_is_compiled_once_for_many_variables():
    with tf.Graph().as_default() as graph:
        for name in "ab":
            variable = tf.get_variable(name, [2])
            with graph.colocate_with(variable.op):
                _sum_and_product(variable, variable)
    assert len(graph.as_graph_def().library.function) == 1


def test_cluster_runs_on_callers_device():
    with tf.Graph().as_default(), tf.device("/job:worker/task:1/device:GPU:1"):
        total, _ = _sum_and_product(tf.ones([2]), tf.ones([2]))
    assert total.op.device == "/job:worker/task:1/device:GPU:1"
