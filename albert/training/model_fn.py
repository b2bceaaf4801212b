# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Model functions: one update of any training, and all modes of fine-tuning.

The loss of a batch is a sum of shares, so that it is the same however many micro-batches the batch
is split into; dropout masks are functions of the seed and the step.

Dimensions: B batch, n micro-batches, b examples of one (B = n * b).
"""

import functools
import inspect
import logging
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import modeling, optimization
from albert.configs.flags import FineTuningFlags, TrainingFlags
from albert.fine_tuning_utils import Encoder, Features, Head, HeadOutput
from albert.pretrained import warm_start as checkpoint_init
from albert.runtimes import estimator as tf_estimator
from albert.runtimes import hub_module as hub_modules
from albert.training import distribution, hooks, metrics
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

# Keeps the random streams of micro-batches and replicas apart; odd, so that none coincide.
_STREAM_FACTOR = 0x61C88647

# Where programs that call a reference's model_fn_builder differ from the flags' defaults: dropout
# is by the graph's seed, and nothing is compiled.
PROGRAM_DEFAULTS = {"seed": None, "use_xla": False}

Tensors = Mapping[str, tf.Tensor]
LossFunction = Callable[[Tensors, tf.Tensor], Tuple[tf.Tensor, Dict]]


class Schedule(NamedTuple):
    """The length of training and the schedule of the learning rate."""

    num_train_steps: int
    num_warmup_steps: int = 0
    poly_power: float = 1.0
    start_warmup_step: int = 0


ONE_STEP = Schedule(1)


def dropout_seed(settings: TrainingFlags, batch: Tensors, micro_batch: Any) -> tf.Tensor:
    """Returns the key of a (micro-)batch's dropout masks, int32 [2].

    It is a function of the seed and the step, and differs between micro-batches and replicas. What
    is compiled for a TPU cannot tell its core, so there the core's own batch tells cores apart.

    Args:
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


def warm_start(settings: TrainingFlags) -> Optional[Callable]:
    """Takes the initial weights from a checkpoint, if one is given; returns a scaffold_fn.

    Raises ValueError if it does not fit the graph's trainable variables.
    """
    if not settings.init_checkpoint:
        return None
    start = checkpoint_init.warm_start(
        settings.init_checkpoint,
        tf.trainable_variables(),
        init_from_group0=getattr(settings, "init_from_group0", False),
        use_tpu=settings.use_tpu,
    )
    _LOGGER.info("%s", start)
    return start.scaffold_fn


def check_first_weights(settings: TrainingFlags, config: modeling.AlbertConfig) -> None:
    """Checks the initial weights of training before features are made.

    Raises:
      UserError: the checkpoint is missing or damaged, or does not fit the configuration.
    """
    if settings.init_checkpoint:
        with tf.Graph().as_default():
            ids = tf.zeros([1, 1], tf.int32)
            Encoder(config, False)(ids, ids, ids)
            checkpoint_init.warm_start(settings.init_checkpoint, tf.trainable_variables())


def make_model_fn(
    settings: TrainingFlags,
    *,
    train: Callable[[Tensors, Optional[str]], "tf_estimator.tpu.TPUEstimatorSpec"],
    evaluate: Callable[[Tensors], Tuple[tf.Tensor, Callable, Tensors]],
    predict: Optional[Callable[[Tensors], Tensors]] = None,
) -> Callable:
    """Returns a TPUEstimator's model function, of a function for each mode.

    Args:
      train: features, model_dir -> what `training_spec` returns.
      evaluate: features -> the loss, a function that makes tf.metrics by name, and its arguments.
      predict: features -> predictions; None if there are none.
    """

    def model_fn(
        features: Tensors, labels: Any, mode: str, params: Mapping[str, Any]
    ) -> "tf_estimator.tpu.TPUEstimatorSpec":
        del labels
        if mode == tf_estimator.ModeKeys.TRAIN:
            return train(features, params.get("model_dir"))
        if mode == tf_estimator.ModeKeys.EVAL:
            loss, metric_fn, tensors = evaluate(features)
            outputs = {"loss": loss, "eval_metrics": (metric_fn, tensors)}
        elif predict:
            outputs = {"predictions": predict(features)}
        else:
            raise UserError(f"This model has the modes train and eval, not {mode!r}.")
        return tf_estimator.tpu.TPUEstimatorSpec(
            mode=mode, scaffold_fn=warm_start(settings), **outputs
        )

    return model_fn


