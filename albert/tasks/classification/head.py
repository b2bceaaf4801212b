# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head of classification and regression.

Dimensions: B batch, H hidden, C labels. For regression, C is 1, and the logit is the score.
"""

import functools
from typing import Any, Callable, List, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.data.packing import SEQUENCES
from albert.fine_tuning_utils import Encoder, Features, Head, HeadOutput, softmax_output
from albert.ops import plain
from albert.tasks.classification.flags import EXIT_THRESHOLD

HEAD_DROPOUT = 0.1


def _make_head(encoder: Encoder, num_labels: int, path: str = "") -> Callable[..., tf.Tensor]:
    """Returns a head: pooled output [B, H] -> logits [B, C], by dropout and a dense layer.

    `path` is the prefix of its variables; "" for the head after the last layer. The head's argument
    `position` chooses the dropout mask.
    """
    hidden, norm = encoder.config.hidden_size, None
    if encoder.config.ln_type == "preln":
        # A preln encoder ends without a LayerNorm. albert_zh's classifier adds it here.
        norm = modeling.get_norm(f"{path}loss/LayerNorm", hidden)
    shape, deviation = [num_labels, hidden], fine_tuning_utils.HEAD_INITIALIZER_RANGE
    kernel = modeling.get_weight(f"{path}output_weights", shape, deviation)
    bias = tf.get_variable(f"{path}output_bias", [num_labels], initializer=tf.zeros_initializer())

    def head(pooled: tf.Tensor, position: int = -1) -> tf.Tensor:
        pooled = plain.layer_norm(pooled, norm) if norm else pooled
        pooled = encoder.dropout(pooled, HEAD_DROPOUT, position)
        return tf.nn.bias_add(tf.matmul(pooled, kernel, transpose_b=True), bias)

    return head


def _make_heads(encoder: Encoder, num_labels: int) -> List[Callable[..., tf.Tensor]]:
    """Returns a head for each layer. The last one has the same name as without early exit."""
    paths = [f"exit_{layer}/" for layer in range(1, encoder.config.num_hidden_layers)]
    return [_make_head(encoder, num_labels, path) for path in [*paths, ""]]


def _encode(encoder: Encoder, features: Features, **options: Any) -> tf.Tensor:
    """Returns the pooled output [B, H]."""
    return encoder(*(features[name] for name in SEQUENCES), **options).pooled_output


# ---- a head after each layer: early exit by patience (PABEE, arXiv:2006.04152) ----
# The heads share the pooler.


def all_logits(encoder: Encoder, features: Features, num_labels: int) -> List[tf.Tensor]:
    """Returns the logits [B, C] after each layer."""
    heads, pooled = _make_heads(encoder, num_labels), []
    _encode(encoder, features, after_layer=lambda layer, output: pooled.append(output))
    # The last head has the same dropout mask as without early exit.
    positions = range(-len(heads), 0)
    return [head(*inputs) for head, *inputs in zip(heads, pooled, positions)]


def patient_logits(
    encoder: Encoder,
    features: Features,
    num_labels: int,
    *,
    patience: int,
    threshold: float = EXIT_THRESHOLD,
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns (logits [B, C] at exit, layer of exit int32 [B]).

    Args:
      patience: an example exits after this many layers in a row, at least 1, without a new
        prediction.
      threshold: scores that differ by less count as the same.
    """
    heads = _make_heads(encoder, num_labels)
    # For all examples: logits [B, C] and their layer [B]. For examples that continue: their rows
    # [b], and the layers in a row without a new prediction [b].
    state: List[tf.Tensor] = []

    def after_layer(layer: int, pooled: tf.Tensor) -> Optional[tf.Tensor]:
        current = heads[layer - 1](pooled)  # [b, C]
        if layer == 1:
            rows = tf.range(tf.shape(current)[0])
            state[:] = current, tf.ones_like(rows), rows, tf.zeros_like(rows)
            return None
        logits, layers, rows, unchanged = state
        before, indices = tf.gather(logits, rows), rows[:, tf.newaxis]
        if num_labels == 1:
            is_same = tf.squeeze(tf.abs(current - before) < threshold, [-1])
        else:
            is_same = tf.equal(tf.argmax(current, axis=-1), tf.argmax(before, axis=-1))
        unchanged = (unchanged + 1) * tf.cast(is_same, tf.int32)
        logits = tf.tensor_scatter_nd_update(logits, indices, current)
        layers = tf.tensor_scatter_nd_update(layers, indices, tf.fill(tf.shape(rows), layer))
        state[:] = logits, layers, rows, unchanged
        if not patience < layer < len(heads):
            return None
        stay = tf.squeeze(tf.where(unchanged < patience), [-1])
        state[2:] = tf.gather(rows, stay), tf.gather(unchanged, stay)
        return stay

    _encode(encoder, features, after_layer=after_layer)
    return state[0], state[1]


