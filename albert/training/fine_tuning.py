# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One run of fine-tuning, whatever the task.

    outcome = run(settings, RaceTask)

A `Task` declares what differs between tasks: data, head, measurements and files. docs/new_task.md
adds one. Dimensions: N examples.
"""

import contextlib
import logging
import math
import os
import shutil
import time
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    cast,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.configs import published
from albert.configs.flags import FineTuningFlags
from albert.data import batches, feature_cache, padded_batches
from albert.pretrained import model_vocabulary, released, warm_start
from albert.runtimes import compat
from albert.training import distribution, estimators, hooks, model_fn
from albert.training import evaluation as checkpoint_evaluator
from albert.util import config_files, files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CONFIG_NAME = "albert_config.json"
SUMMARY_NAME = "run_summary.json"

_WORTH_A_LINE_BYTES = 1e9

Outputs = Mapping[str, np.ndarray]  # what a model gives for each example, by name, [N, ...] each


# ---------------------------------------------------------------------------------------------
# What a task declares.


class Split(NamedTuple):
    """The examples of one use and the file with their features, in the same order."""

    examples: Sequence[Any]
    records: feature_cache.RecordFile


class Task:
    """A fine-tuning task; a subclass says what differs from the usual.

    What `features` returns is the task's own: a `Split`, or something else with `records`.

    Attributes:
      description_name: JSON file in the output folder that says what was trained.
      best_metric, higher_is_better: the measurement that chooses the best checkpoint.
      sequences: the features that are as long as the input, of which input_mask is one.
      training_only: keys of the description that may differ where a model is only used.
      decoding_keys: keys of the description that any run may choose anew.
      earlier: values of the description that earlier versions did not record.
      per_cent: what makes the measurements per cent.
      predicted_scores: measurements of what was predicted, where the right answers are known.
    """

    name = ""
    description_name = ""
    best_metric = "eval_accuracy"
    higher_is_better = True
    sequences = padded_batches.Padding().features
    training_only: Tuple[str, ...] = ("max_seq_length",)
    decoding_keys: Tuple[str, ...] = ()
    earlier: Mapping[str, Any] = {}
    per_cent = 100.0
    predicted_scores: Mapping[str, float] = {}

    def __init__(self, settings: FineTuningFlags, tokenizer: tokenization.FullTokenizer):
        """Takes the settings, checked and completed, and the model's tokenizer."""
        self.settings = settings
        self.tokenizer = tokenizer

    # ---- flags ----

    @classmethod
    def check_flags(cls, settings: FineTuningFlags) -> None:
        """Checks the flags against each other; raises ValueError."""

    @property
    def predicts(self) -> bool:
        """Whether predictions are asked for."""
        return self.settings.do_predict

    @property
    def published_name(self) -> str:
        """The task under which results were published; "" for one that cannot be compared."""
        return self.name

    @property
    def keep_checkpoints(self) -> int:
        """How many of the newest checkpoints stay beside the best one; 0 keeps all."""
        return self.settings.keep_checkpoint_max

    @property
    def eval_batch_size(self) -> int:
        """Examples in a batch of evaluation."""
        return self.settings.eval_batch_size

    def description(self) -> Dict[str, Any]:
        """Returns what the description says, but for length, vocabulary and hub module."""
        return {"format_version": 1, "task": self.name}

    # ---- data and model ----

    def check_data(self) -> None:
        """Fails before training if data of any part is missing."""

    def features(self, split: str) -> Any:
        """Returns a split's examples and record file; "train" is what is trained on."""
        raise NotImplementedError

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records."""
        raise NotImplementedError

    def head(self) -> fine_tuning_utils.Head:
        """Returns the head, see fine_tuning_utils.HeadOutput."""
        raise NotImplementedError

    def count(self, features: Any) -> int:
        """Returns the number of examples by which epochs are counted."""
        return features.records.count

    # ---- evaluation ----

    def eval_splits(self) -> Dict[str, Any]:
        """Returns the features to evaluate on, by name; none if there is nothing to evaluate."""
        return {"dev": self.features("dev")} if self.settings.do_eval else {}

    def fingerprint(self) -> Dict[str, Any]:
        """Returns what measurements depend on beside checkpoint, precision and records."""
        return {}

    def measure(self, checkpoint: str, outputs: Mapping[str, Outputs]) -> Dict[str, float]:
        """Returns the measurements of a checkpoint, given its outputs for each split."""
        raise NotImplementedError

    def after_evaluation(
        self,
        summary: checkpoint_evaluator.EvaluationSummary,
        fingerprint: Mapping[str, Any],
        measure: Callable[[str], Mapping[str, float]],
    ) -> None:
        """Writes what else there is to say of the best checkpoint; `measure` measures one again."""

    def constant_prediction(self) -> str:
        """Returns what the best checkpoint predicts for every example; "" if it does not."""
        return ""

    # ---- prediction and export ----

    def predict(
        self, checkpoint: str, outputs_of: Callable[[Any], Dict[str, np.ndarray]]
    ) -> List[str]:
        """Writes predictions; returns the files. `outputs_of` gives a checkpoint's outputs."""
        raise NotImplementedError

    def export(self, run: "FineTuning", checkpoint: str) -> str:
        """Exports a checkpoint into --export_dir; returns the folder."""
        raise NotImplementedError


