# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One run of fine-tuning, whatever the task.

    outcome = run(settings, RaceTask)

`Task` says what differs between tasks; docs/new_task.md writes one. Dimensions: N examples.
"""

import logging
import math
import os
import time
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Type

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.configs import published
from albert.configs.flags import FineTuningFlags
from albert.data import batches, padded_batches
from albert.pretrained import model_vocabulary, network
from albert.runtimes import compat
from albert.training import distribution, estimators, evaluation, fine_tuned, hooks, model_fn
from albert.training.task import Outputs, Split, Task
from albert.util import config_files, files, progress
from albert.util.errors import UserError

__all__ = ["FineTuning", "Outcome", "Split", "Task", "main", "run"]

_LOGGER = logging.getLogger("albert")

SUMMARY_NAME = "run_summary.json"
_POOL = 4096  # records that are sorted by length together


class Outcome(NamedTuple):
    """The results of a run; None for what was not requested or was done already.

    Attributes:
      metrics: of the best checkpoint, or of the one that was named; {} if nothing was measured.
      predictions, export: the files, and the folder, that were written.
    """

    training: Optional[hooks.TrainingSummary]
    evaluation: Optional[evaluation.EvaluationSummary]
    metrics: Dict[str, Any]
    predictions: List[str]
    export: Optional[str]


def main(settings: FineTuningFlags, task: Type[Task]) -> None:
    """Runs a script: all of it, or a worker's part of a distributed training."""
    estimators.run_as_worker(lambda own: run(own, task), settings)


