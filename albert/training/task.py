# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The base class of fine-tuning tasks.

To train, evaluate and export a task, and to use it in a program, write a subclass of `Task`.
docs/new_task.md shows how. fine_tuning.py trains a task, fine_tuned.py loads a trained one.

Dimensions: N examples, R records (an example may have several), B batch.
"""

import json
import os
from concurrent import futures
from typing import (
    Any,
    Counter,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
)

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.configs.flags import FineTuningFlags
from albert.data import batches, feature_cache, record_files
from albert.data.packing import SEQUENCES
from albert.models.network import Network
from albert.util import flags as flags_lib
from albert.util import parallel
from albert.util.errors import UserError

_ACTIONS = ("do_train", "do_eval", "do_predict", "export_dir")

POOL = 4096  # records that are in memory together, sorted by length

Outputs = Mapping[str, np.ndarray]  # what the head gives for each record, by name, [R, ...] each


class Split(NamedTuple):
    """The examples of one use.

    Attributes:
      fingerprint: JSON values that decide the records.
      records: the file with the records in the same order; None if none is needed.
    """

    examples: Sequence[Any]
    fingerprint: Mapping[str, Any]
    records: Optional[record_files.RecordFile] = None


class Task:
    """A fine-tuning task.

    Attributes:
      flags_class: the class of its flags.
      description_name: name of the JSON file in --output_dir that describes the trained task.
      published_name: the task in configs/published.json to compare results with, if any.
      best_metric: the metric that chooses the best checkpoint, which has the highest value, or of
        evaluation.LOSSES the lowest.
      labels: the labels' names, if the outputs have `predictions` and `label_ids`.
      sequences: the features with one value per token; input_mask must be one of them.
      recorded_flags: flags to write to the description, beside max_seq_length. Prediction with a
        trained model reads them from there.
      heard_flags: flags of decoding, which `albert.load` accepts too.
      description_schema: the types of other keys of the description; see util/json_files.py.
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
    sequences: Sequence[str] = SEQUENCES
    recorded_flags: Tuple[str, ...] = ()
    heard_flags: Tuple[str, ...] = ()
    description_schema: Mapping[str, Any] = {}
    config: modeling.AlbertConfig
    vocabulary: fine_tuning_utils.Vocabulary

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
        return {"format_version": 1, "task": self.name, **recorded}

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
        """Reads labelled data from a file of any name; raises UserError if they fill folders."""
        raise UserError(f"'{path}' is a file. Give the folder of the data.")

    def parse(self, text: Any) -> Any:
        """Returns the example for a program's input; raises UserError for wrong input."""
        raise NotImplementedError

    def spec(self, is_training: bool) -> batches.FeatureSpec:
        """Returns the declaration of the records."""
        raise NotImplementedError

    def items(
        self, examples: Sequence[Any], is_training: bool, *, num_processes: int = 1
    ) -> Sequence[Any]:
        """Returns the inputs of `encode`: examples, or parts with one record each."""
        return examples

    def encode(self, items: Sequence[Any], is_training: bool) -> feature_cache.Conversion:
        """Returns the records of some consecutive items."""
        raise NotImplementedError

    def features(self, split: str) -> Split:
        """Returns a split with its records, which are made if they are not there.

        Only training and TPUs read records. Otherwise there are none, unless a flag with
        `records_of` names their file.
        """
        examples, is_training = self.examples(split), split == "train"
        if not len(examples):
            raise UserError(f"The {split} data of {self.name} has no examples.")
        named = next(
            (
                getattr(self.flags, name)
                for name, options in flags_lib.describe(self.flags_class).items()
                if options.get("records_of") == split
            ),
            None,
        )
        may_differ = self.decoding()
        fingerprint = {
            "description": {
                key: value for key, value in self.describe().items() if key not in may_differ
            },
            "examples": feature_cache.digest(examples),
            "tokenizer": feature_cache.tokenizer_fingerprint(self.tokenizer),
        }
        if not (is_training or named or self.flags.use_tpu):
            return Split(examples, fingerprint)
        folder = self.flags.cached_dir or self.flags.output_dir
        name = f"{self.name}_{split}.{self.flags.max_seq_length}.tf_record"
        processes = feature_cache.processes_for(len(examples))
        records = feature_cache.build_records(
            named or os.path.join(folder, name),
            fingerprint=fingerprint,
            spec=self.spec(is_training),
            items=lambda: self.items(examples, is_training, num_processes=processes),
            convert=lambda group: self.encode(group, is_training),
            exact_path=bool(named),
            num_processes=processes,
            description=f"{self.name} {split}",
        )
        return Split(examples, fingerprint, records)

    def inputs(self, items: Sequence[Any], notes: Counter[str]) -> Iterator[Dict[str, np.ndarray]]:
        """Yields what the network reads of `items`, [R, ...] each, some thousands at a time.

        While the network runs, a thread encodes the next ones. `notes` counts what `encode` notes.
        """
        features = self.spec(False).features

        def encode(first: int) -> Dict[str, np.ndarray]:
            columns = {}
            records, counts = self.encode(items[first : first + POOL], False)
            notes.update(counts)
            for feature in features:
                dtype = np.int32 if feature.dtype.is_integer else np.float32
                values = np.array([record[feature.name] for record in records], dtype)
                # A label may be a number or a list of one.
                columns[feature.name] = values if feature.shape else values.reshape([-1])
            return columns

        if len(items) <= POOL:  # a text is encoded faster than a thread starts
            yield encode(0)
            return
        with futures.ThreadPoolExecutor(1) as thread:
            yield from parallel.in_order(thread, encode, range(0, len(items), POOL), ahead=1)

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
        # Compiled parts gain nothing without gradients, and each length would be compiled.
        encoder = fine_tuning_utils.Encoder(self.config, False, **options)
        outputs = self.head(features, encoder).with_losses()
        return {name: tf.identity(value, name=name) for name, value in outputs.items()}

    def network(self, batch_size: int) -> Network:
        """Returns the network for prediction, without weights."""
        dtype = tf.as_dtype(self.flags.precision)
        return Network(
            lambda features: self.build(features, compute_dtype=dtype, keep_weights=True),
            self.spec(False),
            batch_size=batch_size,
            sequences=self.sequences,
            padding=self.flags.padding or "longest",
        )

    def decode(self, examples: Sequence[Any], outputs: Outputs) -> List[Any]:
        """Returns the model's answer to each example, a NamedTuple or JSON value."""
        raise NotImplementedError

    def measure(self, examples: Sequence[Any], outputs: Outputs) -> Dict[str, float]:
        """Returns the measurements of a split."""
        raise NotImplementedError

    def predictions(self, split: str, examples: Sequence[Any], outputs: Outputs) -> Dict[str, str]:
        """Returns the text of the files with a split's predictions, by name."""
        lines = []
        for item in self.decode(examples, outputs):
            answer = item._asdict() if hasattr(item, "_asdict") else item
            lines.append(json.dumps(answer, ensure_ascii=False) + "\n")
        return {f"{self.name}_{split}.jsonl": "".join(lines)}
