# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification and regression as a task.

    outcome = fine_tuning.run(flags, ClassifierTask)

Dimensions: N examples.
"""

import functools
import itertools
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert import fine_tuning_utils
from albert.data import feature_cache
from albert.data.record_format import FeatureSpec
from albert.models import inference
from albert.tasks.classification import class_weights, predictions, registry
from albert.tasks.classification import features as classification_features
from albert.tasks.classification import head as classification_head
from albert.tasks.classification.examples import (
    PAIR,
    TEXT,
    InputExample,
    declaration,
    read_file,
)
from albert.tasks.classification.flags import ClassifierFlags, CustomTaskFlags
from albert.tasks.classification.task_table import described_task
from albert.training import fine_tuned, metrics
from albert.training.task import Outputs, Task
from albert.util import UserError, files, log, wording
from albert.util.flags import describe

_THRESHOLD = "decision_threshold"
_PREDICT_FILE = "predict_file"  # the split of the user's own texts


class Prediction(NamedTuple):
    """The prediction for a text or a pair of texts."""

    # The most probable label; from a model of several labels, a tuple of those that are at least as
    # probable as the decision threshold; None from a regressor.
    label: Any
    probabilities: Dict[str, float]  # by label, in the order of the labels; {} from a regressor
    score: Optional[float]  # the regressor's number; None from a classifier
    layers: Optional[int] = None  # after which it was known; None without exit_patience


def find_task(name: str, flags: CustomTaskFlags) -> registry.TaskSpec:
    """Returns the task of a name; "custom" is the one that the flags describe.

    Raises:
      UserError: an unknown task, or settings of a custom task for one that is not.
    """
    values = {flag: getattr(flags, flag) for flag in describe(CustomTaskFlags)}
    if name.strip().lower() == registry.CUSTOM:
        return registry.custom_task(**values)
    of_all = ("metric", "metrics")
    custom_flags = [flag for flag in values if values[flag] is not None and flag not in of_all]
    if custom_flags:
        raise UserError(
            f"--{custom_flags[0]} works only with --task_name={registry.CUSTOM}. Leave it out, or "
            f"replace --task_name={name}."
        )
    return registry.with_metrics(registry.get_task(name), flags.metric, flags.metrics)


def describe_layers(layers: Sequence[int]) -> str:
    """Returns a line for the log on the layers after which examples left, int [N]."""
    return f"{np.mean(layers):.2f} layers on average for {wording.counted(len(layers), 'example')}."


class ClassifierTask(Task):
    """Texts or pairs with a label or a number each.

    Attributes:
      declared: the task's declaration.
      is_pair: whether there are two texts; None: unknown.
      columns: names of the texts' columns in the training file, if it has them.
    """

    flags: ClassifierFlags
    flags_class = ClassifierFlags
    description_name = "classifier.json"
    recorded_flags = ("truncation",)
    heard_flags = ("exit_patience", "exit_threshold", _THRESHOLD)
    default_threshold = 0.5
    file_flags: Mapping[str, str] = {"train": "train_file", "dev": "dev_file"}
    row_names = {2: ("text_a", "label"), 3: ("text_a", "text_b", "label")}
    description_schema = {
        "labels": [str],
        "is_pair": (bool, None),
        "early_exit": (bool, None),
        "columns": ([str], None),
        _THRESHOLD: (float, None),
    }

    def __init__(self, flags: ClassifierFlags, *arguments: Any):
        super().__init__(flags, *arguments)
        description = self.description
        if flags.task_name:
            self.declared = find_task(flags.task_name, flags)
            self.is_pair: Optional[bool] = self.declared.is_pair
        else:
            self.declared = described_task(description)
            self.is_pair = description.get("is_pair")
        self.name = self.published_name = self.declared.name
        self.labels, self.best_metric = self.declared.labels, self.declared.metrics[0]
        self._metrics = list(dict.fromkeys((*self.declared.metrics, "eval_loss")))
        self.is_regression = self.declared.is_regression
        # Made once: there may be many labels, and encode gets few examples at a time.
        self._label_ids = {label: number for number, label in enumerate(self.labels or [None])}
        self.columns = tuple(description.get("columns") or ())
        self.is_multi_label = self.declared.is_multi_label
        if self.is_multi_label:
            self.threshold_flag = _THRESHOLD
        elif flags.decision_threshold:
            raise UserError("--decision_threshold is only for models of several labels.")
        self.has_exits = flags.early_exit or bool(description.get("early_exit"))
        if flags.exit_patience and not self.has_exits:
            raise UserError(
                f"--exit_patience={flags.exit_patience} needs a model that was trained with "
                "--early_exit. Leave it out, or train with --early_exit in another --output_dir."
            )

    @classmethod
    def check_flags(cls, flags: ClassifierFlags) -> None:  # type: ignore[override]
        """Checks that there is something to do, and data for it."""
        if not flags.predict_file:
            super().check_flags(flags)
        if flags.exit_patience and flags.use_tpu:
            raise UserError("--exit_patience does not work with --use_tpu. Leave one of them out.")
        reads_test_data = flags.do_predict and not flags.predict_file
        if (flags.do_train or flags.do_eval or reads_test_data) and not flags.data_dir:
            raise UserError("--data_dir must be given: the folder of the data.")
        task = find_task(flags.task_name, flags)
        if task.is_multi_label and flags.early_exit:
            raise UserError("--early_exit does not work with --multi_label. Leave one of them out.")
        if flags.class_weights:
            class_weights.label_weights(flags.class_weights, task.labels, ())
        if flags.data_dir:
            registry.task_folders(task, flags.data_dir)  # before a model is downloaded

    def describe(self, is_export: bool = False) -> Dict[str, Any]:
        """Returns what classifier.json says; an export has no heads before the last."""
        content = {
            **super().describe(is_export),
            "labels": list(self.labels),
            "is_regression": self.is_regression,
            "is_pair": self.is_pair,
            "early_exit": not is_export if self.has_exits else None,
            "columns": list(self.columns) or None,
        }
        if self.is_multi_label:
            content["label_separator"] = self.declared.label_separator
        return content

    # ---- data ----

    def splits(self, use: str) -> List[str]:
        """Returns the test splits, or the dev splits (the first chooses the best checkpoint)."""
        folder, task = self.flags.data_dir, self.declared
        if use == "test" and self.flags.predict_file:
            return [_PREDICT_FILE]
        if not super().splits(use):
            return []
        first, *others = task.split_names(use) or [use]
        return [first, *(name for name in others if registry.find_file(task, folder, name))]

    @functools.lru_cache(maxsize=None)  # noqa: B019, it lives as long as the process
    def examples(self, split: str) -> List[InputExample]:
        """Reads a split, or the user's own texts, once."""
        flags, task = self.flags, self.declared
        if split == _PREDICT_FILE:
            if flags.do_train:
                self.examples("train")  # finds the names of the columns, which a header has
            try:
                return read_file(task, flags.predict_file, names=self.columns).examples
            except UserError as error:
                raise UserError(f"--predict_file: {error}") from error
        data = registry.read_examples(task, flags.data_dir, split)
        if split == "train":
            self.columns = data.columns
        return data.examples

    def read_file(self, path: str) -> List[InputExample]:
        """Reads development data from a file of any name."""
        usual = PAIR if self.is_pair else TEXT  # a program's rows
        task = self.declared._replace(columns=(*self.declared.columns, usual))
        return read_file(task, path, "dev").examples

    @classmethod
    def declare_data(cls, flags: ClassifierFlags) -> ClassifierFlags:
        """Writes a task file with the columns and labels of --train_file, which flags override."""
        if flags.task_file or not flags.train_file:
            return flags
        path = os.path.join(flags.output_dir, "data", "task.json")
        train = os.path.join(flags.data_dir, flags.train_file)
        columns, separator = registry.columns_of(flags), registry.separator_of(flags)
        files.atomic_write_json(path, declaration(train, columns, separator))
        return flags.replace(task_file=path)

    def parse(self, text: inference.Text) -> InputExample:
        """Returns the example for a text or a pair of texts."""
        parts = inference.parts_of(text)
        if self.is_pair not in (None, len(parts) == 2):
            inputs = "pairs (text_a, text_b)" if self.is_pair else "single texts"
            raise UserError(
                f"The model was trained on {inputs}. If the file has other columns, choose the "
                "columns of the texts with --columns."
            )
        return InputExample("", *parts)

    def spec(self, is_training: bool) -> FeatureSpec:
        """Returns the declaration of the records."""
        return classification_features.feature_spec(
            self.flags.max_seq_length,
            self.is_regression,
            truncation=self.flags.truncation,
            label_shape=(len(self.labels),) if self.is_multi_label else (),
        )

    def encode(
        self, examples: Sequence[InputExample], is_training: bool
    ) -> feature_cache.Conversion:
        """Returns a record for each example, or for each of its windows."""
        return classification_features.convert(
            examples,
            self._label_ids,
            self.tokenizer,
            max_seq_length=self.flags.max_seq_length,
            is_raw=True,
            truncation=self.flags.truncation,
            is_multi_label=self.is_multi_label,
        )

    # ---- the model and its answers ----

    def head(
        self, features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        """Builds a dense layer on the pooled output, or one for each layer's."""
        weights = None
        if self.flags.class_weights and encoder.is_training:
            weights = class_weights.label_weights(
                self.flags.class_weights,
                self.labels,
                [example.label for example in self.examples("train")],
                is_multi_label=self.is_multi_label,
            )
        head = classification_head.classification_head(
            len(self.labels) or 1,
            early_exit=self.has_exits,
            patience=self.flags.exit_patience,
            threshold=self.flags.exit_threshold,
            class_weights=weights,
            decision_threshold=self.threshold(),
        )
        return head(features, encoder)

    def merge(self, outputs: Outputs) -> Outputs:
        """Merges the windows of each example, and decides which of several labels it has."""
        merged: Any = super().merge(outputs)
        if self.is_multi_label:
            self._decide(merged)
        return merged

    def _decide(self, outputs: Dict[str, np.ndarray]) -> None:
        """Sets the predictions, 0 or 1 for each label, int32 [N, C]."""
        outputs["predictions"] = (outputs["probabilities"] >= self.threshold()).astype(np.int32)

    def label_pairs(
        self, examples: Sequence[InputExample], outputs: Outputs
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Returns (labels, predictions), as label indices [N]; of several labels 0 or 1, [N, C]."""
        return outputs["label_ids"], outputs["predictions"]

    def decode(self, examples: Sequence[InputExample], outputs: Outputs) -> List[Prediction]:
        """Returns the label, the labels or the number of each example."""
        predictions = []
        rows = outputs["probabilities"].tolist()
        layers = outputs.get("layers", np.full(len(examples), None))
        for row, layer, answer in zip(rows, layers.tolist(), outputs["predictions"]):
            shares = dict(zip(self.labels, row))  # {} of a regressor
            label: Any = max(shares, key=shares.get, default=None)
            if self.is_multi_label:
                label = tuple(itertools.compress(self.labels, answer))
            predictions.append(Prediction(label, shares, None if shares else row[0], layer))
        return predictions

    def decoding(self) -> Dict[str, Any]:
        """Returns the columns, the metrics and, where examples leave early, when."""
        decoding = {"columns": list(self.columns), "metrics": self._metrics, **self._exits()}
        if self.is_multi_label:
            decoding[_THRESHOLD] = self.flags.decision_threshold
        return decoding

    def _exits(self) -> Dict[str, Any]:
        if not self.flags.exit_patience:
            return {}
        names = ["exit_patience", "exit_threshold"] if self.is_regression else ["exit_patience"]
        return {name: getattr(self.flags, name) for name in names}

    def measure(self, examples: Sequence[Any], outputs: Any) -> Dict[str, float]:
        """Returns the task's metrics and, where examples leave early, when."""
        if self.is_multi_label and self.flags.decision_threshold is None:
            best = metrics.best_threshold(self.best_metric, _predictions(outputs), self.labels)
            self.metrics = {_THRESHOLD: best}
            self._decide(outputs)  # the outputs are kept, also as those of the best checkpoint
        measured = metrics.compute(self._metrics, _predictions(outputs), self.labels)
        if self.is_multi_label:
            measured[_THRESHOLD] = self.threshold()
        if "layers" in outputs:
            measured["mean_layers"] = float(np.mean(outputs["layers"]))
        return {**measured, **self._exits()}

    def predictions(
        self, split: str, examples: Sequence[InputExample], outputs: Outputs
    ) -> Dict[str, str]:
        """Returns the files with the predictions, and those that GLUE and CLUE take."""
        if "layers" in outputs:
            log.info("%s", describe_layers(outputs["layers"].tolist()))
        if self.is_multi_label:
            log.info("A label is predicted if it is at least %g probable.", self.threshold())
        if split == _PREDICT_FILE:
            stem = os.path.splitext(os.path.basename(self.flags.predict_file))[0]
            return predictions.result_files(self.declared, examples, outputs, suffix=f"_{stem}")
        path = registry.find_file(self.declared, self.flags.data_dir, split)
        return predictions.split_files(
            self.declared, examples, outputs, split=split, is_old="1.0" in os.path.basename(path)
        )


def _predictions(outputs: Outputs) -> metrics.Predictions:
    names = ("label_ids", "predictions", "per_example_loss", "probabilities")
    labels, predictions, losses, rows = (outputs[name] for name in names)
    if np.isnan(losses).all():  # an exported model does not give them
        if labels.dtype.kind == "f":
            losses = (predictions - labels) ** 2
        elif labels.ndim == 2:
            losses = -np.log(np.where(labels, rows, 1 - rows)).mean(axis=1)
        else:
            losses = -np.log(rows[range(len(rows)), labels])
    return metrics.Predictions(labels, predictions, losses, rows)


class PublishedTask(ClassifierTask):
    """A task of the table, whose script reads only a folder."""

    file_flags = {}


class Predictor(fine_tuned.FineTunedModel):
    """A classifier or regressor."""

    kinds = (ClassifierTask,)

    @property
    def labels(self) -> Sequence[str]:
        """The labels, in the order of their probabilities; () of a regressor."""
        return self.task.labels

    def predict_array(self, texts: Sequence[inference.Text]) -> np.ndarray:
        """Returns the probabilities in the order of `labels`, or scores, float32 [len(texts), C].

        See `predict`.
        """
        rows = [list(item.probabilities.values()) or [item.score] for item in self.predict(texts)]
        return np.array(rows, np.float32).reshape([-1, len(self.task.labels) or 1])
