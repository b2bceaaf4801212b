# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Metrics of labels and scores, computed from all predictions.

    compute(["eval_accuracy", "f1"], Predictions(labels, predictions, losses))

Dimensions: N examples, B batch, L labels.
"""

import functools
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

_MAX_MATRIX_LABELS = 300  # with more labels, list the pairs that occur
PER_LABEL = ("precision", "recall")  # metrics of one label, such as recall_yes


class Predictions(NamedTuple):
    """Labels, predictions and losses of N examples, [N] each.

    Where an example can have several labels, labels and predictions are 0 or 1, int32 [N, L].
    """

    labels: np.ndarray  # int32 ids, or float32 scores
    predictions: np.ndarray  # int32 ids, or float32 scores
    losses: np.ndarray  # float32
    probabilities: Optional[np.ndarray] = None  # float32 [N, L]; for average_precision


def _sklearn() -> Any:
    """Imports scikit-learn's metrics, only when needed: it takes a second."""
    from sklearn import metrics

    return metrics


def _correlation(name: str, predictions: Predictions) -> float:
    """Returns SciPy's correlation; NaN if one side is constant or N is 1."""
    from scipy import stats

    if len(predictions.labels) < 2:
        return float("nan")
    return getattr(stats, name)(*_scores(predictions))[0]


def _scores(predictions: Predictions) -> List[np.ndarray]:
    """Returns labels and predictions as float64, so that sums are exact enough."""
    return [np.asarray(side, np.float64) for side in predictions[:2]]


def _score(name: str, predictions: Predictions, **options: Any) -> float:
    """Returns scikit-learn's "f1", "precision" or "recall"; 0 if it divides by 0."""
    score = getattr(_sklearn(), f"{name}_score")
    return score(*predictions[:2], zero_division=0, **options)


def _accuracy(predictions: Predictions) -> float:
    return _sklearn().accuracy_score(*predictions[:2])


METRICS: Dict[str, Callable[[Predictions], float]] = {
    "eval_accuracy": _accuracy,
    "exact_match": _accuracy,
    "f1": functools.partial(_score, "f1"),
    **{
        f"{average}_f1": functools.partial(_score, "f1", average=average)
        for average in ("macro", "micro", "weighted", "samples")
    },
    "average_precision": lambda predictions: _sklearn().average_precision_score(
        predictions.labels, predictions.probabilities
    ),
    "matthew_corr": lambda predictions: _sklearn().matthews_corrcoef(*predictions[:2]),
    "pearson": functools.partial(_correlation, "pearsonr"),
    "spearman": functools.partial(_correlation, "spearmanr"),
    "MSE": lambda predictions: _sklearn().mean_squared_error(*_scores(predictions)),
    "eval_loss": lambda predictions: np.mean(predictions.losses, dtype=np.float64),
}


def compute(
    names: Sequence[str], predictions: Predictions, labels: Sequence[str] = ()
) -> Dict[str, float]:
    """Returns the metrics by name. `labels` are the names of the ids, for metrics per label.

    eval_accuracy  fraction of correct predictions
    f1             harmonic mean of precision and recall for label 1 (two labels)
    macro_f1       mean of the F1 of each label that occurs
    micro_f1       F1 of all decisions together
    weighted_f1    mean of the F1 of each label, weighted by its examples
    precision_yes  fraction of the predictions "yes" that are correct
    recall_yes     fraction of the examples with the label "yes" that are predicted
    matthew_corr   Matthews' correlation coefficient
    Of several labels per example:
    samples_f1     mean of the F1 of each example
    exact_match    fraction of examples whose labels are all correct
    average_precision  mean of the area under each label's curve of precision by recall
    pearson        correlation of scores; NaN if one side is constant
    spearman       correlation of the scores' ranks
    MSE            mean squared error
    eval_loss      mean of the losses
    """
    values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant scores, and of labels that do not occur
        for name in names:
            kind, _, label = name.partition("_")
            if kind in PER_LABEL:
                value = _score(kind, predictions, labels=[labels.index(label)], average="macro")
            else:
                value = METRICS[name](predictions)
            values[name] = float(value)
    return values


def best_threshold(metric: str, predictions: Predictions, labels: Sequence[str]) -> float:
    """Returns the best probability from which labels are predicted, of 0.05, 0.1, ..., 0.95.

    The metric decides; of equal thresholds micro F1, and then the distance from 0.5.
    """

    def rank(threshold: float) -> List[float]:
        decided = predictions._replace(predictions=predictions.probabilities >= threshold)
        scores = compute([metric, "micro_f1"], decided, labels)
        return [*scores.values(), -abs(threshold - 0.5)]

    return max((percent / 100 for percent in range(5, 100, 5)), key=rank)


# ---- labels ----


def label_pairs(outputs: Mapping[str, np.ndarray]) -> Tuple[np.ndarray, np.ndarray]:
    """Returns (labels, predictions) from a head's outputs, as int label indices [N].

    For a token tagger, `label_ids` are [R, S]. They count from 1, and 0 means no label. N is then
    the number of labeled tokens.
    """
    right, predicted = outputs["label_ids"], outputs["predictions"]
    if right.ndim == 1:
        return right, predicted
    # Predictions of an exported model are only as long as the longest record.
    right = right[:, : predicted.shape[1]]
    return right[right > 0] - 1, predicted[right > 0]


def confusion_matrix(
    labels: Sequence[str], right: np.ndarray, predicted: np.ndarray
) -> Dict[str, Any]:
    """Returns `labels` and `matrix`, with a row per label and a column per prediction, and says so.

    With many labels, returns `pairs` instead: [label, prediction, count] for each pair that occurs.
    If an example can have several labels, returns `matrices`: for each label one of 2 by 2.
    """
    if right.ndim == 2:
        counted = _sklearn().multilabel_confusion_matrix(right, predicted).tolist()
        return {
            "rows": ["absent", "present"],
            "columns": ["not predicted", "predicted"],
            "matrices": dict(zip(labels, counted)),
        }
    pairs, counts = np.unique(np.stack([right, predicted], axis=1), axis=0, return_counts=True)
    if len(labels) > _MAX_MATRIX_LABELS:
        rows = np.column_stack([pairs, counts]).tolist()
        return {"pairs": [[labels[row], labels[column], count] for row, column, count in rows]}
    matrix = np.zeros([len(labels), len(labels)], int)
    matrix[tuple(pairs.T)] = counts
    sides = {"rows": "labels", "columns": "predictions"}
    return {"labels": list(labels), **sides, "matrix": matrix.tolist()}


def classification_report(labels: Sequence[str], right: np.ndarray, predicted: np.ndarray) -> str:
    """Returns scikit-learn's table of precision, recall, F1 and examples of each label."""
    return _sklearn().classification_report(
        right,
        predicted,
        labels=range(len(labels)),
        target_names=list(labels),
        digits=4,
        zero_division=0,
    )
