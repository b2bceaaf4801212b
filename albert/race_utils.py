# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""RACE: the head of multiple choice, its model and its input.

Reading and features are in race_examples and race_features; programs that know them from here find
them here.

Dimensions: B batch, C options, S sequence, H hidden.
"""

import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils, modeling, tokenization
from albert.data import padded_batches
from albert.race import examples as race_examples
from albert.race import features as race_features
from albert.race.examples import InputExample
from albert.race.features import (  # noqa: F401  by the names users know
    InputFeatures,
    convert_single_example,
    file_based_convert_examples_to_features,
)
from albert.training import fine_tuning, metrics

SEQUENCES = ("input_ids", "input_mask", "segment_ids")
METRICS = ("eval_accuracy", "eval_loss")


class RaceProcessor:
    """The examples of RACE with prepared texts, as programs of the reference want them.

    All of a split is in memory then; race_features.write_features needs less.
    """

    def __init__(self, use_spm, do_lower_case, high_only, middle_only):
        """Takes how texts are prepared and which levels are read.

        Args:
          use_spm: whether the texts are for SentencePiece.
          do_lower_case: whether they become lower case; for WordPiece the tokenizer does that.
          high_only, middle_only: read one level only.

        Raises:
          ValueError: both levels are to be the only one.
        """
        self.use_spm = use_spm
        self.do_lower_case = do_lower_case
        self.high_only = high_only
        self.middle_only = middle_only
        self._levels = race_examples.levels_of(high_only, middle_only)

    def get_train_examples(self, data_dir) -> List[InputExample]:
        """Returns the training examples."""
        return self._examples(data_dir, "train")

    def get_dev_examples(self, data_dir) -> List[InputExample]:
        """Returns the development examples."""
        return self._examples(data_dir, "dev")

    def get_test_examples(self, data_dir) -> List[InputExample]:
        """Returns the test examples."""
        return self._examples(data_dir, "test")

    def get_labels(self) -> List[str]:
        """Returns the letters of the options."""
        return list(race_examples.LETTERS)

    def read_examples(self, data_dir) -> List[InputExample]:
        """Returns the examples of one split's folder, .../RACE/train or the like."""
        return self._examples(*os.path.split(data_dir.rstrip("/")))

    def _examples(self, data_dir: str, split: str) -> List[InputExample]:
        found = race_examples.read_split(data_dir, split, levels=self._levels)
        examples = [example for passage in found.passages[:] for example in passage.examples()]
        for example in examples:
            example.context_sentence = self.process_text(example.context_sentence)
            example.endings = [self.process_text(ending) for ending in example.endings]
        return examples

    def process_text(self, text: str) -> str:
        """Returns the text as the tokenizer wants it."""
        if self.use_spm:
            return tokenization.preprocess_text(text, lower=self.do_lower_case)
        return tokenization.convert_to_unicode(text)


# ---------------------------------------------------------------------------------------------
# The head.


class Choice(NamedTuple):
    """What the head says about a batch."""

    logits: tf.Tensor  # float32 [B, C]
    probabilities: tf.Tensor  # float32 [B, C]
    predictions: tf.Tensor  # int32 [B]


def _choose(
    encoder: fine_tuning_utils.Encoder,
    features: fine_tuning_utils.Features,
    *,
    num_choices: int,
    dropout_prob: float,
) -> Choice:
    """One number for each sequence from its pooled output, and a softmax over the options."""
    sequences = []
    for name in SEQUENCES:
        length = modeling.get_shape_list(features[name])[-1]
        sequences.append(tf.reshape(features[name], [-1, length]))  # [B * C, S]
    pooled = encoder(*sequences).pooled_output  # [B * C, H]
    hidden = int(pooled.shape[-1])
    weights = modeling.get_weight(
        "output_weights", [1, hidden], fine_tuning_utils.HEAD_INITIALIZER_RANGE
    )
    bias = tf.get_variable("output_bias", [1], initializer=tf.zeros_initializer())
    pooled = encoder.dropout(pooled, dropout_prob)
    scores = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)  # [B * C, 1]
    logits = tf.reshape(scores, [-1, num_choices])  # [B, C]
    predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
    return Choice(logits, tf.nn.softmax(logits, axis=-1), predictions)


