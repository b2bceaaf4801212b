# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A classifier or regressor that run_classifier has trained, found again by its folder.

The folder holds classifier.json (task, labels, length, vocabulary), albert_config.json and
checkpoints. What answers with such a model, in a process or in an exported graph, starts here.

Dimensions: B batch, S sequence.
"""

import os
from typing import Any, Dict, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, tokenization
from albert.classification import model as classifier_model
from albert.pretrained import model_vocabulary
from albert.pretrained import warm_start as checkpoint_init
from albert.training import fine_tuning
from albert.util import files

DESCRIPTION_NAME = "classifier.json"
CONFIG_NAME = fine_tuning.CONFIG_NAME
FORMAT_VERSION = 1

# What classifier.json has to say, besides the vocabulary.
_KEYS = ("task", "labels", "is_regression", "max_seq_length", "do_lower_case")


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


class Inputs(NamedTuple):
    """What the encoder reads, each int32 [B, S]."""

    input_ids: tf.Tensor
    input_mask: tf.Tensor
    segment_ids: tf.Tensor


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


def read_classifier(model_dir: str, checkpoint: Optional[str] = None) -> FineTunedClassifier:
    """Returns the trained model in a folder.

    Args:
      model_dir: output_dir of run_classifier.
      checkpoint: the weights to take, in any form that checkpoint_init.resolve_checkpoint knows;
        None takes model.ckpt-best, or else the newest.

    Raises:
      ValueError: the folder holds no such model, or its vocabulary is gone or has changed.
    """
    model_dir = os.path.expanduser(str(model_dir))
    description = _read_description(os.path.join(model_dir, DESCRIPTION_NAME))
    config, path = None, os.path.join(model_dir, CONFIG_NAME)
    if tf.io.gfile.exists(path) or not description.get("hub_module"):
        config = modeling.AlbertConfig.from_json_file(path)
    vocabulary = {
        key: model_vocabulary.find_recorded(model_dir, description, key)
        for key in model_vocabulary.KEYS
    }
    return FineTunedClassifier(
        config=config,
        checkpoint=checkpoint_init.resolve_checkpoint(checkpoint or model_dir),
        task=description["task"],
        labels=tuple(description["labels"]),
        is_regression=description["is_regression"],
        max_seq_length=description["max_seq_length"],
        do_lower_case=description["do_lower_case"],
        hub_module=description.get("hub_module"),
        is_pair=description.get("is_pair"),
        **vocabulary,
    )


def _read_description(path: str) -> Dict[str, Any]:
    """The content of classifier.json, checked."""
    if not tf.io.gfile.exists(path):
        raise ValueError(
            f"{os.path.dirname(path)!r} holds no fine-tuned model: {path} is missing. Give the "
            "--output_dir of a run_classifier that has trained."
        )
    try:
        description = files.read_json_object(path)
        version = description.get("format_version")
    except ValueError as error:
        raise ValueError(
            f"{path} is no description of a fine-tuned model ({error}). Train again, or copy the "
            "folder again."
        ) from error
    missing = [key for key in _KEYS if key not in description]
    if version != FORMAT_VERSION or missing:
        raise ValueError(
            f"{path} is not in this version's format (format_version {version} where "
            f"{FORMAT_VERSION} is known; missing keys: {', '.join(missing) or 'none'}). Use the "
            "version that wrote it."
        )
    return description


def make_tokenizer(classifier: FineTunedClassifier) -> tokenization.FullTokenizer:
    """Returns the tokenizer that the model was trained with.

    Raises:
      ValueError: the vocabulary does not belong to the model.
    """
    tokenizer = tokenization.FullTokenizer(
        classifier.vocab_file, classifier.do_lower_case, classifier.spm_model_file
    )
    if classifier.config is not None:
        tokenization.check_vocab_size(tokenizer, classifier.config.vocab_size)
    return tokenizer


def portable_files(classifier: FineTunedClassifier) -> Dict[str, bytes]:
    """Returns the content of the files that, with the weights, make the model usable elsewhere."""
    description = {
        "format_version": FORMAT_VERSION,
        "task": classifier.task,
        "labels": list(classifier.labels),
        "is_regression": classifier.is_regression,
        "max_seq_length": classifier.max_seq_length,
        "do_lower_case": classifier.do_lower_case,
    }
    if classifier.hub_module:
        description["hub_module"] = classifier.hub_module
    if classifier.is_pair is not None:
        description["is_pair"] = classifier.is_pair
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
