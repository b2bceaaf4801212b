# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parts of a fine-tuning run on RACE: training, evaluation, prediction.

    run = Run(settings, config, vocabulary, length)
    train(run, run.features("train"))
    summary = evaluate(run, 12000, start_summary(run, time.time()))
    predict(run)

Settings are those of the script run_race.

Dimensions: N questions, C options.
"""

import json
import logging
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from albert import fine_tuning_utils, modeling
from albert.data import feature_cache, padded_batches
from albert.race import examples as race_examples
from albert.race import features as race_features
from albert.race import model as race_model
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import fine_tuning_flow, fine_tuning_runs, metrics, run_summary
from albert.util import files

_LOGGER = logging.getLogger("albert")

DESCRIPTION_NAME = "race.json"
RESULTS_NAME = "predict_results.txt"
ANSWERS_NAME = "predictions.json"
PROBABILITIES_NAME = "test_results.tsv"
BEST_METRIC = "eval_accuracy"

_FORMAT_VERSION = 1
# A split's cache is named by its use, and so is the flag that names another file.
_USES = {"train": "train", "dev": "eval", "test": "predict"}


class SplitFeatures(NamedTuple):
    """A split's questions and the file with their features, in one order."""

    questions: List[race_examples.Key]
    records: feature_cache.RecordFile


class Run(NamedTuple):
    """What all parts of a run need."""

    settings: Any
    config: Optional[modeling.AlbertConfig]
    vocabulary: fine_tuning_utils.Vocabulary
    length: fine_tuning_runs.TrainingLength  # of training, if it is asked for

    def features(self, split: str) -> SplitFeatures:
        """Returns the questions of a split and the file of their features."""
        settings = self.settings
        found = race_examples.read_split(
            settings.data_dir,
            split,
            levels=race_examples.levels_of(settings.high_only, settings.middle_only),
        )
        name = f"{settings.task_name} {split}"
        _LOGGER.info("%s", found.line(name))
        named = getattr(settings, f"{_USES[split]}_file")
        records = race_features.write_features(
            found,
            output_file=named or self._cache_path(split),
            max_seq_length=settings.max_seq_length,
            max_qa_length=settings.max_qa_length,
            tokenizer=self.vocabulary.tokenizer,
            exact_path=bool(named),
            description=name,
        )
        return SplitFeatures(found.questions, records)

    def _cache_path(self, split: str) -> str:
        """Where a split's features go if no flag says so; some digits are added to the name."""
        settings = self.settings
        name = f"{settings.task_name}_{_USES[split]}.{settings.max_seq_length}.tf_record"
        return os.path.join(settings.cached_dir or settings.output_dir, name)

    def description(self) -> Dict[str, Any]:
        """Returns the content of race.json."""
        content = {
            "format_version": _FORMAT_VERSION,
            "task": self.settings.task_name,
            "max_qa_length": self.settings.max_qa_length,
        }
        content.update(fine_tuning_flow.model_description(self.settings, self.vocabulary))
        return content

    def model_fn(self, init_checkpoint: Optional[str] = None) -> Callable:
        """Returns the model function; it starts from `init_checkpoint` if there is no other."""
        return fine_tuning_utils.build_model_fn(
            fine_tuning_flow.model_settings(
                self.settings, self.config, self.length, init_checkpoint=init_checkpoint
            ),
            race_model.choice_head(self.settings.dropout_prob),
            metric_fn=race_model.tpu_metrics,
        )

    def input_fn(
        self, file: str, batch_size: int, *, is_training: bool = False, start_step: int = 0
    ) -> Callable:
        """Returns the input function for a record file."""
        settings = self.settings
        mode = settings.padding or padded_batches.default_mode(settings.use_tpu)
        return padded_batches.input_fn(
            file,
            race_features.feature_spec(settings.max_seq_length),
            is_training=is_training,
            batch_size=batch_size,
            padding=padded_batches.Padding(mode),
            seed=settings.seed,
            start_step=start_step,
        )

    def collector(
        self, features: SplitFeatures, batch_size: int, name: str
    ) -> fine_tuning_runs.OutputCollector:
        """Returns what runs checkpoints over a split."""
        return fine_tuning_runs.OutputCollector(
            self.settings,
            self.model_fn(),
            self.input_fn(features.records.path, batch_size),
            batch_size=batch_size,
            examples=features.records.count,
            name=name,
        )


def check_output_dir(run: Run) -> None:
    """Checks that the output folder is new, or was made for this model, task and vocabulary.

    Raises:
      ValueError: it belongs to something else.
    """
    fine_tuning_flow.check_output_dir(
        run.settings,
        run.config,
        name=DESCRIPTION_NAME,
        description=run.description(),
        training_only=("max_seq_length", "max_qa_length"),
    )


def check_data(run: Run) -> None:
    """Reads the data of all parts, so that hours of training do not end in vain.

    Raises:
      ValueError: some of it is not there, or is not as it must be.
    """
    settings = run.settings
    levels = race_examples.levels_of(settings.high_only, settings.middle_only)
    race_features.check_lengths(settings.max_seq_length, settings.max_qa_length)
    asked = (settings.do_train, settings.do_eval, settings.do_predict)
    for wanted, split in zip(asked, race_examples.SPLITS):
        if wanted and split == "train":  # which is read in a moment
            race_examples.find_folders(settings.data_dir, split, levels)
        elif wanted:
            race_examples.read_split(settings.data_dir, split, levels=levels)


# ---------------------------------------------------------------------------------------------
# The parts.


