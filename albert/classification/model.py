# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head of classification and regression, and its metrics inside the graph.

Dimensions: B batch, H hidden, C labels (1 for regression).
"""

from typing import Any, Callable, Dict, NamedTuple, Sequence

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.training import metrics

HEAD_DROPOUT = 0.1


class Logits(NamedTuple):
    """The outputs of the head."""

    logits: tf.Tensor  # float32 [B, C]; of a regressor [B]
    probabilities: tf.Tensor  # float32 [B, C]; of a regressor the score, [B, 1]
    predictions: tf.Tensor  # int32 [B]; of a regressor the score, float32 [B]


def logits_of(
    encoder: fine_tuning_utils.Encoder,
    features: fine_tuning_utils.Features,
    *,
    num_labels: int,
    is_regression: bool,
) -> Logits:
    """Returns the outputs of dropout and one dense layer on the pooled output."""
    encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
    pooled = encoded.pooled_output  # [B, H]
    if encoder.config is not None and encoder.config.ln_type == "preln":
        # Such an encoder ends without a LayerNorm; albert_zh's classifier adds it here.
        with tf.variable_scope("loss"):
            pooled = modeling.layer_norm(pooled)
    hidden = int(pooled.shape[-1])
    weights = modeling.get_weight(
        "output_weights", [num_labels, hidden], fine_tuning_utils.HEAD_INITIALIZER_RANGE
    )
    bias = tf.get_variable("output_bias", [num_labels], initializer=tf.zeros_initializer())
    pooled = encoder.dropout(pooled, HEAD_DROPOUT)
    logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)  # [B, C]
    if is_regression:
        score = tf.squeeze(logits, [-1])  # [B]
        return Logits(score, logits, score)
    predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
    return Logits(logits, tf.nn.softmax(logits, axis=-1), predictions)


def losses_of(logits: tf.Tensor, labels: tf.Tensor, is_regression: bool) -> tf.Tensor:
    """Returns cross entropy, or the squared error, of each example; float32 [B]."""
    labels = tf.reshape(labels, [-1])
    if is_regression:
        return tf.square(logits - tf.cast(labels, tf.float32))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def classification_head(num_labels: int, is_regression: bool) -> fine_tuning_utils.Head:
    """Returns the head, with the outputs of `Logits` and, if features have them, label_ids."""

    def head(
        features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        found = logits_of(encoder, features, num_labels=num_labels, is_regression=is_regression)
        outputs = dict(found._asdict())
        if "label_ids" not in features:
            return fine_tuning_utils.HeadOutput(None, outputs, {})
        labels = tf.reshape(features["label_ids"], [-1])
        outputs["label_ids"] = labels
        logged = {} if is_regression else {"accuracy": tf.equal(found.predictions, labels)}
        losses = losses_of(found.logits, labels, is_regression)
        return fine_tuning_utils.HeadOutput(losses, outputs, logged)

    return head


def tpu_metrics(names: Sequence[str], num_labels: int = 2) -> Callable:
    """Returns the metric_fn of the metrics `names`; see model_fn.build_model_fn."""

    def metric_fn(
        *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
    ) -> Dict[str, Any]:
        return metrics.in_graph(
            names,
            labels=outputs["label_ids"],
            predictions=outputs["predictions"],
            losses=per_example_loss,
            weights=is_real_example,
            num_labels=num_labels,
        )

    return metric_fn
