# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of classification and regression, as functions of all predictions.

    compute(["eval_accuracy", "f1"], Outcome(labels, predictions, losses))

Dimensions: N examples.
"""

import functools
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Sequence

import numpy as np


class Outcome(NamedTuple):
    """Gathered predictions, [N] each."""

    labels: np.ndarray  # int32 ids, or float32 scores
    predictions: np.ndarray  # the same
    losses: np.ndarray  # float32


def _sklearn() -> Any:
    """scikit-learn's metrics: a second to import, which a training need not wait for."""
    from sklearn import metrics

    return metrics


def _correlation(name: str, outcome: Outcome) -> float:
    """NaN, without a warning for each checkpoint, where one side is constant or N is 1."""
    from scipy import stats

    if len(outcome.labels) < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(stats, name)(*_scores(outcome))[0]


def _scores(outcome: Outcome) -> List[np.ndarray]:
    """Labels and predictions, exact enough for sums."""
    return [np.asarray(side, np.float64) for side in outcome[:2]]


METRICS: Dict[str, Callable[[Outcome], float]] = {
    "eval_accuracy": lambda outcome: _sklearn().accuracy_score(*outcome[:2]),
    "f1": lambda outcome: _sklearn().f1_score(*outcome[:2], zero_division=0),
    "matthew_corr": lambda outcome: _sklearn().matthews_corrcoef(*outcome[:2]),
    "pearson": functools.partial(_correlation, "pearsonr"),
    "spearman": functools.partial(_correlation, "spearmanr"),
    "MSE": lambda outcome: _sklearn().mean_squared_error(*_scores(outcome)),
    "eval_loss": lambda outcome: np.mean(outcome.losses, dtype=np.float64),
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
    return {name: float(METRICS[name](outcome)) for name in names}


def confusion_matrix(outcome: Outcome, num_labels: int) -> np.ndarray:
    """Returns how often label i was predicted as j at [i, j]; int64 [num_labels, num_labels]."""
    return _sklearn().confusion_matrix(
        outcome.labels, outcome.predictions, labels=range(num_labels)
    )
