# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The two heads for SQuAD: where an answer starts and ends, and whether there is one.

v1 is BERT's head: one dense layer (arXiv:1810.04805, section 4.2). v2 is XLNet's head
(arXiv:1906.08237, appendix A.4), as in google-research/albert: the end depends on the start, and a
classifier predicts whether there is no answer. Positions are indices into the whole sequence.

Dimensions: B batch, L length of this batch, H hidden, K starts, E ends per start.
"""

from typing import Any, Dict, NamedTuple, Tuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.data.packing import SEQUENCES
from albert.fine_tuning_utils import Encoder, Features, HeadOutput
from albert.ops import plain
from albert.tasks.squad.decoding import BEAMS

# The logit of positions that cannot be part of an answer.
IMPOSSIBLE = -1e30


class V2Options(NamedTuple):
    """Flags of the v2 head."""

    start_n_top: int = 5  # starts to try in prediction
    end_n_top: int = 5  # ends to try per start
    dropout_prob: float = 0.1  # in the classifier for questions without an answer


def answer_mask(features: Features) -> tf.Tensor:
    """Returns p_mask, float32 [B, L]: 0 at [CLS] and the paragraph's tokens, else 1.

    Exported models compute p_mask from their inputs. The paragraph is segment 1 without its last
    token, [SEP].
    """
    used = tf.cast(features["input_mask"], tf.float32)
    has_next = tf.pad(used[:, 1:], [[0, 0], [0, 1]])
    paragraph = tf.cast(features["segment_ids"], tf.float32) * used * has_next
    first = tf.pad(tf.ones_like(used[:, :1]), [[0, 0], [0, tf.shape(used)[1] - 1]])
    return 1.0 - tf.maximum(paragraph, first)


def _encode(encoder: Encoder, features: Features) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns the encoder's output as [B, L, H] and as [B * L, H]."""
    inputs = (features[name] for name in SEQUENCES)
    sequence = encoder(*inputs).sequence_output
    return sequence, tf.reshape(sequence, [-1, int(sequence.shape[-1])])


def span_logits(encoder: Encoder, features: Features) -> Dict[str, tf.Tensor]:
    """Returns start_logits and end_logits of the v1 head, float32 [B, L].

    The variables are cls/squad/output_{weights,bias}.
    """
    sequence, flat = _encode(encoder, features)
    shape = [2, int(flat.shape[-1])]
    initializer_range = fine_tuning_utils.HEAD_INITIALIZER_RANGE
    weights = modeling.get_weight("cls/squad/output_weights", shape, initializer_range)
    bias = tf.get_variable("cls/squad/output_bias", [2], initializer=tf.zeros_initializer())
    logits = tf.nn.bias_add(tf.matmul(flat, weights, transpose_b=True), bias)  # [B * L, 2]
    logits = tf.reshape(logits, [-1, tf.shape(sequence)[1], 2])
    start, end = logits[:, :, 0], logits[:, :, 1]  # TensorFlow Lite of 1.15 gets unstack wrong
    return {"start_logits": start, "end_logits": end}