def training_spec(
    settings: TrainingFlags,
    loss_function: LossFunction,
    batch: Tensors,
    *,
    schedule: Schedule,
    model_dir: Optional[str],
) -> "tf_estimator.tpu.TPUEstimatorSpec":
    """Builds one update: loss, warm start, gradients, optimiser, and the numbers to report.

    Args:
      loss_function: (micro-batch, dropout seed int32 [2]) -> (its part of the loss, its part of
        each metric); it makes the same variables each time.
      model_dir: where a TPU's host writes for TensorBoard.
    """
    use_tpu = settings.use_tpu
    loss_scale = optimization.LossScale() if settings.precision == "float16" else None
    gradients = optimization.accumulate_gradients(
        lambda part, index: loss_function(part, dropout_seed(settings, part, index)),
        batch,
        settings.gradient_accumulation_steps,
        loss_scale=loss_scale,
    )
    scaffold_fn = warm_start(settings)
    step = optimization.build_train_step(
        gradients,
        settings,
        loss_scale=loss_scale,
        use_tpu=use_tpu,
        use_xla=settings.use_xla and not use_tpu,
        **schedule._asdict(),
    )
    # What the whole batch gave, from what each replica's part of it gave.
    parts = {"loss": gradients.loss, **gradients.metrics, **hooks.stop_request(settings)}
    stacked = tf.stack([tf.cast(part, tf.float32) for part in parts.values()])
    means = tf.unstack(distribution.mean_over_replicas(stacked, use_tpu=use_tpu))
    scalars = dict(zip(parts, means))
    scalars.update(learning_rate=step.learning_rate, gradient_norm=step.gradient_norm)
    if loss_scale:
        scalars["loss_scale"] = loss_scale.value
    host_call = None
    if not use_tpu:
        hooks.report_scalars(scalars)
    elif model_dir:
        host_call = hooks.tpu_host_call(scalars, model_dir)
    return tf_estimator.tpu.TPUEstimatorSpec(
        mode=tf_estimator.ModeKeys.TRAIN,
        loss=scalars["loss"],
        # The means synchronise replicas even where they are not logged.
        train_op=tf.group(step.train_op, *means),
        scaffold_fn=scaffold_fn,
        host_call=host_call,
    )


# ---------------------------------------------------------------------------------------------
# Fine-tuning: an encoder with a task's head.

_SHARES = "fine_tuning_shares"


def build_model_fn(
    settings: FineTuningFlags,
    config: Optional[modeling.AlbertConfig],
    head: Head,
    *,
    schedule: Schedule = ONE_STEP,
    use_one_hot_embeddings: bool = False,
) -> Callable:
    """Returns a TPUEstimator's model function for training, evaluation and prediction.

    The loss is the mean of the head's per_example_loss. Features have the leading dimension B.

    Args:
      settings: its init_checkpoint is where the first weights come from.
      config: of the encoder.
      head: see `HeadOutput`.
      schedule: of training.
      use_one_hot_embeddings: look up embeddings by a matrix product.
    """
    encoder_of = functools.partial(
        Encoder,
        config,
        use_one_hot_embeddings=use_one_hot_embeddings,
        compute_dtype=tf.as_dtype(settings.precision),
    )

    def loss_of(micro_batch: Features, seed: tf.Tensor) -> Tuple[tf.Tensor, Dict]:
        encoder = encoder_of(
            True,
            dropout_seed=seed,
            recompute=settings.recompute,
            use_xla=settings.use_xla and not settings.use_tpu,
        )
        output, shares = head(micro_batch, encoder), micro_batch[_SHARES]
        logged = {
            name: tf.reduce_sum(shares * tf.cast(value, tf.float32))
            for name, value in output.logged.items()
        }
        return tf.reduce_sum(shares * output.per_example_loss), logged

    def train(features: Features, model_dir: Optional[str]) -> Any:
        batch_size = tf.shape(next(iter(features.values())))[:1]
        shares = tf.ones(batch_size) / tf.cast(batch_size, tf.float32)  # [B]
        batch = dict(features, **{_SHARES: shares})
        return training_spec(settings, loss_of, batch, schedule=schedule, model_dir=model_dir)

    def output_of(features: Features) -> HeadOutput:
        # Without gradients the compiled parts gain nothing, and each length would be compiled.
        return head(features, encoder_of(False))

    return make_model_fn(
        settings,
        train=train,
        evaluate=lambda features: _evaluation(features, output_of(features)),
        predict=lambda features: _predictions(features, output_of(features)),
    )


