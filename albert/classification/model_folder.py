# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A classifier or regressor that run_classifier has trained: found by its folder, asked, exported.

    with Classifier("output/mrpc") as model:
        model.predict([("He left.", "He went away."), ("He left.", "It rains.")])

The folder holds classifier.json (task, labels, length, vocabulary), albert_config.json and
checkpoints.

Dimensions: B batch, S sequence.
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.classification import examples as labelled_examples
from albert.classification import features as classifier_features
from albert.classification import model as classifier_model
from albert.pretrained import inference, model_vocabulary
from albert.pretrained import saved_model as serving_export
from albert.pretrained.saved_model import Inputs
from albert.training import fine_tuning

DESCRIPTION_NAME = "classifier.json"
CONFIG_NAME = fine_tuning.CONFIG_NAME
FORMAT_VERSION = inference.FORMAT_VERSION


class FineTunedClassifier(NamedTuple):
    """Everything that is needed to answer with a trained model.

    Attributes:
      config: the encoder's; None of a TF-Hub module that does not bring it along.
      checkpoint: path prefix of the weights.
      task: name of the task.
      labels: in the order of the outputs; () for a regressor.
      is_regression: whether the one output is a score.
      max_seq_length: length the model was trained with, separators included.
      do_lower_case: of the tokenizer.
      spm_model_file, vocab_file: the tokenizer's file; the other one is None.
      hub_module: handle of the TF-Hub module that the encoder came from, or None.
      is_pair: whether the task has two texts; None where the folder does not say so.
    """

    config: Optional[modeling.AlbertConfig]
    checkpoint: str
    task: str
    labels: Tuple[str, ...]
    is_regression: bool
    max_seq_length: int
    do_lower_case: bool
    spm_model_file: Optional[str]
    vocab_file: Optional[str]
    hub_module: Optional[str] = None
    is_pair: Optional[bool] = None


class Outputs(NamedTuple):
    """What the model says about each input.

    Attributes:
      probabilities: float32 [B, labels]; of a regressor the score, [B, 1].
      predictions: int32 [B], number of the label; of a regressor the score, float32 [B].
      logits: float32 [B, labels]; of a regressor [B, 1].
    """

    probabilities: tf.Tensor
    predictions: tf.Tensor
    logits: tf.Tensor


def _read(model_dir: str, checkpoint: Optional[str]) -> inference.Trained:
    return inference.read_trained(
        model_dir, DESCRIPTION_NAME, checkpoint, keys=("labels", "is_regression")
    )


def _described(trained: inference.Trained) -> FineTunedClassifier:
    description = trained.description
    return FineTunedClassifier(
        config=trained.config,
        checkpoint=trained.checkpoint,
        task=description["task"],
        labels=tuple(description["labels"]),
        is_regression=description["is_regression"],
        max_seq_length=description["max_seq_length"],
        do_lower_case=description["do_lower_case"],
        hub_module=description.get("hub_module"),
        is_pair=description.get("is_pair"),
        **trained.vocabulary,
    )


def read_classifier(model_dir: str, checkpoint: Optional[str] = None) -> FineTunedClassifier:
    """Returns the trained model in a folder; see inference.read_trained.

    Raises:
      ValueError: the folder holds no such model, or its vocabulary is gone or has changed.
    """
    return _described(_read(model_dir, checkpoint))


