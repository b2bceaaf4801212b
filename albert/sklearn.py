# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Estimators of scikit-learn that fine-tune ALBERT on texts, or on pairs of texts.

from albert.sklearn import AlbertClassifier

model = AlbertClassifier("base_v2", num_train_epochs=3).fit(["Good.", "Bad."], ["yes", "no"])
model.predict(["Great."])

Dimensions: N texts, C classes.
"""

import os
import tempfile
from typing import Any, Dict, List, Optional

import numpy as np
from sklearn import base
from sklearn.utils import multiclass, validation

import albert
from albert.tasks.classification.examples import label_spellings, label_text
from albert.util import UserError, cli


class _AlbertEstimator(base.BaseEstimator):
    """What classifiers and regressors share.

    Attributes:
      output_dir_: the folder of the last fit, which albert.load also reads. A pickled estimator has
        this name, not the weights.
    """

    _model: Any = None

    def __init__(
        self,
        model: Optional[str] = "base_v2",
        *,
        output_dir: Optional[str] = None,
        learning_rate: float = 5e-5,
        num_train_epochs: float = 3.0,
        train_batch_size: int = 32,
        warmup_proportion: float = 0.1,
        max_seq_length: int = 128,
        seed: int = 12345,
        flags: Optional[Dict[str, Any]] = None,
    ):
        """Takes run_classifier's flags; the others are in `flags`.

        `output_dir`: where each fit makes a new folder; None: the system's temporary folder.
        """
        self.model, self.output_dir, self.flags = model, output_dir, flags
        self.learning_rate, self.num_train_epochs = learning_rate, num_train_epochs
        self.train_batch_size, self.warmup_proportion = train_batch_size, warmup_proportion
        self.max_seq_length, self.seed = max_seq_length, seed

    def _fit(self, texts: Any, targets: Any, **flags: Any) -> None:
        cli.import_tensorflow()
        from albert.models import inference

        parts = inference.parse_texts(_listed(texts), inference.parts_of)
        targets = validation.column_or_1d(targets, warn=True).tolist()
        validation.check_consistent_length(parts, targets)
        flags.update(self.get_params(deep=False))
        flags.update(flags.pop("flags") or {})
        parent = flags["output_dir"]
        if parent:
            os.makedirs(parent, exist_ok=True)
        flags["output_dir"] = tempfile.mkdtemp(prefix="fit-", dir=parent)
        rows = [(*texts, target) for texts, target in zip(parts, targets)]
        self._model = albert.fine_tune(rows, **flags)
        self.output_dir_ = flags["output_dir"]

    def _predictions(self, texts: Any) -> List[Any]:
        validation.check_is_fitted(self, "output_dir_")
        if self._model is None:
            self._model = albert.load(self.output_dir_)
        return self._model.predict(_listed(texts))

    def __getstate__(self) -> Dict[str, Any]:
        return {**super().__getstate__(), "_model": None}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def _more_tags(self):  # before scikit-learn 1.6
        return {"X_types": ["string"]}


class AlbertClassifier(base.ClassifierMixin, _AlbertEstimator):
    """A classifier of texts.

    Attributes:
      classes_: the labels, sorted.
    """

    def fit(self, X: Any, y: Any) -> "AlbertClassifier":  # noqa: N803
        """Trains on texts or pairs [N] and labels [N]; UserError if they do not fit."""
        multiclass.check_classification_targets(y)
        classes = np.unique(y)
        names = _names(classes)
        if len(set(names)) < max(2, len(names)):
            raise UserError(f"y needs at least two different classes. It has {names[:6]}.")
        # A flag separates labels by commas. Without the flag, numbers such as 0.5 are regression.
        has_comma = "," in "".join(names)
        self._fit(X, y, labels=None if has_comma else names)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        """Returns the probabilities [N, C], in the order of `classes_`."""
        predictions = self._predictions(X)
        spellings = label_spellings(self._model.task.declared)
        names = [spellings[name] for name in _names(self.classes_)]
        rows = [[prediction.probabilities[name] for name in names] for prediction in predictions]
        shares = np.reshape(rows, [-1, len(names)])
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """Returns the most probable label of each text [N]."""
        numbers = self.predict_proba(X).argmax(axis=1)
        return self.classes_[numbers]


class AlbertRegressor(base.RegressorMixin, _AlbertEstimator):
    """A model that predicts a number for each text."""

    def fit(self, X: Any, y: Any) -> "AlbertRegressor":  # noqa: N803
        """Trains on texts or pairs [N] and numbers [N]; UserError if they do not fit."""
        self._fit(X, np.asarray(y, np.float64), labels="regression")
        return self

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """Returns a number for each text [N]."""
        return np.array([prediction.score for prediction in self._predictions(X)])


def _listed(texts: Any) -> Any:
    """Returns texts, an array, or a pandas column or frame as a list."""
    return np.asarray(texts, dtype=object).tolist()


def _names(classes: np.ndarray) -> List[str]:
    whole = classes.astype(int) if classes.dtype.kind == "f" else classes
    return [label_text(label) for label in whole.tolist()]
