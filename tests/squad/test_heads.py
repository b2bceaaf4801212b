# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads for SQuAD against the reference's outputs; tests/test_heads.py has recorded ones."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from albert.squad import decoding, heads
from tests.support import golden_heads
from tests.support.shared import needs_shared

pytestmark = [pytest.mark.slow, needs_shared]


def run(name, head, *, is_training):
    """The head's outputs or, in training, the losses, with the reference's input and weights."""
    arrays = golden_heads.arrays(name)
    outputs = ("start_logits", "end_logits")
    inputs = {key: value for key, value in arrays.items() if value.ndim and "/" not in key}
    with tf.Graph().as_default(), tf.Session() as session:
        features = {key: tf.constant(inputs[key]) for key in inputs if key not in outputs}
        encoder = fine_tuning_utils.Encoder(golden_heads.config(), is_training)
        output = head(features, encoder)
        checkpoint = golden_heads.checkpoint(name)
        tf.train.Saver(tf.trainable_variables()).restore(session, checkpoint)
        return session.run(output.per_example_loss if is_training else output.outputs)


V2 = functools.partial(heads.v2_head, options=heads.V2Options(4, 3, 0.0))


@pytest.mark.parametrize(
    "name, head, loss, outputs",
    [
        ("squad_v1", heads.v1_head, "loss", {key: key for key in ("start_logits", "end_logits")}),
        ("squad_v2", V2, "train/loss", {key: f"predict/{key}" for key in decoding.BEAMS}),
    ],
)
def test_heads_equal_the_reference(name, head, loss, outputs):
    arrays = golden_heads.arrays(name)
    losses = run(name, head, is_training=True)
    assert losses.mean() == pytest.approx(float(arrays[loss]), abs=1e-4)
    predicted = run(name, head, is_training=False)
    for key, golden in outputs.items():
        np.testing.assert_allclose(predicted[key], arrays[golden], atol=1e-4, err_msg=key)
