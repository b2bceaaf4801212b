# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics by hand."""

import math
import types

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
import tensorflow.compat.v1 as tf

from albert.training import metrics
from albert.training.program import evaluation_metrics
from tests.support import golden_heads


def outcome(*sides):
    return metrics.Predictions(*map(np.array, sides))


@pytest.mark.parametrize(
    "labels, predictions, expected",
    [
        (
            # Of label 1: 2 found, 1 missed, 1 wrongly found; 2 rightly left out.
            *([1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0]),
            {"eval_accuracy": 4 / 6, "f1": 4 / 6, "matthew_corr": 3 / 9, "eval_loss": 4.0},
        ),
        (
            *([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 9.0, 3.0]),
            {"pearson": 6.5 / math.sqrt(5 * 38.75), "spearman": 1 - 12 / 60, "MSE": 37 / 4},
        ),
    ],
)
def test_metrics_equal_values_by_hand(labels, predictions, expected):
    losses = [1, 2, 3, 4, 5, 9][: len(labels)]
    found = metrics.compute(list(expected), outcome(labels, predictions, losses))
    assert found == pytest.approx(expected)


def test_averages_and_scores_per_label_equal_those_of_scikit_learn():
    labels, predictions = np.random.RandomState(4).randint(0, 3, [2, 40])
    predictions[predictions == 2] = 0  # never predicted
    averages = {f"{name}_f1": {"average": name} for name in ("macro", "micro", "weighted")}
    expected = {
        name: sklearn.metrics.f1_score(labels, predictions, zero_division=0, **options)
        for name, options in averages.items()
    }
    names = ["no", "maybe", "very_good"]
    for kind in metrics.PER_LABEL:
        score = getattr(sklearn.metrics, f"{kind}_score")
        of_labels = score(labels, predictions, average=None, zero_division=0)
        expected.update({f"{kind}_{name}": value for name, value in zip(names, of_labels)})
    found = metrics.compute(list(expected), outcome(labels, predictions, []), names)
    assert found == pytest.approx(expected) and found["recall_very_good"] == 0


def test_two_scores_correlate():
    names = ["pearson", "spearman"]
    found = metrics.compute(names, outcome([1.0, 2.0], [3.0, 2.5], [0, 0]))
    assert found == pytest.approx(dict.fromkeys(names, -1.0))


@pytest.mark.parametrize("count,predictions", [(3, [2.0] * 3), (3, [np.inf] * 3), (1, [2.0])])
def test_correlation_with_constant_is_nan(count, predictions, recwarn):
    found = metrics.compute(
        ["pearson", "spearman"], outcome([1.0, 2.0, 3.0][:count], predictions, predictions)
    )
    assert all(math.isnan(value) for value in found.values())
    assert not [item for item in recwarn if "onstant" in str(item.message)]
    found = metrics.compute(["f1", "matthew_corr"], outcome([0, 1], [0, 0], [1, 1]))
    assert found == {"f1": 0.0, "matthew_corr": 0.0}


def in_graph(labels, predictions):
    """The metrics of batches of 4, the last of which is filled up."""
    count = len(labels)
    columns = {"label_ids": labels, "predictions": predictions, "is_real_example": np.ones(count)}
    padded = {name: np.pad(values, (0, -count % 4)) for name, values in columns.items()}
    batches = [
        {name: values[start : start + 4] for name, values in padded.items()}
        for start in range(0, count, 4)
    ]

    def build(features, *_):
        tensors = {**features, "per_example_loss": tf.zeros([4]), "probabilities": tf.zeros([4, 2])}
        return types.SimpleNamespace(eval_metrics=(evaluation_metrics, tensors))

    return golden_heads.measured(build, batches)


def test_metrics_of_labels_in_the_graph_equal_those_of_all_examples():
    labels, predictions = np.random.RandomState(1).randint(0, 2, [2, 22]).astype(np.int32)
    names = ["eval_accuracy", "matthew_corr"]
    expected = metrics.compute(names, outcome(labels, predictions, []))
    found = in_graph(labels, predictions)
    assert {name: found[name] for name in names} == pytest.approx(expected)
    assert in_graph(labels, np.zeros_like(labels))["matthew_corr"] == 0


def test_metrics_of_scores_in_the_graph_equal_those_of_all_examples():
    labels = np.random.RandomState(2).uniform(0, 5, 22).astype(np.float32)
    for predictions in (labels[::-1], 2.5 + 1e-4 * labels):
        expected = scipy.stats.pearsonr(*np.float64([labels, predictions]))[0]
        found = in_graph(labels, predictions)
        assert found["pearson"] == pytest.approx(expected, abs=1e-6)
        assert found["MSE"] == pytest.approx(np.mean((labels - predictions) ** 2))
    assert in_graph(labels, np.full(22, 2.1, np.float32))["pearson"] == 0