def answer_logits(encoder: Encoder, features: Features, options: Any) -> Dict[str, tf.Tensor]:
    """Returns the outputs of the v2 head by name.

    In training, they are start_logits [B, L], end_logits [B, L] for the right start, which is
    features["start_positions"], and cls_logits [B]. In prediction, they are decoding.BEAMS, whose
    log probabilities are relative to all positions.

    `options` are V2Options, or flags with these names.
    """
    sequence, flat = _encode(encoder, features)
    length, hidden = tf.shape(sequence)[1], int(sequence.shape[-1])
    initializer_range = encoder.config.initializer_range
    outside = tf.cast(features["p_mask"], tf.float32)  # [B, L]

    def layer(path: str, outputs: int, inputs: int = hidden) -> plain.Dense:
        return modeling.get_dense(path, [inputs, outputs], initializer_range)

    # Scores of starts.
    start_logits = plain.dense(flat, layer("start_logits/dense", 1))
    start_logits = masked(tf.reshape(start_logits, [-1, length]), outside)
    if encoder.is_training:
        starts = tf.reshape(tf.cast(features["start_positions"], tf.int32), [-1, 1])
        count = 1
    else:
        count = options.start_n_top
        start_log_probs, starts = _top(start_logits, count)  # [B, K]

    # Scores of ends, for each start. The product with [token; start] is a sum of two products. The
    # product with the tokens is the same for all starts.
    kernel, bias = layer("end_logits/dense_0", hidden, inputs=2 * hidden)
    norm = modeling.get_norm("end_logits/LayerNorm", hidden)
    tokens = tf.reshape(tf.matmul(flat, kernel[:hidden]), [-1, 1, length, hidden])
    start_states = modeling.gather_indexes(sequence, starts)  # [B * K, H]
    start_states = tf.nn.bias_add(tf.matmul(start_states, kernel[hidden:]), bias)
    start_states = tf.reshape(start_states, [-1, count, 1, hidden])
    states = plain.layer_norm(tf.tanh(tokens + start_states), norm)  # [B, K, L, H]
    end_logits = plain.dense(tf.reshape(states, [-1, hidden]), layer("end_logits/dense_1", 1))
    end_logits = tf.reshape(end_logits, [-1, count, length])
    end_logits = masked(end_logits, outside[:, tf.newaxis])

    # Score of "no answer".
    probabilities = tf.nn.softmax(start_logits)[:, tf.newaxis]  # [B, 1, L]
    expected_start = tf.squeeze(tf.matmul(probabilities, sequence), [1])  # [B, H]
    inputs = tf.concat([expected_start, sequence[:, 0]], axis=-1)  # [B, 2H]
    state = tf.tanh(plain.dense(inputs, layer("answer_class/dense_0", hidden, inputs=2 * hidden)))
    state = encoder.dropout(state, options.dropout_prob)
    kernel = modeling.get_weight("answer_class/dense_1/kernel", [hidden, 1], initializer_range)
    cls_logits = tf.squeeze(tf.matmul(state, kernel), [-1])
    if encoder.is_training:
        end_logits = tf.squeeze(end_logits, [1])
        return {"start_logits": start_logits, "end_logits": end_logits, "cls_logits": cls_logits}
    end_log_probs, ends = _top(end_logits, options.end_n_top)  # [B, K, E]
    flat = [-1, count * options.end_n_top]
    end_log_probs, ends = tf.reshape(end_log_probs, flat), tf.reshape(ends, flat)
    return dict(zip(BEAMS, (start_log_probs, starts, end_log_probs, ends, cls_logits)))


def masked(logits: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Returns the logits, with IMPOSSIBLE if the mask is 1."""
    return logits * (1 - mask) + IMPOSSIBLE * mask


def _top(logits: tf.Tensor, count: int) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns (log probabilities, positions) of the best positions, [..., count] each.

    If the sequences are shorter than `count`, repeats their last position, which is never a
    candidate.
    """
    length = tf.shape(logits)[-1]
    paddings = [[0, 0]] * (logits.shape.ndims - 1) + [[0, tf.maximum(count - length, 0)]]
    log_probs = tf.pad(tf.nn.log_softmax(logits), paddings, constant_values=IMPOSSIBLE)
    best, index = tf.nn.top_k(log_probs, k=count)
    return best, tf.minimum(index, length - 1)


# ---- heads ----


def v1_head(features: Features, encoder: Encoder) -> HeadOutput:
    """Builds the head of SQuAD v1.1, with outputs start_logits, end_logits [B, L], unique_ids."""
    return _head_output(span_logits(encoder, features), features, encoder)


def v2_head(features: Features, encoder: Encoder, options: Any) -> HeadOutput:
    """Builds the head of SQuAD v2.0, with unique_ids and `answer_logits` as outputs."""
    return _head_output(answer_logits(encoder, features, options), features, encoder)


def _head_output(outputs: Dict[str, tf.Tensor], features: Features, encoder: Encoder) -> HeadOutput:
    """Returns the outputs, with unique_ids [B] if features have them; in training, the losses.

    A loss is half the sum of the cross entropies of start, end and, in v2, is_impossible.
    """
    if not encoder.is_training:
        ids = {name: features[name] for name in ("unique_ids",) if name in features}
        return HeadOutput(None, {**outputs, **ids}, {})
    losses, hits = [], []
    for side in ("start", "end"):
        labels = tf.cast(tf.reshape(features[f"{side}_positions"], [-1]), tf.int32)
        logits = outputs[f"{side}_logits"]
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        hits.append(tf.equal(tf.argmax(logits, axis=-1, output_type=tf.int32), labels))
    logged = {"span_accuracy": tf.logical_and(*hits)}
    if "cls_logits" in outputs:
        logits = outputs["cls_logits"]
        labels = tf.cast(tf.reshape(features["is_impossible"], [-1]), tf.float32)
        losses.append(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
        logged["answerable_accuracy"] = tf.equal(logits > 0, labels > 0.5)
    return HeadOutput(sum(losses) / 2, {}, logged)
