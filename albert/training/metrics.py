# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of classification and regression: a table of pure functions on gathered predictions.

    compute(["eval_accuracy", "f1"], Outcome(labels, predictions, losses))

Dimensions: N examples.
"""

import importlib
import warnings
from typing import Dict, NamedTuple, Sequence

import numpy as np


class Outcome(NamedTuple):
    """Gathered predictions, [N] each."""

    labels: np.ndarray  # int32 ids, or float32 scores
    predictions: np.ndarray  # the same
    losses: np.ndarray  # float32


# Modules take a second to import, which a training need not wait for.
METRICS = {
    "eval_accuracy": "sklearn.metrics.accuracy_score",
    "f1": "sklearn.metrics.f1_score",
    "matthew_corr": "sklearn.metrics.matthews_corrcoef",
    "pearson": "scipy.stats.pearsonr",
    "spearman": "scipy.stats.spearmanr",
    "MSE": "sklearn.metrics.mean_squared_error",
    "eval_loss": "",
}


def compute(names: Sequence[str], outcome: Outcome) -> Dict[str, float]:
    """Returns the metrics by name.

    eval_accuracy  share of equal labels and predictions
    f1             harmonic mean of precision and recall of label 1 of two
    matthew_corr   Matthews' correlation coefficient
    pearson        correlation of scores; NaN where one side is constant
    spearman       correlation of their ranks
    MSE            mean squared error
    eval_loss      mean of the losses
    """
    found = {}
    *sides, losses = (np.asarray(values, np.float64) for values in outcome)  # exact sums
    for name in names:
        module, _, function = METRICS[name].rpartition(".")
        if not module:
            found[name] = float(losses.mean())
        elif module == "scipy.stats" and len(losses) < 2:
            found[name] = float("nan")
        else:
            with warnings.catch_warnings():  # of constants, for each checkpoint
                warnings.simplefilter("ignore")
                value = getattr(importlib.import_module(module), function)(*sides)
            found[name] = float(np.ravel(value)[0])  # correlations have a second number
    return found


def confusion_matrix(outcome: Outcome, num_labels: int) -> np.ndarray:
    """Returns how often label i was predicted as j at [i, j]; int64 [num_labels, num_labels]."""
    matrix = np.zeros([num_labels, num_labels], np.int64)
    np.add.at(matrix, outcome[:2], 1)
    return matrix
