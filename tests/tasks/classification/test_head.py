# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Heads after each layer: what they are trained for, and which examples leave the batch, when."""

import functools
import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from scipy import special

from albert import fine_tuning_utils
from albert.tasks.classification import head as classification_head
from tests.support import graphs, pretrained_models

LAYERS = 6
ROWS = 16


def batch():
    """Sequences of different lengths, padded to one."""
    random = np.random.RandomState(3)
    mask = (np.arange(9) < random.randint(2, 10, [ROWS, 1])).astype(np.int32)
    ids = random.randint(1, 50, mask.shape).astype(np.int32) * mask
    return {"input_ids": ids, "input_mask": mask, "segment_ids": 0 * mask}


class RandomLayers(fine_tuning_utils.Encoder):
    """An encoder without weights: the pooled output of each layer is drawn at random."""

    def __call__(self, *inputs, after_layer=lambda layer, pooled: None):
        random, rows = np.random.RandomState(4), tf.range(ROWS)
        for layer in range(1, LAYERS + 1):
            pooled = tf.constant(random.randn(ROWS, self.config.hidden_size), tf.float32)
            pooled = tf.gather(pooled, rows)
            stay = after_layer(layer, pooled)
            rows = rows if stay is None else tf.gather(rows, stay)
        return fine_tuning_utils.Encoded(pooled, None)


def weight(variable):
    """Large values, so that layers and examples differ; a function of the name."""
    name, shape = variable.op.name, variable.shape.as_list()
    random = np.random.RandomState(zlib.crc32(name.encode()))
    return random.normal(1.0 if name.endswith("gamma") else 0.0, 0.4, shape)


def outputs_of(*builds, encoder=RandomLayers, labels=(), is_training=False, **changes):
    """What each of `builds` makes of one encoder and features, with the same weights."""
    config = pretrained_models.config(**{"num_hidden_layers": LAYERS, **changes})
    values = dict(batch(), **({"label_ids": labels} if len(labels) else {}))
    with graphs.new_session() as session:
        features = {
            name: tf.placeholder(tf.int32, [None] * value.ndim) for name, value in values.items()
        }
        outputs = []
        for build in builds:
            with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
                outputs.append(build(encoder(config, is_training), features))
        variables = tf.trainable_variables()
        given = {variable.initial_value: weight(variable) for variable in variables}
        session.run([variable.initializer for variable in variables], given)
        return session.run(outputs, {features[name]: values[name] for name in features})


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


def exits(num_labels, *leave, **options):
    """Compares with each example's own way through the layers; where they left by each (patience,
    threshold)."""
    every = functools.partial(classification_head.all_logits, num_labels=num_labels)
    builds = [
        functools.partial(
            classification_head.patient_logits,
            num_labels=num_labels,
            patience=patience,
            threshold=threshold,
        )
        for patience, threshold in leave
    ]
    logits, *found = outputs_of(every, *builds, **options)
    logits = np.array(logits)
    for (ours, layers), limits in zip(found, leave):
        wanted = [leaving(logits[:, row], *limits) for row in range(ROWS)]
        assert layers.tolist() == wanted
        expected = logits[np.array(wanted) - 1, np.arange(ROWS)]
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
    return [layers for _, layers in found]


def test_patient_logits_leave_once_labels_are_stable():
    limits = [1, 2, 3, LAYERS - 1, LAYERS, 99]
    for patience, layers in zip(limits, exits(2, *((patience, 0.1) for patience in limits))):
        if patience < LAYERS - 1:
            assert len(set(layers)) > 1 and min(layers) > patience
        else:
            assert set(layers) == {LAYERS}


def test_patient_logits_leave_once_scores_are_stable():
    wide, narrow = exits(1, (1, 2.0), (1, 0.5))
    assert len(set(wide)) > 1 and np.mean(wide) < np.mean(narrow)


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_groups": 2, "inner_group_num": 2, "ln_type": "preln"},
        {"share_type": "none", "embedding_layout": "albert_zh"},
    ],
)
def test_patient_logits_of_each_kind_of_encoder(changes):
    encoder = fine_tuning_utils.Encoder
    (layers,) = exits(3, (1, 0.1), encoder=encoder, num_hidden_layers=3, **changes)
    assert len(set(layers)) > 1


def test_class_weights_weigh_losses_of_training():
    labels = np.arange(ROWS, dtype=np.int32) % 3
    losses = []
    for weights in (None, [2.0, 1.0, 0.5]):
        head = classification_head.classification_head(3, class_weights=weights)
        build = functools.partial(_losses, head)
        losses += outputs_of(build, labels=labels, is_training=True)
    np.testing.assert_allclose(losses[1], losses[0] * np.array([2, 1, 0.5])[labels], rtol=1e-5)


def _losses(head, encoder, features):
    encoder.dropout = lambda tensor, *_: tensor
    return head(features, encoder).per_example_loss


@pytest.mark.parametrize("num_labels", [3, 1])
def test_early_exit_loss_weighs_layers_by_number(num_labels):
    labels = np.arange(ROWS, dtype=np.int32) % 3
    head = classification_head.classification_head(num_labels, early_exit=True)
    losses = functools.partial(_losses, head)
    every = functools.partial(classification_head.all_logits, num_labels=num_labels)
    logits, measured = outputs_of(every, losses, labels=labels)
    (trained,) = outputs_of(losses, labels=labels, is_training=True)
    if num_labels == 1:
        own = (np.array(logits)[..., 0] - labels) ** 2
    else:
        own = -special.log_softmax(logits, axis=-1)[:, np.arange(ROWS), labels]
    weights = np.arange(1, LAYERS + 1) / sum(range(1, LAYERS + 1))
    np.testing.assert_allclose(trained, weights @ own, rtol=1e-4, atol=1e-4)
    # What is measured is what is predicted, after the last layer.
    np.testing.assert_allclose(measured, own[-1], rtol=1e-4, atol=1e-4)
