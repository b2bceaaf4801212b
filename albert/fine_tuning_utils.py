# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder, vocabulary and heads of all fine-tuning tasks.

A head is a function that takes features and an `Encoder`, and returns a `HeadOutput`:

    def head(features, encoder):
        encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
        return HeadOutput(per_example_loss=..., outputs={"probabilities": ...}, logged={})

Dimensions: B batch, S sequence, H hidden.
"""

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.runtimes import hub_module as hub
from albert.util import UserError

# The initializer_range of heads. The published scripts do not use the configuration's value either.
HEAD_INITIALIZER_RANGE = 0.02

Features = Mapping[str, tf.Tensor]

# ---- the encoder ----


class Encoded(NamedTuple):
    """The encoder's outputs."""

    pooled_output: tf.Tensor  # float32 [B, H]
    sequence_output: tf.Tensor  # float32 [B, S, H]


class Encoder:
    """An encoder from a configuration or a TF-Hub module, and the dropout of its head.

    Attributes:
      config: AlbertConfig.
      is_training: whether to use dropout.
      options: further arguments of AlbertModel.
    """

    def __init__(
        self,
        config: Optional[modeling.AlbertConfig],
        is_training: bool,
        *,
        hub_module: Optional[str] = None,
        dropout_seed: Optional[tf.Tensor] = None,
        **options: Any,
    ):
        """Creates an encoder from a configuration or a hub module.

        Args:
          config: AlbertConfig; ignored if there is a hub module.
          is_training: whether to use dropout.
          hub_module: the handle of a TF-Hub module; training starts with its weights.
          dropout_seed: see AlbertModel.
          options: scope, use_one_hot_embeddings, compute_dtype, recompute, use_xla, use_onednn and
            keep_weights of AlbertModel.

        Raises:
          UserError: both config and hub_module are None.
        """
        self._checkpoint = None
        if hub_module:
            module = hub.read(hub_module)
            config = modeling.AlbertConfig.from_json_file(module.config_file)
            self._checkpoint = module.checkpoint
        if config is None:
            raise UserError("The encoder needs a configuration or the handle of a hub module.")
        self.config = config
        self.is_training = is_training
        self.options = {"scope": "bert", "dropout_seed": dropout_seed, **options}

    def __call__(
        self,
        input_ids: tf.Tensor,
        input_mask: tf.Tensor,
        segment_ids: tf.Tensor,
        *,
        after_layer: Optional[Callable] = None,
    ) -> Encoded:
        """Encodes int32 [B, S] ids, mask and segments. For `after_layer`, see AlbertModel."""
        count_before = len(tf.trainable_variables())
        model = modeling.AlbertModel(
            self.config,
            self.is_training,
            input_ids,
            input_mask=input_mask,
            token_type_ids=segment_ids,
            after_layer=after_layer,
            **self.options,
        )
        variables = tf.trainable_variables()[count_before:]
        if self._checkpoint and variables:
            names = [variable.op.name for variable in variables]
            names = [name[name.index("bert/") :] for name in names]
            tf.train.init_from_checkpoint(self._checkpoint, dict(zip(names, variables)))
        return Encoded(model.get_pooled_output(), model.get_sequence_output())

    def dropout(self, tensor: tf.Tensor, rate: float, position: int = -1) -> tf.Tensor:
        """Applies dropout in training. Heads use negative positions."""
        if not self.is_training:
            return tensor
        return modeling.dropout(tensor, rate, seed=self.options["dropout_seed"], position=position)


# ---- a head ----


class HeadOutput(NamedTuple):
    """A head's outputs for a batch.

    Attributes:
      per_example_loss: float32 [B]; None without labels.
      outputs: predictions by name, with the leading dimension B.
      logged: float32 [B] by name: metrics. Training logs their means.
    """

    per_example_loss: Optional[tf.Tensor]
    outputs: Dict[str, tf.Tensor]
    logged: Dict[str, tf.Tensor]

    def with_losses(self) -> Dict[str, tf.Tensor]:
        """Returns the outputs and, if there are labels, per_example_loss."""
        outputs = {**self.outputs, "per_example_loss": self.per_example_loss}
        return {name: value for name, value in outputs.items() if value is not None}


Head = Callable[[Features, Encoder], HeadOutput]


def softmax_output(logits: tf.Tensor, features: Features) -> HeadOutput:
    """Returns the HeadOutput of a head with logits [B, C] for C classes.

    The outputs are logits and probabilities, float32 [B, C], predictions, int32 [B], and label_ids
    if the features have them. The loss is the cross entropy.
    """
    predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
    outputs = {
        "logits": logits,
        "probabilities": tf.nn.softmax(logits, axis=-1),
        "predictions": predictions,
    }
    if "label_ids" not in features:
        return HeadOutput(None, outputs, {})
    outputs["label_ids"] = labels = tf.reshape(features["label_ids"], [-1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return HeadOutput(losses, outputs, {"accuracy": tf.equal(predictions, labels)})


# ---- functions that existing programs call by these names and arguments ----


def create_albert(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    use_one_hot_embeddings,
    use_einsum,
    hub_module,
) -> Encoded:
    """Returns (pooled output [B, H], sequence output [B, S, H]) for int32 [B, S] inputs.

    `hub_module`, the handle of a TF-Hub module, replaces the configuration. Ignores use_einsum.
    """
    encoder = Encoder(
        albert_config,
        is_training,
        hub_module=hub_module,
        use_one_hot_embeddings=use_one_hot_embeddings,
        scope=None,
    )
    return encoder(input_ids, input_mask, segment_ids)


def create_vocab(
    vocab_file, do_lower_case, spm_model_file, hub_module
) -> tokenization.FullTokenizer:
    """Returns the tokenizer of `hub_module` or, if it is None, of the vocabulary files."""
    if hub_module:
        is_sentencepiece = tokenization.is_sentencepiece(hub.read(hub_module).vocab_file)
        return tokenization.FullTokenizer.from_hub_module(hub_module, is_sentencepiece)
    return tokenization.FullTokenizer(vocab_file, do_lower_case, spm_model_file)
