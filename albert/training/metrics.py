# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of classification and regression: a table of pure functions on gathered predictions.

    compute(["eval_accuracy", "f1"], Outcome(labels, predictions, losses))

`in_graph` has the same ones as tf.metrics, for devices whose predictions do not come back (TPU).
Dimensions: N examples, B batch.
"""

import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

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


class ConstantLoss(NamedTuple):
    """The loss of a prediction without looking at the input: over all examples, and of one."""

    mean: float
    deviation: float = 0.0


def constant_loss(labels: Sequence[Any], is_regression: bool) -> ConstantLoss:
    """Returns the loss of the best prediction without looking at the input.

    The mean is the entropy of the labels for cross entropy, their variance for the squared error.
    """
    if is_regression:
        values = np.asarray(labels, np.float64)
        losses = (values - values.mean()) ** 2
    else:
        _, inverse, counts = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
        losses = np.log(len(inverse) / counts)[inverse]
    return ConstantLoss(float(losses.mean()), float(losses.std()))


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
      labels, predictions: [B], int32 or float32.
      losses: float32 [B].
      weights: [B]; 0 for rows that do not count.
    """
    real = tf.cast(weights, tf.float32)
    makers: Dict[str, Callable[[], TfMetric]] = {
        "eval_accuracy": lambda: tf.metrics.accuracy(labels, predictions, real),
        "f1": lambda: _f1_in_graph(labels, predictions, real),
        "matthew_corr": lambda: _matthews_in_graph(labels, predictions, real, count=num_labels),
        "pearson": lambda: _pearson_in_graph(labels, predictions, real),
        "MSE": lambda: tf.metrics.mean_squared_error(labels, predictions, real),
        "eval_loss": lambda: tf.metrics.mean(losses, real),
    }
    return {name: makers[name]() for name in names if name in makers}


def _means(tensors: Dict[str, tf.Tensor], weights: tf.Tensor) -> Tuple[Dict, tf.Operation]:
    """The running mean of each tensor [B], and the operation that adds a batch to all of them."""
    pairs = {
        name: tf.metrics.mean(tf.cast(value, tf.float32), weights)
        for name, value in tensors.items()
    }
    update = tf.group(*[update for _, update in pairs.values()])
    return {name: value for name, (value, _) in pairs.items()}, update


def _finished(value: tf.Tensor, update: tf.Operation) -> TfMetric:
    """tf.metrics requires a value from the update op."""
    with tf.control_dependencies([update]):
        return value, tf.constant(0.0)


def _f1_in_graph(labels: tf.Tensor, predictions: tf.Tensor, weights: tf.Tensor) -> TfMetric:
    label, guess = tf.equal(labels, 1), tf.equal(predictions, 1)
    cells = {"both": tf.logical_and(label, guess), "label": label, "guess": guess}
    share, update = _means(cells, weights)
    value = tf.math.divide_no_nan(2 * share["both"], share["label"] + share["guess"])
    return _finished(value, update)


def _matthews_in_graph(
    labels: tf.Tensor, predictions: tf.Tensor, weights: tf.Tensor, *, count: int
) -> TfMetric:
    """For any number of labels, from the margins of the confusion matrix and its diagonal.

    Gorodkin, Computational Biology and Chemistry 28 (2004), 367-374: the correlation coefficient
    of a confusion matrix with K rows.
    """
    numbers = range(count)
    cells = {"right": tf.equal(labels, predictions)}
    cells.update({f"label_{number}": tf.equal(labels, number) for number in numbers})
    cells.update({f"guess_{number}": tf.equal(predictions, number) for number in numbers})
    share, update = _means(cells, weights)
    labels = tf.stack([share[f"label_{number}"] for number in numbers])  # [K]
    guesses = tf.stack([share[f"guess_{number}"] for number in numbers])  # [K]
    covariance = share["right"] - tf.reduce_sum(labels * guesses)
    variances = (1 - tf.reduce_sum(labels**2)) * (1 - tf.reduce_sum(guesses**2))
    return _finished(tf.math.divide_no_nan(covariance, tf.sqrt(variances)), update)


def _pearson_in_graph(labels: tf.Tensor, predictions: tf.Tensor, weights: tf.Tensor) -> TfMetric:
    x, y = tf.cast(labels, tf.float32), tf.cast(predictions, tf.float32)
    moments = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    mean, update = _means(moments, weights)
    variances = (mean["xx"] - mean["x"] ** 2) * (mean["yy"] - mean["y"] ** 2)
    return _finished((mean["xy"] - mean["x"] * mean["y"]) / tf.sqrt(variances), update)
