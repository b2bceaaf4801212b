# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of classification and regression: a table of pure functions on gathered predictions.

    compute(["eval_accuracy", "f1"], Outcome(labels, predictions, losses))

They are scikit-learn's and SciPy's. `in_graph` has the same ones as tf.metrics, for devices whose
predictions do not come back (TPU).

Dimensions: N examples, B batch.
"""

import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf
from scipy import stats
from sklearn import metrics as sklearn_metrics


class Outcome(NamedTuple):
    """Gathered predictions, [N] each."""

    labels: np.ndarray  # int32 ids, or float32 scores
    predictions: np.ndarray  # the same
    losses: np.ndarray  # float32


def _accuracy(outcome: Outcome) -> float:
    return sklearn_metrics.accuracy_score(outcome.labels, outcome.predictions)


def _f1(outcome: Outcome) -> float:
    return sklearn_metrics.f1_score(outcome.labels, outcome.predictions, zero_division=0)


def _matthews(outcome: Outcome) -> float:
    return sklearn_metrics.matthews_corrcoef(outcome.labels, outcome.predictions)


def _correlation(function: Callable, outcome: Outcome) -> float:
    """NaN, without a warning for each checkpoint, where one side is constant or N is 1."""
    if len(outcome.labels) < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*_float64(outcome))[0])


def _float64(outcome: Outcome) -> List[np.ndarray]:
    """Labels and predictions, exact enough for sums over many."""
    return [np.asarray(side, np.float64) for side in outcome[:2]]


METRICS: Dict[str, Callable[[Outcome], float]] = {
    "eval_accuracy": _accuracy,
    "f1": _f1,
    "matthew_corr": _matthews,
    "pearson": lambda outcome: _correlation(stats.pearsonr, outcome),
    "spearman": lambda outcome: _correlation(stats.spearmanr, outcome),
    "MSE": lambda outcome: sklearn_metrics.mean_squared_error(*_float64(outcome)),
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

    Args:
      names: keys of METRICS.
      outcome: at least one example.

    Raises:
      ValueError: an unknown name, or no example.
    """
    unknown = sorted(set(names) - set(METRICS))
    if unknown:
        raise ValueError(f"Unknown metrics {unknown}. There are: {', '.join(METRICS)}.")
    if not len(outcome.labels):
        raise ValueError("There are no examples to measure on. Check the evaluation data.")
    return {name: float(METRICS[name](outcome)) for name in names}


def confusion_matrix(outcome: Outcome, num_labels: int) -> np.ndarray:
    """Returns how often label i was predicted as j at [i, j]; int64 [num_labels, num_labels]."""
    return sklearn_metrics.confusion_matrix(
        outcome.labels, outcome.predictions, labels=range(num_labels)
    )


def constant_loss(labels: Sequence[Any], is_regression: bool) -> float:
    """Returns the lowest mean loss that a prediction without looking at the input can have.

    The entropy of the labels for cross entropy, their variance for the squared error.

    Args:
      labels: of the training examples; numbers for regression.
      is_regression: which of the two.
    """
    if is_regression:
        return float(np.var(np.asarray(labels, np.float64)))
    _, counts = np.unique(np.asarray(labels), return_counts=True)
    return float(stats.entropy(counts))


# ---------------------------------------------------------------------------------------------
# In the graph.

TfMetric = Tuple[tf.Tensor, tf.Operation]  # value and update


def in_graph(
    names: Sequence[str],
    *,
    labels: tf.Tensor,
    predictions: tf.Tensor,
    losses: tf.Tensor,
    weights: tf.Tensor,
    num_labels: int = 2,
) -> Dict[str, TfMetric]:
    """Returns those of the metrics that can be computed batch by batch, as tf.metrics.

    Ranks need all examples at once: there is no spearman.

    Args:
      names: keys of METRICS.
      labels: [B], int32 or float32.
      predictions: [B], the same.
      losses: float32 [B].
      weights: [B]; 0 for rows that do not count.
      num_labels: how many labels there are.
    """
    real = tf.cast(weights, tf.float32)
    sides = _Sides(labels, predictions, losses, real, num_labels)
    return {name: _IN_GRAPH[name](sides) for name in names if name in _IN_GRAPH}


