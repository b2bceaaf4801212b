# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The two heads for SQuAD: where an answer starts and ends, and whether there is one.

v1 is BERT's: one dense layer (arXiv:1810.04805, section 4.2). v2 is XLNet's, as run_squad_v2 of the
public ALBERT code has it (arXiv:1906.08237, appendix A.4): the end depends on the start, and a
classifier says whether there is no answer. Positions are those of the whole sequence.

Dimensions: B batch, L length of this batch, S max_seq_length, H hidden, K starts, E ends each.
"""

from typing import Dict, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.fine_tuning_utils import Encoder, Features, HeadOutput
from albert.ops import plain
from albert.squad.decoding import Beams

# The penalty of positions that cannot be part of an answer; float32 can hold it.
IMPOSSIBLE = -1e30


class BeamSize(NamedTuple):
    """How many starts are followed in a v2 prediction, and how many ends each."""

    start_n_top: int = 5
    end_n_top: int = 5


def _span_losses(
    start_logits: tf.Tensor, end_logits: tf.Tensor, features: Features
) -> Tuple[tf.Tensor, tf.Tensor]:
    """The cross entropies of the right start and end, summed, and whether both are best; [B]."""
    losses, hits = [], []
    for logits, name in ((start_logits, "start_positions"), (end_logits, "end_positions")):
        labels = tf.cast(tf.reshape(features[name], [-1]), tf.int32)
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        hits.append(tf.equal(tf.argmax(logits, axis=-1, output_type=tf.int32), labels))
    return losses[0] + losses[1], tf.logical_and(*hits)


def _prediction(outputs: Dict[str, tf.Tensor], features: Features) -> HeadOutput:
    """The outputs with unique_ids [B], where features have them."""
    ids = {name: features[name] for name in ("unique_ids",) if name in features}
    return HeadOutput(None, {**outputs, **ids}, {})


# ---- v1 ----


class SpanLogits(NamedTuple):
    """What the v1 head says of each position."""

    start_logits: tf.Tensor  # float32 [B, L]
    end_logits: tf.Tensor  # float32 [B, L]


def span_logits(encoder: Encoder, features: Features) -> SpanLogits:
    """Returns the logits of the v1 head; its variables are cls/squad/output_{weights,bias}."""
    encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
    sequence = encoded.sequence_output  # [B, L, H]
    hidden = int(sequence.shape[-1])
    initializer_range = fine_tuning_utils.HEAD_INITIALIZER_RANGE
    weights = modeling.get_weight("cls/squad/output_weights", [2, hidden], initializer_range)
    bias = tf.get_variable("cls/squad/output_bias", [2], initializer=tf.zeros_initializer())
    flat = tf.reshape(sequence, [-1, hidden])  # [B * L, H]
    logits = tf.nn.bias_add(tf.matmul(flat, weights, transpose_b=True), bias)  # [B * L, 2]
    logits = tf.reshape(logits, [-1, tf.shape(sequence)[1], 2])
    start, end = tf.unstack(logits, axis=-1)
    return SpanLogits(start, end)


def v1_head(features: Features, encoder: Encoder) -> HeadOutput:
    """Builds the head of SQuAD v1.1, with outputs start_logits, end_logits [B, L], unique_ids."""
    found = span_logits(encoder, features)
    if not encoder.is_training:
        return _prediction(found._asdict(), features)
    losses, hits = _span_losses(*found, features)
    return HeadOutput(losses / 2, {}, {"span_accuracy": hits})


# ---- v2 ----


class _Reader:
    """The v2 head's layers over one batch."""

    def __init__(self, encoder: Encoder, features: Features, dropout_prob: float):
        encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
        self._encoder, self._dropout_prob = encoder, dropout_prob
        self._sequence = encoded.sequence_output  # [B, L, H]
        self._length, self._hidden = tf.shape(self._sequence)[1], int(self._sequence.shape[-1])
        self._flat = tf.reshape(self._sequence, [-1, self._hidden])  # [B * L, H]
        self._mask = tf.cast(features["p_mask"], tf.float32)  # [B, L]

    def start_logits(self) -> tf.Tensor:
        """[B, L]."""
        logits = plain.dense(self._flat, self._weights("start_logits/dense", 1))
        return _masked(tf.reshape(logits, [-1, self._length]), self._mask)

    def end_logits(self, starts: tf.Tensor) -> tf.Tensor:
        """[B, K, L], for each of the starts [B, K].

        The product with [token; start] is the sum of two products, of which the one with the tokens
        is the same for all starts.
        """
        count, hidden = int(starts.shape[1]), self._hidden
        kernel, bias = self._weights("end_logits/dense_0", hidden, inputs=2 * hidden)
        norm = modeling.get_norm("end_logits/LayerNorm", hidden)
        tokens = tf.matmul(self._flat, kernel[:hidden])  # [B * L, H]
        tokens = tf.reshape(tokens, [-1, 1, self._length, hidden])
        chosen = modeling.gather_indexes(self._sequence, starts)  # [B * K, H]
        chosen = tf.nn.bias_add(tf.matmul(chosen, kernel[hidden:]), bias)
        chosen = tf.reshape(chosen, [-1, count, 1, hidden])
        states = plain.layer_norm(tf.tanh(tokens + chosen), norm)  # [B, K, L, H]
        weights = self._weights("end_logits/dense_1", 1)
        logits = plain.dense(tf.reshape(states, [-1, hidden]), weights)
        return _masked(tf.reshape(logits, [-1, count, self._length]), self._mask[:, tf.newaxis])

    def cls_logits(self, start_logits: tf.Tensor) -> tf.Tensor:
        """[B]: the higher, the likelier there is no answer."""
        shares = tf.nn.softmax(start_logits)[:, tf.newaxis]  # [B, 1, L]
        expected = tf.squeeze(tf.matmul(shares, self._sequence), [1])  # [B, H]
        both = tf.concat([expected, self._sequence[:, 0]], axis=-1)  # [B, 2H]
        weights = self._weights("answer_class/dense_0", self._hidden, inputs=2 * self._hidden)
        state = tf.tanh(plain.dense(both, weights))
        state = self._encoder.dropout(state, self._dropout_prob)
        path, spread = "answer_class/dense_1/kernel", self._encoder.config.initializer_range
        kernel = modeling.get_weight(path, [self._hidden, 1], spread)
        return tf.squeeze(tf.matmul(state, kernel), [-1])

    def _weights(self, path: str, outputs: int, inputs: Optional[int] = None) -> plain.Dense:
        shape = [inputs or self._hidden, outputs]
        return modeling.get_dense(path, shape, self._encoder.config.initializer_range)


