# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parts of a fine-tuning run of a classifier: training, evaluation, prediction, export.

    run = Run(settings, task, config, vocabulary, length)
    train(run, run.features("train"))
    summary = evaluate(run, final_step=800)
    predict(run)

Settings are those of the script run_classifier.
"""

import contextlib
import logging
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.classification import examples as labelled_examples
from albert.classification import features as classifier_features
from albert.classification import model as classifier_model
from albert.classification import model_folder as fine_tuned_classifier
from albert.classification import predictions as classifier_predictions
from albert.classification import tasks as classifier_tasks
from albert.data import padded_batches
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.training import fine_tuning_flow, fine_tuning_runs, metrics, run_summary
from albert.util import files

_LOGGER = logging.getLogger("albert")

SUMMARY_NAME = run_summary.SUMMARY_NAME
CONFUSION_NAME = "confusion_matrix.json"
_MOST_LABELS_SHOWN = 5


class Run(NamedTuple):
    """What all parts of a run need."""

    settings: Any
    task: classifier_tasks.Task
    config: Optional[modeling.AlbertConfig]
    vocabulary: fine_tuning_utils.Vocabulary
    length: fine_tuning_runs.TrainingLength  # of training, if it is asked for

    def features(self, split: str) -> classifier_features.SplitFeatures:
        """Returns the examples of a split and the file of their features."""
        settings = self.settings
        return classifier_features.cached_features(
            self.task,
            settings.data_dir,
            split,
            cached_dir=settings.cached_dir or settings.output_dir,
            max_seq_length=settings.max_seq_length,
            tokenizer=self.vocabulary.tokenizer,
        )

    def description(self) -> Dict[str, Any]:
        """Returns the content of classifier.json."""
        content = {
            "format_version": fine_tuned_classifier.FORMAT_VERSION,
            "task": self.task.name,
            "labels": list(self.task.labels),
            "is_regression": self.task.is_regression,
            "is_pair": self.task.is_pair,
        }
        content.update(fine_tuning_flow.model_description(self.settings, self.vocabulary))
        return content

    def model_fn(self, init_checkpoint: Optional[str] = None) -> Callable:
        """Returns the model function; it starts from `init_checkpoint` if there is no other."""
        task = self.task
        return fine_tuning_utils.build_model_fn(
            fine_tuning_flow.model_settings(
                self.settings, self.config, self.length, init_checkpoint=init_checkpoint
            ),
            classifier_model.classification_head(task.num_labels, task.is_regression),
            metric_fn=classifier_model.tpu_metrics(measured(task), task.num_labels),
        )

    def input_fn(
        self, file: str, batch_size: int, *, is_training: bool = False, start_step: int = 0
    ) -> Callable:
        """Returns the input function for a record file."""
        settings = self.settings
        mode = settings.padding or padded_batches.default_mode(settings.use_tpu)
        return padded_batches.input_fn(
            file,
            classifier_features.feature_spec(settings.max_seq_length, self.task.is_regression),
            is_training=is_training,
            batch_size=batch_size,
            padding=padded_batches.Padding(mode),
            seed=settings.seed,
            start_step=start_step,
        )

    def collector(
        self, features: classifier_features.SplitFeatures, batch_size: int, name: str
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


def measured(task: classifier_tasks.Task) -> List[str]:
    """Returns the names of what is measured on a task."""
    return list(dict.fromkeys(task.metrics + (task.best_metric, "eval_loss")))


def check_output_dir(run: Run):
    """Checks that the output folder is new, or was made for this model, task and vocabulary.

    Raises:
      ValueError: it belongs to something else.
    """
    fine_tuning_flow.check_output_dir(
        run.settings,
        run.config,
        name=fine_tuned_classifier.DESCRIPTION_NAME,
        description=run.description(),
        earlier={"is_pair": run.task.is_pair},
    )


def check_data(run: Run):
    """Finds the data of evaluation and prediction, so that hours of training do not end in vain.

    Raises:
      ValueError: there is none.
    """
    settings, task = run.settings, run.task
    wanted = [task.dev_splits[:1] or ("dev",)] if settings.do_eval else []
    if settings.predict_file:
        classifier_predictions.read_predict_file(task, settings.predict_file)
    elif settings.do_predict:
        wanted.append(_test_splits(run)[:1])
    for (split,) in wanted:
        if not classifier_tasks.has_split(task, settings.data_dir, split):
            classifier_tasks.read_examples(task, settings.data_dir, split)  # says what is missing


# ---------------------------------------------------------------------------------------------
# The parts.


def start_summary(run: Run, began: float) -> run_summary.RunSummary:
    """Returns what keeps run_summary.json during this start of the run (at the time `began`)."""
    about = {"task": run.task.name, "metric": run.task.best_metric}
    return fine_tuning_flow.start_summary(run.settings, about, began)


def train(
    run: Run,
    features: classifier_features.SplitFeatures,
    on_progress: Optional[Callable[[estimator_utils.TrainingSummary], None]] = None,
) -> Optional[estimator_utils.TrainingSummary]:
    """Trains to the last step, from the newest checkpoint if there is one."""
    settings = run.settings
    file = features.records.path

    def input_fn(start_step: int) -> Callable:
        size = settings.train_batch_size
        return run.input_fn(file, size, is_training=True, start_step=start_step)

    labels = [example.label for example in features.data.examples]
    return fine_tuning_flow.train(
        settings,
        run.model_fn,
        input_fn,
        config=run.config,
        length=run.length,
        documents={fine_tuned_classifier.DESCRIPTION_NAME: run.description()},
        examples=len(labels),
        constant_loss=metrics.constant_loss(labels, run.task.is_regression),
        on_progress=on_progress,
    )


class _Evaluation:
    """Measures checkpoints on the task's evaluation data."""

    def __init__(self, run: Run, stack: Any):
        """`stack`: closes what is opened here."""
        self._run = run
        self._collectors = {}
        self.fingerprint = {"precision": run.settings.precision, "metrics": measured(run.task)}
        self._confusions: Dict[str, np.ndarray] = {}
        for split in self._splits():
            features = run.features(split)
            collector = run.collector(features, run.settings.eval_batch_size, split)
            self._collectors[split] = stack.enter_context(collector)
            self.fingerprint[split] = files.file_fingerprint(features.records.path)

    def _splits(self) -> List[str]:
        """The first one has to be there; of the others, those that are."""
        task, data_dir = self._run.task, self._run.settings.data_dir
        first, *others = task.dev_splits or ("dev",)
        there = [split for split in others if classifier_tasks.has_split(task, data_dir, split)]
        for split in sorted(set(others) - set(there)):
            _LOGGER.info("There is no %s data; evaluating without it.", split)
        return [first, *there]

    def measure(self, checkpoint: str) -> Dict[str, float]:
        """Returns the metrics of all splits; those after the first carry the split's name."""
        measurements: Dict[str, float] = {}
        task = self._run.task
        for number, (split, collector) in enumerate(self._collectors.items()):
            outputs = collector.run(checkpoint)
            outcome = metrics.Outcome(
                outputs["label_ids"], outputs["predictions"], outputs["per_example_loss"]
            )
            suffix = split[len("dev") :] if number else ""
            for name, value in metrics.compute(measured(task), outcome).items():
                measurements[name + suffix] = value
            if not number and not task.is_regression:
                confusion = metrics.confusion_matrix(outcome, task.num_labels)
                self._confusions[checkpoint] = confusion
        return measurements

    def confusion(self, step: int) -> np.ndarray:
        """Returns the best checkpoint's confusion matrix; rows are labels, columns predictions."""
        folder = self._run.settings.output_dir
        measured_path = os.path.join(folder, f"model.ckpt-{step}")
        if measured_path in self._confusions:
            return self._confusions[measured_path]
        best = os.path.join(folder, checkpoint_evaluator.BEST_CHECKPOINT)
        if best not in self._confusions:
            self.measure(best)
        return self._confusions[best]


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
    task = run.task
    with contextlib.ExitStack() as stack:
        evaluation = _Evaluation(run, stack)

        def finish(summary: checkpoint_evaluator.EvaluationSummary) -> None:
            if summary.best and not task.is_regression:
                write_confusion(run, evaluation, summary)

        return fine_tuning_flow.evaluate(
            run.settings,
            evaluation.measure,
            times,
            best_metric=task.best_metric,
            higher_is_better=task.higher_is_better,
            fingerprint=evaluation.fingerprint,
            keep_checkpoints=run.settings.keep_checkpoint_max,
            final_step=final_step,
            finish=finish,
        )