# ---- the head with its loss ----


def _score_output(logits: tf.Tensor, features: Features) -> HeadOutput:
    """Returns a regressor's output, named as in softmax_output. The loss is the squared error."""
    scores = tf.squeeze(logits, [-1])  # [B]
    # If two outputs were the same tensor, TensorFlow Lite would drop one.
    logits_copy = tf.reshape(scores, [-1, 1])
    outputs = {"logits": logits_copy, "probabilities": logits, "predictions": scores}
    if "label_ids" not in features:
        return HeadOutput(None, outputs, {})
    outputs["label_ids"] = labels = tf.reshape(features["label_ids"], [-1])
    return HeadOutput(tf.square(scores - tf.cast(labels, tf.float32)), outputs, {})


def _sigmoid_output(logits: tf.Tensor, features: Features, threshold: float) -> HeadOutput:
    """Returns the output of a classifier that predicts each label by itself, as softmax_output.

    Predictions and label_ids are 0 or 1, int32 [B, C], and losses are binary cross entropies
    [B, C]. Labels that are at least as probable as `threshold` are predicted.
    """
    probabilities = tf.sigmoid(logits)
    predictions = tf.cast(probabilities >= threshold, tf.int32)
    outputs = {"logits": logits, "probabilities": probabilities, "predictions": predictions}
    if "label_ids" not in features:
        return HeadOutput(None, outputs, {})
    outputs["label_ids"] = labels = tf.cast(features["label_ids"], tf.int32)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.float32), logits=logits
    )
    return HeadOutput(losses, outputs, {})


def classification_head(
    num_labels: int,
    *,
    early_exit: bool = False,
    patience: Optional[int] = None,
    threshold: float = EXIT_THRESHOLD,
    class_weights: Optional[Sequence[Any]] = None,
    decision_threshold: Optional[float] = None,
) -> Head:
    """Returns the head of a classifier or regressor.

    Args:
      num_labels: 1 for regression.
      early_exit: train a head after each layer. The loss of layer n of L has the weight
        n / (1 + 2 + ... + L) (arXiv:2006.04152).
      patience, threshold: predict with these heads, see `patient_logits`. The output `layers` has
        the layer of exit, int32 [B].
      class_weights: factors [C] of the loss of examples with each label; with decision_threshold
        [C, 2], of the loss of each label where it is absent and present.
      decision_threshold: an example can have several labels, and those at least this probable are
        predicted. The loss is the mean of the labels' binary cross entropies.
    """
    output_of: Callable[..., HeadOutput] = _score_output if num_labels == 1 else softmax_output
    if decision_threshold is not None:
        output_of = functools.partial(_sigmoid_output, threshold=decision_threshold)

    def head(features: Features, encoder: Encoder) -> HeadOutput:
        more = {}
        if early_exit and encoder.is_training:
            layer_logits = all_logits(encoder, features, num_labels)
        elif patience:
            logits, more["layers"] = patient_logits(
                encoder, features, num_labels, patience=patience, threshold=threshold
            )
            layer_logits = [logits]
        else:
            pooled = _encode(encoder, features)  # first: the order of variables decides their seeds
            layer_logits = [_make_head(encoder, num_labels)(pooled)]
        layer_outputs = [output_of(logits, features) for logits in layer_logits]
        output = layer_outputs[-1]
        output.outputs.update(more)
        if output.per_example_loss is None:
            return output
        total = tf.add_n([n * item.per_example_loss for n, item in enumerate(layer_outputs, 1)])
        losses = total / sum(range(1, len(layer_outputs) + 1))
        if class_weights is not None:
            weights = tf.constant(class_weights)
            is_class = tf.one_hot(output.outputs["label_ids"], weights.shape[-1])
            losses *= tf.reduce_sum(is_class * weights, axis=-1)
        if decision_threshold is not None:
            losses = tf.reduce_mean(losses, axis=-1)
        return output._replace(per_example_loss=losses)

    return head
