# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model as a TF-Hub module, for hub.Module or for hub.load and KerasLayer.

Every TensorFlow from 1.15 writes both formats, and reads what every other wrote.

Both have four signatures, of plain operations on float32:

  tokens             input_ids, input_mask, segment_ids -> pooled_output, sequence_output
  sop                the same, and sop_log_probs: whether the segments stand in their order
  mlm                also mlm_positions -> also mlm_logits: which words stand there
  tokenization_info  -> vocab_file, do_lower_case

Training (dropout) is the tag set {"train"} of a hub.Module, and the argument `training` of what
hub.load gives.

Dimensions: B batch, S sequence, P positions.
"""

import logging
import os
from typing import Callable, Dict, Mapping, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.pretrained import inference, saved_model, warm_start
from albert.runtimes import compat, hub_module
from albert.util import files

_LOGGER = logging.getLogger("albert")

Tensors = Mapping[str, tf.Tensor]


class _Signature(NamedTuple):
    inputs: Tuple[str, ...]  # int32, [B, S] or [B, P] each
    outputs: Tuple[str, ...]  # of inference.pretraining_outputs


_TOKENS, _ENCODED = inference.SEQUENCES, ("pooled_output", "sequence_output")
_SIGNATURES = {
    "tokens": _Signature(_TOKENS, _ENCODED),
    "sop": _Signature(_TOKENS, (*_ENCODED, "sop_log_probs")),
    "mlm": _Signature((*_TOKENS, inference.POSITIONS), (*_ENCODED, "mlm_logits")),
}


class Assets(NamedTuple):
    """The files that lie in the module."""

    config_file: str
    vocab_file: str  # the SentencePiece model or the WordPiece vocabulary
    others: Sequence[str]  # such as 30k-clean.vocab
    do_lower_case: bool


def export(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets, format_name: str
) -> None:
    """Writes a module of a model with both heads.

    Args:
      path: the new folder, which is written whole or not at all.
      config: of the model.
      checkpoint: path prefix.
      assets: files to be put in.
      format_name: one of settings.MODULE_FORMATS.

    Raises:
      ValueError: the folder exists, or the checkpoint does not fit.
    """
    write = {"tf1": _write_tf1, "tf2": _write_tf2}[format_name]
    with files.atomic_folder(path) as temporary:
        write(temporary, config, checkpoint, assets)
        saved_model.make_portable(os.path.join(temporary, "saved_model.pb"))
    _LOGGER.info("Exported %s to %s (%s).", checkpoint, path, format_name)


def _placeholders() -> Dict[str, tf.Tensor]:
    names = _SIGNATURES["mlm"].inputs
    return {name: tf.placeholder(tf.int32, [None, None], name) for name in names}


def _chosen(tensors: Tensors, names: Sequence[str]) -> Dict[str, tf.Tensor]:
    return {name: tensors[name] for name in names}


def _write_tf1(path: str, config: modeling.AlbertConfig, checkpoint: str, assets: Assets) -> None:
    """Writes a hub.Module."""

    def build(is_training: bool):
        inputs = _placeholders()
        # Every TensorFlow then writes the same kind of variables.
        with tf.variable_scope(tf.get_variable_scope(), use_resource=True):
            outputs = inference.pretraining_outputs(config, inputs, is_training)
        vocab_file = _asset(assets.vocab_file, "vocab_file")
        for number, file in enumerate([assets.config_file, *assets.others]):
            _asset(file, f"asset_{number}")
        do_lower_case = tf.constant(assets.do_lower_case, tf.bool, name="do_lower_case")
        information = {"vocab_file": vocab_file, "do_lower_case": do_lower_case}
        return {
            "tokenization_info": ({}, information),
            **{
                name: (_chosen(inputs, signature.inputs), _chosen(outputs, signature.outputs))
                for name, signature in _SIGNATURES.items()
            },
        }

    hub_module.write(path, build, lambda session: warm_start.restore_weights(session, checkpoint))


def _asset(file: str, name: str) -> tf.Tensor:
    """A tensor with the file's path, wherever the module is."""
    tensor = tf.constant(file, tf.string, name=name)
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tensor)
    return tensor


def _write_tf2(path: str, config: modeling.AlbertConfig, checkpoint: str, assets: Assets) -> None:
    """Writes TensorFlow Hub's reusable SavedModel.

    It is called with a dict of the three inputs and `training`; `sop` and `mlm` likewise.
    """
    values = _weights(config, checkpoint)
    with compat.eager_mode():
        variables = {name: tf.Variable(value, name=name) for name, value in values.items()}
        root, signatures = tf.train.Checkpoint(), {}
        for name, signature in _SIGNATURES.items():
            function = _function(config, variables, signature)
            setattr(root, "__call__" if name == "tokens" else name, function)
            specs = {key: tf.TensorSpec([None, None], tf.int32, key) for key in signature.inputs}
            function.get_concrete_function(specs, training=True)
            signatures[name] = function.get_concrete_function(specs, training=False)
        signatures["serving_default"] = signatures["tokens"]
        root.variables = list(variables.values())
        # Of __call__; the heads are not trained with it.
        root.trainable_variables = [
            variable for name, variable in variables.items() if name.startswith("bert/")
        ]
        root.regularization_losses = []
        root.vocab_file = compat.asset(assets.vocab_file)
        root.config_file = compat.asset(assets.config_file)
        root.other_files = [compat.asset(file) for file in assets.others]
        root.do_lower_case = tf.Variable(assets.do_lower_case, trainable=False)
        tf.saved_model.save(root, path, signatures=signatures)


def _weights(config: modeling.AlbertConfig, checkpoint: str) -> Mapping[str, np.ndarray]:
    """The values of the network's variables, by name."""
    with tf.Graph().as_default():
        inference.pretraining_outputs(config, _placeholders(), False)
        with tf.Session(config=compat.session_config()) as session:
            warm_start.restore_weights(session, checkpoint)
            return session.run({item.op.name: item for item in tf.trainable_variables()})


def _function(
    config: modeling.AlbertConfig, variables: Mapping[str, tf.Variable], signature: _Signature
) -> Callable:
    """A function of a dict of inputs and `training`, which uses these variables."""

    def find(getter, name, *args, **kwargs):
        del getter, args, kwargs
        return variables[name]

    @tf.function(autograph=False)
    def call(inputs, training=False):
        inputs = {inference.POSITIONS: tf.zeros_like(inputs["input_ids"][:, :1]), **inputs}
        with tf.variable_scope("", custom_getter=find, reuse=tf.AUTO_REUSE):
            outputs = inference.pretraining_outputs(config, inputs, training)
        return _chosen(outputs, signature.outputs)

    return call