def write_confusion(
    run: Run, evaluation: _Evaluation, summary: checkpoint_evaluator.EvaluationSummary
):
    """Writes the best checkpoint's confusion matrix unless it is there; shows a small one."""
    path = os.path.join(run.settings.output_dir, CONFUSION_NAME)
    identity = {"step": summary.best.step, "data": evaluation.fingerprint}
    present = run_summary.read_document(path) or {}
    if {name: present.get(name) for name in identity} == identity:
        matrix = np.array(present["matrix"])
        fine_tuning_runs.warn_of_constant_predictions(matrix, run.task.labels)
        return
    matrix = evaluation.confusion(summary.best.step)
    content = dict(identity, labels=list(run.task.labels), matrix=matrix.tolist())
    files.atomic_write_json(path, content)
    if run.task.num_labels <= _MOST_LABELS_SHOWN:
        rows = [f"{name}: {row}" for name, row in zip(run.task.labels, matrix.tolist())]
        _LOGGER.info("Labels (rows) and how often each was predicted: %s", "; ".join(rows))
    fine_tuning_runs.warn_of_constant_predictions(matrix, run.task.labels)


def predict(run: Run) -> List[str]:
    """Predicts --predict_file or the test data; returns the files written."""
    settings, task = run.settings, run.task
    checkpoint = fine_tuning_runs.chosen_checkpoint(settings)
    _LOGGER.info("Predicting with %s.", checkpoint)
    written = []
    if settings.predict_file:
        predictions = run_prediction(run, _predict_file_features(run), checkpoint)
        written += classifier_predictions.write_file_results(
            settings.output_dir, task, settings.predict_file, predictions=predictions
        )
    else:
        for split in _test_splits(run):
            predictions = run_prediction(run, run.features(split), checkpoint)
            written += classifier_predictions.write_predictions(
                settings.output_dir, task, split, predictions=predictions
            )
    _LOGGER.info("Wrote %s.", ", ".join(written))
    return written


