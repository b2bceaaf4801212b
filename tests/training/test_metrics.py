# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics by hand, and those in the graph against those on gathered predictions."""

import math

import numpy as np
import pytest

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


def test_the_confusion_matrix_has_labels_in_rows_and_every_label():
    matrix = metrics.confusion_matrix(outcome([0, 0, 1], [0, 1, 1]), 3)
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
