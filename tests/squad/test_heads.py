# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads for SQuAD."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.squad import decoding, heads
from tests.support import pretrained_models
from tests.support.shared import needs_shared, shared_path

BEAM = heads.BeamSize(start_n_top=4, end_n_top=3)


def _batch(length=16):
    """Two windows; [CLS] and the places after position 3 may be answers."""
    random = np.random.RandomState(0)
    used = np.array([[length], [length - 6]])
    places = np.arange(length)[None]
    mask = (places < used).astype(np.int32)
    allowed = ((places == 0) | (places > 3)) & (places < used - 1)
    return {
        "input_ids": random.randint(5, 50, [2, length]).astype(np.int32) * mask,
        "input_mask": mask,
        "segment_ids": (places > 3).astype(np.int32) * mask,
        "p_mask": 1.0 - allowed.astype(np.float32),
        "start_positions": np.array([4, 0], np.int32),
        "end_positions": np.array([6, 0], np.int32),
        "is_impossible": np.array([0, 1], np.int32),
        "unique_ids": np.array([7, 9], np.int32),
    }


def _run(head, batch, *, is_training, config=None, checkpoint=None):
    """The head's outputs or, in training, losses as arrays, and the names of its variables."""
    config = config or pretrained_models.config(vocab_size=50)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        features = {name: tf.constant(value) for name, value in batch.items()}
        output = head(features, fine_tuning_utils.Encoder(config, is_training))
        names = [variable.op.name for variable in tf.trainable_variables()]
        session.run(tf.global_variables_initializer())
        if checkpoint:
            tf.train.Saver(tf.trainable_variables()).restore(session, checkpoint)
        wanted = {"losses": output.per_example_loss} if is_training else output.outputs
        return session.run(wanted), names


@pytest.mark.slow
@pytest.mark.parametrize("is_training", [True, False])
def test_padding_changes_nothing_in_v2(is_training):
    full = {name: value[1:] for name, value in _batch().items()}
    short = {name: value[:, :10] if value.ndim > 1 else value for name, value in full.items()}
    config = pretrained_models.config(
        vocab_size=50, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    head = heads.v2_head(BEAM, 0.0)
    one, other = (
        _run(head, batch, is_training=is_training, config=config)[0] for batch in (full, short)
    )
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], atol=1e-5, err_msg=name)


# ---- against the reference ----


def _golden_run(name, head, *, is_training):
    folder = shared_path("golden/heads")
    config = modeling.AlbertConfig.from_json_file(str(folder / "albert_config.json"))
    arrays = np.load(str(shared_path("golden/classifier_loss.npz")))
    arrays = {key.split("/", 1)[1]: arrays[key] for key in arrays if key.startswith(name + "/")}
    inputs = {key: value for key, value in arrays.items() if value.ndim and "/" not in key}
    inputs.pop("start_logits", None)
    inputs.pop("end_logits", None)
    checkpoint = str(folder / name / "model.ckpt")
    found, _ = _run(head, inputs, is_training=is_training, config=config, checkpoint=checkpoint)
    return arrays, found


@pytest.mark.slow
@needs_shared
def test_v1_logits_and_loss_equal_the_reference():
    arrays, predicted = _golden_run("squad_v1", heads.v1_head, is_training=False)
    for name in ("start_logits", "end_logits"):
        np.testing.assert_allclose(predicted[name], arrays[name], atol=1e-4)
    _, trained = _golden_run("squad_v1", heads.v1_head, is_training=True)
    assert trained["losses"].mean() == pytest.approx(float(arrays["loss"]), abs=1e-4)


@pytest.mark.slow
@needs_shared
def test_v2_loss_and_beams_equal_the_reference():
    head = heads.v2_head(BEAM, 0.0)
    arrays, trained = _golden_run("squad_v2", head, is_training=True)
    assert trained["losses"].mean() == pytest.approx(float(arrays["train/loss"]), abs=1e-4)
    _, predicted = _golden_run("squad_v2", head, is_training=False)
    for name in decoding.Beams._fields:
        expected = arrays[f"predict/{name}"]
        np.testing.assert_allclose(predicted[name], expected, atol=1e-4, err_msg=name)
