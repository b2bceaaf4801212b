# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics by hand, and those in the graph against those on gathered predictions."""

import math

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.classification import task_table
from albert.training import metrics

OF_LABELS = ("eval_accuracy", "f1", "matthew_corr", "eval_loss")
OF_SCORES = ("pearson", "spearman", "MSE", "eval_loss")


def outcome(labels, predictions, losses=None):
    losses = np.ones(len(labels), np.float32) if losses is None else losses
    return metrics.Outcome(np.array(labels), np.array(predictions), np.array(losses))


def test_metrics_of_labels_are_those_counted_by_hand():
    # Of label 1: 2 found, 1 missed, 1 wrongly found; 2 rightly left out.
    found = metrics.compute(
        OF_LABELS, outcome([1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0], [1, 2, 3, 4, 5, 9])
    )
    assert found["eval_accuracy"] == pytest.approx(4 / 6)
    assert found["f1"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert found["matthew_corr"] == pytest.approx((2 * 2 - 1 * 1) / math.sqrt(3 * 3 * 3 * 3))
    assert found["eval_loss"] == 4.0


def test_metrics_of_scores_are_those_computed_by_hand():
    found = metrics.compute(OF_SCORES, outcome([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 9.0, 3.0]))
    assert found["pearson"] == pytest.approx(6.5 / math.sqrt(5 * 38.75))
    assert found["spearman"] == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found["MSE"] == pytest.approx((6**2 + 1**2) / 4)


@pytest.mark.parametrize("count,predictions", [(3, [2.0] * 3), (3, [np.inf] * 3), (1, [2.0])])
def test_a_correlation_with_a_constant_is_nan_and_no_warning(count, predictions, recwarn):
    found = metrics.compute(["pearson", "spearman"], outcome([1.0, 2.0, 3.0][:count], predictions))
    assert all(math.isnan(value) for value in found.values())
    assert not [item for item in recwarn if "onstant" in str(item.message)]
    found = metrics.compute(["f1", "matthew_corr"], outcome([0, 1], [0, 0]))
    assert found == {"f1": 0.0, "matthew_corr": 0.0}


def test_every_metric_a_task_may_name_is_computed():
    assert set(metrics.METRICS) == set(task_table.METRICS)


def test_an_unknown_metric_and_no_examples_are_refused():
    with pytest.raises(ValueError, match="'bleu'"):
        metrics.compute(["bleu"], outcome([0], [0]))
    with pytest.raises(ValueError, match="no examples"):
        metrics.compute(["eval_accuracy"], outcome([], []))


def test_the_confusion_matrix_has_labels_in_rows_and_every_label():
    matrix = metrics.confusion_matrix(outcome([0, 0, 1], [0, 1, 1]), 3)
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]


def test_the_loss_of_a_constant_prediction_is_entropy_or_variance():
    three_to_one = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    mean, deviation = metrics.constant_loss(["a", "a", "b", "a"], False)
    assert mean == pytest.approx(three_to_one)
    assert deviation == pytest.approx(math.log(3) * math.sqrt(3) / 4)  # two values, one in four
    assert metrics.constant_loss([1.0, 3.0], True) == (pytest.approx(1.0), 0.0)
    assert metrics.constant_loss([0.0, 0.0, 3.0], True) == pytest.approx((2.0, math.sqrt(2)))
    assert metrics.constant_loss(["a", "a"], False) == (0.0, 0.0)


def run_in_graph(names, values, weights, batch_size, **options):
    """The metrics in the graph, over batches."""
    with tf.Graph().as_default():
        feeds = [tf.placeholder(part.dtype, [batch_size]) for part in (*values, weights)]
        pairs = metrics.in_graph(
            names,
            labels=feeds[0],
            predictions=feeds[1],
            losses=feeds[2],
            weights=feeds[3],
            **options,
        )
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            for first in range(0, len(weights), batch_size):
                parts = [part[first : first + batch_size] for part in (*values, weights)]
                session.run([update for _, update in pairs.values()], dict(zip(feeds, parts)))
            return session.run({name: value for name, (value, _) in pairs.items()})


@pytest.mark.parametrize("names,is_regression", [(OF_LABELS, False), (OF_SCORES, True)])
def test_metrics_in_the_graph_equal_those_on_gathered_predictions(names, is_regression):
    generator = np.random.RandomState(1)
    weights = (generator.uniform(size=48) < 0.8).astype(np.int32)
    losses = generator.uniform(size=48).astype(np.float32)
    if is_regression:
        labels = generator.uniform(0, 5, 48).astype(np.float32)
        predictions = (labels + generator.normal(0, 1, 48)).astype(np.float32)
    else:
        labels = generator.randint(0, 2, 48).astype(np.int32)
        predictions = np.where(generator.uniform(size=48) < 0.7, labels, 1 - labels)
        predictions = predictions.astype(np.int32)
    values = metrics.Outcome(labels, predictions, losses)
    real = metrics.Outcome(*[part[weights > 0] for part in values])
    gathered = metrics.compute(names, real)
    inside = run_in_graph(names, values, weights, 8)
    assert set(gathered) - set(inside) == ({"spearman"} if is_regression else set())
    for name, value in inside.items():
        assert value == pytest.approx(gathered[name], abs=1e-5), name


@pytest.mark.parametrize("num_labels", [2, 3, 5])
@pytest.mark.parametrize("guess", ["good", "constant"])
def test_matthews_correlation_in_the_graph_is_right_for_any_number_of_labels(num_labels, guess):
    generator = np.random.RandomState(num_labels)
    labels = generator.randint(0, num_labels, 48).astype(np.int32)
    others = generator.randint(0, num_labels, 48).astype(np.int32)
    predictions = np.where(generator.uniform(size=48) < 0.6, labels, others)
    if guess == "constant":
        predictions = np.full_like(predictions, num_labels - 1)
    weights = (generator.uniform(size=48) < 0.8).astype(np.int32)
    values = metrics.Outcome(labels, predictions, np.ones(48, np.float32))
    real = metrics.Outcome(*[part[weights > 0] for part in values])
    expected = metrics.compute(["matthew_corr"], real)["matthew_corr"]
    found = run_in_graph(["matthew_corr"], values, weights, 8, num_labels=num_labels)
    assert found["matthew_corr"] == pytest.approx(expected, abs=1e-5)
    assert (expected == 0) == (guess == "constant")