def _masked(logits: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Logits with positions outside the paragraph ruled out."""
    return logits * (1 - mask) + IMPOSSIBLE * mask


class AnswerLogits(NamedTuple):
    """The v2 head's outputs in training, where the right start is known."""

    start_logits: tf.Tensor  # float32 [B, L]
    end_logits: tf.Tensor  # float32 [B, L], given the right start
    cls_logits: tf.Tensor  # float32 [B]


def answer_logits(encoder: Encoder, features: Features, dropout_prob: float) -> AnswerLogits:
    """Returns the v2 head's logits, the end's given features["start_positions"]."""
    reader = _Reader(encoder, features, dropout_prob)
    start = reader.start_logits()
    right = tf.reshape(tf.cast(features["start_positions"], tf.int32), [-1, 1])
    end = tf.squeeze(reader.end_logits(right), [1])
    return AnswerLogits(start, end, reader.cls_logits(start))


def answer_beams(encoder: Encoder, features: Features, beam: BeamSize) -> Beams:
    """Returns the v2 head's best answers; log probabilities are among all positions."""
    reader = _Reader(encoder, features, dropout_prob=0.0)
    start_logits = reader.start_logits()
    start_log_probs, starts = _top(start_logits, beam.start_n_top)
    end_log_probs, ends = _top(reader.end_logits(starts), beam.end_n_top)
    flat = [-1, beam.start_n_top * beam.end_n_top]
    return Beams(
        start_log_probs,
        starts,
        tf.reshape(end_log_probs, flat),
        tf.reshape(ends, flat),
        reader.cls_logits(start_logits),
    )


def _top(logits: tf.Tensor, count: int) -> Tuple[tf.Tensor, tf.Tensor]:
    """The log probabilities of the best positions among all, and these; [..., count] each.

    Where a batch is shorter than `count`, its last position, which is no answer's, fills up.
    """
    length = tf.shape(logits)[-1]
    missing = [[0, 0]] * (logits.shape.ndims - 1) + [[0, tf.maximum(count - length, 0)]]
    log_probs = tf.pad(tf.nn.log_softmax(logits), missing, constant_values=IMPOSSIBLE)
    best, index = tf.nn.top_k(log_probs, k=count)
    return best, tf.minimum(index, length - 1)


def v2_head(beam: BeamSize, dropout_prob: float) -> fine_tuning_utils.Head:
    """Returns the head of SQuAD v2.0 for model_fn.build_model_fn.

    Its outputs are those of `Beams`, and unique_ids [B] where features have them. The loss is half
    the sum of start and end, plus half the sigmoid cross entropy of is_impossible.

    Args:
      beam: how many answers are looked at in prediction.
      dropout_prob: of the classifier that says whether there is an answer.
    """

    def head(features: Features, encoder: Encoder) -> HeadOutput:
        if not encoder.is_training:
            return _prediction(answer_beams(encoder, features, beam)._asdict(), features)
        found = answer_logits(encoder, features, dropout_prob)
        impossible = tf.cast(tf.reshape(features["is_impossible"], [-1]), tf.float32)
        losses, hits = _span_losses(found.start_logits, found.end_logits, features)
        losses += tf.nn.sigmoid_cross_entropy_with_logits(
            labels=impossible, logits=found.cls_logits
        )
        is_right = tf.equal(found.cls_logits > 0, impossible > 0.5)
        logged = {"span_accuracy": hits, "answerable_accuracy": is_right}
        return HeadOutput(losses / 2, {}, logged)

    return head
