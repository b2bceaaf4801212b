# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models to TensorFlow Lite, and runs them.

Dimensions: B batch, S sequence.
"""

import os
import sys
import warnings
from typing import Any, Dict, Mapping, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data.packing import Arrays
from albert.formats.warm_start import Tensors
from albert.runtimes import compat
from albert.util import UserError, parallel


def convert(
    session: tf.Session, inputs: Tensors, outputs: Tensors, *, is_int8: bool = False
) -> bytes:
    """Returns a graph and its weights as a TensorFlow Lite file.

    With is_int8, weights are 8-bit integers, and activations are quantized while the model runs.

    Raises:
      UserError: the converter of TensorFlow 1.15 does not support an operation.
    """
    from tensorflow.lite.python.convert import ConverterError

    converter = tf.lite.TFLiteConverter.from_session(
        session, list(inputs.values()), list(outputs.values())
    )
    if is_int8:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    # TensorFlow 1.15 starts its converter by name, so PATH must have it in an inactive environment.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    try:
        content = converter.convert()
        return _with_signature(content) if compat.is_tf2() else content
    except ConverterError as error:
        if compat.is_tf2():
            raise
        raise UserError(
            "TensorFlow 1.15 cannot convert this model to TensorFlow Lite. Use --format=onnx, or a "
            "newer TensorFlow."
        ) from error


def _with_signature(content: bytes) -> bytes:
    """Adds the signature `ids`, which names and resizes inputs and outputs.

    TFLiteConverter.from_session writes no signature.
    """
    from tensorflow.lite.python import schema_py_generated as schema
    from tensorflow.lite.tools import flatbuffer_utils

    model = flatbuffer_utils.convert_bytearray_to_object(bytearray(content))
    graph, signature = model.subgraphs[0], schema.SignatureDefT()

    def named(index: int) -> schema.TensorMapT:
        tensor = schema.TensorMapT()
        tensor.name, tensor.tensorIndex = graph.tensors[index].name, index
        return tensor

    signature.signatureKey = "ids"
    signature.inputs = list(map(named, graph.inputs))
    signature.outputs = list(map(named, graph.outputs))
    model.signatureDefs = [signature]
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


class LiteProgram:
    """A TensorFlow Lite model in memory.

    Attributes:
      outputs: names of the outputs.
    """

    def __init__(self, content: bytes):
        options = {"num_threads": parallel.default_processes()} if compat.is_tf2() else {}
        with warnings.catch_warnings():  # TensorFlow 2.20 and later recommend another package
            warnings.simplefilter("ignore")
            self._interpreter = tf.lite.Interpreter(model_content=content, **options)
        details = self._interpreter.get_input_details()
        self._inputs = _index_of(details)
        self._outputs = _index_of(self._interpreter.get_output_details())
        self.outputs = list(self._outputs)
        # TensorFlow 1.15 has no shape_signature, and shows 1 for a dynamic size.
        self._length = details[0].get("shape_signature", details[0]["shape"])[-1]

    def run(self, inputs: Arrays) -> Dict[str, np.ndarray]:
        """Takes the SEQUENCES, [B, S] each; returns outputs by name, [B, ...] each."""
        interpreter = self._interpreter
        count, *shape = inputs["input_ids"].shape
        step, missing = count, 0
        if self._length not in (-1, 1):
            step, missing = 1, self._length - shape[-1]
        pads = [(0, 0)] * len(shape) + [(0, missing)]
        parts = []
        for start in range(0, count, step):
            rows = slice(start, start + step)
            batch = {
                index: np.pad(inputs[name][rows].astype(np.int32), pads)
                for name, index in self._inputs.items()
            }
            for index, value in batch.items():
                interpreter.resize_tensor_input(index, value.shape)
            interpreter.allocate_tensors()
            for index, value in batch.items():
                interpreter.set_tensor(index, value)
            interpreter.invoke()
            parts.append([interpreter.get_tensor(index) for index in self._outputs.values()])
        return dict(zip(self.outputs, map(np.concatenate, zip(*parts))))


def _index_of(details: Sequence[Mapping[str, Any]]) -> Dict[str, int]:
    """Tensor name -> index."""
    return {item["name"].split(":")[0]: item["index"] for item in details}
