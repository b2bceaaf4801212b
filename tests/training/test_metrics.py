# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics by hand."""

import math

import numpy as np
import pytest

from albert.training import metrics


def outcome(*sides):
    return metrics.Outcome(*map(np.array, sides))


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


@pytest.mark.parametrize("count,predictions", [(3, [2.0] * 3), (3, [np.inf] * 3), (1, [2.0])])
def test_correlation_with_constant_is_nan(count, predictions, recwarn):
    found = metrics.compute(
        ["pearson", "spearman"], outcome([1.0, 2.0, 3.0][:count], predictions, predictions)
    )
    assert all(math.isnan(value) for value in found.values())
    assert not [item for item in recwarn if "onstant" in str(item.message)]
    found = metrics.compute(["f1", "matthew_corr"], outcome([0, 1], [0, 0], [1, 1]))
    assert found == {"f1": 0.0, "matthew_corr": 0.0}


def test_confusion_matrix_has_labels_in_rows():
    matrix = metrics.confusion_matrix(outcome([0, 0, 1], [0, 1, 1], [1, 1, 1]), 3)
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
