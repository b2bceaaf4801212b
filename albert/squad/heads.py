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
from albert.ops import plain
from albert.squad.decoding import Beams

Features = fine_tuning_utils.Features

# The penalty of positions that cannot be part of an answer; float32 can hold it.
IMPOSSIBLE = -1e30


class BeamSize(NamedTuple):
    """How many starts are followed in a v2 prediction, and how many ends each."""

    start_n_top: int = 5
    end_n_top: int = 5


def _positions_loss(logits: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """The cross entropy of the right position, [B], of logits [B, L]."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(positions, [-1]), logits=logits
    )


def _are_found(start_logits: tf.Tensor, end_logits: tf.Tensor, features: Features) -> tf.Tensor:
    """Whether the right start and the right end have the highest logits, [B]."""
    found = []
    for logits, name in ((start_logits, "start_positions"), (end_logits, "end_positions")):
        best = tf.argmax(logits, axis=-1, output_type=tf.int32)
        found.append(tf.equal(best, tf.cast(tf.reshape(features[name], [-1]), tf.int32)))
    return tf.logical_and(*found)


# ---- v1 ----


class SpanLogits(NamedTuple):
    """What the v1 head says of each position."""

    start_logits: tf.Tensor  # float32 [B, L]
    end_logits: tf.Tensor  # float32 [B, L]


def span_logits(encoder: fine_tuning_utils.Encoder, features: Features) -> SpanLogits:
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


def v1_head(max_seq_length: Optional[int]) -> fine_tuning_utils.Head:
    """Returns the head of SQuAD v1.1 for model_fn.build_model_fn.

    Its outputs are start_logits and end_logits [B, S], and unique_ids [B] where features have them.
    Without max_seq_length the logits are as long as the batch, [B, L].
    """

    def head(
        features: Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        found = span_logits(encoder, features)
        if not encoder.is_training:
            outputs = dict(found._asdict())
            if max_seq_length:
                outputs = {name: _padded(value, max_seq_length) for name, value in outputs.items()}
            return fine_tuning_utils.HeadOutput(None, dict(outputs, **_unique_ids(features)), {})
        losses = _positions_loss(found.start_logits, features["start_positions"])
        losses += _positions_loss(found.end_logits, features["end_positions"])
        logged = {"span_accuracy": _are_found(*found, features)}
        return fine_tuning_utils.HeadOutput(losses / 2, {}, logged)

    return head


def _padded(logits: tf.Tensor, length: int) -> tf.Tensor:
    """Logits [B, L] as [B, S]; positions that the batch was cut by are never the best."""
    if logits.shape.as_list()[1] == length:
        return logits  # TensorFlow Lite of 1.15 does not take the padding
    missing = length - tf.shape(logits)[1]
    padded = tf.pad(logits, [[0, 0], [0, missing]], constant_values=IMPOSSIBLE)
    return tf.reshape(padded, [-1, length])


def _unique_ids(features: Features) -> Dict[str, tf.Tensor]:
    return {name: features[name] for name in ("unique_ids",) if name in features}


# ---- v2 ----


class _Reader:
    """The v2 head's layers over one batch."""

    def __init__(self, encoder: fine_tuning_utils.Encoder, features: Features, dropout_prob: float):
        encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
        self.sequence = encoded.sequence_output  # [B, L, H]
        self.hidden = int(self.sequence.shape[-1])
        self._encoder = encoder
        self._dropout_prob = dropout_prob
        self._initializer_range = fine_tuning_utils.HEAD_INITIALIZER_RANGE
        if encoder.config:
            self._initializer_range = encoder.config.initializer_range
        self._is_masked = tf.cast(features["p_mask"], tf.float32)  # [B, L]
        self.length = tf.shape(self.sequence)[1]

    def start_logits(self) -> tf.Tensor:
        """[B, L]."""
        weights = self._dense("start_logits/dense", 1)
        flat = tf.reshape(self.sequence, [-1, self.hidden])
        return self._masked(tf.reshape(plain.dense(flat, weights), [-1, self.length]))

    def end_logits(self, starts: tf.Tensor) -> tf.Tensor:
        """[B, K, L], for each of the starts [B, K].

        The product with [token; start] is the sum of two products, of which the one with the tokens
        is the same for all starts.
        """
        count = int(starts.shape[1])
        kernel, bias = self._dense("end_logits/dense_0", self.hidden, inputs=2 * self.hidden)
        norm = modeling.get_norm("end_logits/LayerNorm", self.hidden)
        last = self._dense("end_logits/dense_1", 1)
        flat = tf.reshape(self.sequence, [-1, self.hidden])
        tokens = tf.matmul(flat, kernel[: self.hidden])  # [B * L, H]
        tokens = tf.reshape(tokens, [-1, 1, self.length, self.hidden])
        chosen = modeling.gather_indexes(self.sequence, starts)  # [B * K, H]
        chosen = tf.nn.bias_add(tf.matmul(chosen, kernel[self.hidden :]), bias)
        chosen = tf.reshape(chosen, [-1, count, 1, self.hidden])
        states = plain.layer_norm(tf.tanh(tokens + chosen), norm)  # [B, K, L, H]
        logits = plain.dense(tf.reshape(states, [-1, self.hidden]), last)
        return self._masked(tf.reshape(logits, [-1, count, self.length]))

    def cls_logits(self, start_logits: tf.Tensor) -> tf.Tensor:
        """[B]: the higher, the likelier there is no answer."""
        shares = tf.nn.softmax(start_logits)[:, tf.newaxis]  # [B, 1, L]
        expected = tf.squeeze(tf.matmul(shares, self.sequence), [1])  # [B, H]
        both = tf.concat([expected, self.sequence[:, 0]], axis=-1)  # [B, 2H]
        weights = self._dense("answer_class/dense_0", self.hidden, inputs=2 * self.hidden)
        state = tf.tanh(plain.dense(both, weights))
        state = self._encoder.dropout(state, self._dropout_prob)
        kernel = modeling.get_weight(
            "answer_class/dense_1/kernel", [self.hidden, 1], self._initializer_range
        )
        return tf.squeeze(tf.matmul(state, kernel), [-1])

    def _dense(self, path: str, outputs: int, inputs: Optional[int] = None) -> plain.Dense:
        shape = [inputs or self.hidden, outputs]
        return modeling.get_dense(path, shape, self._initializer_range)

    def _masked(self, logits: tf.Tensor) -> tf.Tensor:
        """Logits [B, L] or [B, K, L] with positions outside the paragraph ruled out."""
        mask = self._is_masked
        if logits.shape.ndims == 3:
            mask = mask[:, tf.newaxis]
        return logits * (1 - mask) + IMPOSSIBLE * mask


class AnswerLogits(NamedTuple):
    """The v2 head's outputs in training, where the right start is known."""

    start_logits: tf.Tensor  # float32 [B, L]
    end_logits: tf.Tensor  # float32 [B, L], given the right start
    cls_logits: tf.Tensor  # float32 [B]


def answer_logits(
    encoder: fine_tuning_utils.Encoder, features: Features, dropout_prob: float
) -> AnswerLogits:
    """Returns the v2 head's logits, the end's given features["start_positions"]."""
    reader = _Reader(encoder, features, dropout_prob)
    start = reader.start_logits()
    right = tf.reshape(tf.cast(features["start_positions"], tf.int32), [-1, 1])
    end = tf.squeeze(reader.end_logits(right), [1])
    return AnswerLogits(start, end, reader.cls_logits(start))


def answer_beams(encoder: fine_tuning_utils.Encoder, features: Features, beam: BeamSize) -> Beams:
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

    def head(
        features: Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        if not encoder.is_training:
            beams = answer_beams(encoder, features, beam)
            outputs = dict(beams._asdict(), **_unique_ids(features))
            return fine_tuning_utils.HeadOutput(None, outputs, {})
        found = answer_logits(encoder, features, dropout_prob)
        impossible = tf.cast(tf.reshape(features["is_impossible"], [-1]), tf.float32)
        losses = _positions_loss(found.start_logits, features["start_positions"])
        losses += _positions_loss(found.end_logits, features["end_positions"])
        losses += tf.nn.sigmoid_cross_entropy_with_logits(
            labels=impossible, logits=found.cls_logits
        )
        logged = {
            "span_accuracy": _are_found(found.start_logits, found.end_logits, features),
            "answerable_accuracy": tf.equal(found.cls_logits > 0, impossible > 0.5),
        }
        return fine_tuning_utils.HeadOutput(losses / 2, {}, logged)

    return head
