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
from typing import Callable, Dict, List, Mapping, NamedTuple, Sequence

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files
from albert.pretrained import inference, saved_model, warm_start
from albert.runtimes import compat, hub_module
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_TOKENS = inference.SEQUENCES  # int32 [B, S] each
_POSITIONS = inference.POSITIONS  # int32 [B, P]
_INPUTS = {"tokens": _TOKENS, "sop": _TOKENS, "mlm": (*_TOKENS, _POSITIONS)}
_TOKEN_OUTPUTS = ("pooled_output", "sequence_output")
_OUTPUTS = {
    "tokens": _TOKEN_OUTPUTS,
    "sop": (*_TOKEN_OUTPUTS, "sop_log_probs"),
    "mlm": (*_TOKEN_OUTPUTS, "mlm_logits"),
}

Tensors = Mapping[str, tf.Tensor]


class Assets(NamedTuple):
    """The files that lie in the module."""

    config_file: str
    vocab_file: str  # the SentencePiece model or the WordPiece vocabulary
    others: Sequence[str]  # such as 30k-clean.vocab
    do_lower_case: bool


def export(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets, format_name: str
) -> str:
    """Writes a module of a model with both heads to a new folder, which it returns.

    Args:
      path: the folder, which is written whole or not at all.
      config: of the model.
      checkpoint: path prefix.
      assets: files to be put in.
      format_name: one of settings.MODULE_FORMATS.

    Raises:
      ValueError: the folder exists, or the checkpoint does not fit.
    """
    if tf.io.gfile.exists(path):
        raise UserError(f"--export_path={path} exists already. Choose a new folder.")
    _check_checkpoint(config, checkpoint)
    write = {"tf1": _write_tf1, "tf2": _write_tf2}[format_name]
    with files.atomic_folder(path) as temporary:
        write(temporary, config, checkpoint, assets=assets)
        saved_model.make_portable(os.path.join(temporary, "saved_model.pb"))
    _LOGGER.info("Exported %s to %s (%s).", checkpoint, path, format_name)
    return path


def _placeholders() -> Dict[str, tf.Tensor]:
    return {name: tf.placeholder(tf.int32, [None, None], name) for name in _INPUTS["mlm"]}


def _chosen(tensors: Tensors, names: Sequence[str]) -> Dict[str, tf.Tensor]:
    return {name: tensors[name] for name in names}


def _check_checkpoint(config: modeling.AlbertConfig, checkpoint: str) -> None:
    """Checks that all weights are there, before anything is written."""
    graph = tf.Graph()
    with graph.as_default():
        inference.pretraining_outputs(config, _placeholders(), False)
        saved_model.check_portable(graph)
        with tf.Session(graph=graph, config=compat.session_config()) as session:
            warm_start.restore_weights(session, checkpoint)


# ---------------------------------------------------------------------------------------------
# The format of TensorFlow 1.


def _write_tf1(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets
) -> None:
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
                name: (_chosen(inputs, _INPUTS[name]), _chosen(outputs, _OUTPUTS[name]))
                for name in _INPUTS
            },
        }

    def load(session):
        warm_start.restore_weights(session, checkpoint)

    hub_module.write(path, build, load)


def _asset(file: str, name: str) -> tf.Tensor:
    """A tensor with the file's path, wherever the module is."""
    tensor = tf.constant(file, tf.string, name=name)
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tensor)
    return tensor


# ---------------------------------------------------------------------------------------------
# The format of TensorFlow 2: the reusable SavedModel interface of TensorFlow Hub, which is a call
# with `training`, `variables`, `trainable_variables` and `regularization_losses`.


def _write_tf2(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets
) -> None:
    """Writes a root that is callable on a dict of the three inputs, with `sop` and `mlm` beside."""
    with compat.eager_mode():
        weights = _Weights(config, checkpoint)
        root, signatures = tf.train.Checkpoint(), {}
        for name in _INPUTS:
            function = _function(weights, name)
            setattr(root, "__call__" if name == "tokens" else name, function)
            signatures[name] = _signature(function, name)
        signatures["serving_default"] = signatures["tokens"]
        root.variables = weights.variables
        # Of __call__; the heads are not trained with it.
        root.trainable_variables = [
            variable for variable in weights.variables if variable.name.startswith("bert/")
        ]
        root.regularization_losses = []
        root.vocab_file = compat.asset(assets.vocab_file)
        root.config_file = compat.asset(assets.config_file)
        root.other_files = [compat.asset(file) for file in assets.others]
        root.do_lower_case = tf.Variable(assets.do_lower_case, trainable=False)
        tf.saved_model.save(root, path, signatures=signatures)


class _Weights:
    """The variables of the network, which its graph takes by their names."""

    def __init__(self, config: modeling.AlbertConfig, checkpoint: str):
        self._config = config
        with tf.Graph().as_default():
            inference.pretraining_outputs(config, _placeholders(), False)
            names = [variable.op.name for variable in tf.trainable_variables()]
        with checkpoint_files.explained(checkpoint):
            reader = tf.train.load_checkpoint(checkpoint)
            self._by_name = {
                name: tf.Variable(reader.get_tensor(name), name=name) for name in names
            }
        self.variables: List[tf.Variable] = list(self._by_name.values())

    def outputs(self, inputs: Tensors, is_training: bool) -> Tensors:
        """Returns all outputs of the network with these variables."""

        def find(getter, name, *args, **kwargs):
            del getter, args, kwargs
            return self._by_name[name]

        with tf.variable_scope("", custom_getter=find, reuse=tf.AUTO_REUSE):
            return inference.pretraining_outputs(self._config, inputs, is_training)


def _specs(name: str) -> Dict[str, tf.TensorSpec]:
    """What a function reads."""
    return {key: tf.TensorSpec([None, None], tf.int32, key) for key in _INPUTS[name]}


def _function(weights: _Weights, name: str) -> Callable:
    """A function of a dict of inputs and `training`, traced with and without it."""

    @tf.function(autograph=False)
    def call(inputs, training=False):
        filled = dict(inputs)
        filled.setdefault(_POSITIONS, tf.zeros_like(filled["input_ids"][:, :1]))
        return _chosen(weights.outputs(filled, training), _OUTPUTS[name])

    for training in (False, True):
        call.get_concrete_function(_specs(name), training=training)
    return call


def _signature(function: Callable, name: str) -> Callable:
    """The same as a signature: inputs by keyword, no training."""

    @tf.function(input_signature=[_specs(name)], autograph=False)
    def serve(inputs):
        return function(inputs, training=False)

    return serve
