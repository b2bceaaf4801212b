# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads of fine-tuning on given vectors, against float64 NumPy.

What the encoder gives is drawn at random, so that a head's graph is all there is to run.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.classification import model
from albert.race import model as race_model
from albert.squad import heads

BATCH, LENGTH, HIDDEN = 3, 7, 4
BEAM = heads.BeamSize(start_n_top=2, end_n_top=3)


class GivenEncoder:
    """In place of fine_tuning_utils.Encoder; its dropout multiplies by the rate, to be seen."""

    config = modeling.AlbertConfig(50)

    def __init__(self, rows, is_training):
        random = np.random.RandomState(7)
        self.sequence, self.pooled = random.randn(rows, LENGTH, HIDDEN), random.randn(rows, HIDDEN)
        self.is_training = is_training

    def __call__(self, input_ids, input_mask, segment_ids):
        assert input_ids.shape.as_list() == [len(self.pooled), LENGTH]
        tensors = tf.constant(self.pooled, tf.float32), tf.constant(self.sequence, tf.float32)
        return fine_tuning_utils.Encoded(*tensors)

    def dropout(self, tensor, rate, position=-1):
        return tensor * rate if self.is_training else tensor


def run(head, features, encoder):
    """The head's output as arrays, and the weights by name, drawn at random."""
    random = np.random.RandomState(8)
    with tf.Graph().as_default(), tf.Session() as session:
        sequences = [BATCH, LENGTH] if len(encoder.pooled) == BATCH else [BATCH, -1, LENGTH]
        zeros = np.zeros([len(encoder.pooled), LENGTH], np.int32).reshape(sequences)
        given = dict(dict.fromkeys(race_model.SEQUENCES, zeros), **features)
        output = head({name: tf.constant(value) for name, value in given.items()}, encoder)
        session.run(tf.global_variables_initializer())
        weights = {}
        for variable in tf.trainable_variables():
            weights[variable.op.name] = random.randn(*variable.shape.as_list())
            session.run(variable.assign(weights[variable.op.name]))
        if output.per_example_loss is None:
            output = output._replace(per_example_loss=())
        return session.run(output), weights


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def cross_entropy(logits, labels):
    return -log_softmax(logits)[np.arange(len(labels)), labels]


def assert_near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def assert_choice(found, logits, labels):
    """The outputs of a softmax over logits [B, n], and its loss."""
    assert_near(found.outputs["logits"], logits)
    assert_near(found.outputs["probabilities"], np.exp(log_softmax(logits)))
    np.testing.assert_array_equal(found.outputs["predictions"], logits.argmax(-1))
    assert_near(found.per_example_loss, cross_entropy(logits, labels))


@pytest.mark.parametrize("is_training, factor", [(True, 0.1), (False, 1.0)])
def test_the_classifier_is_dropout_a_dense_layer_and_a_softmax(is_training, factor):
    labels = np.array([2, 0, 1], np.int32)
    encoder = GivenEncoder(BATCH, is_training)
    head = model.classification_head(3, is_regression=False)
    found, weights = run(head, {"label_ids": labels}, encoder)
    logits = factor * encoder.pooled @ weights["output_weights"].T + weights["output_bias"]
    assert_choice(found, logits, labels)


def test_the_regressor_has_the_squared_error():
    labels = np.array([2.5, 0.0, 5.0], np.float32)
    encoder = GivenEncoder(BATCH, False)
    head = model.classification_head(1, is_regression=True)
    found, weights = run(head, {"label_ids": labels}, encoder)
    scores = encoder.pooled @ weights["output_weights"][0] + weights["output_bias"]
    assert_near(found.outputs["predictions"], scores)
    assert_near(found.per_example_loss, (scores - labels) ** 2)


def test_multiple_choice_is_a_softmax_over_a_questions_own_options():
    labels = np.array([3, 0, 2], np.int32)
    encoder = GivenEncoder(4 * BATCH, True)
    found, weights = run(race_model.choice_head(0.3), {"label_ids": labels}, encoder)
    scores = 0.3 * encoder.pooled @ weights["output_weights"][0] + weights["output_bias"]
    assert_choice(found, scores.reshape(BATCH, 4), labels)


