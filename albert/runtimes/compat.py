# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Differences between TensorFlow versions: compiled clusters, sessions.

All versions run the same code through `tensorflow.compat.v1`. The few different calls are here. For
estimators and hub modules, see the modules beside this one.
"""

import functools
import os
from typing import Any, Callable, ContextManager, Mapping

import numpy as np
import tensorflow.compat.v1 as tf

from albert.runtimes import support

support.check_tensorflow(tf.__version__)


def is_tf2() -> bool:
    """Returns True on TensorFlow 2.x, False on 1.15."""
    return int(tf.__version__.split(".")[0]) >= 2


def xla_cluster(function: Callable) -> Callable:
    """Compiles a function from tensors to tensors (or tuples of them) into one XLA cluster.

    TensorFlow 1.15 runs the function as it is. Meant for chains of element-wise operations and row
    reductions, which XLA fuses into one pass over memory. Matrix products stay outside: on CPU,
    XLA's are slower than oneDNN's.
    """
    if not is_tf2():
        return function
    compiled = tf.function(function, jit_compile=True, autograph=False)

    @functools.wraps(function)
    def call(*inputs):
        # An optimizer calls it beside each variable, which would be a function, and a compilation,
        # of its own. The call itself stays on the caller's device.
        with tf.get_default_graph().colocate_with(None, ignore_existing=True):
            traced = compiled.get_concrete_function(*inputs)
        return traced(*inputs)

    return call


def eager_mode() -> ContextManager:
    """Returns a context in which operations run eagerly."""
    from tensorflow.python.eager import context

    return context.eager_mode()


def asset(path: str) -> Any:
    """Returns a file that is stored in a SavedModel of TensorFlow 2."""
    if is_tf2():
        return tf.saved_model.Asset(path)
    from tensorflow.python.training.tracking import tracking

    return tracking.TrackableAsset(path)


def session_config() -> tf.ConfigProto:
    """Returns the session settings every script uses.

    Devices that lack a kernel fall back to the CPU, and GPU memory grows with the need.
    """
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    return config


def write_scalars(folder: str, step: int, values: Mapping[str, Any]) -> None:
    """Writes numbers for TensorBoard."""
    summary = tf.Summary()
    for name, value in values.items():
        summary.value.add(tag=name, simple_value=value)
    with tf.Graph().as_default():  # outside of one, TensorFlow 2 has no writer
        writer = tf.summary.FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()


def write_evaluation(model_dir: str, results: Mapping[str, Any]) -> None:
    """Writes the scalars of an evaluation for TensorBoard, into the folder eval, at global_step."""
    scalars = {name: value for name, value in results.items() if np.ndim(value) == 0}
    write_scalars(os.path.join(model_dir, "eval"), scalars.pop("global_step"), scalars)
