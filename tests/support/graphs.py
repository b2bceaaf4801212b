# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Graphs of TensorFlow 1 in tests."""

import contextlib

import tensorflow.compat.v1 as tf


@contextlib.contextmanager
def new_session():
    """Yields a session of a new graph, in which tensors are made."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session
