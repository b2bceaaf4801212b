# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models as files for TensorFlow Lite and ONNX Runtime.

    program = open_program("export/mrpc/onnx/model.onnx")
    program.run({"input_ids": ..., "input_mask": ..., "segment_ids": ...})["probabilities"]

In a model's folder, such a file replaces the checkpoint (see `model_paths`).
"""

import json
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data.packing import SEQUENCES, Arrays, pack
from albert.formats import onnx, tflite, warm_start
from albert.formats.warm_start import Tensors
from albert.runtimes import compat
from albert.util import UserError, files, json_files

RECORD_NAME = "export.json"  # what export_model measured, beside the file
EXAMPLE_NAME = "example.json"
_EXAMPLE = ["Who went home?", "The old man went home."]


def is_program(checkpoint: Optional[str]) -> bool:
    """Returns whether a checkpoint's path is an exported file."""
    return (checkpoint or "").endswith((".onnx", ".tflite"))


def max_seq_length(program: str) -> int:
    """Returns the maximum sequence length of an exported file, from export.json in its folder.

    Raises:
      ValueError: there is no record, or it lacks the length.
    """
    path = os.path.join(os.path.dirname(program), RECORD_NAME)
    if not files.exists(path):  # the file is in the folder onnx/
        path = os.path.join(os.path.dirname(os.path.dirname(program)), RECORD_NAME)
    return json_files.read(path, {"max_seq_length": range(1, 1 << 31)})["max_seq_length"]


def convert(
    build: Callable[[Tensors], Tensors],
    checkpoint: str,
    format: str,
    *,
    shape: Sequence[int],
    is_int8: bool,
) -> bytes:
    """Returns the content of a model's file. Its inputs are [B, S] or [B, C, S] of any size.

    On TensorFlow 1.15, the inputs of a TensorFlow Lite file are fixed: [1, ..., max_seq_length].

    Args:
      build: builds the network on the SEQUENCES; returns the outputs by name.
      checkpoint: path prefix of the weights.
      format: "onnx" or "tflite".
      shape: shape of one example's inputs: [S], or [C, S] with C options.
      is_int8: whether weights and computations use 8-bit integers.

    Raises:
      UserError: the checkpoint does not fit, or the format's converter is missing or fails.
    """

    def build_named(inputs: Tensors) -> Tensors:
        with tf.name_scope("model"):  # so that the outputs can have their own names
            outputs = build(inputs)
        return {name: tf.identity(value, name=name) for name, value in outputs.items()}

    is_fixed = format == "tflite" and not compat.is_tf2()
    sizes = [1, *shape] if is_fixed else [None] * (1 + len(shape))
    writer = {"onnx": onnx, "tflite": tflite}[format]
    with warm_start.open_graph(build_named, SEQUENCES, checkpoint, shape=sizes) as opened:
        session, inputs, outputs = opened
        return writer.convert(session, inputs, outputs, is_int8=is_int8)


def open_program(path: str) -> Union[onnx.OnnxProgram, tflite.LiteProgram]:
    """Loads the model in a file, to run on all processors of this process.

    Raises:
      UserError: the file cannot be read here; the message gives the reason.
    """
    content = files.read_bytes(path)
    try:
        if path.endswith(".onnx"):
            return onnx.OnnxProgram(content)
        return tflite.LiteProgram(content)
    except Exception as error:  # each runtime has its own classes
        raise UserError(
            f"{path} cannot be read here: {error}. ONNX {onnx.HOW_TO_INSTALL}"
        ) from error


def example(
    tokenizer: Any,
    max_seq_length: int,
    run: Callable[[Arrays], Arrays],
    *,
    batch: Sequence[int] = (1,),
    names: Mapping[str, str] = {},
) -> bytes:
    """Returns the content of example.json: a pair of texts, its inputs, and the model's outputs.

    `batch` is the shape of the inputs without their length: [1], or [1, C] for C equal options.
    `names` replaces names of inputs and outputs.
    """
    row = pack([tokenizer.encode_ids_batch(_EXAMPLE)], tokenizer.required_ids(["[CLS]", "[SEP]"]))
    ids = {name: values[0, :max_seq_length] for name, values in row.items()}
    inputs = {name: np.broadcast_to(array, [*batch, array.size]) for name, array in ids.items()}
    arrays = {**inputs, **run(inputs)}
    content = {names.get(name, name): value.tolist() for name, value in arrays.items()}
    return json.dumps({"texts": _EXAMPLE, **content}).encode("utf-8")
