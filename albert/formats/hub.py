# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model as a TF-Hub module, for hub.Module or for hub.load and KerasLayer.

TensorFlow 1.15 and later write and read both formats. Our own commands read only the format tf1
(see runtimes.hub_module).

Both have four signatures, of plain float32 operations:

  tokens             input_ids, input_mask, segment_ids -> pooled_output, sequence_output
  sop                also -> sop_log_probs: log probabilities of the two segment orders
  mlm                also mlm_positions -> mlm_logits: logits of the words at these positions
  tokenization_info  -> vocab_file, do_lower_case

For training (dropout), use the tags {"train"} of hub.Module, or the argument `training` of the
object from hub.load.

Dimensions: B batch, S sequence, P positions.
"""

import functools
import os
from typing import Any, Callable, Dict, Mapping, Sequence

import tensorflow.compat.v1 as tf

from albert.data.packing import POSITIONS, SEQUENCES
from albert.formats import saved_model, warm_start
from albert.formats.model_folder import PretrainedModel
from albert.formats.warm_start import Tensors
from albert.runtimes import compat, hub_module
from albert.util import files, log

Build = Callable[..., Tensors]

_INPUTS = (*SEQUENCES, POSITIONS)
_ENCODED = ("pooled_output", "sequence_output")
# Inputs, int32 [B, S] or [B, P], and outputs, named as in pretraining_outputs.
_SIGNATURES: Dict[str, Sequence[Sequence[str]]] = {
    "tokens": (SEQUENCES, _ENCODED),
    "sop": (SEQUENCES, (*_ENCODED, "sop_log_probs")),
    "mlm": (_INPUTS, (*_ENCODED, "mlm_logits")),
}


def write(
    folder: str, model: PretrainedModel, build: Build, *, assets: Sequence[str], format: str
) -> None:
    """Writes a pretrained model as a module into a new folder.

    Args:
      folder: the new folder.
      model: the configuration, checkpoint and tokenizer to export.
      build: builds the network: takes int32 SEQUENCES [B, S] and POSITIONS [B, P], and whether the
        network is for training; returns the outputs by name.
      assets: paths of the vocabulary, the configuration, and optionally 30k-clean.vocab.
      format: tf1 or tf2.

    Raises:
      UserError: the checkpoint does not fit the network, or the folder exists.
    """
    write_format = {"tf1": _write_tf1, "tf2": _write_tf2}[format]
    with files.atomic_folder(folder) as temporary:
        write_format(temporary, model, build, assets=assets)
        saved_model.make_portable(temporary)
    log.info("Exported %s to %s (%s).", model.checkpoint, folder, format)


def _chosen(tensors: Tensors, names: Sequence[str]) -> Tensors:
    return {name: tensors[name] for name in names}


def _write_tf1(path: str, model: PretrainedModel, build: Build, *, assets: Sequence[str]) -> None:
    """Writes a hub.Module: a SavedModel with a graph for prediction and one for training."""
    builder = tf.saved_model.Builder(path)
    describe, information = tf.saved_model.predict_signature_def, tf.saved_model.build_tensor_info
    for tags in ([], ["train"]):
        with warm_start.open_graph(
            functools.partial(build, is_training=bool(tags)), _INPUTS, model.checkpoint
        ) as (session, inputs, outputs):
            signatures = {
                name: describe(_chosen(inputs, needed), _chosen(outputs, returned))
                for name, (needed, returned) in _SIGNATURES.items()
            }
            paths = [tf.constant(asset, tf.string, name="vocab_file") for asset in assets]
            for tensor in paths:
                tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tensor)
            lower = tf.constant(model.tokenizer.do_lower_case, tf.bool, name="do_lower_case")
            vocabulary = {"vocab_file": information(paths[0]), "do_lower_case": information(lower)}
            signatures[hub_module.VOCABULARY_SIGNATURE] = tf.saved_model.build_signature_def(
                {}, vocabulary
            )
            if tags:
                builder.add_meta_graph(tags, signatures, paths)
            else:
                builder.add_meta_graph_and_variables(session, tags, signatures, paths)
    builder.save()
    # The field `format` (1) has the value 3: a SavedModel.
    files.atomic_write_bytes(os.path.join(path, "tfhub_module.pb"), b"\x08\x03")


def _write_tf2(path: str, model: PretrainedModel, build: Build, *, assets: Sequence[str]) -> None:
    """Writes TensorFlow Hub's reusable SavedModel.

    You call the loaded object, or its methods `sop` and `mlm`, with a dict of inputs and
    `training`. Its method `train` is the call with dropout, for Keras 3's TFSMLayer, which does not
    pass `training`.
    """
    with warm_start.open_graph(build, _INPUTS, model.checkpoint) as (session, *_):
        values = session.run({item.op.name: item for item in tf.trainable_variables()})
    with compat.eager_mode():
        variables = {name: tf.Variable(value, name=name) for name, value in values.items()}
        root, signatures = tf.train.Checkpoint(), {}
        for name, (inputs, outputs) in _SIGNATURES.items():
            function = _function(build, variables, outputs)
            setattr(root, "__call__" if name == "tokens" else name, function)
            function.get_concrete_function(_specs(inputs), training=True)
            signatures[name] = function.get_concrete_function(_specs(inputs), training=False)
        root.train = _function(build, variables, _ENCODED, is_training=True)
        root.train.get_concrete_function(_specs(SEQUENCES))
        signatures["serving_default"] = signatures["tokens"]
        root.variables = list(variables.values())
        # __call__ uses only the encoder, so the heads are not trainable.
        root.trainable_variables = [item for name, item in variables.items() if "bert/" in name]
        root.regularization_losses = []
        root.vocab_file, *root.other_files = map(compat.asset, assets)
        root.do_lower_case = tf.Variable(model.tokenizer.do_lower_case, trainable=False)
        tf.saved_model.save(root, path, signatures=signatures)


def _specs(names: Sequence[str]) -> Dict[str, tf.TensorSpec]:
    return {name: tf.TensorSpec([None, None], tf.int32, name) for name in names}


def _function(
    build: Build,
    variables: Mapping[str, tf.Variable],
    outputs: Sequence[str],
    *,
    is_training: bool = False,
) -> Any:
    """Returns a function of (dict of inputs, training=is_training) that uses these variables."""

    def find(getter, name, *args, **kwargs):
        return variables[name]

    @tf.function(autograph=False)
    def call(inputs, training=is_training):
        inputs = {POSITIONS: tf.zeros_like(inputs["input_ids"][:, :1]), **inputs}
        with tf.variable_scope("", custom_getter=find, reuse=tf.AUTO_REUSE):
            return _chosen(build(inputs, training), outputs)

    return call