def _losses(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Cross entropy of each question; [B]."""
    labels = tf.reshape(labels, [-1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def choice_head(
    dropout_prob: float, num_choices: int = race_features.NUM_CHOICES
) -> fine_tuning_utils.Head:
    """Returns the head for fine_tuning_utils.build_model_fn.

    Features are those of race_features.feature_spec. Outputs are those of `Choice`, and label_ids.
    """

    def head(
        features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        found = _choose(encoder, features, num_choices=num_choices, dropout_prob=dropout_prob)
        labels = tf.reshape(features["label_ids"], [-1])
        outputs = dict(found._asdict(), label_ids=labels)
        watched = {"accuracy": tf.equal(found.predictions, labels)}
        return fine_tuning_utils.HeadOutput(_losses(found.logits, labels), outputs, watched)

    return head


def tpu_metrics(
    *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
) -> Dict[str, Any]:
    """Returns accuracy and loss inside the graph; for fine_tuning_utils.build_model_fn."""
    return metrics.in_graph(
        METRICS,
        labels=outputs["label_ids"],
        predictions=outputs["predictions"],
        losses=per_example_loss,
        weights=is_real_example,
    )


# ---------------------------------------------------------------------------------------------
# Functions that existing programs call by these names and arguments.


def _split_choices(tensor: Optional[tf.Tensor], num_labels: int, length: int) -> tf.Tensor:
    """[B, C * S] or [B, C, S] -> [B, C, S]."""
    return tf.reshape(tensor, [-1, num_labels, length])


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
    *,
    dropout_seed=None,
    **options,
):
    """Builds a model of multiple choice in the default graph.

    Args:
      albert_config: AlbertConfig; None with a hub module.
      is_training: whether there is dropout.
      input_ids, input_mask, segment_ids: int32 [B, C * S] or [B, C, S].
      labels: int32 [B]; None where they are not known.
      num_labels: C.
      use_one_hot_embeddings: see modeling.AlbertModel.
      max_seq_length: S.
      dropout_prob: of the dropout before the head.
      hub_module: handle of a TF-Hub module, or None.
      dropout_seed: see modeling.AlbertModel.
      **options: compute_dtype, recompute and use_xla of modeling.AlbertModel.

    Returns:
      (loss [], per_example_loss [B], probabilities [B, C], logits [B, C], predictions [B]). Losses
      are None without labels.
    """
    encoder = fine_tuning_utils.Encoder(
        albert_config,
        is_training,
        hub_module=hub_module,
        dropout_seed=dropout_seed,
        use_one_hot_embeddings=use_one_hot_embeddings,
        **options,
    )
    features = {
        name: _split_choices(tensor, num_labels, max_seq_length)
        for name, tensor in zip(SEQUENCES, (input_ids, input_mask, segment_ids))
    }
    found = _choose(encoder, features, num_choices=num_labels, dropout_prob=dropout_prob)
    loss = per_example_loss = None
    if labels is not None:
        per_example_loss = _losses(found.logits, labels)
        loss = tf.reduce_mean(per_example_loss)
    return loss, per_example_loss, found.probabilities, found.logits, found.predictions


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
    **settings,
):
    """Returns `model_fn` for a TPUEstimator.

    The arguments, and any keyword besides, are the fields of fine_tuning_utils.ModelSettings, but
    for num_labels, C; max_seq_length, S; and dropout_prob, that of the head. Sequences are
    [B, C * S] or [B, C, S].
    """
    head = choice_head(dropout_prob, num_labels)

    def split_head(
        features: fine_tuning_utils.Features, encoder: fine_tuning_utils.Encoder
    ) -> fine_tuning_utils.HeadOutput:
        flat = [name for name in SEQUENCES if features[name].shape.ndims == 2]
        split = {name: _split_choices(features[name], num_labels, max_seq_length) for name in flat}
        return head(dict(features, **split), encoder)

    return fine_tuning_utils.build_model_fn(
        fine_tuning_utils.ModelSettings(
            config=albert_config,
            init_checkpoint=init_checkpoint,
            learning_rate=learning_rate,
            num_train_steps=num_train_steps,
            num_warmup_steps=num_warmup_steps,
            use_tpu=use_tpu,
            use_one_hot_embeddings=use_one_hot_embeddings,
            hub_module=hub_module,
            **settings,
        ),
        split_head,
        metric_fn=tpu_metrics,
    )


def file_based_input_fn_builder(
    input_file,
    seq_length,
    is_training,
    drop_remainder,
    task_name,
    use_tpu,
    bsz,
    multiple=race_features.NUM_CHOICES,
    *,
    padding=None,
    seed=0,
    start_step=0,
) -> Callable:
    """Returns `input_fn` for a TPUEstimator: params -> tf.data.Dataset of feature dicts.

    input_ids, input_mask and segment_ids are int32 [B, C * S], or with `padding` [B, C, L]; the
    rest is as of classifier_utils.file_based_input_fn_builder.

    Args:
      multiple: C.
      others: as of classifier_utils.file_based_input_fn_builder.
    """
    if not padding:
        return classifier_utils.file_based_input_fn_builder(
            input_file,
            seq_length,
            is_training,
            drop_remainder,
            task_name,
            use_tpu,
            bsz,
            multiple,
            seed=seed,
            start_step=start_step,
        )
    return fine_tuning.record_input_fn(
        input_file,
        race_features.feature_spec(seq_length, multiple),
        is_training=is_training,
        batch_size=bsz,
        padding=padded_batches.Padding(padding),
        seed=seed,
        start_step=start_step,
    )
