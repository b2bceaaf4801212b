# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification and regression as a task of training.fine_tuning.

outcome = fine_tuning.run(settings, ClassifierTask)
"""

import dataclasses
import logging
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, tokenization
from albert.classification import features as classifier_features
from albert.classification import model, model_folder, tasks
from albert.classification import predictions as classifier_predictions
from albert.classification.examples import TaskData
from albert.classification.settings import ClassifierFlags, CustomTaskFlags
from albert.data import batches
from albert.training import evaluation, fine_tuning, metrics
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CONFUSION_NAME = "confusion_matrix.json"
_MOST_LABELS_SHOWN = 5
_APART = (("exit_patience", "use_tpu"),)


def find_task(name: str, settings: CustomTaskFlags) -> tasks.Task:
    """Returns the task of a name; "custom" is the one that the flags describe.

    Raises:
      ValueError: an unknown task, or settings of a custom task for one that is not.
    """
    flags = [field.name for field in dataclasses.fields(CustomTaskFlags)]
    given = {flag: getattr(settings, flag) for flag in flags}
    if name.strip().lower() == tasks.CUSTOM:
        described = {flag.replace("_column", ""): value for flag, value in given.items()}
        return tasks.custom_task(described.pop("task_file") or "", **described)
    for flag, value in given.items():
        if value is not None:
            raise UserError(
                f"--{flag} is for a task of your own, custom. Leave it out, or name custom in "
                f"place of {name}."
            )
    return tasks.get_task(name)


def measured(task: tasks.Task) -> List[str]:
    """Returns the names of a task's measurements."""
    return list(dict.fromkeys((*task.metrics, "eval_loss")))