# ---------------------------------------------------------------------------------------------
# The run.


class Outcome(NamedTuple):
    """The results of a run; None for what was not requested or was done already.

    Attributes:
      metrics: of the best checkpoint, or of the one that was named; {} if nothing was measured.
      predictions, export: the files, and the folder, that were written.
    """

    training: Optional[hooks.TrainingSummary]
    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]
    metrics: Dict[str, Any]
    predictions: List[str]
    export: Optional[str]


def main(settings: FineTuningFlags, task: Type[Task]) -> None:
    """Runs a script: all of it, or a worker's part of a distributed training."""
    estimators.run_own_part(lambda own: run(own, task), settings)


@estimators.sole_trainer
def run(settings: FineTuningFlags, task: Type[Task]) -> Outcome:
    """Trains, evaluates, predicts and exports as the settings say.

    Raises:
      ValueError: flags, data or checkpoints that do not fit each other.
      hooks.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    return FineTuning(settings, task).run()


def check_flags(settings: FineTuningFlags, task: Type[Task]) -> None:
    """Checks flags against each other; raises ValueError."""
    task.check_flags(settings)
    estimators.check_batch_sizes(settings)


class FineTuning:
    """One run of one task.

    Attributes:
      settings: of the script, with the parts of the model that --albert_dir stands for.
      config: of the encoder; None with a hub module that does not bring one.
      published_model: what it is compared with; None if it has another size.
      schedule: of training, once its data were read.
    """

    def __init__(self, settings: FineTuningFlags, task: Type[Task]):
        """Checks the flags and finds the model; raises ValueError."""
        self._began = time.time()
        self._flags = settings
        check_flags(settings, task)
        self.settings = released.resolve_model_files(as_trained(settings, task))
        self.config = fine_tuning_utils.load_config(self.settings)
        self.vocabulary = fine_tuning_utils.load_vocabulary(self.settings, self.config)
        start = self.settings.do_train and self.settings.init_checkpoint
        if start:
            model_vocabulary.check_same(
                start if tf.io.gfile.isdir(start) else os.path.dirname(start),
                model_vocabulary.Vocabulary(self.vocabulary.kind, self.vocabulary.file),
            )
        self.task = task(self.settings, self.vocabulary.tokenizer)
        self.published_model = published_model(self._flags, self.config)
        self.schedule = model_fn.ONE_STEP

    def run(self) -> Outcome:
        """Does what the flags ask for; see the function `run`."""
        settings, task = self.settings, self.task
        export_dir = getattr(settings, "export_dir", None)
        self.check_output_dir()
        may_come = settings.do_train or settings.wait_for_checkpoints_minutes
        ledger = os.path.join(settings.output_dir, checkpoint_evaluator.LEDGER_NAME)
        evaluates = getattr(settings, "do_eval", False) and not tf.io.gfile.exists(ledger)
        if (task.predicts or export_dir or evaluates) and (settings.checkpoint or not may_come):
            chosen_checkpoint(settings)
        # --train_file of a task with --data_dir is a file of features.
        places = ("data_dir", "train_file" if settings.do_train else "predict_file")
        place = next(filter(None, (getattr(settings, name, None) for name in places)), None)
        data = f" (data: {place})" if place else ""
        estimators.announce(settings, self.config, f"{task.name.upper()}{data}")
        if settings.do_train and not checkpoint_evaluator.list_checkpoints(settings.output_dir):
            model_fn.check_first_weights(settings, self.config)
        task.check_data()
        about = {"task": task.name, "metric": task.best_metric, "seed": settings.seed}
        self._times = RunSummary(
            settings.output_dir, about, batch_size=settings.train_batch_size, began=self._began
        )
        training = self.train() if settings.do_train else None
        if not training:
            self._record_flags()
        evaluation, metrics = self.evaluate()
        predictions = self.predict() if task.predicts else []
        export = None
        if export_dir:
            export = task.export(self, chosen_checkpoint(settings))
        return Outcome(training, evaluation, metrics, predictions, export)

    # ---- the folder ----

    def _record_flags(self) -> None:
        if distribution.is_chief(self.settings):
            path = os.path.join(self.settings.output_dir, config_files.RECORD_NAME)
            config_files.record(path, self._flags.given_values())

    def description(self) -> Dict[str, Any]:
        """Returns the content of the description in the output folder."""
        content = self.task.description()
        content["max_seq_length"] = self.settings.max_seq_length
        content.update(self.vocabulary.description())
        return content

    def portable_files(
        self, folder: str = "", *, more: Optional[Mapping[str, Any]] = None
    ) -> Dict[str, bytes]:
        """Returns what the function of this name does; `more` goes into the description."""
        return portable_files(
            self.task.description_name,
            dict(self.description(), **(more or {})),
            {self.vocabulary.kind: self.vocabulary.file},
            config=self.config,
            folder=folder,
        )

    def check_output_dir(self) -> None:
        """Raises ValueError if the output folder is of another model, task or vocabulary."""
        if self.config is not None:
            estimators.check_output_dir(self.settings.output_dir, self.config.to_dict())
        task = self.task
        check_description(
            os.path.join(self.settings.output_dir, task.description_name),
            self.description(),
            earlier=task.earlier,
            may_differ=() if self.settings.do_train else task.training_only,
            ignored=task.decoding_keys,
        )

    # ---- what an estimator takes ----

    def model_fn(self, init_checkpoint: Optional[str] = None) -> Callable:
        """Returns the model function; training starts from `init_checkpoint`, if named."""
        return model_fn.build_model_fn(
            self.settings.replace(init_checkpoint=init_checkpoint),
            self.config,
            self.task.head(),
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
            padding=padded_batches.Padding(mode, features=self.task.sequences),
            seed=self.settings.seed,
            start_step=start_step,
        )

    def collector(self, features: Any, batch_size: int, name: str) -> estimators.OutputCollector:
        """Returns what runs checkpoints over a split."""
        return estimators.OutputCollector(
            self.settings,
            self.model_fn(),
            self.input_fn(features.records.path, batch_size),
            batch_size=batch_size,
            examples=features.records.count,
            name=name,
        )

    # ---- the parts ----

    def train(self) -> Optional[hooks.TrainingSummary]:
        """Trains to the last step; all checkpoints are kept until they are evaluated."""
        settings = self.settings
        features = self.task.features("train")
        self.schedule = model_fn.training_length(settings, self.task.count(features))
        last_step = self.schedule.num_train_steps

        def build_input_fn(start: int) -> Callable:
            file, size = features.records.path, settings.train_batch_size
            return self.input_fn(file, size, is_training=True, start_step=start)

        is_chief = distribution.is_chief(settings)
        summary = estimators.train(
            settings,
            self.model_fn,
            build_input_fn,
            max_steps=last_step,
            documents=self.portable_files(settings.output_dir),
            flags=self._flags,
            hooks=[_RoomHook(settings, last_step)] if is_chief else [],
            on_start=self._record_flags,
            on_progress=self._times.add_training,
        )
        if summary:
            self._times.add_training(summary)
        return summary

    def evaluate(
        self,
    ) -> Tuple[Optional[checkpoint_evaluator.EvaluationSummary], Dict[str, Any]]:
        """Evaluates --checkpoint, or each checkpoint of the output folder, of which the best stays.

        Returns the summary, None where there is one checkpoint alone, and the metrics of the best.
        """
        splits = self.task.eval_splits()
        if not splits:
            return None, {}
        with contextlib.ExitStack() as stack:
            collectors = {
                name: stack.enter_context(self.collector(features, self.task.eval_batch_size, name))
                for name, features in splits.items()
            }

            def measure(checkpoint: str) -> Mapping[str, float]:
                outputs = {name: one.run(checkpoint) for name, one in collectors.items()}
                return self.task.measure(checkpoint, outputs)

            alone = self._checkpoint_alone()
            if alone:
                folder = self.settings.output_dir
                found = checkpoint_evaluator.evaluate_one(folder, measure, alone)
                self.compare(found, "dev")
                return None, found
            summary = self._evaluate_all(measure, splits)
        return summary, dict(summary.best.metrics) if summary.best else {}

    def _checkpoint_alone(self) -> Optional[str]:
        """The one to evaluate where there are not several to choose from."""
        settings, folder = self.settings, self.settings.output_dir
        if settings.checkpoint:
            return chosen_checkpoint(settings)
        has_several = checkpoint_evaluator.list_checkpoints(folder)
        if has_several or settings.wait_for_checkpoints_minutes or not _holds_checkpoint(folder):
            return None
        ledger = os.path.join(folder, checkpoint_evaluator.LEDGER_NAME)
        return None if tf.io.gfile.exists(ledger) else chosen_checkpoint(settings)

    def _evaluate_all(
        self, measure: Callable[[str], Mapping[str, float]], splits: Mapping[str, Any]
    ) -> checkpoint_evaluator.EvaluationSummary:
        settings, task, times = self.settings, self.task, self._times
        fingerprint = {"precision": settings.precision, **task.fingerprint()}
        for name, features in splits.items():
            fingerprint[name] = files.file_fingerprint(features.records.path)
        times.start_part()

        def timed(checkpoint: str) -> Mapping[str, float]:
            measurements = measure(checkpoint)
            reader = tf.train.load_checkpoint(checkpoint)
            if reader.has_tensor("global_step"):  # not in weights of another origin
                step = int(reader.get_tensor("global_step"))
                compat.write_evaluation(settings.output_dir, dict(measurements, global_step=step))
            times.add_evaluation()
            return measurements

        summary = checkpoint_evaluator.evaluate_checkpoints(
            settings.output_dir,
            timed,
            best_metric=task.best_metric,
            higher_is_better=task.higher_is_better,
            fingerprint=fingerprint,
            write_best_trial=True,
            wait_seconds=60.0 * settings.wait_for_checkpoints_minutes,
            final_step=self._final_step(),
        )
        task.after_evaluation(summary, fingerprint, measure)
        self._judge_predictions()
        best = summary.best
        metrics = dict(best.metrics) if best else {}
        results = {
            "model": self.published_model and self.published_model._asdict(),
            "published": [one._asdict() for one in self.compare(metrics, "dev")],
            "num_train_steps": max(result.step for result in summary.results),
            "best_step": best and best.step,
            "metrics": metrics,
            "value": best and best.metrics[task.best_metric],
        }
        if times.has_news or times.lacks(results):
            times.add_evaluation(**results)
        if settings.do_train:
            # model.ckpt-0 is not needed any more either.
            steps = [0, *(result.step for result in summary.results)]
            checkpoint_evaluator.prune_checkpoints(
                settings.output_dir, task.keep_checkpoints, steps
            )
        return summary

    def _final_step(self) -> Optional[int]:
        """The last step of training; None where another process trains and its epochs say it."""
        settings = self.settings
        if settings.do_train:
            return self.schedule.num_train_steps
        is_known = not settings.num_train_epochs and "train_step" in settings.given
        return settings.train_step if is_known else None

    def _judge_predictions(self) -> None:
        """Warns if the best checkpoint does not look at its input."""
        label = self.task.constant_prediction()
        if label:
            _LOGGER.warning(
                "The best checkpoint predicts %s for every example. Try a lower --learning_rate "
                "than %g, more training steps or a longer warm-up, or another --seed.",
                *(label, self.settings.learning_rate),
            )

    def compare(self, metrics: Mapping[str, float], split: str) -> List[published.Comparison]:
        """Returns measurements beside what is published of the model, and logs them."""
        task = self.task
        scores = {name: [task.per_cent * value] for name, value in metrics.items()}
        found = published.compare(task.published_name, self.published_model, scores, split=split)
        if found:
            _LOGGER.info("Beside published results:\n%s", "\n".join(published.table(found)))
        return found

    def predict(self) -> List[str]:
        """Predicts with the chosen checkpoint; returns the files written."""
        settings = self.settings
        checkpoint = chosen_checkpoint(settings)
        if not settings.checkpoint and not checkpoint.endswith(
            checkpoint_evaluator.BEST_CHECKPOINT
        ):
            _LOGGER.info("No checkpoint was chosen by evaluation; predicting with the newest.")
        _LOGGER.info("Predicting with %s.", checkpoint)
        if os.path.basename(checkpoint) == "model.ckpt-0":
            _LOGGER.warning("%s is untrained: it holds the first weights.", checkpoint)
        self._times.start_part()

        def outputs_of(features: Any) -> Dict[str, np.ndarray]:
            with self.collector(features, settings.predict_batch_size, "predict") as collector:
                return collector.run(checkpoint)

        written = self.task.predict(checkpoint, outputs_of)
        self.compare(self.task.predicted_scores, "test")
        self._times.add_prediction()
        _LOGGER.info("Wrote %s.", ", ".join(written))
        return written


def as_trained(settings: FineTuningFlags, task: Type[Task]) -> FineTuningFlags:
    """Returns settings in which a model that no flag names is that of --output_dir.

    Its vocabulary is taken too, and what its description says of flags that are not given. With
    --do_train the settings stay as they are.
    """
    places = ("albert_dir", "albert_config_file", "init_checkpoint", "albert_hub_module_handle")
    folder = settings.output_dir
    path = os.path.join(folder, task.description_name)
    is_named = settings.do_train or any(getattr(settings, name) for name in places)
    if is_named or not tf.io.gfile.exists(path):
        return settings
    names = ("do_lower_case", *task.training_only, *task.decoding_keys)
    defaults = {key: value for key, value in settings.to_dict().items() if key in names}
    types = {key: (type(value), None) for key, value in defaults.items() if value is not None}
    description, changes = _read_description(path, types), {}
    if not (settings.spm_model_file or settings.vocab_file):
        changes.update(model_vocabulary.recorded_files(folder, description))
    for key in set(defaults) & set(description) - settings.given:
        changes[key] = description[key]
    changes["albert_config_file"] = os.path.join(folder, CONFIG_NAME)
    return cast(FineTuningFlags, settings.replace(**changes))


def published_model(
    settings: FineTuningFlags, config: Optional[modeling.AlbertConfig]
) -> Optional[published.Model]:
    """Returns the published model that a run has; None for other sizes and random weights."""
    places = (settings.albert_hub_module_handle, settings.albert_dir, settings.init_checkpoint)
    if settings.do_train and not any(places):
        return None
    return published.recognise(config.to_dict() if config else None, *places)


# ---------------------------------------------------------------------------------------------
# The output folder.


def check_description(
    path: str,
    description: Mapping[str, Any],
    *,
    earlier: Mapping[str, Any],
    may_differ: Sequence[str] = (),
    ignored: Sequence[str] = (),
) -> None:
    """Raises ValueError if a folder's description is there and not that of this run.

    Args:
      earlier: values that earlier versions did not record.
      may_differ: keys whose change is worth a warning only.
      ignored: keys whose change is not even that.
    """
    if not tf.io.gfile.exists(path):
        return
    folder = os.path.dirname(path)
    present, wanted = dict(earlier, **_read_description(path)), dict(description)
    for content in (present, wanted):
        content.pop("hub_module", None)  # where earlier versions' first weights came from
        for key in model_vocabulary.KEYS:
            content[key] = content.get(key) and content[key]["sha256"]
    for key in (*may_differ, *ignored):
        trained, now = present.pop(key, None), wanted.pop(key, None)
        if trained != now and key not in ignored:
            _LOGGER.warning(
                "The model in %s was trained with --%s=%s, and is run with %s now.",
                *(folder, key, trained, now),
            )
    difference = files.fingerprint_difference(present, wanted)
    if difference:
        raise UserError(
            f"--output_dir={folder} belongs to another run: {difference}. Choose another "
            f"--output_dir; if the change is meant, remove {path} first."
        )


def _read_description(path: str, types: Mapping[str, Any] = {}) -> Dict[str, Any]:
    usual = dict(model_vocabulary.TYPES, hub_module=(str, None))
    return files.read_json_object(path, {**usual, **types})


def portable_files(
    name: str,
    description: Mapping[str, Any],
    vocabulary: Mapping[str, Optional[str]],
    *,
    config: Optional[modeling.AlbertConfig],
    folder: str = "",
) -> Dict[str, bytes]:
    """Returns the content of the files that, with the weights, make a model usable elsewhere.

    Args:
      name: of the JSON file with the description.
      vocabulary: the path for each of model_vocabulary.KEYS, or None.
      config: of the encoder; None with a hub module.
      folder: where they go, if other files may be there; see model_vocabulary.name_in.
    """
    content = {key: value for key, value in description.items() if key not in model_vocabulary.KEYS}
    contents = {}
    for key in model_vocabulary.KEYS:
        path = vocabulary.get(key)
        if path:
            base = model_vocabulary.name_in(folder, path) if folder else os.path.basename(path)
            contents[base] = files.read_bytes(path)
            content[key] = {"path": base, "sha256": files.sha256(path)}
    contents[name] = files.json_text(content).encode("utf-8")
    if config is not None:
        contents[CONFIG_NAME] = config.to_json_string().encode("utf-8")
    return contents


class _RoomHook(tf.train.SessionRunHook):
    """Checks that the disk has room for the checkpoints, before anything is written."""

    def __init__(self, settings: FineTuningFlags, num_train_steps: int):
        self._settings = settings
        self._num_train_steps = num_train_steps

    def begin(self):
        size = sum(item.shape.num_elements() * item.dtype.size for item in tf.global_variables())
        present = checkpoint_evaluator.list_checkpoints(self._settings.output_dir)
        left = self._num_train_steps - (present[-1].step if present else 0)
        count = -(-left // self._settings.save_checkpoints_steps)
        check_room(self._settings, count + (not present), size)  # a new run saves step 0 too


def check_room(settings: FineTuningFlags, count: int, size: int) -> None:
    """Logs what room checkpoints of `size` bytes take; raises ValueError if a disk has less."""
    folder, needed = settings.output_dir, count * size
    checkpoints = wording.counted(count, "checkpoint")
    described = f"{checkpoints} of {size / 1e9:.3g} GB, {needed / 1e9:.3g} GB in all"
    if "://" not in folder:
        present = os.path.abspath(folder)
        while not os.path.isdir(present):
            present = os.path.dirname(present)
        room = shutil.disk_usage(present).free
        if room < needed:
            raise UserError(
                f"Training would write {described}, and the disk of --output_dir={folder} has "
                f"{room / 1e9:.3g} GB left. All are kept until they are evaluated. Save less often "
                f"(--save_checkpoints_steps, now {settings.save_checkpoints_steps}), or choose an "
                "--output_dir with more room."
            )
    if needed > _WORTH_A_LINE_BYTES:
        _LOGGER.info("Training will write %s; see --save_checkpoints_steps.", described)


# ---------------------------------------------------------------------------------------------
# Checks that the model has learnt something.


def constant_prediction(confusion: np.ndarray, labels: Sequence[str]) -> str:
    """Returns the label that all predictions are though the labels are not; "" if there is none.

    `confusion` counts label i predicted as j at [i, j].
    """
    predicted = np.flatnonzero(confusion.sum(axis=0))
    if len(predicted) > 1 or np.count_nonzero(confusion.sum(axis=1)) <= 1:
        return ""
    return labels[int(predicted[0])]


# ---------------------------------------------------------------------------------------------
# Checkpoints and their results.


def chosen_checkpoint(settings: FineTuningFlags) -> str:
    """Returns --checkpoint, the best one, or the newest; raises ValueError if there is none."""
    if settings.checkpoint:
        return warm_start.resolve_checkpoint(settings.checkpoint)
    folder = settings.output_dir
    if not _holds_checkpoint(folder):
        raise UserError(
            f"--output_dir={folder} holds no checkpoint. Train first (--do_train), "
            "or name one by --checkpoint=..."
        )
    return warm_start.resolve_checkpoint(folder)


def _holds_checkpoint(folder: str) -> bool:
    return tf.io.gfile.isdir(folder) and bool(tf.io.gfile.glob(os.path.join(folder, "*.index")))


# ---------------------------------------------------------------------------------------------
# run_summary.json: the results of a run, and its times over all starts.


class RunSummary:
    """The summary of a run, updated by one start of it. Nothing is written before a result.

    Each write adds what has been done since the one before, so that neither a start that is killed
    nor a process that evaluates beside the one that trains is lost.
    """

    _RESULTS = (
        *("task", "seed", "best_step", "metric", "value", "metrics", "num_train_steps"),
        *("model", "published"),
    )
    _AMOUNTS = (
        *("train_examples", "train_examples_per_second", "train_seconds"),
        *("eval_seconds", "predict_seconds", "wall_seconds"),
    )

    def __init__(self, output_dir: str, about: Mapping[str, Any], *, batch_size: int, began: float):
        """Takes task, seed and metric, the examples of an update, and the time of this start."""
        self._path = os.path.join(output_dir, SUMMARY_NAME)
        self._about = dict(about)
        self._batch_size = batch_size
        self._counted_until = self._part_began = began
        self._counted: Dict[str, float] = {}  # of training, so far
        self.has_news = False  # whether this start has done something new

    def add_training(self, training: hooks.TrainingSummary) -> None:
        """Records the training of this start, as far as it has come."""
        examples = (training.last_step - training.first_step) * self._batch_size
        speed = training.examples_per_second
        content = self._content()
        # The speed is over the examples of all starts.
        earlier_speed = content["train_examples_per_second"] or math.inf
        timed = (content["train_examples"] or 0) / earlier_speed
        self._add(content, "train_seconds", self._new("seconds", training.seconds))
        if examples and speed:
            timed += self._new("timed", examples / speed)
            self._add(content, "train_examples", self._new("examples", examples))
            content["train_examples_per_second"] = content["train_examples"] / timed
        content["num_train_steps"] = training.last_step
        self._write(content)

    def _new(self, name: str, total: float) -> float:
        """How much a total of this start has grown since it was counted last."""
        before, self._counted[name] = self._counted.get(name, 0), total
        return total - before

    def start_part(self) -> None:
        """Starts the clock of evaluation or prediction."""
        self._part_began = time.time()

    def _lap(self) -> float:
        """The seconds since the last lap or start of a part."""
        last, self._part_began = self._part_began, time.time()
        return self._part_began - last

    def add_evaluation(self, **results: Any) -> None:
        """Records time of evaluation and, once they are known, its results."""
        content = self._content()
        self._add(content, "eval_seconds", self._lap())
        content.update(results)
        self._write(content)

    def add_prediction(self) -> None:
        """Records time of prediction, unless a finished run only predicts again."""
        content = self._content()
        is_new = self.has_news or content["predict_seconds"] is None
        if is_new and tf.io.gfile.exists(self._path):
            self._add(content, "predict_seconds", self._lap())
            self._write(content)

    def lacks(self, results: Mapping[str, Any]) -> bool:
        """Returns whether any of `results` is missing from the summary or different there."""
        content = self._content()
        recorded = {name: content.get(name) for name in results}
        # Compared as text, because NaN != NaN.
        return files.json_text(recorded) != files.json_text(dict(results))

    def _content(self) -> Dict[str, Any]:
        """What is recorded: another process may have written in the meantime."""
        content: Dict[str, Any] = dict.fromkeys(self._RESULTS + self._AMOUNTS)
        content["metrics"] = {}
        amounts = dict.fromkeys(self._AMOUNTS, (float, int, None))
        content.update(checkpoint_evaluator.read_document(self._path, amounts) or {})
        content.update(self._about)
        return content

    def _add(self, content: Dict[str, Any], key: str, amount: float) -> None:
        content[key] = (content[key] or 0) + amount

    def _write(self, content: Dict[str, Any]) -> None:
        now = time.time()
        self._add(content, "wall_seconds", now - self._counted_until)
        self._counted_until, self.has_news = now, True
        files.atomic_write_json(self._path, content)