def start_summary(run: Run, began: float) -> run_summary.RunSummary:
    """Returns what keeps run_summary.json during this start of the run (at the time `began`)."""
    about = {"task": run.settings.task_name, "metric": BEST_METRIC}
    return fine_tuning_flow.start_summary(run.settings, about, began)


def train(
    run: Run,
    features: SplitFeatures,
    on_progress: Optional[Callable[[estimator_utils.TrainingSummary], None]] = None,
) -> Optional[estimator_utils.TrainingSummary]:
    """Trains to the last step, from the newest checkpoint if there is one."""

    def input_fn(start_step: int) -> Callable:
        size = run.settings.train_batch_size
        return run.input_fn(features.records.path, size, is_training=True, start_step=start_step)

    answers = [question.answer for question in features.questions]
    return fine_tuning_flow.train(
        run.settings,
        run.model_fn,
        input_fn,
        config=run.config,
        length=run.length,
        documents={DESCRIPTION_NAME: run.description()},
        examples=len(answers),
        constant_loss=metrics.constant_loss(answers, is_regression=False),
        on_progress=on_progress,
    )


def measure(
    questions: Sequence[race_examples.Key], outputs: Mapping[str, np.ndarray]
) -> Dict[str, float]:
    """Returns accuracy and loss of the questions whose answers are known, also by level.

    Args:
      questions: N.
      outputs: predictions int32 [N] and per_example_loss float32 [N], in their order.

    Returns:
      eval_accuracy, eval_loss, and where there are questions of a level also eval_accuracy_middle
      and eval_accuracy_high; {} if no answer is known.
    """
    known = np.array([question.answer is not None for question in questions])
    if not known.any():
        return {}
    answers = np.array([-1 if item.answer is None else item.answer for item in questions])
    levels = np.array([question.level for question in questions])

    def outcome(chosen: np.ndarray) -> metrics.Outcome:
        sides = (answers, outputs["predictions"], outputs["per_example_loss"])
        return metrics.Outcome(*(side[chosen] for side in sides))

    measured = metrics.compute(race_model.METRICS, outcome(known))
    for level in race_examples.LEVELS:
        chosen = known & (levels == level)
        if chosen.any():
            accuracy = metrics.compute([BEST_METRIC], outcome(chosen))[BEST_METRIC]
            measured[f"{BEST_METRIC}_{level}"] = accuracy
    return measured


def evaluate(
    run: Run, final_step: Optional[int], times: run_summary.RunSummary
) -> Optional[checkpoint_evaluator.EvaluationSummary]:
    """Evaluates --checkpoint, or each checkpoint of the output folder, of which it keeps the best.

    Args:
      run: what to evaluate.
      final_step: the last one that will come, if it is known.
      times: gets the results and the time they took.

    Returns:
      The summary; None for --checkpoint, whose results are in a file of their own.
    """
    settings = run.settings
    features = run.features("dev")
    fingerprint = {
        "precision": settings.precision,
        "dev": files.file_fingerprint(features.records.path),
    }
    with run.collector(features, settings.eval_batch_size, "dev") as collector:
        return fine_tuning_flow.evaluate(
            settings,
            lambda checkpoint: measure(features.questions, collector.run(checkpoint)),
            times,
            best_metric=BEST_METRIC,
            fingerprint=fingerprint,
            keep_checkpoints=settings.num_keep_checkpoint,
            final_step=final_step,
        )


def predict(run: Run) -> List[str]:
    """Answers the test questions with the chosen checkpoint; returns the files written."""
    settings = run.settings
    checkpoint = fine_tuning_runs.chosen_checkpoint(settings)
    _LOGGER.info("Predicting with %s.", checkpoint)
    features = run.features("test")
    with run.collector(features, settings.predict_batch_size, "predict") as collector:
        outputs = collector.run(checkpoint)
    written = write_predictions(settings.output_dir, features.questions, outputs)
    _LOGGER.info("Wrote %s.", ", ".join(written))
    return written


def write_predictions(
    output_dir: str,
    questions: Sequence[race_examples.Key],
    outputs: Mapping[str, np.ndarray],
) -> List[str]:
    """Writes predictions.json, test_results.tsv and predict_results.txt; returns their paths.

    predictions.json has the letter of the answer to each question, by its name; test_results.tsv
    the probabilities of the options, a line a question; predict_results.txt `key = value` lines:
    how many questions there are and, where the right answers are known, what was measured.

    Args:
      output_dir: their folder.
      questions: N.
      outputs: predictions int32 [N], probabilities float32 [N, C], per_example_loss float32 [N].
    """
    paths = [
        os.path.join(output_dir, name) for name in (ANSWERS_NAME, PROBABILITIES_NAME, RESULTS_NAME)
    ]
    letters = [race_examples.LETTERS[number] for number in outputs["predictions"]]
    answers = {question.identity: letter for question, letter in zip(questions, letters)}
    # In the order of the questions, as the probabilities are.
    files.atomic_write_text(paths[0], json.dumps(answers, indent=2, ensure_ascii=False) + "\n")
    rows = ["\t".join(map(str, row)) for row in outputs["probabilities"]]
    files.atomic_write_text(paths[1], "".join(row + "\n" for row in rows))
    results: Dict[str, Any] = {"num_questions": len(questions)}
    results.update(measure(questions, outputs))
    lines = [f"{name} = {value}" for name, value in sorted(results.items())]
    _LOGGER.info("Test: %s", ", ".join(lines))
    files.atomic_write_text(paths[2], "".join(line + "\n" for line in lines))
    return paths