class ClassifierTask(fine_tuning.Task):
    """Texts or pairs with a label or a number each; `declared` is the task's declaration."""

    settings: ClassifierFlags
    description_name = model_folder.DESCRIPTION_NAME
    decoding_keys = ("columns",)

    def __init__(self, settings: ClassifierFlags, tokenizer: tokenization.FullTokenizer):
        super().__init__(settings, tokenizer)
        self.declared = task = find_task(settings.task_name, settings)
        self.name = task.name
        self.best_metric, self.higher_is_better = task.best_metric, task.higher_is_better
        self.earlier = {"is_pair": task.is_pair}
        self.has_exits = settings.early_exit or (not settings.do_train and self._recorded_exits())
        self._patience: Optional[model.Patience] = None
        if settings.exit_patience:
            self._patience = model.Patience(settings.exit_patience, settings.exit_threshold)
            if not self.has_exits:
                raise UserError(
                    f"--exit_patience={settings.exit_patience} needs a model with a head after "
                    "each layer, which a training with --early_exit makes. Leave it out, or train "
                    "such a model in another --output_dir."
                )
        self._columns: Tuple[str, ...] = ()  # of the training file's texts
        self._constant = ""
        self._confusions: Dict[str, np.ndarray] = {}  # by checkpoint

    @classmethod
    def check_flags(cls, settings: ClassifierFlags) -> None:  # type: ignore[override]
        """Checks that there is something to do, and data for it."""
        names = ("do_train", "do_eval", "do_predict", "predict_file", "export_dir")
        if not any(getattr(settings, name) for name in names):
            raise UserError(
                "Nothing to do: give some of --do_train, --do_eval, --do_predict, --predict_file "
                "and --export_dir."
            )
        for name, other in _APART:
            if getattr(settings, name) and getattr(settings, other):
                raise UserError(f"--{name} does not work with --{other}. Leave one of them out.")
        reads_test_data = settings.do_predict and not settings.predict_file
        if (settings.do_train or settings.do_eval or reads_test_data) and not settings.data_dir:
            raise UserError("--data_dir must be given: the folder of the data.")
        task = find_task(settings.task_name, settings)
        if settings.data_dir:
            tasks.task_folders(task, settings.data_dir)  # before a model is downloaded

    @property
    def published_name(self) -> str:
        """A task of the user's own may have the name of a published one."""
        is_custom = self.settings.task_name.strip().lower() == tasks.CUSTOM
        return "" if is_custom else self.name

    @property
    def predicts(self) -> bool:
        """Whether the test data or the user's own texts are to be predicted."""
        return bool(self.settings.do_predict or self.settings.predict_file)

    def description(self) -> Dict[str, Any]:
        """Returns what classifier.json says of the task."""
        task = self.declared
        return {
            "format_version": model_folder.FORMAT_VERSION,
            "task": task.name,
            "labels": list(task.labels),
            "is_regression": task.is_regression,
            "is_pair": task.is_pair,
            **({"early_exit": True} if self.has_exits else {}),
            **({"columns": list(self._columns)} if self._columns else {}),
        }

    def _recorded_exits(self) -> bool:
        """Whether the output folder's model has a head after each layer."""
        path = os.path.join(self.settings.output_dir, self.description_name)
        return bool((evaluation.read_document(path) or {}).get("early_exit"))

    # ---- data and model ----

    def check_data(self) -> None:
        """Finds the data of evaluation and prediction."""
        settings, task = self.settings, self.declared
        wanted = [(task.dev_splits or ("dev",))[0]] if settings.do_eval else []
        if settings.predict_file:
            classifier_predictions.read_predict_file(task, settings.predict_file)
        elif settings.do_predict:
            wanted.append(self._splits(task.test_splits or ("test",))[0])
        for split in wanted:
            if not tasks.has_split(task, settings.data_dir, split):
                # Raises an error that names the missing files.
                tasks.read_examples(task, settings.data_dir, split)

    def _splits(self, names: Sequence[str]) -> List[str]:
        """The splits that exist; the first one if there is none, so that it is missed."""
        found = [
            name for name in names if tasks.has_split(self.declared, self.settings.data_dir, name)
        ]
        return found or list(names[:1])

    def features(self, split: str) -> fine_tuning.Split:
        """Returns the examples of a split and the file of their features."""
        task, settings = self.declared, self.settings
        folder, length = settings.cached_dir or settings.output_dir, settings.max_seq_length
        path = classifier_features.cache_path(folder, task, split, max_seq_length=length)
        data = tasks.read_examples(task, settings.data_dir, split)
        if split == "train":
            self._columns = data.columns
        return self._written(data, path, f"{task.name} {split}")

    def _written(self, data: TaskData, path: str, description: str) -> fine_tuning.Split:
        """The examples, and the file of their features."""
        records = classifier_features.write_features(
            self.declared,
            data,
            output_file=path,
            max_seq_length=self.settings.max_seq_length,
            tokenizer=self.tokenizer,
            description=description,
        )
        return fine_tuning.Split(data.examples, records)

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records."""
        return classifier_features.feature_spec(
            self.settings.max_seq_length, self.declared.is_regression
        )

    def head(self) -> fine_tuning_utils.Head:
        """Returns a dense layer on the pooled output, or one for each layer's."""
        task = self.declared
        return model.classification_head(
            task.num_labels,
            task.is_regression,
            early_exit=self.has_exits,
            patience=self._patience,
        )

    # ---- evaluation ----

    def eval_splits(self) -> Dict[str, Any]:
        """Returns the development data, of which the first split decides."""
        if not self.settings.do_eval:
            return {}
        names = self.declared.dev_splits or ("dev",)
        found = [names[0], *(name for name in self._splits(names) if name != names[0])]
        for name in sorted(set(names) - set(found)):
            _LOGGER.info("There is no %s data; evaluating without it.", name)
        return {name: self.features(name) for name in found}

    def fingerprint(self) -> Dict[str, Any]:
        """Returns the metrics that are computed and, where examples leave early, when."""
        return {"metrics": measured(self.declared), **self._exits()}

    def _exits(self) -> Dict[str, Any]:
        """What decides when an example leaves, by flag."""
        if not self._patience:
            return {}
        exits: Dict[str, Any] = {"exit_patience": self._patience.layers}
        if self.declared.is_regression:
            exits["exit_threshold"] = self._patience.threshold
        return exits

    def measure(
        self, checkpoint: str, outputs: Mapping[str, fine_tuning.Outputs]
    ) -> Dict[str, float]:
        """Returns the metrics of all splits; those after the first carry the split's name."""
        task, measurements = self.declared, {}
        for number, (split, found) in enumerate(outputs.items()):
            outcome = metrics.Outcome(
                found["label_ids"], found["predictions"], found["per_example_loss"]
            )
            suffix = split[len("dev") :] if number else ""
            for name, value in metrics.compute(measured(task), outcome).items():
                measurements[name + suffix] = value
            if self._patience:
                measurements["mean_layers" + suffix] = float(np.mean(found["layers"]))
            if not number and not task.is_regression:
                self._confusions[checkpoint] = metrics.confusion_matrix(outcome, task.num_labels)
        return {**measurements, **self._exits()}

    def after_evaluation(
        self,
        summary: evaluation.EvaluationSummary,
        fingerprint: Mapping[str, Any],
        measure: Callable[[str], Mapping[str, float]],
    ) -> None:
        """Writes the best checkpoint's confusion matrix unless it is there; shows a small one."""
        task, folder = self.declared, self.settings.output_dir
        if not summary.best or task.is_regression:
            return
        path = os.path.join(folder, CONFUSION_NAME)
        identity = {
            "step": summary.best.step,
            "checkpoint": evaluation.identity_of(summary.best_checkpoint),
            "data": dict(fingerprint),
        }
        present = evaluation.read_document(path) or {}
        if {name: present.get(name) for name in identity} == identity:
            matrix = np.array(present["matrix"])
        else:
            best = os.path.join(folder, f"model.ckpt-{summary.best.step}")
            if best not in self._confusions:
                best = summary.best_checkpoint
                measure(best)
            matrix = self._confusions[best]
            content = dict(identity, labels=list(task.labels), matrix=matrix.tolist())
            files.atomic_write_json(path, content)
            if task.num_labels <= _MOST_LABELS_SHOWN:
                rows = [f"{name}: {row}" for name, row in zip(task.labels, matrix.tolist())]
                _LOGGER.info("Labels (rows) and their predictions (columns): %s", "; ".join(rows))
        self._constant = fine_tuning.constant_prediction(matrix, task.labels)

    def constant_prediction(self) -> str:
        """Returns the label that the best checkpoint gives to all examples, or ""."""
        return self._constant

    # ---- prediction and export ----

    def predict(
        self, checkpoint: str, outputs_of: Callable[[Any], Dict[str, np.ndarray]]
    ) -> List[str]:
        """Predicts --predict_file or the test data."""
        settings, task = self.settings, self.declared

        def predictions(features: fine_tuning.Split) -> classifier_predictions.Predictions:
            outputs = outputs_of(features)
            if "layers" in outputs:
                _LOGGER.info("%s", model_folder.describe_layers(outputs["layers"].tolist()))
            return classifier_predictions.Predictions(
                features.examples, outputs["probabilities"], outputs["predictions"]
            )

        if settings.predict_file:
            found = predictions(self._own_texts())
            stem = os.path.splitext(os.path.basename(settings.predict_file))[0]
            return classifier_predictions.write_results(
                settings.output_dir, task, found, suffix=f"_{stem}"
            )
        written = []
        for split in self._splits(task.test_splits or ("test",)):
            written += classifier_predictions.write_predictions(
                settings.output_dir, task, split, predictions=predictions(self.features(split))
            )
        return written

    def _own_texts(self) -> fine_tuning.Split:
        """The texts of --predict_file and the file of their features."""
        settings, task = self.settings, self.declared
        data = classifier_predictions.read_predict_file(task, settings.predict_file)
        _LOGGER.info("%s", data.log_line("predict_file"))
        folder = settings.cached_dir or settings.output_dir
        name = f"{task.name}_predict_file.{settings.max_seq_length}.tf_record"
        return self._written(data, os.path.join(folder, name), "predict_file")

    def export(self, run: fine_tuning.FineTuning, checkpoint: str) -> str:
        """Exports a SavedModel."""
        folder = self.settings.output_dir
        for name, content in run.portable_files(folder).items():
            path = os.path.join(folder, name)
            if not tf.io.gfile.exists(path):  # the checkpoint was trained elsewhere
                files.atomic_write_bytes(path, content)
        return model_folder.export_classifier(
            self.settings.export_dir,
            model_folder.read_classifier(folder, checkpoint),
            threshold=self.settings.threshold_to_export,
        )
