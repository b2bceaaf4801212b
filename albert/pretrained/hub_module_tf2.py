# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A pretrained model as an object of TensorFlow 2, to be saved for hub.load and hub.KerasLayer.

    layer = hub.KerasLayer(path, trainable=True)
    outputs = layer({"input_ids": ids, "input_mask": mask, "segment_ids": segments})

It follows the reusable SavedModel interface of TensorFlow Hub: a call with `training`, `variables`,
`trainable_variables` and `regularization_losses`. Only TensorFlow 2 can make one.

Dimensions: B batch, S sequence, P positions.
"""

from typing import Any, Callable, Dict, List, Mapping, Sequence

import tensorflow.compat.v1 as tf

from albert.pretrained import checkpoint_files

TOKENS = ("input_ids", "input_mask", "segment_ids")
POSITIONS = "mlm_positions"
TOKEN_OUTPUTS = ("pooled_output", "sequence_output")

Outputs = Dict[str, tf.Tensor]
# ({name: int32 [B, S] or [B, P]}, is_training) -> outputs by name
Build = Callable[[Mapping[str, tf.Tensor], bool], Outputs]


def save(path: str, build: Build, checkpoint: str, *, assets: Any) -> None:
    """Writes the SavedModel.

    Its root is callable on a dict of the three inputs; `sop` and `mlm` (which also reads
    mlm_positions) give their outputs beside. The signatures have the same names, and
    serving_default is tokens.

    Args:
      path: the new folder.
      build: makes the graph of all outputs; it is called with all inputs.
      checkpoint: path prefix of the weights, which fit.
      assets: has vocab_file, config_file, others and do_lower_case.

    Raises:
      RuntimeError: eager execution has been switched off in this process.
    """
    if not tf.executing_eagerly():
        raise RuntimeError("A TensorFlow 2 module is written in a process that runs eagerly.")
    weights = _Weights(build, checkpoint)
    root = tf.train.Checkpoint()
    root.__call__ = tokens = _function(weights, TOKEN_OUTPUTS)
    root.sop = sop = _function(weights, (*TOKEN_OUTPUTS, "sop_log_probs"))
    root.mlm = mlm = _function(weights, (*TOKEN_OUTPUTS, "mlm_logits"), POSITIONS)
    root.variables = weights.variables
    # Those of the call; training the heads as well is for those who call sop or mlm.
    root.trainable_variables = [
        variable for variable in weights.variables if variable.name.startswith("bert/")
    ]
    root.regularization_losses = []
    root.vocab_file = tf.saved_model.Asset(assets.vocab_file)
    root.config_file = tf.saved_model.Asset(assets.config_file)
    root.other_files = [tf.saved_model.Asset(file) for file in assets.others]
    root.do_lower_case = tf.Variable(assets.do_lower_case, trainable=False)
    signatures = {"tokens": _signature(tokens), "sop": _signature(sop)}
    signatures["mlm"] = _signature(mlm, POSITIONS)
    signatures["serving_default"] = signatures["tokens"]
    tf.saved_model.save(root, path, signatures=signatures)


class _Weights:
    """The variables of the network, which its graph takes by their names."""

    def __init__(self, build: Build, checkpoint: str):
        self._build = build
        with tf.Graph().as_default():
            names = (*TOKENS, POSITIONS)
            build({name: tf.placeholder(tf.int32, [None, None]) for name in names}, False)
            names = [variable.op.name for variable in tf.trainable_variables()]
        with checkpoint_files.explained(checkpoint):
            reader = tf.train.load_checkpoint(checkpoint)
            values = {name: reader.get_tensor(name) for name in names}
        self._by_name = {name: tf.Variable(value, name=name) for name, value in values.items()}

    @property
    def variables(self) -> List[tf.Variable]:
        """Returns all of them."""
        return list(self._by_name.values())

    def outputs(self, inputs: Mapping[str, tf.Tensor], is_training: bool) -> Outputs:
        """All outputs of the network with these variables."""

        def find(getter, name, *args, **kwargs):
            del getter, args, kwargs
            return self._by_name[name]

        with tf.variable_scope("", custom_getter=find, reuse=tf.AUTO_REUSE):
            return self._build(inputs, is_training)


def _specs(*more: str) -> Dict[str, tf.TensorSpec]:
    """What a function reads."""
    return {name: tf.TensorSpec([None, None], tf.int32, name) for name in (*TOKENS, *more)}


def _function(weights: _Weights, names: Sequence[str], *more: str) -> Callable:
    """A function of a dict of inputs and `training`, traced with and without it."""

    @tf.function(autograph=False)
    def call(inputs, training=False):
        filled = dict(inputs)
        filled.setdefault(POSITIONS, tf.zeros_like(filled["input_ids"][:, :1]))
        outputs = weights.outputs(filled, training)
        return {name: outputs[name] for name in names}

    for training in (False, True):
        call.get_concrete_function(_specs(*more), training=training)
    return call


def _signature(function: Callable, *more: str) -> Callable:
    """The same as a signature: inputs by keyword, no training."""

    @tf.function(input_signature=[_specs(*more)], autograph=False)
    def serve(inputs):
        return function(inputs, training=False)

    return serve
