# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""RACE, reading comprehension by multiple choice, as a task of training.fine_tuning.

outcome = fine_tuning.run(settings, RaceTask)

Dimensions: N questions, C options.
"""

import json
import logging
import os
from typing import Any, Callable, Dict, List, Mapping, Sequence

import numpy as np

from albert import fine_tuning_utils, tokenization
from albert.data import batches
from albert.race import examples, model
from albert.race import features as race_features
from albert.race.settings import RaceFlags
from albert.training import distribution, evaluation, fine_tuning, metrics
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

RESULTS_NAME = "predict_results.txt"
ANSWERS_NAME = "predictions.json"
PROBABILITIES_NAME = "test_results.tsv"
BEST_METRIC = "eval_accuracy"

# A split's cache is named by its use, and so is the flag that names another file.
_USES = {"train": "train", "dev": "eval", "test": "predict"}


class RaceTask(fine_tuning.Task):
    """Questions on passages, with four options each."""

    settings: RaceFlags
    description_name = "race.json"
    best_metric = BEST_METRIC
    training_only = ("max_seq_length", "max_qa_length")

    def __init__(self, settings: RaceFlags, tokenizer: tokenization.FullTokenizer):
        super().__init__(settings, tokenizer)
        self.name = settings.task_name
        self._levels = examples.levels_of(settings.high_only, settings.middle_only)

    @classmethod
    def check_flags(cls, settings: RaceFlags) -> None:  # type: ignore[override]
        """Checks what is to be done, the levels, the lengths and the feature files."""
        if not (settings.do_train or settings.do_eval or settings.do_predict):
            raise UserError("Nothing to do: give some of --do_train, --do_eval and --do_predict.")
        examples.levels_of(settings.high_only, settings.middle_only)
        race_features.check_lengths(settings.max_seq_length, settings.max_qa_length)
        uses: Dict[str, str] = {}
        for name in ("train_file", "eval_file", "predict_file"):
            path = getattr(settings, name)
            if path and uses.setdefault(path, name) != name:
                raise UserError(
                    f"--{uses[path]} and --{name} are both {path}: they hold the features of "
                    "different data. Give each a name of its own."
                )

    @property
    def published_name(self) -> str:
        """Results of one level alone are not those of all questions."""
        return "race" if len(self._levels) == len(examples.LEVELS) else ""

    @property
    def keep_checkpoints(self) -> int:
        """The flag has another name here."""
        return self.settings.num_keep_checkpoint

    def description(self) -> Dict[str, Any]:
        """Returns what race.json says of the task."""
        return dict(super().description(), max_qa_length=self.settings.max_qa_length)

    # ---- data and model ----

    def check_data(self) -> None:
        """Reads the data of all parts."""
        settings = self.settings
        asked = (settings.do_train, settings.do_eval, settings.do_predict)
        for wanted, split in zip(asked, examples.SPLITS):
            if wanted and split != "train":  # training data is read before anything else
                examples.read_split(settings.data_dir, split, levels=self._levels)
            elif wanted:
                examples.find_folders(settings.data_dir, split, self._levels)

    def features(self, split: str) -> fine_tuning.Split:
        """Returns the questions of a split and the file of their features."""
        settings, use = self.settings, _USES[split]
        found = examples.read_split(settings.data_dir, split, levels=self._levels)
        _LOGGER.info("%s", found.line(f"{self.name} {split}"))
        # Each worker writes features of its own.
        named = getattr(settings, f"{use}_file") if distribution.is_chief(settings) else None
        usual = f"{self.name}_{use}.{settings.max_seq_length}.tf_record"
        records = race_features.write_features(
            found,
            output_file=named or os.path.join(settings.cached_dir or settings.output_dir, usual),
            max_seq_length=settings.max_seq_length,
            max_qa_length=settings.max_qa_length,
            tokenizer=self.tokenizer,
            exact_path=bool(named),
            description=f"{self.name} {split}",
        )
        return fine_tuning.Split(found.questions, records)

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records."""
        return race_features.feature_spec(self.settings.max_seq_length)

    def head(self) -> fine_tuning_utils.Head:
        """Returns a softmax over the options."""
        return model.choice_head(self.settings.dropout_prob)

    # ---- evaluation and prediction ----

    def eval_splits(self) -> Dict[str, fine_tuning.Split]:
        """Returns the development data, whose questions measurements need."""
        splits = super().eval_splits()
        self._questions = splits["dev"].examples if splits else []
        return splits

    def measure(
        self, checkpoint: str, outputs: Mapping[str, fine_tuning.Outputs]
    ) -> Dict[str, float]:
        """Returns accuracy, also by level, and loss."""
        return measure(self._questions, outputs["dev"])

    def predict(
        self, checkpoint: str, outputs_of: Callable[[Any], Dict[str, np.ndarray]]
    ) -> List[str]:
        """Answers the test questions."""
        features = self.features("test")
        outputs = outputs_of(features)
        self.predicted_scores = measure(features.examples, outputs)
        return write_predictions(self.settings.output_dir, features.examples, outputs)


