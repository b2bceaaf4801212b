# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Differences between TensorFlow versions: compiled clusters, sessions.

All versions run the same code through `tensorflow.compat.v1`. This module has the few calls that
differ. For estimators and hub modules, see the modules beside this one.
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

    Use it for chains of element-wise operations and row reductions, which XLA fuses into one pass
    over memory. Keep matrix products outside: on CPUs, XLA's are slower than oneDNN's. TensorFlow
    1.15 runs the function without XLA.
    """
    if not is_tf2():
        return function
    compiled = tf.function(function, jit_compile=True, autograph=False)

    @functools.wraps(function)
    def call(*inputs):
        # An optimizer calls this colocated with each variable, and each colocation would be traced
        # and compiled separately. The call below stays on the caller's device.
        with tf.get_default_graph().colocate_with(None, ignore_existing=True):
            traced = compiled.get_concrete_function(*inputs)
        return traced(*inputs)

    return call


@functools.lru_cache(maxsize=None)
def cpu_has(flag: str) -> bool:
    """Returns whether the processor has an instruction set, by Linux's name: "avx512bw"."""
    path = "/proc/cpuinfo"
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as stream:
        return flag in stream.read().split()


@functools.lru_cache(maxsize=None)
def has_onednn() -> bool:
    """Returns whether `onednn` works: TensorFlow 2 for x86 without GPUs, on a CPU with AVX-512.

    Other CPUs lack its bfloat16. TF_ENABLE_ONEDNN_OPTS=0 turns it off, as in TensorFlow.
    """
    if not (is_tf2() and cpu_has("avx512bw")):
        return False
    from tensorflow.python.util import _pywrap_util_port

    has_gpu = bool(tf.config.experimental.list_physical_devices("GPU"))
    return _pywrap_util_port.IsMklEnabled() and not has_gpu


def onednn(operation: str, **arguments: Any) -> tf.Tensor:
    """Adds one of oneDNN's operations, which have no gradient, to the graph.

    TensorFlow's graph optimizer replaces other operations by these, but not always.
    """
    from tensorflow.python.framework import op_def_library

    return op_def_library.apply_op(operation, name="onednn", **arguments)


def eager_mode() -> ContextManager:
    """Returns a context in which operations run eagerly."""
    from tensorflow.python.eager import context

    return context.eager_mode()


def asset(path: str) -> Any:
    """Returns an asset: a file that a SavedModel of TensorFlow 2 includes."""
    if is_tf2():
        return tf.saved_model.Asset(path)
    from tensorflow.python.training.tracking import tracking

    return tracking.TrackableAsset(path)


def base_session_config() -> tf.ConfigProto:
    """Returns the session settings of every script.

    An operation that a device lacks runs on the CPU. GPU memory is allocated as needed. A session
    keeps only small constants that it computes, not the zeros that an optimizer starts with.
    """
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.max_folded_constant_in_bytes = 1000
    return config


def write_scalars(folder: str, step: int, values: Mapping[str, Any]) -> None:
    """Writes numbers for TensorBoard into a folder."""
    summary = tf.Summary()
    for name, value in values.items():
        summary.value.add(tag=name, simple_value=value)
    with tf.Graph().as_default():  # In eager mode, TensorFlow 2 has no writer for v1 summaries.
        writer = tf.summary.FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()


def write_evaluation(model_dir: str, results: Mapping[str, Any]) -> None:
    """Writes an evaluation's scalars for TensorBoard, at its global_step, into the folder eval."""
    scalars = {name: value for name, value in results.items() if np.ndim(value) == 0}
    write_scalars(os.path.join(model_dir, "eval"), scalars.pop("global_step"), scalars)
