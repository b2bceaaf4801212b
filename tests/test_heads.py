# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads of fine-tuning on given vectors, against recorded float64 outputs and losses.

What the encoder gives is drawn at random, so that a head's graph is all there is to run.
"""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.tasks.classification import head as classification_head
from albert.tasks.race import head as race_head
from albert.tasks.squad import head as squad_head
from tests.support import graphs, recorded

BATCH, LENGTH, HIDDEN = 3, 7, 4


class GivenEncoder:
    """In place of fine_tuning_utils.Encoder; its dropout multiplies by the rate, to be seen."""

    config = modeling.AlbertConfig(50, hidden_size=HIDDEN, num_attention_heads=1)

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


def run_head(head, features, encoder):
    """The head's output as arrays, with weights that are drawn at random."""
    random = np.random.RandomState(8)
    with graphs.new_session() as session:
        sequences = [BATCH, LENGTH] if len(encoder.pooled) == BATCH else [BATCH, -1, LENGTH]
        zeros = np.zeros([len(encoder.pooled), LENGTH], np.int32).reshape(sequences)
        given = dict(dict.fromkeys(race_head.SEQUENCES, zeros), **features)
        output = head({name: tf.constant(value) for name, value in given.items()}, encoder)
        session.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            variable.load(random.randn(*variable.shape.as_list()), session)
        if output.per_example_loss is None:
            output = output._replace(per_example_loss=())
        return session.run(output)


ANSWERS = {
    "start_positions": np.array([3, 2, 0], np.int32),
    "end_positions": np.array([5, 2, 0], np.int32),
    "is_impossible": np.array([0, 0, 1], np.int32),
    # [CLS] and the paragraph may hold an answer.
    "p_mask": np.array([[0, 1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 1, 1], [0, 1, 1, 0, 0, 1, 1]]),
}


def labels(*values, dtype=np.int32):
    return {"label_ids": np.array(values, dtype)}


CLASSIFIER = classification_head.classification_head(3), labels(2, 0, 1)
V1 = squad_head.v1_head, ANSWERS
V2 = functools.partial(squad_head.v2_head, options=squad_head.V2Options(2, 3, 0.2)), ANSWERS
SCORES = labels(2.5, 0.0, 5.0, dtype=np.float32)
CASES = {
    "classifier": CLASSIFIER,
    "classifier_eval": CLASSIFIER,
    "regressor_eval": (classification_head.classification_head(1), SCORES),
    "race": (functools.partial(race_head.choice_head, dropout_prob=0.3), labels(3, 0, 2)),
    "v1": V1,
    "v1_eval": V1,
    "v2": V2,
    "v2_eval": V2,
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_head_equals_the_recorded_outputs(case):
    head, features = CASES[case]
    encoder = GivenEncoder(BATCH * (4 if case == "race" else 1), not case.endswith("_eval"))
    found = run_head(head, features, encoder)
    found = dict(found.outputs, loss=found.per_example_loss)
    for name, expected in recorded.arrays("heads", case).items():
        actual = found[name][..., : expected.shape[-1]]
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, err_msg=name)
