# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the model functions of pretraining and of fine-tuning have in common: one update.

The loss of a batch is a sum of shares, so that it is the same however many micro-batches the batch
is split into; dropout masks are functions of the seed and the step.

Dimensions: B batch, n micro-batches, b examples of one (B = n * b).
"""

import dataclasses
import logging
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import modeling, optimization
from albert.pretrained import warm_start as checkpoint_init
from albert.training import distribution
from albert.training import estimators as estimator_utils

_LOGGER = logging.getLogger("albert")

# Keeps the random streams of micro-batches and replicas apart; odd, so that none coincide.
_STREAM_FACTOR = 0x61C88647

LossFunction = Callable[[Mapping[str, tf.Tensor], tf.Tensor], Tuple[tf.Tensor, Dict]]


@dataclasses.dataclass(frozen=True)
class ModelSettings:
    """The model, where its first weights come from, and how it is trained."""

    config: Optional[modeling.AlbertConfig]
    init_checkpoint: Optional[str]
    learning_rate: float
    num_train_steps: int
    num_warmup_steps: int
    use_tpu: bool = False
    use_one_hot_embeddings: bool = False
    optimizer: str = "adamw"
    poly_power: float = 1.0
    start_warmup_step: int = 0
    compute_dtype: tf.DType = tf.float32
    recompute: bool = False
    use_xla: bool = False
    gradient_accumulation_steps: int = 1
    seed: Optional[int] = None  # of dropout; None: the graph's
    init_from_group0: bool = False


def dropout_seed(
    settings: ModelSettings, batch: Mapping[str, tf.Tensor], micro_batch: Any
) -> tf.Tensor:
    """Returns the key of a (micro-)batch's dropout masks, int32 [2].

    It is a function of the seed and the step, and differs between micro-batches and replicas. What
    is compiled for a TPU cannot tell its core, so there the core's own batch tells cores apart.

    Args:
      settings: the seed, the micro-batches and use_tpu count.
      batch: has input_ids.
      micro_batch: its number in the update, an int or int32 [].
    """
    seed = settings.seed
    if seed is None:
        seed = tf.get_default_graph().seed or 0
    stream = distribution.replica_number() * settings.gradient_accumulation_steps + micro_batch
    if settings.use_tpu:
        stream += tf.reduce_sum(batch["input_ids"])
    step = tf.cast(tf.train.get_or_create_global_step(), tf.int32)
    return tf.stack([seed + stream * _STREAM_FACTOR, step])


def warm_start(settings: ModelSettings) -> Optional[Callable]:
    """Takes the first weights from the checkpoint, if one is named, and says what came of it.

    Returns:
      The TPUEstimatorSpec's scaffold_fn.

    Raises:
      ValueError: the checkpoint does not fit the graph's trainable variables.
    """
    if not settings.init_checkpoint:
        return None
    start = checkpoint_init.warm_start(
        settings.init_checkpoint,
        tf.trainable_variables(),
        init_from_group0=settings.init_from_group0,
        use_tpu=settings.use_tpu,
    )
    _LOGGER.info("%s", checkpoint_init.format_report(start.report))
    return start.scaffold_fn


def training_spec(
    settings: ModelSettings,
    loss_function: LossFunction,
    batch: Mapping[str, tf.Tensor],
    *,
    model_dir: Optional[str],
    rate_factor: Optional[Callable[[str], float]] = None,
) -> "tf.estimator.tpu.TPUEstimatorSpec":
    """Builds one update: loss, warm start, gradients, optimiser, and the numbers to report.

    Args:
      settings: the model and its training.
      loss_function: (micro-batch, dropout seed int32 [2]) -> (its part of the loss, its part of
        each metric); it makes the same variables each time.
      batch: tensors with the leading dimension B.
      model_dir: where a TPU's host writes for TensorBoard.
      rate_factor: see optimization.build_train_step.
    """

    def loss_of(micro_batch: Mapping[str, tf.Tensor], index: Any) -> Tuple[tf.Tensor, Dict]:
        seed = dropout_seed(settings, micro_batch, index)
        with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
            return loss_function(micro_batch, seed)

    gradients = None
    if settings.gradient_accumulation_steps == 1:
        loss, metrics = loss_of(batch, 0)
    else:
        gradients = optimization.accumulate_gradients(
            loss_of, batch, settings.gradient_accumulation_steps
        )
        loss, metrics = gradients.loss, gradients.metrics
    scaffold_fn = warm_start(settings)
    step = optimization.build_train_step(
        loss,
        init_lr=settings.learning_rate,
        num_train_steps=settings.num_train_steps,
        num_warmup_steps=settings.num_warmup_steps,
        use_tpu=settings.use_tpu,
        optimizer=settings.optimizer,
        poly_power=settings.poly_power,
        start_warmup_step=settings.start_warmup_step,
        gradients=gradients,
        use_xla=settings.use_xla,
        rate_factor=rate_factor,
    )
    scalars = _means_over_replicas({"loss": loss, **metrics}, settings.use_tpu)
    loss = scalars["loss"]
    # Replicas wait for each other's shares of the means, whether or not somebody wants to see them.
    train_op = tf.group(step.train_op, *scalars.values())
    scalars.update(learning_rate=step.learning_rate, gradient_norm=step.gradient_norm)
    host_call = _report(scalars, settings.use_tpu, model_dir)
    return tf.estimator.tpu.TPUEstimatorSpec(
        mode=tf.estimator.ModeKeys.TRAIN,
        loss=loss,
        train_op=train_op,
        scaffold_fn=scaffold_fn,
        host_call=host_call,
    )


def _means_over_replicas(scalars: Mapping[str, tf.Tensor], use_tpu: bool) -> Dict[str, tf.Tensor]:
    """What the whole batch gave, from what each replica's part of it gave."""
    stacked = tf.stack([tf.cast(scalar, tf.float32) for scalar in scalars.values()])
    means = distribution.mean_over_replicas(stacked, use_tpu=use_tpu)
    return dict(zip(scalars, tf.unstack(means)))


def _report(
    scalars: Mapping[str, tf.Tensor], use_tpu: bool, model_dir: Optional[str]
) -> Optional[Tuple]:
    """Makes progress show the numbers; returns the spec's host_call."""
    if use_tpu:
        return estimator_utils.tpu_host_call(scalars, model_dir)
    estimator_utils.report_scalars(scalars)
    return None
