# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the two runtimes do differently: number formats, compiled clusters, sessions.

TensorFlow 1.15.5 (Python 3.7) and TensorFlow 2.15.1 (Python 3.9-3.11) run the same code through
`tensorflow.compat.v1`. The few places where they need different calls are here.
"""

import functools
from typing import Callable

import tensorflow.compat.v1 as tf

# The formats matrix products can run in. Weights, optimizer state, LayerNorm statistics, softmax,
# losses and gradient norms stay float32 in each.
COMPUTE_DTYPES = {"float32": tf.float32, "bfloat16": tf.bfloat16}


def is_tf2() -> bool:
    """Returns True on TensorFlow 2.x, False on 1.15."""
    return int(tf.__version__.split(".")[0]) >= 2


def compute_dtype(precision: str) -> tf.DType:
    """Returns the dtype of matrix products for a value of `--precision`.

    Raises:
      ValueError: the name is not one of COMPUTE_DTYPES.
    """
    if precision not in COMPUTE_DTYPES:
        raise ValueError(
            f"--precision={precision!r} is unknown. Choose one of: {', '.join(COMPUTE_DTYPES)}."
        )
    return COMPUTE_DTYPES[precision]


def xla_cluster(function: Callable) -> Callable:
    """Compiles a function of tensors into one XLA cluster, on both runtimes.

    Meant for chains of element-wise operations and row reductions, which XLA fuses into one pass
    over memory. Matrix products stay outside: on CPU, XLA's are slower than oneDNN's.

    Args:
      function: takes and returns tensors (or tuples of tensors); its other arguments must be
        bound beforehand. Called while a graph is built.

    Returns:
      A function with the same arguments and results.
    """
    if is_tf2():
        return tf.function(function, jit_compile=True, autograph=False)

    @functools.wraps(function)
    def in_scope(*tensors):
        with tf.xla.experimental.jit_scope(compile_ops=True):
            return function(*tensors)

    return in_scope


def session_config() -> tf.ConfigProto:
    """Returns the session settings every script uses.

    Devices that lack a kernel fall back to the CPU, GPU memory grows with the need, and loops of
    the graph optimizer that reorder sums between runs are left at their deterministic defaults.
    """
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    return config