def _evaluation(features: Features, output: HeadOutput) -> Tuple[tf.Tensor, Callable, Tensors]:
    """The loss, and the metrics with their arguments."""
    losses, real = output.per_example_loss, features.get("is_real_example")
    real = tf.ones_like(losses) if real is None else tf.reshape(real, [-1])
    tensors = dict(output.outputs, per_example_loss=losses, is_real_example=real)
    return tf.reduce_mean(losses), evaluation_metrics, tensors


def _predictions(features: Features, output: HeadOutput) -> Tensors:
    predictions = output.with_losses()
    for name in ("is_real_example", "example_index"):
        if name in features:
            predictions[name] = tf.reshape(features[name], [-1])
    return predictions


def builder_of(make_head: Callable[..., Head]) -> Callable[..., Callable]:
    """Makes model_fn_builder of google-research/albert from a function of its arguments.

    Those that are flags, and `settings`, its further keywords, are fields of FineTuningFlags.
    """
    signature, fields = inspect.signature(make_head), FineTuningFlags().to_dict()

    @functools.wraps(make_head)
    def build(*arguments: Any, **named: Any) -> Callable:
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        given = bound.arguments
        values = {name: value for name, value in given.items() if name in fields}
        config = given["albert_config"]
        if given["hub_module"]:
            module = hub_modules.read(given["hub_module"])
            config = modeling.AlbertConfig.from_json_file(module.config_file)
            values["init_checkpoint"] = module.checkpoint
        return build_model_fn(
            FineTuningFlags(**{**PROGRAM_DEFAULTS, **values, **given["settings"]}),
            config,
            make_head(*arguments, **named),
            schedule=Schedule(given["num_train_steps"], given["num_warmup_steps"]),
            use_one_hot_embeddings=given["use_one_hot_embeddings"],
        )

    return build


def evaluation_metrics(
    *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
) -> Dict[str, Tuple]:
    """Returns the metrics as tf.metrics.

    They are the mean loss; of labels the accuracy, and of two also Matthews' coefficient; of scores
    Pearson's correlation and the mean squared error.
    """
    metric_ops = {"eval_loss": tf.metrics.mean(per_example_loss, is_real_example)}
    if "label_ids" not in outputs:
        return metric_ops
    predictions = outputs["predictions"]
    sides = (tf.cast(outputs["label_ids"], predictions.dtype), predictions, is_real_example)
    if not predictions.dtype.is_integer:
        metric_ops["pearson"] = metrics.streaming_correlation(*sides)
        metric_ops["MSE"] = tf.metrics.mean_squared_error(*sides)
        return metric_ops
    metric_ops["eval_accuracy"] = tf.metrics.accuracy(*sides)
    if "probabilities" in outputs and outputs["probabilities"].shape[-1] == 2:
        metric_ops["matthew_corr"] = metrics.streaming_correlation(*sides)
    return metric_ops


def training_length(settings: FineTuningFlags, examples: int) -> Schedule:
    """Returns the steps of training and of its warm-up; raises ValueError if there are none.

    num_train_epochs takes precedence over train_step, warmup_proportion over warmup_step.
    """
    steps, warmup = settings.train_step, settings.warmup_step
    if settings.num_train_epochs is not None:
        steps = int(examples / settings.train_batch_size * settings.num_train_epochs)
        if not steps:
            raise UserError(
                f"--num_train_epochs={settings.num_train_epochs:g} of {examples} examples is less "
                f"than one batch of {settings.train_batch_size}. Give more epochs or a smaller "
                "--train_batch_size."
            )
    if settings.warmup_proportion is not None:
        warmup = int(steps * settings.warmup_proportion)
    if warmup >= steps:
        _LOGGER.warning(
            "The warm-up of %d steps is not below the %d of training: the learning rate never "
            "reaches its peak.",
            *(warmup, steps),
        )
    return Schedule(steps, warmup)
