# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a fine-tuned model as a SavedModel for TensorFlow 1.15 and later.

The graph has plain float32 operations and two signatures:

  serving_default  serialized tf.Examples with input_ids, input_mask and segment_ids of one length
  ids              the same inputs as int32 tensors, with any batch size and any supported length

The folder assets.extra has the vocabulary and the model's description.

Dimensions: B batch, S sequence.
"""

import itertools
import os
import time
from typing import Any, Callable, Dict, Mapping

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import meta_graph as meta_graph_lib

from albert.data.packing import SEQUENCES
from albert.formats import exported, warm_start
from albert.formats.warm_start import Tensors
from albert.util import files, log


def write(
    export_dir: str,
    build_outputs: Callable[[Tensors], Tensors],
    checkpoint: str,
    *,
    tokenizer: Any,
    max_seq_length: int,
    extra_files: Mapping[str, bytes],
) -> str:
    """Writes export_dir/<seconds since 1970>, and returns this folder.

    Args:
      export_dir: parent of the new folder; created if missing.
      build_outputs: builds the network on its inputs, [B, S] with B and S unknown, and returns the
        outputs by name.
      checkpoint: path prefix of the weights.
      tokenizer: tokenizes the texts of assets.extra/example.json.
      max_seq_length: length of the features in the serialized examples.
      extra_files: content of the files for assets.extra, by name.

    Raises:
      UserError: the checkpoint lacks a variable.
    """

    def build(_: Tensors) -> Any:
        serialized = tf.placeholder(tf.string, [None], "input_example_tensor")
        inputs = _parse(serialized, max_seq_length)
        return {"serialized": serialized, "inputs": inputs, "outputs": build_outputs(inputs)}

    with warm_start.open_graph(build, (), checkpoint) as (session, _, tensors):
        inputs, outputs = tensors["inputs"], tensors["outputs"]
        describe = tf.saved_model.predict_signature_def
        signatures = {
            "serving_default": describe({"examples": tensors["serialized"]}, outputs),
            "ids": describe(inputs, outputs),
        }
        example = exported.example(
            tokenizer,
            max_seq_length,
            lambda arrays: session.run(outputs, {inputs[name]: arrays[name] for name in inputs}),
        )
        folder = os.path.join(export_dir, str(int(time.time())))
        with files.atomic_folder(folder) as temporary:
            builder = tf.saved_model.Builder(temporary)
            builder.add_meta_graph_and_variables(session, ["serve"], signatures)
            builder.save()
            make_portable(temporary)
            contents = {**extra_files, exported.EXAMPLE_NAME: example}
            files.atomic_write_all(os.path.join(temporary, "assets.extra"), contents)
    log.info("Exported %s to %s.", checkpoint, folder)
    return folder


def _parse(serialized: tf.Tensor, length: int) -> Dict[str, tf.Tensor]:
    """Returns the features of serialized examples, or fed tensors, int32 [B, S]."""
    # TensorFlow 1.15 does not have the operation of TensorFlow 2's tf.io.parse_example.
    parsed = tf.raw_ops.ParseExample(
        serialized=serialized,
        names=tf.constant([], tf.string),
        sparse_keys=[],
        dense_keys=SEQUENCES,
        dense_defaults=[tf.constant([], tf.int64)] * len(SEQUENCES),  # no default: required
        sparse_types=[],
        dense_shapes=[[length]] * len(SEQUENCES),
    )
    # The signature `ids` feeds other batch sizes and lengths.
    return {
        name: tf.placeholder_with_default(tf.cast(values, tf.int32), [None, None], name)
        for name, values in zip(SEQUENCES, parsed.dense_values)
    }


def make_portable(folder: str) -> None:
    """Rewrites a SavedModel of a later TensorFlow so that TensorFlow 1.15 can load it.

    Removes attributes that have their default value, because an older TensorFlow may not know them.
    Removes debug_name, which 1.15 refuses and which only messages use. Replaces DisableCopyOnRead,
    which 1.15 does not have and which does not change results.
    """
    path = os.path.join(folder, "saved_model.pb")
    saved_model = saved_model_pb2.SavedModel.FromString(files.read_bytes(path))
    for meta_graph in saved_model.meta_graphs:
        meta_graph_lib.strip_graph_default_valued_attrs(meta_graph)
        functions = (function.node_def for function in meta_graph.graph_def.library.function)
        for node in itertools.chain(meta_graph.graph_def.node, *functions):
            if node.op == "VarHandleOp" and "debug_name" in node.attr:
                del node.attr["debug_name"]
            elif node.op == "DisableCopyOnRead":
                node.op = "NoOp"
                del node.input[:]
                node.attr.clear()
    files.atomic_write_bytes(path, saved_model.SerializeToString(deterministic=True))