def portable_files(classifier: FineTunedClassifier) -> Dict[str, bytes]:
    """Returns the content of the files that, with the weights, make the model usable elsewhere."""
    names = ("task", "labels", "is_regression", "max_seq_length", "do_lower_case")
    description = {name: getattr(classifier, name) for name in names}
    description["format_version"] = FORMAT_VERSION
    for name in ("hub_module", "is_pair"):
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
) -> Outputs:
    """Builds the network for prediction.

    Args:
      classifier: whose variables to make; restoring them is the caller's.
      inputs: B and S may be unknown.
      compute_dtype: of the products.
      use_xla: compiled clusters, which must not be exported.
    """
    output_count = 1 if classifier.is_regression else len(classifier.labels)
    encoder = fine_tuning_utils.Encoder(
        classifier.config,
        False,
        hub_module=classifier.hub_module,
        use_one_hot_embeddings=False,
        compute_dtype=compute_dtype,
        use_xla=use_xla,
    )
    found = classifier_model.logits_of(
        encoder,
        inputs._asdict(),
        num_labels=output_count,
        is_regression=classifier.is_regression,
    )
    return Outputs(
        probabilities=tf.identity(found.probabilities, name="probabilities"),
        predictions=tf.identity(found.predictions, name="predictions"),
        logits=tf.reshape(found.logits, [-1, output_count], name="logits"),
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
      The folder. Both signatures give the fields of `Outputs`.

    Raises:
      ValueError: the checkpoint does not fit the model.
    """
    constants = {}
    if threshold is not None and threshold == threshold:
        constants["threshold"] = threshold
    return serving_export.export_saved_model(
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
    """What the model says about a text or a pair of texts.

    Attributes:
      label: the most probable label; None from a regressor.
      probabilities: by label, in the order of the labels; empty from a regressor.
      score: the regressor's number; None from a classifier.
    """

    label: Optional[str]
    probabilities: Dict[str, float]
    score: Optional[float]


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
    ):
        """Loads the model.

        Args:
          model_dir: output_dir of run_classifier.
          checkpoint: weights to take in place of model.ckpt-best.
          precision_name: "float32", or "bfloat16" where the processor is faster with it.
          batch_size: most sequences to run together.

        Raises:
          ValueError: no such model, a vocabulary that is gone or changed, or a precision that is
            unknown or not a hub module's.
        """
        trained = _read(model_dir, checkpoint)
        self.classifier = _described(trained)
        self._tokenizer = trained.tokenizer()
        self.network = trained.network(
            self._build, precision_name=precision_name, batch_size=batch_size
        )

    def _build(self, inputs: inference.Tensors, dtype: tf.DType) -> inference.Tensors:
        sequences = Inputs(*(inputs[name] for name in Inputs._fields))
        outputs = build_outputs(self.classifier, sequences, compute_dtype=dtype)
        return {"probabilities": outputs.probabilities}

    def predict(self, texts: Sequence[inference.Text]) -> List[Prediction]:
        """Returns a prediction for each text, in order.

        Args:
          texts: each a text, or a pair (text_a, text_b). Text that is too long is cut as in the
            training.

        Raises:
          ValueError: an item is neither a text nor a pair of them, or not what the task takes.
        """
        return [self._prediction(row) for row in self.predict_array(texts)]

    def predict_array(self, texts: Sequence[inference.Text]) -> np.ndarray:
        """Returns the probabilities, float32 [len(texts), labels]; scores of a regressor [., 1].

        Args:
          texts: as of `predict`.

        Raises:
          ValueError: as of `predict`.
        """
        parts = inference.checked(texts)
        features = classifier_features.convert_examples(
            [self._example(number, item) for number, item in enumerate(parts)],
            list(self.classifier.labels) or [None],
            max_seq_length=self.classifier.max_seq_length,
            tokenizer=self._tokenizer,
        )
        rows = []
        for item in features:
            used = sum(item.input_mask)
            rows.append(
                {"input_ids": item.input_ids[:used], "segment_ids": item.segment_ids[:used]}
            )
        found = [row["probabilities"] for row in self.network.run(rows)]
        return np.array(found, np.float32).reshape([len(rows), len(self.classifier.labels) or 1])

    def _example(self, number: int, parts: Tuple[str, ...]) -> labelled_examples.InputExample:
        is_pair = self.classifier.is_pair
        if is_pair is not None and is_pair != (len(parts) == 2):
            wanted = "pairs (text_a, text_b)" if is_pair else "single texts"
            raise ValueError(
                f"Text number {number + 1} is {str(parts)[:60]!r}, a "
                f"{'single text' if is_pair else 'pair'}; the model was trained on {wanted}."
            )
        return labelled_examples.InputExample(str(number), *parts)

    def _prediction(self, row: np.ndarray) -> Prediction:
        if self.classifier.is_regression:
            return Prediction(None, {}, float(row[0]))
        labels = self.classifier.labels
        probabilities = {label: float(value) for label, value in zip(labels, row)}
        return Prediction(labels[int(np.argmax(row))], probabilities, None)
