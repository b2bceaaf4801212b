# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The head of multiple choice, and its metrics inside the graph.

Dimensions: B batch, C options, S sequence, H hidden.
"""

from typing import NamedTuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling

SEQUENCES = ("input_ids", "input_mask", "segment_ids")
METRICS = ("eval_accuracy", "eval_loss")


class Choice(NamedTuple):
    """The outputs of the head."""

    logits: tf.Tensor  # float32 [B, C]
    probabilities: tf.Tensor  # float32 [B, C]
    predictions: tf.Tensor  # int32 [B]


def choose(
    encoder: fine_tuning_utils.Encoder,
    features: fine_tuning_utils.Features,
    *,
    dropout_prob: float,
) -> Choice:
    """Returns a softmax over the options, of one number for each option's pooled output.

    Features are int32 [B, C, S].
    """
    num_choices = modeling.get_shape_list(features["input_ids"])[1]
    sequences = []
    for name in SEQUENCES:
        length = modeling.get_shape_list(features[name])[-1]
        sequences.append(tf.reshape(features[name], [-1, length]))  # [B * C, S]
    pooled = encoder(*sequences).pooled_output  # [B * C, H]
    hidden = int(pooled.shape[-1])
    weights = modeling.get_weight(
        "output_weights", [1, hidden], fine_tuning_utils.HEAD_INITIALIZER_RANGE
    )
    bias = tf.get_variable("output_bias", [1], initializer=tf.zeros_initializer())
    pooled = encoder.dropout(pooled, dropout_prob)
    scores = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)  # [B * C, 1]
    logits = tf.reshape(scores, [-1, num_choices])  # [B, C]
    predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
    return Choice(logits, tf.nn.softmax(logits, axis=-1), predictions)


def losses_of(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns the cross entropy of each question; float32 [B]."""
    labels = tf.reshape(labels, [-1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def choice_head(dropout_prob: float) -> fine_tuning_utils.Head:
    """Returns the head, with the outputs of `Choice` and label_ids."""

    def head(
        features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        found = choose(encoder, features, dropout_prob=dropout_prob)
        if "label_ids" not in features:  # of an exported model
            return fine_tuning_utils.HeadOutput(None, found._asdict(), {})
        labels = tf.reshape(features["label_ids"], [-1])
        outputs = dict(found._asdict(), label_ids=labels)
        logged = {"accuracy": tf.equal(found.predictions, labels)}
        return fine_tuning_utils.HeadOutput(losses_of(found.logits, labels), outputs, logged)

    return head