def measure(
    questions: Sequence[examples.Key], outputs: Mapping[str, np.ndarray]
) -> Dict[str, float]:
    """Returns accuracy and loss of the questions whose answers are known, also by level.

    Args:
      questions: N.
      outputs: predictions int32 [N] and per_example_loss float32 [N], in their order.

    Returns:
      eval_accuracy, eval_loss, and eval_accuracy_middle and eval_accuracy_high if there are
      questions of that level; {} if no answer is known.
    """
    known = np.array([question.answer is not None for question in questions])
    if not known.any():
        return {}
    answers = np.array([-1 if item.answer is None else item.answer for item in questions])
    levels = np.array([question.level for question in questions])

    def outcome(chosen: np.ndarray) -> metrics.Outcome:
        sides = (answers, outputs["predictions"], outputs["per_example_loss"])
        return metrics.Outcome(*(side[chosen] for side in sides))

    measured = metrics.compute(model.METRICS, outcome(known))
    for level in examples.LEVELS:
        chosen = known & (levels == level)
        if chosen.any():
            accuracy = metrics.compute([BEST_METRIC], outcome(chosen))[BEST_METRIC]
            measured[f"{BEST_METRIC}_{level}"] = accuracy
    return measured


def write_predictions(
    output_dir: str,
    questions: Sequence[examples.Key],
    outputs: Mapping[str, np.ndarray],
) -> List[str]:
    """Writes the predictions of N questions; returns the files' paths.

    predictions.json has the letter of the answer to each question; test_results.tsv the
    probabilities of the options, a line a question; predict_results.txt `key = value` lines: how
    many questions there are and, if the right answers are known, the measurements.

    Args:
      output_dir: their folder.
      questions: N.
      outputs: predictions int32 [N], probabilities float32 [N, C], per_example_loss float32 [N].
    """
    letters = [examples.LETTERS[number] for number in outputs["predictions"]]
    answers = {question.identity: letter for question, letter in zip(questions, letters)}
    rows = ["\t".join(map(str, row)) for row in outputs["probabilities"]]
    results = {"num_questions": len(questions), **measure(questions, outputs)}
    lines = [f"{name} = {value}" for name, value in sorted(results.items())]
    _LOGGER.info("Test: %s", evaluation.format_metrics(results))
    contents = {
        # In the order of the questions, as the probabilities are.
        ANSWERS_NAME: json.dumps(answers, indent=2, ensure_ascii=False) + "\n",
        PROBABILITIES_NAME: "".join(row + "\n" for row in rows),
        RESULTS_NAME: "".join(line + "\n" for line in lines),
    }
    paths = []
    for name, content in contents.items():
        paths.append(os.path.join(output_dir, name))
        files.atomic_write_text(paths[-1], content)
    return paths
