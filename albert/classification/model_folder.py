# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A classifier or regressor that run_classifier has trained: read from its folder, asked, exported.

    with Classifier("output/mrpc") as model:
        model.predict([("He left.", "He went away."), ("He left.", "It rains.")])

Dimensions: B batch, S sequence, C outputs (labels; 1 of a regressor).
"""

import math
import numbers
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.classification import examples, model
from albert.classification import features as classifier_features
from albert.classification.settings import EXIT_THRESHOLD
from albert.pretrained import inference, model_vocabulary, saved_model
from albert.pretrained.saved_model import Inputs
from albert.training import fine_tuning
from albert.util import wording
from albert.util.errors import UserError

DESCRIPTION_NAME = "classifier.json"
CONFIG_NAME = fine_tuning.CONFIG_NAME
FORMAT_VERSION = inference.FORMAT_VERSION


class FineTunedClassifier(NamedTuple):
    """What a model's folder says about it."""

    config: Optional[modeling.AlbertConfig]  # None with a TF-Hub module that does not bring one
    checkpoint: str  # path prefix of the weights
    task: str
    labels: Tuple[str, ...]  # in the order of the outputs; () for a regressor
    is_regression: bool
    max_seq_length: int  # of the training, special tokens included
    do_lower_case: bool
    spm_model_file: Optional[str]  # the tokenizer's file; the other one is None
    vocab_file: Optional[str]
    hub_module: Optional[str] = None  # handle of the TF-Hub module of the encoder
    is_pair: Optional[bool] = None  # whether the task has two texts; None: unknown
    early_exit: Optional[bool] = None  # whether there is a head after each layer; None: no
    columns: Optional[Sequence[str]] = None  # of the texts, where the training file names them

    @property
    def output_count(self) -> int:
        """Returns C."""
        return len(self.labels) or 1


def _read(
    model_dir: str, checkpoint: Optional[str]
) -> Tuple[inference.Trained, FineTunedClassifier]:
    types = {"labels": [str], "is_regression": bool}
    types.update(dict.fromkeys(("is_pair", "early_exit"), (bool, None)), columns=([str], None))
    trained = inference.read_trained(model_dir, DESCRIPTION_NAME, checkpoint, types=types)
    description = trained.description
    classifier = FineTunedClassifier(
        config=trained.config,
        checkpoint=trained.checkpoint,
        task=description["task"],
        labels=tuple(description["labels"]),
        is_regression=description["is_regression"],
        max_seq_length=description["max_seq_length"],
        do_lower_case=description["do_lower_case"],
        hub_module=description.get("hub_module"),
        is_pair=description.get("is_pair"),
        early_exit=description.get("early_exit"),
        columns=description.get("columns"),
        **trained.vocabulary,
    )
    return trained, classifier


def read_classifier(model_dir: str, checkpoint: Optional[str] = None) -> FineTunedClassifier:
    """Returns the trained model in a folder; arguments and errors are inference.read_trained's."""
    return _read(model_dir, checkpoint)[1]


def portable_files(classifier: FineTunedClassifier) -> Dict[str, bytes]:
    """Returns the content of the files that, with the weights, make the model usable elsewhere."""
    names = ("task", "labels", "is_regression", "max_seq_length", "do_lower_case")
    description = {name: getattr(classifier, name) for name in names}
    description["format_version"] = FORMAT_VERSION
    for name in ("hub_module", "is_pair", "early_exit", "columns"):
        if getattr(classifier, name) is not None:
            description[name] = getattr(classifier, name)
    vocabulary = {key: getattr(classifier, key) for key in model_vocabulary.KEYS}
    return fine_tuning.portable_files(
        DESCRIPTION_NAME, description, vocabulary, config=classifier.config
    )


def build_outputs(
    classifier: FineTunedClassifier,
    inputs: Inputs,
    *,
    compute_dtype: tf.DType = tf.float32,
    use_xla: bool = False,
) -> model.Logits:
    """Builds the network for prediction; the caller restores its variables.

    B and S may be unknown. A graph with use_xla (compiled clusters) must not be exported. The
    logits of a regressor are [B, 1] here.
    """
    encoder = fine_tuning_utils.Encoder(
        classifier.config,
        False,
        hub_module=classifier.hub_module,
        use_one_hot_embeddings=False,
        compute_dtype=compute_dtype,
        use_xla=use_xla,
    )
    found = model.logits_of(
        encoder,
        inputs._asdict(),
        num_labels=classifier.output_count,
        is_regression=classifier.is_regression,
    )
    return model.Logits(
        probabilities=tf.identity(found.probabilities, name="probabilities"),
        predictions=tf.identity(found.predictions, name="predictions"),
        logits=tf.reshape(found.logits, [-1, classifier.output_count], name="logits"),
    )


def export_classifier(
    export_dir: str, classifier: FineTunedClassifier, *, threshold: Optional[float] = None
) -> str:
    """Exports a fine-tuned classifier or regressor as a SavedModel.

    Args:
      export_dir: gets a folder named after the time, as tf.estimator writes them.
      classifier: what `read_classifier` returns.
      threshold: if neither None nor NaN, an output "threshold" with this value.

    Returns:
      The folder. Both signatures give the fields of `model.Logits`.

    Raises:
      ValueError: the checkpoint does not fit the model.
    """
    constants = {}
    if threshold is not None and threshold == threshold:
        constants["threshold"] = threshold
    return saved_model.export_saved_model(
        export_dir,
        lambda inputs: build_outputs(classifier, inputs)._asdict(),
        classifier.checkpoint,
        max_seq_length=classifier.max_seq_length,
        constants=constants,
        extra_files=portable_files(classifier),
    )


# ---------------------------------------------------------------------------------------------
# In memory.


