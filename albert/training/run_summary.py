# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_summary.json: what came of a run, and the time it has taken over all its starts.

    summary = RunSummary("output/mrpc", {"task": "mrpc", "seed": 1}, batch_size=32)
    train(..., on_progress=summary.add_training)

Each write adds what has been done since the one before, so that neither a start that is killed nor
a process that evaluates beside the one that trains is lost.
"""

import json
import logging
import os
import time
from typing import Any, Dict, Mapping, Optional

import tensorflow.compat.v1 as tf

from albert.training import estimators as estimator_utils
from albert.util import files

_LOGGER = logging.getLogger("albert")

SUMMARY_NAME = "run_summary.json"
_KEYS = (
    "task",
    "seed",
    "best_step",
    "metric",
    "value",
    "metrics",
    "num_train_steps",
    "train_examples",
    "train_examples_per_second",
    "train_seconds",
    "eval_seconds",
    "predict_seconds",
    "wall_seconds",
)


def read_document(path: str) -> Optional[Dict[str, Any]]:
    """Returns the object in a JSON file of ours; None if there is none that can be read.

    What cannot be read will be written anew, which one line of the log says.
    """
    if not tf.io.gfile.exists(path):
        return None
    try:
        return files.read_json_object(path)
    except ValueError as error:
        _LOGGER.warning("%s It is written anew.", error)
        return None


class RunSummary:
    """The summary of a run, kept by one start of it. Nothing is written before there is news."""

    def __init__(self, output_dir: str, about: Mapping[str, Any], *, batch_size: int, began: float):
        """Notes where the summary is; an earlier one is added to.

        Args:
          output_dir: the run's folder.
          about: task, seed and metric.
          batch_size: examples in one update.
          began: time of this start, in seconds since 1970.
        """
        self._path = os.path.join(output_dir, SUMMARY_NAME)
        self._about = dict(about)
        self._batch_size = batch_size
        self._counted_until = began
        self._examples, self._seconds, self._timed = 0, 0.0, 0.0  # of training, counted so far
        self._has_news = False

    def add_training(self, training: estimator_utils.TrainingSummary) -> None:
        """Records the training of this start, as far as it has come."""
        examples = (training.last_step - training.first_step) * self._batch_size
        speed = training.examples_per_second
        timed = examples / speed if speed else 0.0
        content = self._content()
        self._add(content, "train_seconds", training.seconds - self._seconds)
        if timed:
            # The speed is over the examples of all starts.
            before = content["train_examples"] or 0
            earlier_speed = content["train_examples_per_second"] or 0
            earlier = before / earlier_speed if earlier_speed else 0.0
            self._add(content, "train_examples", examples - self._examples)
            seconds = earlier + timed - self._timed
            content["train_examples_per_second"] = content["train_examples"] / seconds
            self._examples, self._timed = examples, timed
        self._seconds = training.seconds
        content["num_train_steps"] = training.last_step
        self._write(content)

    def add_evaluation(self, seconds: float, **results: Any) -> None:
        """Records time of evaluation and, once they are known, its results.

        Args:
          seconds: since what was recorded before.
          **results: best_step, value, metrics and num_train_steps.
        """
        content = self._content()
        self._add(content, "eval_seconds", seconds)
        content.update(results)
        self._write(content)

    def add_prediction(self, seconds: float) -> None:
        """Records time of prediction, unless a finished run only predicts again."""
        present = tf.io.gfile.exists(self._path)
        if not present or not (self._has_news or self._content()["predict_seconds"] is None):
            return
        content = self._content()
        self._add(content, "predict_seconds", seconds)
        self._write(content)

    def lacks(self, results: Mapping[str, Any]) -> bool:
        """Returns whether the summary does not say what `results` do."""
        content = self._content()
        recorded = {name: content.get(name) for name in results}
        # As text, for not-a-number is not equal to itself.
        return json.dumps(recorded, sort_keys=True) != json.dumps(dict(results), sort_keys=True)

    @property
    def has_news(self) -> bool:
        """Returns whether this start has done something that was not done before."""
        return self._has_news

    def _content(self) -> Dict[str, Any]:
        """What is recorded: another process may have written in the meantime."""
        content: Dict[str, Any] = dict(dict.fromkeys(_KEYS), metrics={})
        content.update(read_document(self._path) or {})
        content.update(self._about)
        return content

    def _add(self, content: Dict[str, Any], key: str, amount: float) -> None:
        content[key] = (content[key] or 0) + amount

    def _write(self, content: Dict[str, Any]) -> None:
        now = time.time()
        self._add(content, "wall_seconds", now - self._counted_until)
        self._counted_until, self._has_news = now, True
        files.atomic_write_json(self._path, content)
