# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of classification and regression: a table of pure functions on gathered predictions.

    compute(["eval_accuracy", "f1"], Outcome(labels, predictions, losses))

Dimensions: N examples.
"""

import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Sequence

import numpy as np

from albert.util.errors import UserError


class Outcome(NamedTuple):
    """Gathered predictions, [N] each."""

    labels: np.ndarray  # int32 ids, or float32 scores
    predictions: np.ndarray  # the same
    losses: np.ndarray  # float32


def _sklearn() -> Any:
    """scikit-learn's metrics: a second to import, which a training need not wait for."""
    from sklearn import metrics

    return metrics


def _accuracy(outcome: Outcome) -> float:
    return _sklearn().accuracy_score(outcome.labels, outcome.predictions)


def _f1(outcome: Outcome) -> float:
    return _sklearn().f1_score(outcome.labels, outcome.predictions, zero_division=0)


def _matthews(outcome: Outcome) -> float:
    return _sklearn().matthews_corrcoef(outcome.labels, outcome.predictions)


def _correlation(function: Callable, outcome: Outcome) -> float:
    """NaN, without a warning for each checkpoint, where one side is constant or N is 1."""
    if len(outcome.labels) < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*_float64(outcome))[0])


def _pearson(outcome: Outcome) -> float:
    from scipy import stats

    return _correlation(stats.pearsonr, outcome)


def _spearman(outcome: Outcome) -> float:
    from scipy import stats

    return _correlation(stats.spearmanr, outcome)


def _float64(outcome: Outcome) -> List[np.ndarray]:
    """Labels and predictions, exact enough for sums."""
    return [np.asarray(side, np.float64) for side in outcome[:2]]


METRICS: Dict[str, Callable[[Outcome], float]] = {
    "eval_accuracy": _accuracy,
    "f1": _f1,
    "matthew_corr": _matthews,
    "pearson": _pearson,
    "spearman": _spearman,
    "MSE": lambda outcome: _sklearn().mean_squared_error(*_float64(outcome)),
    "eval_loss": lambda outcome: float(np.mean(outcome.losses, dtype=np.float64)),
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

    Raises:
      ValueError: an unknown name, or no example.
    """
    unknown = sorted(set(names) - set(METRICS))
    if unknown:
        raise UserError(f"Unknown metrics {unknown}. There are: {', '.join(METRICS)}.")
    if not len(outcome.labels):
        raise UserError("There are no examples to measure on. Check the evaluation data.")
    return {name: float(METRICS[name](outcome)) for name in names}


def confusion_matrix(outcome: Outcome, num_labels: int) -> np.ndarray:
    """Returns how often label i was predicted as j at [i, j]; int64 [num_labels, num_labels]."""
    return _sklearn().confusion_matrix(
        outcome.labels, outcome.predictions, labels=range(num_labels)
    )
