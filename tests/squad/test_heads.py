# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads for SQuAD against the reference's outputs; tests/test_heads.py has recorded ones."""

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


def test_v1_logits_and_loss_equal_the_reference():
    arrays = golden_heads.arrays("squad_v1")
    predicted = run("squad_v1", heads.v1_head, is_training=False)
    for name in ("start_logits", "end_logits"):
        np.testing.assert_allclose(predicted[name], arrays[name], atol=1e-4)
    losses = run("squad_v1", heads.v1_head, is_training=True)
    assert losses.mean() == pytest.approx(float(arrays["loss"]), abs=1e-4)


def test_v2_loss_and_beams_equal_the_reference():
    head = heads.v2_head(heads.BeamSize(start_n_top=4, end_n_top=3), 0.0)
    arrays = golden_heads.arrays("squad_v2")
    losses = run("squad_v2", head, is_training=True)
    assert losses.mean() == pytest.approx(float(arrays["train/loss"]), abs=1e-4)
    predicted = run("squad_v2", head, is_training=False)
    for name in decoding.Beams._fields:
        expected = arrays[f"predict/{name}"]
        np.testing.assert_allclose(predicted[name], expected, atol=1e-4, err_msg=name)
