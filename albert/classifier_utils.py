# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification and regression with the names and arguments of google-research/albert.

The folder classification/ does the work.

Dimensions: B batch, S sequence, C labels (1 for regression).
"""

from typing import List, Optional

import numpy as np
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, tokenization
from albert.data import padded_batches
from albert.data.inputs import InputFeatures, PaddingInputExample  # noqa: F401
from albert.data.packing import SEQUENCES
from albert.tasks.classification import head as heads
from albert.tasks.classification import registry
from albert.tasks.classification.examples import InputExample
from albert.tasks.classification.features import (  # noqa: F401  names that programs import
    convert_examples_to_features,
    convert_single_example,
    feature_spec,
    file_based_convert_examples_to_features,
    truncated_lengths,
)
from albert.tasks.classification.head import classification_head  # noqa: F401
from albert.training import program


class DataProcessor:
    """Reads a task's examples, with texts prepared for `convert_single_example`."""

    task_name = ""  # each subclass sets it
    keep_accents = False  # for a vocabulary of train_vocab, set the tokenizer's value

    def __init__(self, use_spm: bool, do_lower_case: bool):
        """`use_spm`: prepare texts for a SentencePiece model."""
        self.use_spm = use_spm
        self.do_lower_case = do_lower_case

    def get_train_examples(self, data_dir: str) -> List[InputExample]:
        """Returns the training examples. Raises the errors of `registry.read_examples`."""
        return self._examples(data_dir, "train")

    def get_dev_examples(self, data_dir: str) -> List[InputExample]:
        """Returns the examples of the task's first dev split."""
        return self._examples(data_dir, "dev")

    def get_test_examples(self, data_dir: str) -> List[InputExample]:
        """Returns the examples of the task's first test split. Unknown labels become the first."""
        return self._examples(data_dir, "test")

    def get_labels(self) -> List[Optional[str]]:
        """Returns the labels in the order of their ids; [None] for regression."""
        return list(registry.get_task(self.task_name).labels) or [None]

    def process_text(self, text: str) -> str:
        """Prepares a text for the tokenizer."""
        if self.use_spm:
            return tokenization.preprocess_text(text, True, self.do_lower_case, self.keep_accents)
        return tokenization.convert_to_unicode(text)

    def _examples(self, data_dir: str, role: str) -> List[InputExample]:
        task = registry.get_task(self.task_name)
        split = (task.split_names(role) or [role])[0]
        examples = registry.read_examples(task, data_dir, split).examples
        for example in examples:
            example.text_a = self.process_text(example.text_a)
            if example.text_b is not None:
                example.text_b = self.process_text(example.text_b)
            if example.label is None:
                example.label = self.get_labels()[0] or 0.0
        return examples


class ColaProcessor(DataProcessor):
    """Reads cola."""

    task_name = "cola"


class Sst2Processor(DataProcessor):
    """Reads sst-2."""

    task_name = "sst-2"


class MrpcProcessor(DataProcessor):
    """Reads mrpc."""

    task_name = "mrpc"


class StsbProcessor(DataProcessor):
    """Reads sts-b."""

    task_name = "sts-b"


class QqpProcessor(DataProcessor):
    """Reads qqp."""

    task_name = "qqp"


class MnliProcessor(DataProcessor):
    """Reads mnli."""

    task_name = "mnli"


class MisMnliProcessor(DataProcessor):
    """Reads mismnli."""

    task_name = "mismnli"


class QnliProcessor(DataProcessor):
    """Reads qnli."""

    task_name = "qnli"


class RteProcessor(DataProcessor):
    """Reads rte."""

    task_name = "rte"


class WnliProcessor(DataProcessor):
    """Reads wnli."""

    task_name = "wnli"


class AXProcessor(DataProcessor):
    """Reads ax."""

    task_name = "ax"


class LcqmcProcessor(DataProcessor):
    """Reads lcqmc."""

    task_name = "lcqmc"


class LCQMCPairClassificationProcessor(DataProcessor):
    """Reads lcqmc_pair."""

    task_name = "lcqmc_pair"


class SentencePairClassificationProcessor(DataProcessor):
    """Reads sentence_pair."""

    task_name = "sentence_pair"


class XnliProcessor(DataProcessor):
    """Reads xnli."""

    task_name = "xnli"


class TnewsProcessor(DataProcessor):
    """Reads tnews."""

    task_name = "tnews"


class iFLYTEKDataProcessor(DataProcessor):  # noqa: N801  the name that programs use
    """Reads iflytek."""

    task_name = "iflytek"


class AFQMCProcessor(DataProcessor):
    """Reads afqmc."""

    task_name = "afqmc"


class CMNLIProcessor(DataProcessor):
    """Reads cmnli."""

    task_name = "cmnli"


class OcnliProcessor(DataProcessor):
    """Reads ocnli."""

    task_name = "ocnli"


class CslProcessor(DataProcessor):
    """Reads csl."""

    task_name = "csl"


class WSCProcessor(DataProcessor):
    """Reads wsc."""

    task_name = "wsc"


class COPAProcessor(DataProcessor):
    """Reads copa."""

    task_name = "copa"


