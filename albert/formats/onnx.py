# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts models to ONNX, and runs them with ONNX Runtime.

Dimensions: B batch, S sequence.
"""

import pathlib
import tempfile
from typing import Dict

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data.packing import Arrays
from albert.formats.warm_start import Tensors
from albert.util import UserError, parallel

HOW_TO_INSTALL = "needs tf2onnx and onnxruntime. Run: pip install 'albert-tf[onnx]'."
_OPSET = 13  # needs ONNX Runtime 1.10 or later
# Our name of an input or output -> the name that Optimum and transformers.js expect.
NAMES = {
    "input_mask": "attention_mask",
    "segment_ids": "token_type_ids",
    "sequence_output": "last_hidden_state",
    "pooled_output": "pooler_output",
}
_OUR_NAMES = {theirs: ours for ours, theirs in NAMES.items()}


def convert(
    session: tf.Session, inputs: Tensors, outputs: Tensors, *, is_int8: bool = False
) -> bytes:
    """Returns a graph and its weights as an ONNX file. With is_int8, weights are 8-bit integers.

    `inputs`, int32 [B, S] or [B, C, S] with C options, and `outputs` are tensors by operation name.
    The file's inputs are int64, and it has the names in NAMES.

    Raises:
      UserError: tf2onnx or onnxruntime is not installed.
    """
    try:
        import onnx
        import tf2onnx
        from onnxruntime import quantization
    except ImportError as error:
        raise UserError(f"--format=onnx {HOW_TO_INSTALL}") from error
    graph = tf.graph_util.convert_variables_to_constants(session, session.graph_def, list(outputs))
    model, _ = tf2onnx.convert.from_graph_def(
        graph,
        input_names=[f"{name}:0" for name in inputs],
        output_names=[f"{name}:0" for name in outputs],
        opset=_OPSET,
        tensors_to_rename={f"{name}:0": NAMES.get(name, name) for name in outputs},
    )
    types = onnx.TensorProto
    for item in model.graph.input:
        name, _ = item.name.split(":")
        cast = onnx.helper.make_node("Cast", [NAMES.get(name, name)], [item.name], to=types.INT32)
        model.graph.node.insert(0, cast)
        item.name, item.type.tensor_type.elem_type = cast.input[0], types.INT64
    has_options = inputs["input_ids"].shape.rank == 3
    axes = ("batch", "options", "length") if has_options else ("batch", "length")
    for tensor in (*model.graph.input, *model.graph.output):
        for axis, dimension in zip(axes, tensor.type.tensor_type.shape.dim):
            if not dimension.dim_value:
                dimension.dim_param = axis
    if not is_int8:
        return model.SerializeToString()
    # Shapes are complete, so skip the quantizer's advice to run shape inference first.
    onnx.helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("float32.onnx", "int8.onnx")]
        onnx.save(model, str(paths[0]))
        quantization.quantize_dynamic(
            *paths,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
            per_channel=True,
            reduce_range=True,  # 8-bit products can overflow on processors without VNNI
            weight_type=quantization.QuantType.QInt8,
        )
        return paths[1].read_bytes()


class OnnxProgram:
    """An ONNX model in memory.

    Attributes:
      outputs: our names of the outputs.
    """

    def __init__(self, content: bytes):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = parallel.default_processes()
        self._session = onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"]
        )
        names = (item.name for item in self._session.get_outputs())
        self.outputs = [_OUR_NAMES.get(name, name) for name in names]

    def run(self, inputs: Arrays) -> Dict[str, np.ndarray]:
        """Takes the SEQUENCES, [B, S] each; returns outputs by name, [B, ...] each."""
        feed = {}
        for item in self._session.get_inputs():  # int32 in files with our names, of older versions
            dtype = np.int64 if item.type == "tensor(int64)" else np.int32
            feed[item.name] = inputs[_OUR_NAMES.get(item.name, item.name)].astype(dtype)
        return dict(zip(self.outputs, self._session.run(None, feed)))
