# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The order of work of every script that trains: check, train, evaluate, predict and export."""

import contextlib
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple

from albert import modeling
from albert.configs.flags import TrainingFlags
from albert.training import distribution, estimators, hooks, origin
from albert.training.evaluation import EvaluationSummary
from albert.util import folder_lock


class Outcome(NamedTuple):
    """The results of a run; None for steps that were not requested or already done.

    Attributes:
      metrics: of the best checkpoint, or of the one that was named; {} if nothing was measured.
      predictions, export: the files, and the folder, that were written.
    """

    training: Optional[hooks.TrainingSummary]
    evaluation: Optional[EvaluationSummary] = None
    metrics: Mapping[str, Any] = {}
    predictions: Sequence[str] = ()
    export: Optional[str] = None


class Workflow:
    """One run of a script. Its subclasses are the steps of pretraining and of fine-tuning.

    A subclass checks the flags and finds the model when it is made. Its `evaluate` and
    `predict_and_export` do nothing if no flag asks for them.

    Attributes:
      flags: the flags, with the model's files.
      config: of the model.
      is_chief: whether this process writes checkpoints and results.
    """

    flags: TrainingFlags
    config: modeling.AlbertConfig

    def __init__(self, flags: TrainingFlags):
        """Checks the flags of training; raises UserError."""
        estimators.check_batch_sizes(flags)
        self.is_chief = distribution.is_chief(flags)

    def run(self) -> Outcome:
        """Does what the flags ask for.

        Of several workers all train, and the chief does the rest.

        Raises:
          UserError: flags, data or checkpoints that do not fit each other.
          hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
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
        """Reads the data, and logs what is run; raises UserError for what does not fit."""
        raise NotImplementedError

    def train(self) -> Optional[hooks.TrainingSummary]:
        """Trains to the last step; returns None if that was done before."""
        raise NotImplementedError

    def evaluate(self) -> Tuple[Optional[EvaluationSummary], Mapping[str, Any]]:
        """Evaluates each checkpoint once, and keeps the best.

        Returns the summary, and the metrics of the best checkpoint. The summary is None if one
        checkpoint alone was evaluated.
        """
        raise NotImplementedError

    def predict_and_export(self, metrics: Mapping[str, Any]) -> Tuple[Sequence[str], Optional[str]]:
        """Returns the files of predictions, and the folder of an exported model."""
        del metrics
        return (), None
