# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""RACE with the names and arguments of google-research/albert.

Dimensions: B batch, C options, S sequence.
"""

import os
from typing import List

import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils
from albert.data.inputs import InputFeatures  # noqa: F401  names that programs import
from albert.tasks.race.examples import LETTERS, InputExample, levels_of, read_examples
from albert.tasks.race.features import (  # noqa: F401
    convert_single_example,
    file_based_convert_examples_to_features,
)
from albert.tasks.race.head import SEQUENCES, choice_head
from albert.training import program


class RaceProcessor(classifier_utils.DataProcessor):
    """Reads RACE's examples, with texts prepared for `convert_single_example`."""

    def __init__(self, use_spm, do_lower_case, high_only, middle_only):
        """`use_spm`: prepare texts for SentencePiece; do_lower_case has an effect only then.

        Raises:
          UserError: both high_only and middle_only are set.
        """
        super().__init__(use_spm, do_lower_case)
        self.high_only, self.middle_only = high_only, middle_only
        self._levels = levels_of(high_only, middle_only)

    def get_labels(self) -> List[str]:  # type: ignore[override]
        """Returns the letters of the options."""
        return list(LETTERS)

    def read_examples(self, data_dir) -> List[InputExample]:
        """Returns the examples in the folder of a split, such as .../RACE/train."""
        return self._examples(*os.path.split(data_dir.rstrip("/")))

    def _examples(self, data_dir: str, split: str) -> List[InputExample]:  # type: ignore[override]
        examples = read_examples(data_dir, split, levels=self._levels)
        for example in examples:
            example.context_sentence = self.process_text(example.context_sentence)
            example.endings = [self.process_text(ending) for ending in example.endings]
        return examples


def _head(num_labels: int, max_seq_length: int, dropout_prob: float) -> fine_tuning_utils.Head:
    """Returns the head for sequences [B, C, S] or [B, C * S]."""
    shape = [-1, num_labels, max_seq_length]

    def head(features, encoder):
        features = {
            name: tf.reshape(value, shape)
            if name in SEQUENCES and value.shape.ndims != 3
            else value
            for name, value in features.items()
        }
        return choice_head(features, encoder, dropout_prob)

    return head


def create_model(
    albert_config,
    is_training,
    input_ids,
    input_mask,
    segment_ids,
    labels,
    num_labels,
    use_one_hot_embeddings,
    max_seq_length,
    dropout_prob,
    hub_module,
    **options,
):
    """Builds a multiple-choice model in the default graph.

    Args:
      albert_config: AlbertConfig; None with a hub module.
      is_training: whether to use dropout.
      input_ids, input_mask, segment_ids: int32 [B, C * S] or [B, C, S].
      labels: int32 [B]; None if unknown.
      num_labels: C.
      max_seq_length: S.
      dropout_prob: dropout rate before the head.
      hub_module: handle of a TF-Hub module, or None.
      use_one_hot_embeddings, **options: see modeling.AlbertModel; options are dropout_seed,
        compute_dtype, recompute and use_xla.

    Returns:
      (loss [], per_example_loss [B], probabilities [B, C], logits [B, C], predictions [B]). Losses
      are None without labels.
    """
    return classifier_utils.run_head(
        _head(num_labels, max_seq_length, dropout_prob),
        (input_ids, input_mask, segment_ids),
        labels,
        config=albert_config,
        is_training=is_training,
        hub_module=hub_module,
        use_one_hot_embeddings=use_one_hot_embeddings,
        **options,
    )


def model_fn_builder(
    albert_config,
    num_labels,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    max_seq_length,
    dropout_prob,
    hub_module=None,
    **flags,
):
    """Returns `model_fn` for a TPUEstimator.

    num_labels is C, max_seq_length is S, and dropout_prob is the dropout rate before the head.
    Other keywords are fields of FineTuningFlags. Sequences are [B, C * S] or [B, C, S].
    """
    return program.published_model_fn(
        _head(num_labels, max_seq_length, dropout_prob),
        albert_config,
        hub_module=hub_module,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_one_hot_embeddings=use_one_hot_embeddings,
        init_checkpoint=init_checkpoint,
        learning_rate=learning_rate,
        use_tpu=use_tpu,
        **flags,
    )