class ChnSentiCorpProcessor(DataProcessor):
    """Reads chnsenticorp."""

    task_name = "chnsenticorp"


PROCESSORS = {processor.task_name: processor for processor in DataProcessor.__subclasses__()}


# ---------------------------------------------------------------------------------------------
# Functions that existing programs call by these names and arguments.


def create_model(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    labels,
    num_labels,
    use_one_hot_embeddings,
    task_name,
    hub_module,
    **options,
):
    """Builds a classification model in the default graph.

    Args:
      albert_config: AlbertConfig; None with a hub module.
      is_training: whether to use dropout.
      input_ids, input_mask, segment_ids: int32 [B, S].
      labels: int32 [B], or float32 for regression; None if unknown.
      num_labels: C; 1 for regression.
      task_name: ignored.
      hub_module: handle of a TF-Hub module, or None.
      use_one_hot_embeddings, **options: see modeling.AlbertModel; options are dropout_seed,
        compute_dtype, recompute and use_xla.

    Returns:
      (loss [], per_example_loss [B], probabilities [B, C], logits [B, C], predictions [B]); for
      regression logits and predictions are the scores [B]. Losses are None without labels.
    """
    outputs = run_head(
        heads.classification_head(num_labels),
        (input_ids, input_mask, segment_ids),
        labels,
        config=albert_config,
        is_training=is_training,
        hub_module=hub_module,
        use_one_hot_embeddings=use_one_hot_embeddings,
        **options,
    )
    return outputs if num_labels > 1 else (*outputs[:3], outputs[4], outputs[4])


def run_head(head, sequences, labels, **options):
    """Builds an Encoder with `options` and a head on it; returns the same as `create_model`."""
    features = dict(zip(SEQUENCES, sequences))
    if labels is not None:
        features["label_ids"] = labels
    losses, outputs, _ = head(features, fine_tuning_utils.Encoder(**options))
    loss = None if labels is None else tf.reduce_mean(losses)
    return loss, losses, outputs["probabilities"], outputs["logits"], outputs["predictions"]


def model_fn_builder(
    albert_config,
    num_labels,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    task_name,
    hub_module=None,
    optimizer="adamw",
    **flags,
):
    """Returns `model_fn` for a TPUEstimator.

    Other keywords are fields of FineTuningFlags. With num_labels=1, it trains regression. Ignores
    task_name.
    """
    return program.published_model_fn(
        heads.classification_head(num_labels),
        albert_config,
        hub_module=hub_module,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_one_hot_embeddings=use_one_hot_embeddings,
        init_checkpoint=init_checkpoint,
        learning_rate=learning_rate,
        use_tpu=use_tpu,
        optimizer=optimizer,
        **flags,
    )


def file_based_input_fn_builder(
    input_file,
    seq_length,
    is_training,
    drop_remainder,
    task_name,
    use_tpu,
    bsz,
    multiple=1,
):
    """Returns `input_fn` for a TPUEstimator: params -> tf.data.Dataset of feature dicts.

    input_ids, input_mask and segment_ids are int32 [B, S * multiple], label_ids (float32 for
    regression) and is_real_example int32 [B].

    Args:
      input_file: a record file, or a list of record files.
      seq_length: S.
      is_training: endless shuffled batches; otherwise each record once, in order.
      drop_remainder: in evaluation, leave out the last batch if it is not full.
      task_name: labels are float32 if this is a regression task.
      use_tpu: take B from params, not from bsz.
      bsz: B.
      multiple: number of sequences of an example, one after another.
    """
    task = registry.TASKS.get(task_name.strip().lower())
    return padded_batches.input_fn(
        input_file,
        feature_spec(seq_length * multiple, task and task.is_regression),
        is_training=is_training,
        batch_size=bsz,
        drop_remainder=drop_remainder,
        use_tpu=use_tpu,
    )


def input_fn_builder(features, seq_length, is_training, drop_remainder):
    """Returns `input_fn` for a TPUEstimator from InputFeatures; B is params["batch_size"].

    Training serves endless batches, shuffled in each epoch. Evaluation serves each example once.

    Raises:
      ValueError: a sequence has another length than seq_length.
    """
    shape = [len(features), seq_length]
    arrays = {
        name: np.array([getattr(row, name) for row in features], np.int32).reshape(shape)
        for name in SEQUENCES
    }
    labels = np.array([row.label_id for row in features])
    arrays["label_ids"] = labels.astype(np.float32 if labels.dtype.kind == "f" else np.int32)

    def input_fn(params):
        """Serves the batches."""
        examples = tf.data.Dataset.from_tensor_slices(arrays)
        if is_training:
            examples = examples.shuffle(max(len(features), 1)).repeat()
        return examples.batch(params["batch_size"], drop_remainder=drop_remainder)

    return input_fn


def _truncate_seq_pair(tokens_a, tokens_b, max_length) -> None:
    """Removes tokens from the end of the longer list (b if equal) until both fit max_length."""
    length_a, length_b = truncated_lengths(len(tokens_a), len(tokens_b), max_length)
    del tokens_a[length_a:], tokens_b[length_b:]
