# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The base class of fine-tuning tasks.

To train, evaluate and export a task, and to use it in a program, write a subclass of `Task`.
docs/new_task.md shows how. fine_tuning.py trains a task, fine_tuned.py loads a trained one.

Dimensions: B batch.
"""

import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.configs.shared_flags import END, FineTuningFlags
from albert.data.truncation import NUM_WINDOWS, merge_windows
from albert.formats import model_vocabulary
from albert.models.inference import InferenceTask, Outputs
from albert.training import metrics
from albert.util import UserError

_ACTIONS = ("do_train", "do_eval", "do_predict", "export_dir")


class Task(InferenceTask):
    """A fine-tuning task.

    Attributes:
      flags_class: the class of its flags.
      description_name: name of the JSON file in --output_dir that describes the trained task.
      published_name: the task in configs/published.json to compare results with, if any.
      best_metric: the metric that chooses the best checkpoint, which has the highest value, or of
        run_files.LOSSES the lowest.
      labels: the labels' names, if the outputs have `predictions` and `label_ids`.
      recorded_flags: flags to write to the description, beside max_seq_length. Prediction with a
        trained model reads them from there.
      heard_flags: flags of decoding, which `albert.load` accepts too.
      threshold_flag: the flag with a threshold of decoding, if any. Evaluation chooses the
        threshold if the flag does not, and adds it to the metrics.
      default_threshold: of a model that was not evaluated.
      description_schema: the types of other keys of the description; see util/json_files.py.
      file_flags: split -> the flag that names its file; {} if the task reads only a folder.
      record_flags: split -> the flag that names the file of its records, if any.
      rows_file: the file in --data_dir for a program's rows of a split, as JSON lines.
      folder_flags: the other flags to read it.
      row_names: number of parts -> their names, for rows that are tuples.
      config: configuration of the encoder.
      vocabulary: the vocabulary's file.
      metrics: metrics of the checkpoint that predicts.
    """

    flags_class: Type[FineTuningFlags]
    name = ""
    description_name = ""
    published_name = ""
    best_metric = "eval_accuracy"
    labels: Sequence[str] = ()
    recorded_flags: Tuple[str, ...] = ()
    heard_flags: Tuple[str, ...] = ()
    threshold_flag = ""
    default_threshold = 0.0
    description_schema: Mapping[str, Any] = {}
    file_flags: Mapping[str, str] = {}
    record_flags: Mapping[str, str] = {}
    rows_file = "{}.jsonl"
    folder_flags: Mapping[str, Any] = {}
    row_names: Mapping[int, Sequence[str]] = {}
    config: modeling.AlbertConfig
    vocabulary: model_vocabulary.Vocabulary

    def __init__(
        self,
        flags: FineTuningFlags,
        tokenizer: tokenization.FullTokenizer,
        description: Mapping[str, Any],
    ):
        """Takes the flags, the tokenizer, and the description of a trained model.

        `config`, `vocabulary` and `metrics` are set later.
        """
        self.flags, self.tokenizer, self.description = flags, tokenizer, description
        self.precision_name, self.padding = flags.precision, flags.padding or "longest"
        self.metrics: Mapping[str, float] = {}

    # ---- flags and folder ----

    @classmethod
    def check_flags(cls, flags: FineTuningFlags) -> None:
        """Checks the flags against each other; raises UserError."""
        values = flags.to_dict()
        if not any(map(values.get, _ACTIONS)):
            names = ", ".join(f"--{name}" for name in _ACTIONS if name in values)
            raise UserError(f"Nothing to do: give one of {names}.")

    def describe(self, is_export: bool = False) -> Dict[str, Any]:
        """Returns what the description of a trained or exported model says, but its vocabulary."""
        names = ("max_seq_length", *self.recorded_flags)
        recorded = {name: getattr(self.flags, name) for name in names}
        if recorded.get("truncation") == END:  # The usual one is not recorded.
            del recorded["truncation"]
        if is_export and self.threshold_flag:
            recorded[self.threshold_flag] = self.threshold()
        return {"format_version": 1, "task": self.name, **recorded}

    def threshold(self) -> Optional[float]:
        """Returns the flag, or what was recorded for the checkpoint or the export; None: none."""
        name = self.threshold_flag
        if not name:
            return None
        values = (getattr(self.flags, name), self.metrics.get(name), self.description.get(name))
        return next((value for value in values if value is not None), self.default_threshold)

    def decoding(self) -> Dict[str, Any]:
        """Returns what answers and metrics depend on besides the weights and records.

        It may differ between the runs in a folder. If it does, checkpoints are evaluated again.
        """
        return {name: getattr(self.flags, name) for name in self.heard_flags}

    # ---- data ----

    def splits(self, use: str) -> List[str]:
        """Returns the splits to evaluate on (use "dev") or to predict ("test")."""
        requested = {"dev": self.flags.do_eval, "test": self.flags.do_predict}
        return [use] if requested[use] else []

    def examples(self, split: str) -> Sequence[Any]:
        """Reads a split, such as "train". Raises UserError for wrong data."""
        raise NotImplementedError

    def read_file(self, path: str) -> Sequence[Any]:
        """Reads labelled data from a file of any name, for tasks with `file_flags`."""
        raise NotImplementedError

    @classmethod
    def declare_data(cls, flags: Any) -> Any:
        """Returns the flags of albert.fine_tune with what the training data tell."""
        return flags

    # ---- the model and its answers ----

    def head(
        self, features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        """Builds the head on the encoder; see fine_tuning_utils.HeadOutput.

        An exported model has features without labels: SEQUENCES alone.
        """
        raise NotImplementedError

    def build(self, features: fine_tuning_utils.Features, **options: Any) -> Dict[str, tf.Tensor]:
        """Builds the network for prediction and export; returns its outputs by name.

        The options are those of fine_tuning_utils.Encoder.
        """
        encoder = fine_tuning_utils.Encoder(self.config, False, **options)
        outputs = self.head(features, encoder).with_losses()
        if NUM_WINDOWS in features:
            outputs[NUM_WINDOWS] = features[NUM_WINDOWS]
        return {name: tf.identity(value, name=name) for name, value in outputs.items()}

    def merge(self, outputs: Outputs) -> Outputs:
        """Merges the windows of each example."""
        return merge_windows(outputs)

    def measure(self, examples: Sequence[Any], outputs: Outputs) -> Dict[str, float]:
        """Returns the measurements of a split."""
        raise NotImplementedError

    def label_pairs(
        self, examples: Sequence[Any], outputs: Outputs
    ) -> Tuple[np.ndarray, np.ndarray]:
        """Returns (labels, predictions) of a split, if the outputs have `label_ids`."""
        return metrics.label_pairs(outputs)

    def measure_all(self, examples: Sequence[Any], outputs: Outputs) -> Dict[str, float]:
        """Returns the measurements, and eval_loss if the outputs have losses."""
        measured = dict(self.measure(examples, outputs))
        if "per_example_loss" in outputs:
            loss = np.mean(outputs["per_example_loss"], dtype=np.float64)
            measured.setdefault("eval_loss", float(loss))
        return measured

    def export_more(self) -> None:
        """Writes other files into --export_dir, after the SavedModel."""

    def predictions(self, split: str, examples: Sequence[Any], outputs: Outputs) -> Dict[str, str]:
        """Returns the text of the files with a split's predictions, by name."""
        lines = []
        for item in self.decode(examples, outputs):
            answer = item._asdict() if hasattr(item, "_asdict") else item
            lines.append(json.dumps(answer, ensure_ascii=False) + "\n")
        return {f"{self.name}_{split}.jsonl": "".join(lines)}
