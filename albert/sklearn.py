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
from typing import Any, Dict, List, Optional, Sequence

import numpy as np
from sklearn import base
from sklearn.utils import multiclass, validation

import albert
from albert.tasks.classification.examples import label_spellings, label_text
from albert.util.errors import UserError


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

    def _fit(self, texts: Any, targets: Sequence[Any], **flags: Any) -> None:
        rows = [(*text, target) for text, target in zip(_parts(texts, targets), targets)]
        flags.update(self.get_params(deep=False))
        flags.update(flags.pop("flags") or {})
        parent = flags.pop("output_dir")
        if parent:
            os.makedirs(parent, exist_ok=True)
        self.output_dir_ = tempfile.mkdtemp(prefix="fit-", dir=parent)
        self._model = albert.fine_tune(rows, output_dir=self.output_dir_, **flags)

    def _outputs(self, texts: Any) -> np.ndarray:
        """Returns the probabilities [N, C] in the order of the model's labels, or scores [N, 1]."""
        validation.check_is_fitted(self, "output_dir_")
        return self._loaded().predict_array(_parts(texts)).astype(np.float64)

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = albert.load(self.output_dir_)
        return self._model

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_model"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def _more_tags(self) -> Dict[str, Any]:  # before scikit-learn 1.6
        return {"X_types": ["string"]}


class AlbertClassifier(base.ClassifierMixin, _AlbertEstimator):
    """A classifier of texts.

    Attributes:
      classes_: the labels, sorted.
    """

    def fit(self, X: Any, y: Any) -> "AlbertClassifier":  # noqa: N803
        """Trains on texts or pairs [N] and labels [N]; UserError if they do not fit."""
        multiclass.check_classification_targets(y)
        y = validation.column_or_1d(y, warn=True)
        self.classes_ = np.unique(y)
        names = [label_text(label) for label in self.classes_.tolist()]
        if len(set(names)) < 2 or len(set(names)) < len(names):
            raise UserError(f"y needs at least two different classes. It has {names[:6]}.")
        self._fit(X, y.tolist())
        return self

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        """Returns the probabilities [N, C], in the order of `classes_`."""
        outputs = self._outputs(X)
        outputs /= outputs.sum(axis=1, keepdims=True)
        task = self._loaded().task.declared
        spellings = label_spellings(task)
        names = [spellings[label_text(name)] for name in self.classes_.tolist()]
        return outputs[:, [task.labels.index(name) for name in names]]

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """Returns the most probable label of each text [N]."""
        numbers = self.predict_proba(X).argmax(axis=1)
        return self.classes_[numbers]


class AlbertRegressor(base.RegressorMixin, _AlbertEstimator):
    """A model that predicts a number for each text."""

    def fit(self, X: Any, y: Any) -> "AlbertRegressor":  # noqa: N803
        """Trains on texts or pairs [N] and numbers [N]; UserError if they do not fit."""
        y = validation.column_or_1d(y, warn=True).astype(np.float64)
        self._fit(X, y.tolist(), labels="regression")
        return self

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """Returns a number for each text [N]."""
        return self._outputs(X)[:, 0]


def _parts(texts: Any, labels: Optional[Sequence[Any]] = None) -> List[Sequence[str]]:
    """Returns texts, an array, or a pandas column or frame, as tuples of one or two texts."""
    from albert.models import inference

    texts = texts.to_numpy() if hasattr(texts, "to_numpy") else texts
    texts = texts.tolist() if hasattr(texts, "tolist") else texts
    parts = inference.parse_texts(texts, inference.parts_of)
    if not parts or len(parts) != len(parts if labels is None else labels):
        raise UserError(f"There are {len(parts)} texts and {len(labels or ())} labels.")
    return parts
