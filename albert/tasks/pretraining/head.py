# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The trainable model of pretraining: ALBERT with two heads.

The model predicts masked words, and whether two segments were swapped (arXiv:1909.11942, section
3.1). Its loss is the sum of both losses, or with --nosentence_order that of the masked words.

Dimensions: B batch, S sequence, P predictions per sequence.
"""

from typing import Any, Dict, Mapping

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.fine_tuning_utils import Encoder
from albert.ops import plain
from albert.tasks.pretraining.flags import PretrainingFlags
from albert.training import program
from albert.training.program import Tensors


class PretrainingProgram(program.Program):
    """ALBERT with the heads for masked words and for the order of sentences.

    Features are as in `features.feature_spec`, int32 and float32, with a leading dimension B. They
    can have is_real_example [B], which is 0 for records that only fill up a batch.
    """

    flags: PretrainingFlags

    epsilon = {"masked_lm": 1e-5}
    compiles_evaluation = True

    def __init__(self, flags: PretrainingFlags, config: modeling.AlbertConfig):
        """Takes the arguments of Program, but reads the schedule from the flags."""
        schedule = program.Schedule(
            flags.num_train_steps,
            flags.num_warmup_steps,
            flags.poly_power,
            flags.start_warmup_step,
        )
        super().__init__(flags, config, schedule)

    def weights(self, features: Tensors) -> Tensors:
        """Returns the weights of B * P masked words and of B sentence orders, 0 for padding.

        `Program` averages only the parts that have weights.
        """
        is_real = features.get("is_real_example")
        if is_real is None:
            is_real = tf.ones_like(features["next_sentence_labels"])
        is_real = tf.cast(tf.reshape(is_real, [-1, 1]), tf.float32)  # [B, 1]
        weights = {"masked_lm": tf.reshape(features["masked_lm_weights"] * is_real, [-1])}
        if self.flags.sentence_order:
            weights["sentence_order"] = tf.reshape(is_real, [-1])
        return weights

    def values(self, features: Tensors, encoder: Encoder) -> program.PartValues:
        """Returns losses and accuracies (1 or 0) of masked words and sentence orders.

        Without sentence_order, the model has the same variables, but no loss reaches the pooler and
        the head of the orders: they keep their values.
        """
        model = modeling.AlbertModel(
            encoder.config,
            encoder.is_training,
            features["input_ids"],
            input_mask=features["input_mask"],
            token_type_ids=features["segment_ids"],
            **encoder.options,
        )
        masked_lm = modeling.get_masked_lm_output(
            encoder.config,
            model.get_sequence_output(),
            model.get_embedding_table(),
            features["masked_lm_positions"],
            features["masked_lm_ids"],
            features["masked_lm_weights"],
            projection=model.get_embedding_projection(),
            compute_dtype=tf.as_dtype(self.flags.precision),
            use_xla=self.use_xla and encoder.is_training,
        )
        labels = features["next_sentence_labels"]
        sentence_order = modeling.get_sentence_order_output(
            encoder.config, model.get_pooled_output(), labels
        )
        return {
            "masked_lm": _losses_and_accuracies(masked_lm, features["masked_lm_ids"]),
            "sentence_order": _losses_and_accuracies(sentence_order, labels),
        }


def _losses_and_accuracies(head: modeling.PretrainingHeadOutput, labels: tf.Tensor) -> Tensors:
    # Uses the logits: log_probs of 30,000 words would take far longer. A tie counts as right.
    # (Comparing with the maximum is three times as fast as argmax.)
    logits = head.log_probs.op.inputs[0]
    label_logits = plain.gather_columns(logits, tf.reshape(labels, [-1]))
    is_right = tf.equal(label_logits, tf.reduce_max(logits, axis=-1))
    return {"loss": head.per_example_loss, "accuracy": tf.cast(is_right, tf.float32)}


def model_fn_builder(
    albert_config,
    init_checkpoint,
    learning_rate,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    use_one_hot_embeddings,
    optimizer="lamb",
    poly_power=1.0,
    start_warmup_step=0,
    **other_flags,
):
    """Returns `model_fn` for a TPUEstimator; other keywords are fields of PretrainingFlags."""
    flags = PretrainingFlags(
        init_checkpoint=init_checkpoint,
        learning_rate=learning_rate,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_tpu=use_tpu,
        optimizer=optimizer,
        poly_power=poly_power,
        start_warmup_step=start_warmup_step,
        **dict(program.PROGRAM_DEFAULTS, **other_flags),
    )
    pretraining = PretrainingProgram(flags, albert_config)
    pretraining.use_one_hot_embeddings = use_one_hot_embeddings
    return pretraining.model_fn


def evaluation_results(results: Mapping[str, Any]) -> Dict[str, Any]:
    """Replaces an estimator's loss, the mean of the batches' losses, with the exact loss."""
    loss = results["masked_lm_loss"] + results.get("sentence_order_loss", 0.0)
    return dict(results, loss=loss, global_step=int(results["global_step"]))
