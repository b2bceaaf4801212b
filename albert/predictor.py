# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fine-tuned classifier kept in memory: texts or pairs of texts in, labels out, call after call.

    with Predictor("output/mrpc") as predictor:
        predictor.predict([("He left.", "He went away."), ("He left.", "It rains.")])

Building the graph and reading the weights takes seconds and happens once; a call then takes
milliseconds. The texts of a call are sorted by length, so that short ones do not wait for padding.

Dimensions: B batch, S sequence.
"""

import threading
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from albert.classification import examples as labelled_examples
from albert.classification import features as classifier_features
from albert.classification import model_folder as fine_tuned_classifier
from albert.pretrained import warm_start as checkpoint_init
from albert.util import runtime as precision

Text = Union[str, Tuple[str, str], Sequence[str]]

# Batches are padded to a multiple of this.
_LENGTH_STEP = 8
_FEATURES = fine_tuned_classifier.Inputs._fields


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


class Predictor:
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
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be at least 1.")
        self.classifier = fine_tuned_classifier.read_classifier(model_dir, checkpoint)
        dtype = precision.compute_dtype(precision_name)
        fine_tuning_utils.check_module(self.classifier.hub_module, dtype)
        self._tokenizer = fine_tuned_classifier.make_tokenizer(self.classifier)
        self._batch_size = batch_size
        self._lock = threading.Lock()
        graph = tf.Graph()
        with graph.as_default():
            self._inputs = fine_tuned_classifier.Inputs(
                *(tf.placeholder(tf.int32, [None, None], name) for name in _FEATURES)
            )
            outputs = fine_tuned_classifier.build_outputs(
                self.classifier, self._inputs, compute_dtype=dtype
            )
            # One number a label: probabilities, or the score of a regressor.
            self._output = outputs.probabilities  # [B, labels]
            self._session = tf.Session(graph=graph, config=precision.session_config())
            checkpoint_init.restore_weights(self._session, self.classifier.checkpoint)

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Frees the weights; no call may follow."""
        self._session.close()

    def predict(self, texts: Sequence[Text]) -> List[Prediction]:
        """Returns a prediction for each text, in order.

        Args:
          texts: each a text, or a pair (text_a, text_b). Text that is too long is cut as in the
            training.

        Raises:
          ValueError: an item is neither a text nor a pair of them, or not what the task takes.
        """
        return [self._prediction(row) for row in self.predict_array(texts)]

    def predict_array(self, texts: Sequence[Text]) -> np.ndarray:
        """Returns the probabilities, float32 [len(texts), labels]; scores of a regressor [., 1].

        Args:
          texts: as of `predict`.

        Raises:
          ValueError: as of `predict`.
        """
        if isinstance(texts, str):
            raise ValueError("A list of texts is needed, not a single text: predict([text]).")
        is_pair = self.classifier.is_pair
        examples = [_example(number, text, is_pair) for number, text in enumerate(texts)]
        columns = 1 if self.classifier.is_regression else len(self.classifier.labels)
        results = np.zeros([len(examples), columns], np.float32)
        with self._lock:
            features = classifier_features.convert_examples(
                examples,
                list(self.classifier.labels) or [None],
                max_seq_length=self.classifier.max_seq_length,
                tokenizer=self._tokenizer,
            )
            for places in self._batches([sum(item.input_mask) for item in features]):
                results[places] = self._run([features[place] for place in places])
        return results

    def _batches(self, lengths: Sequence[int]) -> List[np.ndarray]:
        """Places of the examples that run together: those of like length."""
        order = np.argsort(np.asarray(lengths, np.int64), kind="stable")
        return [
            order[start : start + self._batch_size]
            for start in range(0, len(order), self._batch_size)
        ]

    def _run(self, features: Sequence[classifier_features.InputFeatures]) -> np.ndarray:
        """A batch through the network: [B, labels]."""
        longest = max(sum(item.input_mask) for item in features)
        length = -(-longest // _LENGTH_STEP) * _LENGTH_STEP
        length = min(length, self.classifier.max_seq_length)
        feed = {
            placeholder: [getattr(item, name)[:length] for item in features]  # [B, S]
            for name, placeholder in self._inputs._asdict().items()
        }
        return self._session.run(self._output, feed)

    def _prediction(self, row: np.ndarray) -> Prediction:
        if self.classifier.is_regression:
            return Prediction(None, {}, float(row[0]))
        labels = self.classifier.labels
        probabilities = {label: float(value) for label, value in zip(labels, row)}
        return Prediction(labels[int(np.argmax(row))], probabilities, None)


def _example(number: int, text: Text, is_pair: Optional[bool]) -> labelled_examples.InputExample:
    """A text or a pair as the tokenizer's machinery takes it; `is_pair` None takes both."""
    parts = tuple(text) if isinstance(text, (tuple, list)) else (text,)
    if len(parts) not in (1, 2) or not all(isinstance(part, str) for part in parts):
        raise ValueError(
            f"Text number {number + 1} is {str(text)[:60]!r}. Each must be a text or a pair "
            "(text_a, text_b) of texts."
        )
    if is_pair is not None and is_pair != (len(parts) == 2):
        wanted, given = ("pairs", "single text") if is_pair else ("single texts", "pair")
        raise ValueError(
            f"Text number {number + 1} is {str(text)[:60]!r}, a {given}; the model was trained on "
            f"{wanted}{' (text_a, text_b)' if is_pair else ''}. Give {wanted}."
        )
    return labelled_examples.InputExample(str(number), *parts)
