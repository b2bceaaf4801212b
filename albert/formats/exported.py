# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models as files for TensorFlow Lite and ONNX Runtime.

    program = open_program("export/mrpc/model.onnx")
    program.run({"input_ids": ..., "input_mask": ..., "segment_ids": ...})["probabilities"]

Such a file takes the place of the checkpoint in a model's folder.

Dimensions: B batch, S sequence.
"""

import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data.packing import pack
from albert.pretrained.warm_start import Tensors
from albert.runtimes import compat
from albert.util import files, json_files, parallel
from albert.util.errors import UserError

RECORD_NAME = "export.json"  # what export_model measured, beside the file
EXAMPLE_NAME = "example.json"
_EXAMPLE = ["Who went home?", "The old man went home."]
# By format; a folder has one of them.
NAMES = {"onnx": "model.onnx", "tflite": "model.tflite"}
HOW_TO_INSTALL = "needs tf2onnx and onnxruntime. Run: pip install 'albert-tf[onnx]'."

SEQUENCES = ("input_ids", "input_mask", "segment_ids")  # what the encoder reads, int32 [B, S]

Arrays = Mapping[str, np.ndarray]


def find(folder: str) -> Optional[str]:
    """Returns the file of an exported model in a folder; None if there is none."""
    paths = [os.path.join(folder, name) for name in NAMES.values()]
    return next((path for path in paths if tf.io.gfile.exists(path)), None)


def is_program(checkpoint: Optional[str]) -> bool:
    """Returns whether a checkpoint's path is an exported file."""
    return os.path.basename(checkpoint or "") in NAMES.values()


def max_seq_length(program: str) -> int:
    """Returns the maximum sequence length of an exported file, from export.json beside it.

    Raises:
      ValueError: there is no record, or it says nothing of it.
    """
    path = os.path.join(os.path.dirname(program), RECORD_NAME)
    return json_files.read(path, {"max_seq_length": range(1, 1 << 31)})["max_seq_length"]


# ---- written ----


def converted(
    session: tf.Session, inputs: Tensors, outputs: Tensors, *, is_int8: bool = False
) -> bytes:
    """Converts a graph and its weights to TensorFlow Lite.

    With is_int8 weights are bytes, and activations become so as they come.

    Raises:
      UserError: the converter of TensorFlow 1.15 does not know an operation.
    """
    from tensorflow.lite.python import convert

    converter = tf.lite.TFLiteConverter.from_session(
        session, list(inputs.values()), list(outputs.values())
    )
    if is_int8:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    # TensorFlow 1.15 starts its converter by name, though the environment may not be active.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    try:
        content = converter.convert()
        return _with_signature(content) if compat.is_tf2() else content
    except convert.ConverterError as error:
        if compat.is_tf2():
            raise
        raise UserError(
            "TensorFlow 1.15 cannot convert this model to TensorFlow Lite. Use --format=onnx, or a "
            "newer TensorFlow."
        ) from error


def _with_signature(content: bytes) -> bytes:
    """Adds the signature `ids`, which names inputs and outputs and resizes them when it is called.

    The converter of a session does not write one.
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


def example(
    tokenizer: Any,
    max_seq_length: int,
    run: Callable[[Arrays], Arrays],
    *,
    batch: Sequence[int] = (1,),
) -> bytes:
    """Returns the content of example.json: a pair of texts, its inputs, and the model's outputs.

    `batch` is the shape of the inputs without their length: [1], or [1, C] of C equal options.
    """
    row = pack(tokenizer.encode_ids_batch(_EXAMPLE), tokenizer.required_ids(["[CLS]", "[SEP]"]))
    ids = {name: np.array(values[:max_seq_length], np.int32) for name, values in row.items()}
    inputs = {name: np.broadcast_to(array, [*batch, array.size]) for name, array in ids.items()}
    content = {name: value.tolist() for name, value in {**inputs, **run(inputs)}.items()}
    return json.dumps({"texts": _EXAMPLE, **content}).encode("utf-8")


# ---- read ----


class Program(NamedTuple):
    """A model in memory.

    Attributes:
      run: takes the SEQUENCES, [B, S] each; returns outputs by name, [B, ...] each.
      outputs: their names.
    """

    run: Callable[[Arrays], Dict[str, np.ndarray]]
    outputs: List[str]


def open_program(path: str) -> Program:
    """Loads the model in a file, to run on all processors of this process.

    Raises:
      UserError: it cannot be read here; the message says why.
    """
    content = files.read_bytes(path)
    try:
        return (_onnx_program if path.endswith(NAMES["onnx"]) else _lite_program)(content)
    except Exception as error:  # each runtime has classes of its own
        raise UserError(f"{path} cannot be read here: {error}. ONNX {HOW_TO_INSTALL}") from error


def _onnx_program(content: bytes) -> Program:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = parallel.default_processes()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    outputs = [item.name for item in session.get_outputs()]

    def run(inputs: Arrays) -> Dict[str, np.ndarray]:
        feed = {name: inputs[name].astype(np.int32) for name in SEQUENCES}
        return dict(zip(outputs, session.run(None, feed)))

    return Program(run, outputs)


def _lite_program(content: bytes) -> Program:
    options = {"num_threads": parallel.default_processes()} if compat.is_tf2() else {}
    with warnings.catch_warnings():  # TensorFlow 2.20 and later recommend another package
        warnings.simplefilter("ignore")
        interpreter = tf.lite.Interpreter(model_content=content, **options)
    index_of, results = (
        {item["name"].split(":")[0]: item["index"] for item in details}
        for details in (interpreter.get_input_details(), interpreter.get_output_details())
    )
    # TensorFlow 1.15 does not tell that a size is free; it shows 1.
    first = interpreter.get_input_details()[0]
    length = first.get("shape_signature", first["shape"])[-1]

    def run(inputs: Arrays) -> Dict[str, np.ndarray]:
        count, *shape = inputs["input_ids"].shape
        step, missing = (count, 0) if length in (-1, 1) else (1, length - shape[-1])
        pads = [(0, 0)] * len(shape) + [(0, missing)]
        parts = []
        for start in range(0, count, step):
            rows = slice(start, start + step)
            batch = {name: np.pad(inputs[name][rows].astype(np.int32), pads) for name in index_of}
            for name, index in index_of.items():
                interpreter.resize_tensor_input(index, batch[name].shape)
            interpreter.allocate_tensors()
            for name, index in index_of.items():
                interpreter.set_tensor(index, batch[name])
            interpreter.invoke()
            parts.append([interpreter.get_tensor(index) for index in results.values()])
        return dict(zip(results, map(np.concatenate, zip(*parts))))

    return Program(run, list(results))