def _predict_file_features(run: Run) -> classifier_features.SplitFeatures:
    """The features of the user's own texts."""
    data = classifier_predictions.read_predict_file(run.task, run.settings.predict_file)
    _LOGGER.info("%s", labelled_examples.dirt_line("predict_file", data))
    folder = run.settings.cached_dir or run.settings.output_dir
    name = f"{run.task.name}_predict_file.{run.settings.max_seq_length}.tf_record"
    records = classifier_features.write_features(
        run.task,
        data,
        output_file=os.path.join(folder, name),
        max_seq_length=run.settings.max_seq_length,
        tokenizer=run.vocabulary.tokenizer,
        description="predict_file",
    )
    return classifier_features.SplitFeatures(data, records)


def _test_splits(run: Run) -> List[str]:
    """All that are there; the first one's absence is an error when it is read."""
    splits = run.task.test_splits or ("test",)
    there = [
        split
        for split in splits
        if classifier_tasks.has_split(run.task, run.settings.data_dir, split)
    ]
    return there or list(splits[:1])


def run_prediction(
    run: Run, features: classifier_features.SplitFeatures, checkpoint: str
) -> classifier_predictions.Predictions:
    """Returns what a checkpoint predicts for all examples."""
    with run.collector(features, run.settings.predict_batch_size, "predict") as collector:
        outputs = collector.run(checkpoint)
    return classifier_predictions.Predictions(
        features.data.examples, outputs["probabilities"], outputs["predictions"]
    )


def export_model(run: Run) -> str:
    """Exports the chosen checkpoint; returns the folder."""
    settings = run.settings
    checkpoint = fine_tuning_runs.chosen_checkpoint(settings)
    documents = {fine_tuned_classifier.DESCRIPTION_NAME: run.description()}
    if run.config is not None:
        documents[fine_tuned_classifier.CONFIG_NAME] = run.config.to_dict()
    for name, content in documents.items():
        path = os.path.join(settings.output_dir, name)
        if not tf.io.gfile.exists(path):  # the checkpoint was trained elsewhere
            files.atomic_write_json(path, content)
    return fine_tuned_classifier.export_classifier(
        settings.export_dir,
        fine_tuned_classifier.read_classifier(settings.output_dir, checkpoint),
        threshold=settings.threshold_to_export,
    )
