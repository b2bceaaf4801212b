# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a pretrained model as a TF-Hub module, for TensorFlow 1's hub.Module or 2's hub.load.

Both have four signatures:

  tokens             input_ids, input_mask, segment_ids -> pooled_output, sequence_output
  sop                the same, and sop_log_probs: whether the segments stand in their order
  mlm                also mlm_positions -> also mlm_logits: which words stand there
  tokenization_info  -> vocab_file, do_lower_case

Operations are plain ones on float32. Training (dropout) is the tag set {"train"} of a hub.Module,
and the argument `training` of a TensorFlow 2 module.

Dimensions: B batch, S sequence, P positions, H hidden, V vocabulary.
"""

import contextlib
import logging
import os
from typing import Callable, Dict, Iterator, NamedTuple, Sequence

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.pretrained import hub_module_tf2
from albert.pretrained import saved_model as serving_export
from albert.pretrained import warm_start as checkpoint_init
from albert.util import files
from albert.util import runtime as precision

_LOGGER = logging.getLogger("albert")

FORMATS = ("tf1", "tf2")


class Assets(NamedTuple):
    """The files that lie in the module.

    Attributes:
      config_file: albert_config.json.
      vocab_file: the SentencePiece model or the WordPiece vocabulary; tokenization_info names it.
      others: further files, such as 30k-clean.vocab.
      do_lower_case: of the tokenizer.
    """

    config_file: str
    vocab_file: str
    others: Sequence[str]
    do_lower_case: bool


class Inputs(NamedTuple):
    """What the signatures read."""

    input_ids: tf.Tensor  # int32 [B, S]
    input_mask: tf.Tensor  # int32 [B, S]
    segment_ids: tf.Tensor  # int32 [B, S]
    mlm_positions: tf.Tensor  # int32 [B, P]


TOKENS = Inputs._fields[:3]
Outputs = Dict[str, tf.Tensor]


def _outputs(config: modeling.AlbertConfig, inputs: Inputs, is_training: bool) -> Outputs:
    """All outputs by name."""
    model = modeling.AlbertModel(
        config,
        is_training,
        inputs.input_ids,
        input_mask=inputs.input_mask,
        token_type_ids=inputs.segment_ids,
        scope="bert",
    )
    pooled, sequence = model.get_pooled_output(), model.get_sequence_output()
    words = modeling.masked_lm_logits(
        config,
        sequence,
        model.get_embedding_table(),
        positions=inputs.mlm_positions,
        projection=model.get_embedding_projection(),
    )
    order = tf.nn.log_softmax(modeling.sentence_order_logits(config, pooled))
    return {
        "pooled_output": pooled,  # [B, H]
        "sequence_output": sequence,  # [B, S, H]
        "sop_log_probs": order,  # [B, 2]
        "mlm_logits": words,  # [B * P, V]
    }


def _signature_outputs(outputs: Outputs, *more: str) -> Outputs:
    return {name: outputs[name] for name in ("pooled_output", "sequence_output", *more)}


def export(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets, format_name: str
) -> str:
    """Writes a module, whole or not at all.

    Args:
      path: the new folder.
      config: of the model.
      checkpoint: path prefix of a pretrained model with both heads.
      assets: files to be put in.
      format_name: one of FORMATS.

    Returns:
      The folder.

    Raises:
      ValueError: the folder exists, the checkpoint does not fit, or the format needs TensorFlow 2.
    """
    write = {"tf1": _write_tf1, "tf2": _write_tf2}[format_name]
    if tf.io.gfile.exists(path):
        raise ValueError(f"--export_path={path} exists already. Choose a new folder.")
    with files.atomic_folder(path) as temporary:
        write(temporary, config, checkpoint, assets=assets)
    _LOGGER.info("Exported %s to %s (%s).", checkpoint, path, format_name)
    return path


# ---------------------------------------------------------------------------------------------
# TensorFlow 1.


def _write_tf1(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets
) -> None:
    import tensorflow_hub as hub  # takes long to import

    _check_checkpoint(config, checkpoint)
    spec = hub.create_module_spec(
        _module_fn(config, assets),
        tags_and_args=[(set(), {"is_training": False}), ({"train"}, {"is_training": True})],
    )
    spec.export(path, checkpoint_path=checkpoint)
    serving_export.make_portable(os.path.join(path, "saved_model.pb"))


def _check_checkpoint(config: modeling.AlbertConfig, checkpoint: str) -> None:
    """Makes sure that all weights are there, before anything is written."""
    graph = tf.Graph()
    with graph.as_default():
        _outputs(config, _placeholders(), False)
        serving_export.check_portable(graph)
        with tf.Session(graph=graph, config=precision.session_config()) as session:
            checkpoint_init.restore_weights(session, checkpoint)


def _placeholders() -> Inputs:
    return Inputs(*(tf.placeholder(tf.int32, [None, None], name) for name in Inputs._fields))


def _module_fn(config: modeling.AlbertConfig, assets: Assets) -> Callable:
    """The function that hub.create_module_spec wants."""

    def module_fn(is_training: bool) -> None:
        import tensorflow_hub as hub

        inputs = _placeholders()
        with _resource_variables():
            outputs = _outputs(config, inputs, is_training)
        tokens = {name: getattr(inputs, name) for name in TOKENS}
        hub.add_signature("tokens", tokens, _signature_outputs(outputs))
        hub.add_signature("sop", tokens, _signature_outputs(outputs, "sop_log_probs"))
        hub.add_signature("mlm", inputs._asdict(), _signature_outputs(outputs, "mlm_logits"))
        vocab_file = _asset(assets.vocab_file, "vocab_file")
        for number, file in enumerate([assets.config_file, *assets.others]):
            _asset(file, f"asset_{number}")
        do_lower_case = tf.constant(assets.do_lower_case, tf.bool, name="do_lower_case")
        information = {"vocab_file": vocab_file, "do_lower_case": do_lower_case}
        hub.add_signature("tokenization_info", {}, information)

    return module_fn


@contextlib.contextmanager
def _resource_variables() -> Iterator[None]:
    """The same kind of variables whatever runtime writes the module."""
    with tf.variable_scope(tf.get_variable_scope(), use_resource=True):
        yield


def _asset(file: str, name: str) -> tf.Tensor:
    """A tensor with the file's path, wherever the module is."""
    tensor = tf.constant(file, tf.string, name=name)
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tensor)
    return tensor


# ---------------------------------------------------------------------------------------------
# TensorFlow 2.


def _write_tf2(
    path: str, config: modeling.AlbertConfig, checkpoint: str, *, assets: Assets
) -> None:
    if not precision.is_tf2():
        raise ValueError(
            "--format=tf2 needs TensorFlow 2.15 to write it. Use --format=tf1 here, or the other "
            "runtime."
        )
    _check_checkpoint(config, checkpoint)
    hub_module_tf2.save(
        path,
        lambda inputs, is_training: _outputs(config, Inputs(**inputs), is_training),
        checkpoint,
        assets=assets,
    )