class Prediction(NamedTuple):
    """The prediction for a text or a pair of texts."""

    label: Optional[str]  # the most probable label; None from a regressor
    probabilities: Dict[str, float]  # by label, in the order of the labels; {} from a regressor
    score: Optional[float]  # the regressor's number; None from a classifier
    layers: Optional[int] = None  # after which it was known; None without exit_patience


def describe_layers(layers: Sequence[int]) -> str:
    """Returns a line for the log on the layers after which examples left, int [N]."""
    mean = np.mean(layers) if len(layers) else 0
    return f"{mean:.2f} layers on average over {wording.counted(len(layers), 'example')}."


class Classifier(inference.Model):
    """A fine-tuned model in memory. Calls from several threads take turns.

    Attributes:
      classifier: what the model's folder says about it.
    """

    def __init__(
        self,
        model_dir: str,
        checkpoint: Optional[str] = None,
        *,
        precision_name: str = "float32",
        batch_size: int = 32,
        exit_patience: Optional[int] = None,
        exit_threshold: float = EXIT_THRESHOLD,
    ):
        """Loads the model.

        Args:
          model_dir: output_dir of run_classifier.
          checkpoint: weights to take in place of model.ckpt-best.
          precision_name: "float32", or "bfloat16" or "float16" where the device is faster with it.
          batch_size: most sequences to run together.
          exit_patience: answer a text as soon as this many layers in a row, at least 1, have not
            changed its prediction; the model must be trained with --early_exit. None: all layers.
          exit_threshold: scores of a regressor that differ by less are the same.

        Raises:
          ValueError: no such model, a vocabulary that is gone or changed, a precision that is
            unknown or not a hub module's, exit_patience that is no whole number above 0 or for a
            model without these heads, or a threshold that is not above 0.
        """
        trained, self.classifier = _read(model_dir, checkpoint)
        self._patience: Optional[model.Patience] = None
        if exit_patience is not None:
            self._patience = model.Patience(exit_patience, exit_threshold)
            if not isinstance(exit_patience, (int, np.integer)) or exit_patience < 1:
                raise UserError(
                    f"exit_patience is {exit_patience!r}; it must be a whole number, at least 1."
                )
            if not (isinstance(exit_threshold, numbers.Real) and 0 < exit_threshold < math.inf):
                raise UserError(
                    f"exit_threshold is {exit_threshold!r}; it must be a finite number above 0."
                )
            if not self.classifier.early_exit:
                raise UserError(
                    f"exit_patience={exit_patience} needs a head after each layer. The model in "
                    f"{model_dir} has none: leave it out, or train with --early_exit."
                )
        self._tokenizer = trained.tokenizer()
        self.network = trained.network(
            self.build, precision_name=precision_name, batch_size=batch_size
        )

    def build(self, inputs: inference.Tensors, dtype: tf.DType) -> inference.Tensors:
        """Builds the network on int32 [B, S]; returns probabilities and logits [B, C]."""
        sequences = Inputs(*(inputs[name] for name in Inputs._fields))
        if self._patience is None:
            outputs = build_outputs(self.classifier, sequences, compute_dtype=dtype)
            return {"probabilities": outputs.probabilities, "logits": outputs.logits}
        outputs, layers = model.patient_logits(
            fine_tuning_utils.Encoder(self.classifier.config, False, compute_dtype=dtype),
            inputs,
            num_labels=self.classifier.output_count,
            is_regression=self.classifier.is_regression,
            patience=self._patience,
        )
        return {"probabilities": outputs.probabilities, "layers": layers}

    def predict(self, texts: Sequence[inference.Text]) -> List[Prediction]:
        """Returns a prediction for each text or pair (text_a, text_b), in order.

        What is too long is cut as in training.

        Raises:
          ValueError: an item is neither a text nor a pair of them, or not what the task takes.
        """
        found = []
        for outputs in self._run(texts):
            row = outputs["probabilities"]
            layers = int(outputs["layers"]) if "layers" in outputs else None
            if self.classifier.is_regression:
                found.append(Prediction(None, {}, float(row[0]), layers))
                continue
            labels = self.classifier.labels
            label, shares = labels[int(np.argmax(row))], dict(zip(labels, map(float, row)))
            found.append(Prediction(label, shares, None, layers))
        return found

    def predict_array(self, texts: Sequence[inference.Text]) -> np.ndarray:
        """Returns the probabilities, or scores, float32 [len(texts), C]; see `predict`."""
        found = [row["probabilities"] for row in self._run(texts)]
        return np.array(found, np.float32).reshape([len(found), self.classifier.output_count])

    def _run(self, texts: Sequence[inference.Text]) -> List[Dict[str, np.ndarray]]:
        """The outputs of the network for each text."""
        features = classifier_features.convert_examples_to_features(
            [self._example(*item) for item in enumerate(inference.checked(texts), 1)],
            self.classifier.labels or [None],
            self.classifier.max_seq_length,
            self._tokenizer,
            self.classifier.task,
            is_raw=True,
        )
        rows = []
        for item in features:
            used = sum(item.input_mask)
            rows.append(
                {"input_ids": item.input_ids[:used], "segment_ids": item.segment_ids[:used]}
            )
        return self.network.run(rows)

    def _example(self, number: int, parts: Tuple[str, ...]) -> examples.InputExample:
        is_pair = self.classifier.is_pair
        if is_pair is not None and is_pair != (len(parts) == 2):
            wanted = "pairs (text_a, text_b)" if is_pair else "single texts"
            raise UserError(
                f"Text number {number} is a {'single text' if is_pair else 'pair'}: "
                f"{' | '.join(parts)[:60]}. The model was trained on {wanted}. If the file has "
                "other columns, name those of the texts with --columns."
            )
        return examples.InputExample(str(number), *parts)