@estimators.lock_output_dir
def run(settings: FineTuningFlags, task: Type[Task]) -> Outcome:
    """Trains, evaluates, predicts and exports as the settings say.

    Raises:
      UserError: flags, data or checkpoints that do not fit each other.
      hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    return FineTuning(settings, task).run()


class FineTuning:
    """One run of one task.

    Attributes:
      setup: settings, model, vocabulary and task.
      settings, task: those of `setup`.
      published_model: what it is compared with; None if it has another size.
      schedule: of training, once its data were read.
    """

    def __init__(self, settings: FineTuningFlags, task: Type[Task]):
        """Checks the flags and finds the model; raises UserError."""
        task.check_flags(settings)
        estimators.check_batch_sizes(settings)
        self._began, self._has_news = time.time(), False
        self._flags = settings
        self.setup = fine_tuned.set_up(settings, task)
        self.settings, self.task = self.setup.settings, self.setup.task
        self.published_model = published_model(settings, self.setup.config)
        self.schedule = model_fn.ONE_STEP
        self._splits: Dict[str, Split] = {}
        self._outputs: Dict[str, Dict[str, Outputs]] = {}  # of the best checkpoint, by split
        self._best_rank = (-math.inf, -math.inf)
        self._network: Optional[network.GraphNetwork] = None

    def run(self) -> Outcome:
        """Does what the flags ask for; see the function `run`."""
        settings, task = self.settings, self.task
        self.check()
        training = self.train() if settings.do_train else None
        self._record_flags()
        splits = task.splits("dev")
        summary, metrics = self.evaluate(splits) if splits else (None, {})
        predictions = self.predict(metrics) if task.splits("test") else []
        export = self.export(metrics) if getattr(settings, "export_dir", None) else None
        return Outcome(training, summary, metrics, predictions, export)

    # ---- before anything is made ----

    def check(self) -> None:
        """Raises UserError for a folder, data or weights that do not fit, before hours of work."""
        settings, setup, task = self.settings, self.setup, self.task
        estimators.check_output_dir(settings.output_dir, setup.config.to_dict())
        path = os.path.join(settings.output_dir, task.description_name)
        is_training = settings.do_train
        fine_tuned.check_description(path, setup.description(), task, is_training=is_training)
        may_come = is_training or settings.wait_for_checkpoints_minutes
        ledger = os.path.join(settings.output_dir, evaluation.LEDGER_NAME)
        asked = settings.to_dict()
        evaluates = asked.get("do_eval") and not tf.io.gfile.exists(ledger)
        uses = evaluates or asked.get("export_dir") or task.splits("test")
        if uses and (settings.checkpoint or not may_come):
            fine_tuned.chosen_checkpoint(settings)
        estimators.announce(settings, setup.config, f"{task.name.upper()}{_data(settings)}")
        if is_training and not evaluation.list_checkpoints(settings.output_dir):
            _check_vocabulary(settings, setup.vocabulary)
            model_fn.check_first_weights(settings, setup.config)
        for split in [*task.splits("dev"), *task.splits("test")]:
            self._features(split)

    def _features(self, split: str) -> Split:
        if split not in self._splits:
            self._splits[split] = self.task.features(split)
        return self._splits[split]

    def _record_flags(self) -> None:
        if distribution.is_chief(self.settings):
            path = os.path.join(self.settings.output_dir, config_files.RECORD_NAME)
            config_files.record(path, self._flags.given_values())

    # ---- training ----

    def train(self) -> Optional[hooks.TrainingSummary]:
        """Trains to the last step; all checkpoints are kept until they are evaluated."""
        settings = self.settings
        examples, records = self.task.features("train")
        self.schedule = model_fn.training_length(settings, len(examples))
        last_step = self.schedule.num_train_steps
        summary = estimators.train(
            settings,
            self.model_fn,
            lambda start: self.input_fn(
                records.path, settings.train_batch_size, is_training=True, start_step=start
            ),
            max_steps=last_step,
            documents=self.setup.portable_files(settings.output_dir),
            flags=self._flags,
            on_start=self._record_flags,
        )
        if summary:
            self._has_news = True
            self._add_to_summary(
                num_train_steps=last_step,
                train_seconds=summary.seconds,
                train_examples_per_second=summary.examples_per_second,
            )
        return summary

    def model_fn(self, init_checkpoint: Optional[str] = None) -> Callable:
        """Returns the model function; training starts from `init_checkpoint`, if named."""
        return model_fn.build_model_fn(
            self.settings.replace(init_checkpoint=init_checkpoint),
            self.setup.config,
            self.task.head,
            schedule=self.schedule,
            # On a TPU looking up rows is slower than a product.
            use_one_hot_embeddings=self.settings.use_tpu,
        )

    def input_fn(
        self, file: str, batch_size: int, *, is_training: bool = False, start_step: int = 0
    ) -> Callable:
        """Returns the input function for a record file."""
        mode = self.settings.padding or padded_batches.default_mode(self.settings.use_tpu)
        return padded_batches.input_fn(
            file,
            self.task.spec(is_training),
            is_training=is_training,
            batch_size=batch_size,
            padding=padded_batches.Padding(mode, features=tuple(self.task.sequences)),
            seed=self.settings.seed,
            start_step=start_step,
        )

    # ---- evaluation ----

    def evaluate(self, splits: List[str]) -> Any:
        """Evaluates --checkpoint, or each checkpoint of the output folder, of which the best stays.

        Returns the summary, None where there is one checkpoint alone, and the metrics of the best.
        """
        settings, folder = self.settings, self.settings.output_dir
        alone = settings.checkpoint or not (
            evaluation.list_checkpoints(folder)
            or settings.wait_for_checkpoints_minutes
            or tf.io.gfile.exists(os.path.join(folder, evaluation.LEDGER_NAME))
        )
        if alone:
            checkpoint = fine_tuned.chosen_checkpoint(settings)
            metrics = evaluation.evaluate_one(folder, self._measure, checkpoint)
            self.compare(metrics, "dev")
            return None, metrics
        began, identity = time.time(), {"precision": settings.precision, **self.task.identity()}
        for split in splits:
            identity[split] = files.file_fingerprint(self._features(split).records.path)
        summary = evaluation.evaluate_checkpoints(
            folder,
            self._measure_and_plot,
            best_metric=self.task.best_metric,
            higher_is_better=self.task.higher_is_better,
            fingerprint=identity,
            write_best_trial=True,
            wait_seconds=60.0 * settings.wait_for_checkpoints_minutes,
            final_step=self._final_step(),
        )
        best = summary.best
        metrics = dict(best.metrics) if best else {}
        if best:
            self._describe_best(summary)
        compared = self.compare(metrics, "dev")
        self._add_to_summary(
            eval_seconds=time.time() - began,
            model=self.published_model and self.published_model._asdict(),
            published=[one._asdict() for one in compared],
            num_train_steps=max(result.step for result in summary.results),
            best_step=best and best.step,
            metrics=metrics,
            value=best and best.metrics[self.task.best_metric],
        )
        if settings.do_train:
            # model.ckpt-0 is not needed any more either.
            steps = [0, *(result.step for result in summary.results)]
            evaluation.prune_checkpoints(folder, _kept(settings), steps)
        return summary, metrics

    def _measure(self, checkpoint: str) -> Dict[str, float]:
        """The measurements of a checkpoint; those of splits after the first carry their names."""
        outputs, metrics = {}, {}
        for number, split in enumerate(self.task.splits("dev")):
            outputs[split] = self.outputs(checkpoint, split)
            found = dict(self.task.measure(self._features(split).examples, outputs[split]))
            if "per_example_loss" in outputs[split]:
                loss = np.mean(outputs[split]["per_example_loss"], dtype=np.float64)
                found.setdefault("eval_loss", float(loss))
            named = split[len("dev") :] if split.startswith("dev") else f"_{split}"
            suffix = named if number else ""
            metrics.update({name + suffix: value for name, value in found.items()})
        self._has_news = True
        task = self.task
        rank = evaluation.rank_of(metrics, task.best_metric, task.higher_is_better)
        if not self._outputs or rank >= self._best_rank:  # of equal ones the later is the best
            self._outputs, self._best_rank = {checkpoint: outputs}, rank
        return metrics

    def _measure_and_plot(self, checkpoint: str) -> Dict[str, float]:
        """The same, written for TensorBoard too."""
        metrics = self._measure(checkpoint)
        reader = tf.train.load_checkpoint(checkpoint)
        if reader.has_tensor("global_step"):  # not in weights of another origin
            step = int(reader.get_tensor("global_step"))
            compat.write_evaluation(self.settings.output_dir, dict(metrics, global_step=step))
        return metrics

    def outputs(self, checkpoint: str, split: str) -> Outputs:
        """Returns the outputs of a checkpoint for a split, [R, ...] each."""
        known = self._outputs.get(checkpoint, {})
        if split in known:
            return known[split]
        settings, records = self.settings, self._features(split).records
        is_dev = split in self.task.splits("dev") and hasattr(settings, "eval_batch_size")
        size = settings.eval_batch_size if is_dev else settings.predict_batch_size
        if settings.use_tpu:
            input_fn = self.input_fn(records.path, size)
            return estimators.tpu_outputs(
                settings, self.model_fn(), input_fn, checkpoint=checkpoint, batch_size=size
            )
        if self._network is None:
            self._network = self.setup.network(size)
        self._network.load(checkpoint)
        with progress.Progress(split, records.count, unit="examples") as bar:
            parts = [
                self._network.run(features, batch_size=size, on_batch=bar.update)
                for features in batches.arrays(records.path, self.task.spec(False), _POOL)
            ]
        return network.joined(parts, self.task.fills)

    def _describe_best(self, summary: evaluation.EvaluationSummary) -> None:
        """Writes the details of the best checkpoint, if they are new."""
        folder, task, (step, _) = self.settings.output_dir, self.task, summary.best
        copy, path = summary.best_checkpoint, os.path.join(folder, task.details_name)
        known = self._outputs.get(os.path.join(folder, f"model.ckpt-{step}"))
        self._outputs = {copy: known or self._outputs.get(copy, {})}
        # A start that was killed may have recorded the best checkpoint, but not its details.
        is_missing = task.details_name and _read(path).get("step") != step
        if not self._outputs[copy] and not is_missing:
            return
        outputs = self.outputs(copy, task.splits("dev")[0])
        if task.details_name:
            files.atomic_write_json(path, dict(task.details(outputs), step=step))
        predicted, right = (outputs.get(name) for name in ("predictions", "label_ids"))
        if not task.labels or predicted is None or right is None or right.ndim != 1:
            return
        if len(np.unique(predicted)) == 1 < len(np.unique(right)):
            _LOGGER.warning(
                "The best checkpoint predicts %s for every example. Try a lower --learning_rate "
                "than %g, more training steps or a longer warm-up, or another --seed.",
                *(task.labels[predicted[0]], self.settings.learning_rate),
            )

    def compare(self, metrics: Mapping[str, float], split: str) -> List[published.Comparison]:
        """Returns measurements beside what is published of the model, and logs them."""
        task = self.task
        scores = {name: [task.metric_scale * value] for name, value in metrics.items()}
        found = published.compare(task.published_name, self.published_model, scores, split=split)
        if found:
            _LOGGER.info("Beside published results:\n%s", "\n".join(published.table(found)))
        return found

    def _final_step(self) -> Optional[int]:
        """The last step of training; None where another process trains and its epochs say it."""
        settings = self.settings
        if settings.do_train:
            return self.schedule.num_train_steps
        is_known = not settings.num_train_epochs and "train_step" in settings.given
        return settings.train_step if is_known else None

    # ---- prediction and export ----

    def predict(self, metrics: Mapping[str, float]) -> List[str]:
        """Predicts with the chosen checkpoint, which has these metrics; returns the files."""
        settings, task, began = self.settings, self.task, time.time()
        checkpoint = self._use_checkpoint(metrics)
        if not settings.checkpoint and not checkpoint.endswith(evaluation.BEST_CHECKPOINT):
            _LOGGER.info("No checkpoint was chosen by evaluation; predicting with the newest.")
        _LOGGER.info("Predicting with %s.", checkpoint)
        if os.path.basename(checkpoint) == "model.ckpt-0":
            _LOGGER.warning("%s is untrained: it holds the first weights.", checkpoint)
        written = []
        for split in task.splits("test"):
            examples, outputs = self._features(split).examples, self.outputs(checkpoint, split)
            for name, text in task.predictions(split, examples, outputs).items():
                written.append(os.path.join(settings.output_dir, name))
                files.atomic_write_text(written[-1], text)
            if task.measures_test:
                self.compare(task.measure(examples, outputs), "test")
        if tf.io.gfile.exists(os.path.join(settings.output_dir, SUMMARY_NAME)):
            self._add_to_summary(predict_seconds=time.time() - began)
        _LOGGER.info("Wrote %s.", ", ".join(written))
        return written

    def export(self, metrics: Mapping[str, float]) -> str:
        """Exports the chosen checkpoint as a SavedModel into --export_dir; returns the folder."""
        checkpoint, settings = self._use_checkpoint(metrics), self.settings.to_dict()
        threshold = settings.get("threshold_to_export", math.nan)
        export_dir = settings["export_dir"]
        return fine_tuned.export(self.setup, checkpoint, export_dir, threshold=threshold)

    def _use_checkpoint(self, metrics: Mapping[str, float]) -> str:
        checkpoint = fine_tuned.chosen_checkpoint(self.settings)
        recorded = evaluation.recorded_metrics(checkpoint, self.settings.output_dir)
        self.task.metrics = metrics or recorded
        return checkpoint

    def _add_to_summary(self, **values: Any) -> None:
        """Updates run_summary.json; times are those of the start that did the work."""
        path = os.path.join(self.settings.output_dir, SUMMARY_NAME)
        before = _read(path)
        values.update(task=self.task.name, metric=self.task.best_metric, seed=self.settings.seed)
        values["wall_seconds"] = time.time() - self._began
        if not self._has_news:  # a finished run that is started again
            values = {
                name: before.get(name, value) if _is_time(name) else value
                for name, value in values.items()
            }
        files.atomic_write_json(path, {**before, **values})


def _kept(settings: FineTuningFlags) -> int:
    """How many of the newest checkpoints stay beside the best one; 0 keeps all."""
    name = "num_keep_checkpoint"  # of run_race
    return getattr(settings, name if hasattr(settings, name) else "keep_checkpoint_max")


def _read(path: str) -> Dict[str, Any]:
    """The JSON object in a file of ours; {} if there is none, or a damaged one."""
    try:
        return files.read_json_object(path)
    except UserError:
        return {}


def _is_time(name: str) -> bool:
    return name.endswith("_seconds")


def _data(settings: FineTuningFlags) -> str:
    """What is read, in words."""
    # --train_file of a task with --data_dir is a file of features.
    places = ("data_dir", "train_file" if settings.do_train else "predict_file")
    place = next(filter(None, (getattr(settings, name, None) for name in places)), None)
    return f" (data: {place})" if place else ""


def _check_vocabulary(settings: FineTuningFlags, vocabulary: fine_tuning_utils.Vocabulary) -> None:
    """Raises UserError if the first weights were made for another vocabulary."""
    start = settings.init_checkpoint
    if start:
        model_vocabulary.check_same(
            start if tf.io.gfile.isdir(start) else os.path.dirname(start),
            model_vocabulary.Vocabulary(vocabulary.kind, vocabulary.file),
        )


def published_model(
    settings: FineTuningFlags, config: Optional[modeling.AlbertConfig]
) -> Optional[published.Model]:
    """Returns the published model that a run has; None for other sizes and random weights."""
    places = (settings.albert_hub_module_handle, settings.albert_dir, settings.init_checkpoint)
    if settings.do_train and not any(places):
        return None
    return published.recognise(config.to_dict() if config else None, *places)
