# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The steps of every script that trains: check, train, evaluate, predict and export."""

import contextlib
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert import modeling
from albert.configs.shared_flags import TrainingFlags
from albert.training import distribution, estimators, hooks, origin
from albert.training.evaluation import EvaluationSummary
from albert.util import folder_lock


class Outcome(NamedTuple):
    """The results of a run; None for steps that you did not request or that were already done.

    Attributes:
      metrics: metrics of the best checkpoint, or of --checkpoint; {} if nothing was measured.
      predictions: the files with predictions.
      export: the folder of the exported model.
    """

    training: Optional[hooks.TrainingSummary]
    evaluation: Optional[EvaluationSummary] = None
    metrics: Mapping[str, Any] = {}
    predictions: Sequence[str] = ()
    export: Optional[str] = None


class Workflow:
    """One run of a script. The subclasses define the steps of pretraining and of fine-tuning.

    The constructor of a subclass checks the flags and finds the model. `evaluate` and
    `predict_and_export` do nothing unless a flag requests them.

    Attributes:
      flags: the flags, completed with the model's files.
      config: the model's configuration.
      is_chief: whether this process writes checkpoints and results.
    """

    flags: TrainingFlags
    config: modeling.AlbertConfig

    def __init__(self, flags: TrainingFlags):
        """Checks the training flags; raises UserError."""
        estimators.check_batch_sizes(flags)
        self.is_chief = distribution.is_chief(flags)

    def run(self) -> Outcome:
        """Runs the steps that the flags request. All workers train; the chief does the rest.

        Raises:
          UserError: flags, data or checkpoints do not fit each other.
          hooks.TrainingDivergedError: the loss or the gradient is NaN or infinite.
        """
        flags = self.flags
        with contextlib.ExitStack() as stack:
            if flags.do_train and self.is_chief:
                stack.enter_context(folder_lock.held(flags.output_dir))
            self.check()
            training = self.train() if flags.do_train else None
            if not self.is_chief:
                return Outcome(training)
            if not training:
                origin.record_flags(flags)
            summary, metrics = self.evaluate()
            predictions, export = self.predict_and_export(metrics)
            return Outcome(training, summary, metrics, predictions, export)

    # ---- the steps ----

    def check(self) -> None:
        """Reads the data, checks that they fit the model, and logs what runs; raises UserError."""
        raise NotImplementedError

    def train(self) -> Optional[hooks.TrainingSummary]:
        """Trains to the last step; returns None if training was already finished."""
        raise NotImplementedError

    def evaluate(self) -> Tuple[Optional[EvaluationSummary], Mapping[str, Any]]:
        """Evaluates each checkpoint once, and keeps the best.

        Returns (summary, metrics of the best checkpoint). The summary is None if --checkpoint names
        one checkpoint.
        """
        raise NotImplementedError

    def predict_and_export(self, metrics: Mapping[str, Any]) -> Tuple[Sequence[str], Optional[str]]:
        """Returns (files with predictions, folder of the exported model)."""
        return (), None
