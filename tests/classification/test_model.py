# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Heads after each layer: what they are trained for, and which examples leave the batch, when."""

import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from scipy import special

from albert import fine_tuning_utils
from albert.classification import model
from tests.support import pretrained_models

LAYERS = 6
ROWS = 16
SCALE = 0.4


def batch():
    """Sequences of different lengths, padded to one."""
    random = np.random.RandomState(3)
    mask = (np.arange(9) < random.randint(2, 10, [ROWS, 1])).astype(np.int32)
    ids = random.randint(1, 50, mask.shape).astype(np.int32) * mask
    return {"input_ids": ids, "input_mask": mask, "segment_ids": 0 * mask}


def weight(variable):
    """Large values, so that layers and examples differ; a function of the name."""
    name, shape = variable.op.name, variable.shape.as_list()
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return random.normal(1.0 if name.endswith("gamma") else 0.0, SCALE, shape)


def run(build, inputs=None, *, is_training=False, **changes):
    """What `build` makes of an encoder and features; the weights are functions of their names."""
    config = pretrained_models.config(num_hidden_layers=LAYERS, **changes)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {
            name: tf.placeholder(tf.int32, [None] * value.ndim, name)
            for name, value in (inputs or batch()).items()
        }
        outputs = build(fine_tuning_utils.Encoder(config, is_training), features)
        variables = tf.trainable_variables()
        given = {variable.initial_value: weight(variable) for variable in variables}
        session.run([variable.initializer for variable in variables], given)
        feed = {features[name]: value for name, value in (inputs or batch()).items()}
        return session.run(outputs, feed)


def after_each_layer(num_labels, inputs=None, **changes):
    """The logits after each layer, [L, B, C]."""
    return np.array(run(lambda *given: model.all_logits(*given, num_labels), inputs, **changes))


def leaving(logits, patience, threshold):
    """The layer, from 1, after which an example leaves: its logits are [L, C]."""
    unchanged = 0
    for layer in range(1, len(logits)):
        if logits.shape[1] == 1:
            is_same = abs(logits[layer, 0] - logits[layer - 1, 0]) < threshold
        else:
            is_same = logits[layer].argmax() == logits[layer - 1].argmax()
        unchanged = unchanged + 1 if is_same else 0
        if unchanged == patience:
            return layer + 1
    return len(logits)


def patient(num_labels, patience, threshold, **changes):
    """(logits [B, C], layers [B]) of examples that leave the batch."""
    leave = {"patience": patience, "threshold": threshold}
    return run(lambda *given: model.patient_logits(*given, num_labels, **leave), **changes)


def check(num_labels, patience, threshold=0.1, **changes):
    """Compares with every example's own way through the layers; returns where they left."""
    logits = after_each_layer(num_labels, **changes)
    wanted = [leaving(logits[:, row], patience, threshold) for row in range(ROWS)]
    found, layers = patient(num_labels, patience, threshold, **changes)
    assert layers.tolist() == wanted
    expected = logits[np.array(wanted) - 1, np.arange(ROWS)]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    return wanted


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_an_example_leaves_once_its_prediction_has_stayed_for_so_many_layers(patience):
    wanted = check(2, patience)
    assert len(set(wanted)) > 1 and min(wanted) > patience


def test_a_layer_that_disagrees_begins_the_count_anew():
    # Of layers that differ, three rows' predictions change between two that agree.
    assert len(set(check(2, 2, share_type="none"))) > 1


def test_a_score_has_stayed_where_it_moved_by_less_than_the_threshold():
    wide = check(1, 1, 2.0)
    narrow = check(1, 1, 0.5)
    assert len(set(wide)) > 1 and np.mean(wide) < np.mean(narrow)


@pytest.mark.parametrize("patience", [LAYERS - 1, LAYERS, 99])
def test_with_patience_for_all_layers_the_predictions_are_exactly_the_models(patience):
    full = run(lambda *given: model.logits_of(*given, 4))
    logits, layers = patient(4, patience, 0.1)
    np.testing.assert_array_equal(logits, full)
    assert set(layers) == {LAYERS}


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_groups": 3, "inner_group_num": 2},
        {"ln_type": "preln"},
        {"share_type": "none", "embedding_layout": "albert_zh"},
    ],
)
def test_every_kind_of_encoder_can_be_left(changes):
    assert len(set(check(3, 1, **changes))) > 1


@pytest.mark.parametrize("num_labels", [3, 1])
def test_the_loss_of_a_layer_has_the_weight_of_its_number(num_labels, monkeypatch):
    monkeypatch.setattr(model, "HEAD_DROPOUT", 0.0)
    labels = np.arange(ROWS, dtype=np.int32) % 3
    inputs = dict(batch(), label_ids=labels)
    head = model.classification_head(num_labels, early_exit=True)

    def losses(encoder, features):
        return head(features, encoder).per_example_loss

    logits = after_each_layer(num_labels)
    if num_labels == 1:
        own = (logits[..., 0] - labels) ** 2
    else:
        own = -special.log_softmax(logits, axis=-1)[:, np.arange(ROWS), labels]
    weights = np.arange(1, LAYERS + 1) / sum(range(1, LAYERS + 1))
    trained = run(losses, inputs, is_training=True)
    np.testing.assert_allclose(trained, weights @ own, rtol=1e-4, atol=1e-4)
    # What is measured is what is predicted, after the last layer.
    np.testing.assert_allclose(run(losses, inputs), own[-1], rtol=1e-4, atol=1e-4)


def test_the_last_head_is_the_one_of_a_model_without_the_others():
    def names(early_exit, is_training):
        with tf.Graph().as_default():
            inputs = {name: tf.constant(value) for name, value in batch().items()}
            config = pretrained_models.config(num_hidden_layers=LAYERS)
            head = model.classification_head(4, early_exit=early_exit)
            head(inputs, fine_tuning_utils.Encoder(config, is_training))
            return {variable.op.name for variable in tf.trainable_variables()}

    plain, trained = names(False, True), names(True, True)
    assert names(True, False) == plain < trained
    exits = [name.partition("/")[0] for name in trained - plain]
    assert sorted(exits) == sorted([f"exit_{n}" for n in range(1, LAYERS)] * 2)
