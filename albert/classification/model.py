# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head of classification and regression.

Dimensions: B batch, H hidden, C labels (1 for regression).
"""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.classification.settings import EXIT_THRESHOLD
from albert.fine_tuning_utils import Encoder, Features, Head, HeadOutput
from albert.ops import plain

HEAD_DROPOUT = 0.1


class Logits(NamedTuple):
    """The outputs of the head."""

    logits: tf.Tensor  # float32 [B, C]; of a regressor [B]
    probabilities: tf.Tensor  # float32 [B, C]; of a regressor the score, [B, 1]
    predictions: tf.Tensor  # int32 [B]; of a regressor the score, float32 [B]


def _make_head(encoder: Encoder, num_labels: int, path: str = "") -> Callable[..., tf.Tensor]:
    """A head, from a pooled output [B, H] to logits [B, C]: dropout and a dense layer.

    Its variables' names begin with `path`; "" is the head after the last layer. It draws the
    dropout mask of `position`.
    """
    hidden, norm = encoder.config.hidden_size, None
    if encoder.config.ln_type == "preln":
        # Such an encoder ends without a LayerNorm; albert_zh's classifier adds it here.
        norm = modeling.get_norm(f"{path}loss/LayerNorm", hidden)
    shape, deviation = [num_labels, hidden], fine_tuning_utils.HEAD_INITIALIZER_RANGE
    kernel = modeling.get_weight(f"{path}output_weights", shape, deviation)
    zeros = tf.zeros_initializer()
    bias = tf.get_variable(f"{path}output_bias", [num_labels], initializer=zeros)

    def head(pooled: tf.Tensor, position: int = -1) -> tf.Tensor:
        pooled = plain.layer_norm(pooled, norm) if norm else pooled
        pooled = encoder.dropout(pooled, HEAD_DROPOUT, position)
        return tf.nn.bias_add(tf.matmul(pooled, kernel, transpose_b=True), bias)

    return head


def _make_heads(encoder: Encoder, num_labels: int) -> List[Callable[..., tf.Tensor]]:
    """The heads of all layers, of which the last has the name it has without the others."""
    paths = [f"exit_{layer}/" for layer in range(1, encoder.config.num_hidden_layers)]
    return [_make_head(encoder, num_labels, path) for path in [*paths, ""]]


def _encode(encoder: Encoder, features: Features, **options: Any) -> tf.Tensor:
    """The pooled output [B, H]."""
    inputs = [features[name] for name in ("input_ids", "input_mask", "segment_ids")]
    return encoder(*inputs, **options).pooled_output


def _as_logits(logits: tf.Tensor, is_regression: bool) -> Logits:
    """The outputs of logits [B, C]."""
    if is_regression:
        score = tf.squeeze(logits, [-1])  # [B]
        return Logits(score, logits, score)
    predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
    return Logits(logits, tf.nn.softmax(logits, axis=-1), predictions)


def logits_of(
    encoder: Encoder, features: Features, *, num_labels: int, is_regression: bool
) -> Logits:
    """Returns the outputs of dropout and one dense layer on the pooled output."""
    pooled = _encode(encoder, features)
    return _as_logits(_make_head(encoder, num_labels)(pooled), is_regression)


# ---- a head after each layer: early exit by patience (PABEE, arXiv:2006.04152) ----
# They share the pooler.


class Patience(NamedTuple):
    """When an example needs no more layers (arXiv:2006.04152).

    Attributes:
      layers: after how many layers in a row that have not changed its prediction, at least 1.
      threshold: scores of a regressor that differ by less are the same.
    """

    layers: int
    threshold: float = EXIT_THRESHOLD


def all_logits(
    encoder: Encoder, features: Features, *, num_labels: int, is_regression: bool
) -> List[Logits]:
    """Returns the outputs after each layer; arguments are those of `logits_of`."""
    heads, pooled = _make_heads(encoder, num_labels), []
    _encode(encoder, features, after_layer=lambda layer, output: pooled.append(output))
    # The last layer's dropout mask is the one that it has without other heads.
    positions = range(-len(heads), 0)
    logits = [head(*given) for head, *given in zip(heads, pooled, positions)]
    return [_as_logits(item, is_regression) for item in logits]


def patient_logits(
    encoder: Encoder,
    features: Features,
    *,
    num_labels: int,
    is_regression: bool,
    patience: Patience,
) -> Tuple[Logits, tf.Tensor]:
    """Returns the outputs where each example left the batch, and after which layer, int32 [B]."""
    heads = _make_heads(encoder, num_labels)
    left: List[List[tf.Tensor]] = []  # of each exit the rows [b], their logits [b, C], the layer
    going: List[tf.Tensor] = []  # the other rows [b], their logits [b, C], for how many layers [b]

    def is_same(before: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        if is_regression:
            return tf.squeeze(tf.abs(logits - before) < patience.threshold, [-1])
        return tf.equal(tf.argmax(logits, axis=-1), tf.argmax(before, axis=-1))

    def after_layer(layer: int, pooled: tf.Tensor) -> Optional[tf.Tensor]:
        logits = heads[layer - 1](pooled)
        places = tf.range(tf.shape(logits)[0])
        rows, unchanged = places, tf.zeros_like(places)
        if layer > 1:
            rows, before, unchanged = going
            unchanged = (unchanged + 1) * tf.cast(is_same(before, logits), tf.int32)
        going[:] = rows, logits, unchanged
        if not patience.layers < layer < len(heads):
            return None
        leaves = tf.cast(unchanged >= patience.layers, tf.int32)
        stay, leave = zip(*(tf.dynamic_partition(item, leaves, 2) for item in [places, *going]))
        going[:] = stay[1:]
        left.append([*leave[1:3], tf.fill(tf.shape(leave[0]), layer)])
        return stay[0]

    _encode(encoder, features, after_layer=after_layer)
    left.append([*going[:2], tf.fill(tf.shape(going[0]), len(heads))])
    rows, logits, layers = map(list, zip(*left))
    found = _as_logits(tf.dynamic_stitch(rows, logits), is_regression)
    return found, tf.dynamic_stitch(rows, layers)


# ---- the head with its loss ----


def losses_of(logits: tf.Tensor, labels: tf.Tensor, is_regression: bool) -> tf.Tensor:
    """Returns cross entropy, or the squared error, of each example; float32 [B]."""
    labels = tf.reshape(labels, [-1])
    if is_regression:
        return tf.square(logits - tf.cast(labels, tf.float32))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def classification_head(
    num_labels: int,
    is_regression: bool,
    *,
    early_exit: bool = False,
    patience: Optional[Patience] = None,
) -> Head:
    """Returns the head, with the outputs of `Logits` and, if features have them, label_ids.

    Args:
      early_exit: train a head after each layer; the loss of layer n of L has the weight n of
        1 + 2 + ... + L (arXiv:2006.04152).
      patience: predict with these heads; the output `layers` says after which layer, int32 [B].
    """
    sizes: Dict[str, Any] = {"num_labels": num_labels, "is_regression": is_regression}

    def head(features: Features, encoder: Encoder) -> HeadOutput:
        before, more = [], {}
        if early_exit and encoder.is_training:
            *before, found = all_logits(encoder, features, **sizes)
        elif patience:
            found, more["layers"] = patient_logits(encoder, features, **sizes, patience=patience)
        else:
            found = logits_of(encoder, features, **sizes)
        outputs = dict(found._asdict(), logits=tf.reshape(found.logits, [-1, num_labels]), **more)
        if "label_ids" not in features:
            return HeadOutput(None, outputs, {})
        labels = tf.reshape(features["label_ids"], [-1])
        outputs["label_ids"] = labels
        logged = {} if is_regression else {"accuracy": tf.equal(found.predictions, labels)}
        losses = [losses_of(one.logits, labels, is_regression) for one in [*before, found]]
        total = tf.add_n([number * loss for number, loss in enumerate(losses, 1)])
        loss = total / sum(range(1, len(losses) + 1))  # [B]
        return HeadOutput(loss, outputs, logged)

    return head