class _Sides(NamedTuple):
    """The arguments of `in_graph`."""

    labels: tf.Tensor
    predictions: tf.Tensor
    losses: tf.Tensor
    weights: tf.Tensor
    num_labels: int


class _Counts(NamedTuple):
    """Shares of all examples: rightly and wrongly predicted as 1, and wrongly as another."""

    true_1: tf.Tensor
    false_1: tf.Tensor
    false_0: tf.Tensor


def _means(tensors: Dict[str, tf.Tensor], weights: tf.Tensor) -> Tuple[Dict, tf.Operation]:
    """The running mean of each tensor [B], and the operation that adds a batch to all of them."""
    pairs = {name: tf.metrics.mean(value, weights) for name, value in tensors.items()}
    update = tf.group(*[update for _, update in pairs.values()])
    return {name: value for name, (value, _) in pairs.items()}, update


def _finished(value: tf.Tensor, update: tf.Operation) -> TfMetric:
    """tf.metrics want the update to give a value too; nobody reads it."""
    with tf.control_dependencies([update]):
        return value, tf.constant(0.0)


def _counts(sides: _Sides) -> Tuple[_Counts, tf.Operation]:
    label, guess = tf.equal(sides.labels, 1), tf.equal(sides.predictions, 1)
    wrong, no_guess = tf.logical_not(label), tf.logical_not(guess)
    cells = {
        "true_1": tf.logical_and(label, guess),
        "false_1": tf.logical_and(wrong, guess),
        "false_0": tf.logical_and(label, no_guess),
    }
    cells = {name: tf.cast(cell, tf.float32) for name, cell in cells.items()}
    means, update = _means(cells, sides.weights)
    return _Counts(**means), update


def _f1_in_graph(sides: _Sides) -> TfMetric:
    share, update = _counts(sides)
    value = tf.math.divide_no_nan(
        2 * share.true_1, 2 * share.true_1 + share.false_1 + share.false_0
    )
    return _finished(value, update)


def _matthews_in_graph(sides: _Sides) -> TfMetric:
    """For any number of labels, from the margins of the confusion matrix and its diagonal.

    Gorodkin, Computational Biology and Chemistry 28 (2004), 367-374: the correlation coefficient
    of a confusion matrix with K rows.
    """
    numbers = range(sides.num_labels)
    cells = {"right": tf.equal(sides.labels, sides.predictions)}
    cells.update({f"label_{number}": tf.equal(sides.labels, number) for number in numbers})
    cells.update({f"guess_{number}": tf.equal(sides.predictions, number) for number in numbers})
    share, update = _means(
        {name: tf.cast(cell, tf.float32) for name, cell in cells.items()}, sides.weights
    )
    labels = tf.stack([share[f"label_{number}"] for number in numbers])  # [K]
    guesses = tf.stack([share[f"guess_{number}"] for number in numbers])  # [K]
    covariance = share["right"] - tf.reduce_sum(labels * guesses)
    variances = (1 - tf.reduce_sum(labels**2)) * (1 - tf.reduce_sum(guesses**2))
    return _finished(tf.math.divide_no_nan(covariance, tf.sqrt(variances)), update)


def _pearson_in_graph(sides: _Sides) -> TfMetric:
    x, y = tf.cast(sides.labels, tf.float32), tf.cast(sides.predictions, tf.float32)
    moments = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    mean, update = _means(moments, sides.weights)
    variances = (mean["xx"] - mean["x"] ** 2) * (mean["yy"] - mean["y"] ** 2)
    return _finished((mean["xy"] - mean["x"] * mean["y"]) / tf.sqrt(variances), update)


_IN_GRAPH: Dict[str, Callable[[_Sides], TfMetric]] = {
    "eval_accuracy": lambda sides: tf.metrics.accuracy(
        sides.labels, sides.predictions, sides.weights
    ),
    "f1": _f1_in_graph,
    "matthew_corr": _matthews_in_graph,
    "pearson": _pearson_in_graph,
    "MSE": lambda sides: tf.metrics.mean_squared_error(
        sides.labels, sides.predictions, sides.weights
    ),
    "eval_loss": lambda sides: tf.metrics.mean(sides.losses, sides.weights),
}
