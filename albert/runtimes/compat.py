# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow's versions do differently: number formats, compiled clusters, sessions.

All run the same code through `tensorflow.compat.v1`. The few places where they need different calls
are here; estimators and hub modules have modules of their own beside this one.
"""

import functools
import itertools
import os
from typing import Any, Callable, ContextManager, Dict, Mapping

import numpy as np
import tensorflow.compat.v1 as tf

from albert.runtimes import support
from albert.util.errors import UserError

support.check_tensorflow(tf.__version__)

# The formats matrix products can run in. Weights, optimizer state, LayerNorm statistics, softmax,
# losses and gradient norms stay float32 in each.
COMPUTE_DTYPES = {"float32": tf.float32, "bfloat16": tf.bfloat16, "float16": tf.float16}


def is_tf2() -> bool:
    """Returns True on TensorFlow 2.x, False on 1.15."""
    return int(tf.__version__.split(".")[0]) >= 2


def compute_dtype(precision: str) -> tf.DType:
    """Returns the dtype of matrix products for a value of `--precision`; ValueError if unknown."""
    if precision not in COMPUTE_DTYPES:
        raise UserError(
            f"--precision={precision!r} is unknown. Choose one of: {', '.join(COMPUTE_DTYPES)}."
        )
    return COMPUTE_DTYPES[precision]


def xla_cluster(function: Callable) -> Callable:
    """Compiles a function from tensors to tensors (or tuples of them) into one XLA cluster.

    Meant for chains of element-wise operations and row reductions, which XLA fuses into one pass
    over memory. Matrix products stay outside: on CPU, XLA's are slower than oneDNN's.
    """
    if not is_tf2():
        return _CompiledFunction(function)
    compiled = tf.function(function, jit_compile=True, autograph=False)

    @functools.wraps(function)
    def call(*inputs):
        # An optimizer calls it beside each variable, which would be a function, and a compilation,
        # of its own. The call itself stays on the caller's device.
        with tf.get_default_graph().colocate_with(None, ignore_existing=True):
            traced = compiled.get_concrete_function(*inputs)
        return traced(*inputs)

    return call


class _CompiledFunction:
    """`xla_cluster` on TensorFlow 1.15, where tf.function compiles nothing inside a graph.

    A graph function is made for each list of dtypes and shapes, and launched by XLA's own
    operation. (Operations marked by a jit_scope draw their neighbours into their clusters there,
    matrix products too, and are compiled again for every layer.)
    """

    def __init__(self, function: Callable):
        self._function = function
        self._defined: Dict[Any, Any] = {}

    def __call__(self, *inputs):
        tensors = [tf.convert_to_tensor(one) for one in inputs]
        types = [tensor.dtype.base_dtype for tensor in tensors]
        graph = tf.get_default_graph()
        with tf.device(None):  # one function for all devices
            defined, results = self._define(tensors, types)
            defined.add_to_graph(graph)
        launch = graph.create_op(
            "XlaLaunch",
            tensors,
            [result.dtype for result in results],
            attrs={
                "Tconstants": _type_list([]),
                "Targs": _type_list(types),
                "Nresources": tf.AttrValue(i=0),
                "Tresults": _type_list([result.dtype for result in results]),
                "function": tf.AttrValue(func=tf.NameAttrList(name=defined.name)),
            },
            name=defined.name,
        )
        for output, result in zip(launch.outputs, results):
            output.set_shape(result.shape)
        return launch.outputs[0] if len(results) == 1 else tuple(launch.outputs)

    def _define(self, tensors, types):
        """The graph function of these dtypes, and its results on placeholders of these shapes."""
        from tensorflow.python.framework import function as graph_function

        with tf.Graph().as_default():
            inputs = [tf.placeholder(dtype, x.shape) for dtype, x in zip(types, tensors)]
            results = self._function(*inputs)
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        key = tuple(types)
        if key not in self._defined:

            def body(*arguments):
                return self._function(*arguments)

            # A hash of the body is added to the name: functions that differ in a constant alone
            # (the rate of a dropout, the beta of an optimiser) may be in one graph.
            body.__name__ = self._function.__name__.strip("_")
            self._defined[key] = graph_function.Defun(*types)(body)
        return self._defined[key], results


def _type_list(types) -> tf.AttrValue:
    listed = tf.AttrValue.ListValue(type=[dtype.as_datatype_enum for dtype in types])
    return tf.AttrValue(list=listed)


_COMPILATION = ("_XlaMustCompile", "_XlaHasReferenceVars", "_gradient_op_type")


def make_plain(graph_def: tf.GraphDef) -> None:
    """Turns the compiled clusters of a graph, in place, into ordinary function calls.

    They get TensorFlow's own gradients: one written in Python is known only to the process that
    defined it, and no other could differentiate the graph.
    """
    functions = graph_def.library.function
    nodes = itertools.chain(graph_def.node, *(function.node_def for function in functions))
    for node in nodes:
        for name in set(_COMPILATION) & set(node.attr):
            del node.attr[name]
        if node.op == "XlaLaunch":
            _call_plainly(node)


def _call_plainly(launch) -> None:
    """Makes a function call of an XlaLaunch node, which has no gradient."""
    launch.op = "PartitionedCall"
    for old, new in (("Targs", "Tin"), ("Tresults", "Tout"), ("function", "f")):
        launch.attr[new].CopyFrom(launch.attr[old])
        del launch.attr[old]
    for name in ("Tconstants", "Nresources"):
        del launch.attr[name]


def eager_mode() -> ContextManager:
    """Returns a context in which operations run at once, where they do not do so anyway."""
    from tensorflow.python.eager import context

    return context.eager_mode()


def asset(path: str) -> Any:
    """Returns a file that lies in a SavedModel of TensorFlow 2."""
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


def write_evaluation(model_dir: str, results: Mapping[str, Any]) -> None:
    """Writes the scalars of an evaluation for TensorBoard, into the folder eval, at global_step."""
    summary = tf.Summary()
    for name, value in results.items():
        if np.ndim(value) == 0 and name != "global_step":
            summary.value.add(tag=name, simple_value=value)
    with tf.Graph().as_default():  # outside of one, TensorFlow 2 has no writer
        writer = tf.summary.FileWriterCache.get(os.path.join(model_dir, "eval"))
    writer.add_summary(summary, results["global_step"])
    writer.flush()