ANSWERS = {
    "start_positions": np.array([3, 2, 0], np.int32),
    "end_positions": np.array([5, 2, 0], np.int32),
    "is_impossible": np.array([0, 0, 1], np.int32),
    # [CLS] and the paragraph may hold an answer.
    "p_mask": np.array([[0, 1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 1, 1], [0, 1, 1, 0, 0, 1, 1]]),
}


def test_the_v1_head_is_a_dense_layer_whose_columns_are_start_and_end():
    logits = {}
    for is_training in (True, False):
        encoder = GivenEncoder(BATCH, is_training)
        found, weights = run(heads.v1_head, ANSWERS, encoder)
        both = encoder.sequence @ weights["cls/squad/output_weights"].T
        both += weights["cls/squad/output_bias"]
        logits = {"start": both[..., 0], "end": both[..., 1]}
        if is_training:
            losses = [cross_entropy(logits[s], ANSWERS[f"{s}_positions"]) for s in logits]
            assert_near(found.per_example_loss, (losses[0] + losses[1]) / 2)
    for side, values in logits.items():
        assert_near(found.outputs[f"{side}_logits"], values)


class NumpyReader:
    """The v2 head (arXiv:1906.08237, appendix A.4), one start and end after another."""

    def __init__(self, sequence, weights):
        self._sequence, self._weights = sequence, weights

    def _dense(self, x, path):
        return x @ self._weights[f"{path}/kernel"] + self._weights[f"{path}/bias"]

    def _ruled_out(self, logits, row):
        return np.where(ANSWERS["p_mask"][row] > 0, -1e30, logits)

    def starts(self, row):
        logits = self._dense(self._sequence[row], "start_logits/dense")
        return self._ruled_out(logits[:, 0], row)

    def ends(self, row, start):
        """The end's logits [L] where the answer begins at `start`."""
        tokens = self._sequence[row]
        both = np.concatenate([tokens, np.tile(tokens[start], [LENGTH, 1])], axis=-1)
        states = np.tanh(self._dense(both, "end_logits/dense_0"))
        centred = states - states.mean(-1, keepdims=True)
        states = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        states = states * self._weights["end_logits/LayerNorm/gamma"]
        states = states + self._weights["end_logits/LayerNorm/beta"]
        return self._ruled_out(self._dense(states, "end_logits/dense_1")[:, 0], row)

    def no_answer(self, row, factor):
        shares = np.exp(log_softmax(self.starts(row)))
        both = np.concatenate([shares @ self._sequence[row], self._sequence[row, 0]])
        state = factor * np.tanh(self._dense(both, "answer_class/dense_0"))
        return (state @ self._weights["answer_class/dense_1/kernel"])[0]


def test_the_v2_head_learns_the_end_after_its_start_and_whether_there_is_an_answer():
    encoder = GivenEncoder(BATCH, True)
    found, weights = run(heads.v2_head(BEAM, 0.2), ANSWERS, encoder)
    reader = NumpyReader(encoder.sequence, weights)
    for row in range(BATCH):
        start, end, impossible = (ANSWERS[name][row] for name in list(ANSWERS)[:3])
        logit = reader.no_answer(row, 0.2)
        loss = -log_softmax(reader.starts(row))[start]
        loss -= log_softmax(reader.ends(row, start))[end]
        loss += np.log1p(np.exp(-logit if impossible else logit))
        assert_near(found.per_example_loss[row], loss / 2)


def test_the_v2_head_follows_the_best_starts_to_their_best_ends():
    encoder = GivenEncoder(BATCH, False)
    found, weights = run(heads.v2_head(BEAM, 0.2), ANSWERS, encoder)
    reader, outputs = NumpyReader(encoder.sequence, weights), found.outputs
    for row in range(BATCH):
        start_scores = log_softmax(reader.starts(row))
        starts = np.argsort(-start_scores)[: BEAM.start_n_top]
        np.testing.assert_array_equal(outputs["start_top_index"][row], starts)
        assert_near(outputs["start_top_log_probs"][row], start_scores[starts])
        end_scores = [log_softmax(reader.ends(row, start)) for start in starts]
        ends = [np.argsort(-scores)[: BEAM.end_n_top] for scores in end_scores]
        np.testing.assert_array_equal(outputs["end_top_index"][row], np.concatenate(ends))
        best = np.concatenate([scores[places] for scores, places in zip(end_scores, ends)])
        assert_near(outputs["end_top_log_probs"][row], best)
        assert_near(outputs["cls_logits"][row], reader.no_answer(row, 1.0))
