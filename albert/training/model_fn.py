# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Model functions: one update of any training, and all modes of fine-tuning.

The loss of a batch is a sum of shares, so that it is the same however many micro-batches the batch
is split into; dropout masks are functions of the seed and the step.

Dimensions: B batch, n micro-batches, b examples of one (B = n * b).
"""

import dataclasses
import logging
import math
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import modeling, optimization, tokenization
from albert.configs.flags import FineTuningFlags, TrainingFlags
from albert.data import padded_batches
from albert.fine_tuning_utils import Encoder, Features, Head, check_module
from albert.pretrained import warm_start as checkpoint_init
from albert.runtimes import compat, hub_module
from albert.runtimes import estimator as tf_estimator
from albert.training import distribution, hooks
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

# Keeps the random streams of micro-batches and replicas apart; odd, so that none coincide.
_STREAM_FACTOR = 0x61C88647

Tensors = Mapping[str, tf.Tensor]
LossFunction = Callable[[Tensors, tf.Tensor], Tuple[tf.Tensor, Dict]]


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
    numbers: optimization.UpdateNumbers = optimization.PUBLISHED_NUMBERS
    poly_power: float = 1.0
    start_warmup_step: int = 0
    compute_dtype: tf.DType = tf.float32
    recompute: bool = False
    use_xla: bool = False
    gradient_accumulation_steps: int = 1
    seed: Optional[int] = None  # of dropout; None: the graph's
    init_from_group0: bool = False


def of_flags(settings: TrainingFlags) -> Dict[str, Any]:
    """Returns the fields of ModelSettings that are flags of every training."""
    return {
        "learning_rate": settings.learning_rate,
        "use_tpu": settings.use_tpu,
        # On a TPU looking up rows is slower than a product.
        "use_one_hot_embeddings": settings.use_tpu,
        "optimizer": settings.optimizer,
        "numbers": optimization.UpdateNumbers(
            weight_decay_rate=settings.weight_decay_rate,
            beta_1=settings.adam_beta_1,
            beta_2=settings.adam_beta_2,
            epsilon=settings.adam_epsilon,
            max_grad_norm=settings.max_grad_norm,
        ),
        "compute_dtype": compat.compute_dtype(settings.precision),
        "recompute": settings.recompute,
        "use_xla": settings.use_xla and not settings.use_tpu,
        "gradient_accumulation_steps": settings.gradient_accumulation_steps,
        "seed": settings.seed,
    }


def dropout_seed(settings: ModelSettings, batch: Tensors, micro_batch: Any) -> tf.Tensor:
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


def warm_start(settings: ModelSettings) -> Optional[Callable]:
    """Takes the first weights from the checkpoint, if one is named; returns a scaffold_fn.

    Raises ValueError if it does not fit the graph's trainable variables.
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


def check_first_weights(
    settings: TrainingFlags,
    config: Optional[modeling.AlbertConfig],
    tokenizer: tokenization.FullTokenizer,
) -> None:
    """Checks what training begins from, which takes a tenth of a second: before features are made.

    Args:
      config: of the encoder; None with a hub module that does not bring one.

    Raises:
      ValueError: the checkpoint or the module is missing, damaged, or does not fit the model, the
        vocabulary or --max_seq_length.
    """
    handle = getattr(settings, "albert_hub_module_handle", None)
    with tf.Graph().as_default():
        if handle:
            found = hub_module.Module(handle, trainable=True, tags={"train"}).variable_map
            words = found.get("bert/embeddings/word_embeddings")
            places = found.get("bert/embeddings/position_embeddings")
            if words is not None:
                tokenization.check_vocab_size(tokenizer, words.shape.as_list()[0])
            longest = places.shape.as_list()[0] if places is not None else math.inf
            if settings.max_seq_length > longest:
                raise UserError(
                    f"--max_seq_length={settings.max_seq_length} is longer than what the hub "
                    f"module {handle} takes, {longest}."
                )
        elif settings.init_checkpoint and config is not None:
            values = config.to_dict()
            if config.share_type == "all":  # a layer of each group has all variables
                values["num_hidden_layers"] = config.num_hidden_groups
            ids = tf.zeros([1, 1], tf.int32)
            Encoder(modeling.AlbertConfig.from_dict(values), False)(ids, ids, ids)
            checkpoint_init.warm_start(settings.init_checkpoint, tf.trainable_variables())


def by_mode(
    settings: ModelSettings,
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
            made = {"loss": loss, "eval_metrics": (metric_fn, tensors)}
        elif predict:
            made = {"predictions": predict(features)}
        else:
            raise UserError(f"This model has the modes train and eval, not {mode!r}.")
        return tf_estimator.tpu.TPUEstimatorSpec(
            mode=mode, scaffold_fn=warm_start(settings), **made
        )

    return model_fn


def training_spec(
    settings: ModelSettings,
    loss_function: LossFunction,
    batch: Tensors,
    *,
    model_dir: Optional[str],
    rate_factor: Optional[Callable[[str], float]] = None,
) -> "tf_estimator.tpu.TPUEstimatorSpec":
    """Builds one update: loss, warm start, gradients, optimiser, and the numbers to report.

    Args:
      loss_function: (micro-batch, dropout seed int32 [2]) -> (its part of the loss, its part of
        each metric); it makes the same variables each time.
      model_dir: where a TPU's host writes for TensorBoard.
    """

    def loss_of(micro_batch: Tensors, index: Any) -> Tuple[tf.Tensor, Dict]:
        seed = dropout_seed(settings, micro_batch, index)
        with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
            return loss_function(micro_batch, seed)

    gradients = None
    loss_scale = optimization.LossScale() if settings.compute_dtype == tf.float16 else None
    if settings.gradient_accumulation_steps == 1:
        loss, metrics = loss_of(batch, 0)
    else:
        gradients = optimization.accumulate_gradients(
            loss_of, batch, settings.gradient_accumulation_steps, loss_scale=loss_scale
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
        numbers=settings.numbers,
        loss_scale=loss_scale,
        use_xla=settings.use_xla,
        rate_factor=rate_factor,
    )
    scalars = _means_over_replicas({"loss": loss, **metrics}, settings.use_tpu)
    loss = scalars["loss"]
    # The means synchronise replicas even where they are not logged.
    train_op = tf.group(step.train_op, *scalars.values())
    scalars.update(learning_rate=step.learning_rate, gradient_norm=step.gradient_norm)
    if loss_scale:
        scalars["loss_scale"] = loss_scale.value
    return tf_estimator.tpu.TPUEstimatorSpec(
        mode=tf_estimator.ModeKeys.TRAIN,
        loss=loss,
        train_op=train_op,
        scaffold_fn=scaffold_fn,
        host_call=_reported(scalars, model_dir, settings.use_tpu),
    )


def _reported(scalars: Tensors, model_dir: Optional[str], use_tpu: bool) -> Any:
    """Reports the numbers of a step; on a TPU by the host_call that this gives, into a folder."""
    if use_tpu:
        return hooks.tpu_host_call(scalars, model_dir) if model_dir else None
    return hooks.report_scalars(scalars)


def _means_over_replicas(scalars: Tensors, use_tpu: bool) -> Dict[str, tf.Tensor]:
    """What the whole batch gave, from what each replica's part of it gave."""
    stacked = tf.stack([tf.cast(scalar, tf.float32) for scalar in scalars.values()])
    means = distribution.mean_over_replicas(stacked, use_tpu=use_tpu)
    return dict(zip(scalars, tf.unstack(means)))


# ---------------------------------------------------------------------------------------------
# Fine-tuning: an encoder with a task's head.


@dataclasses.dataclass(frozen=True)
class FineTuningModel(ModelSettings):
    """The settings of any training, of which most have a default here, and those of fine-tuning."""

    init_checkpoint: Optional[str] = None
    learning_rate: float = 5e-5
    num_train_steps: int = 1
    num_warmup_steps: int = 0
    hub_module: Optional[str] = None


_SHARES = "fine_tuning_shares"


def build_model_fn(
    settings: FineTuningModel, head: Head, *, metric_fn: Optional[Callable] = None
) -> Callable:
    """Returns a TPUEstimator's model function for training, evaluation and prediction.

    The loss is the mean of the head's per_example_loss. Features have the leading dimension B.

    Args:
      head: see `HeadOutput`.
      metric_fn: for evaluation inside the graph (TPU): (per_example_loss [B], is_real_example
        int32 [B], and each of the head's outputs by name, all as keywords) -> tf.metrics by name.

    Raises:
      ValueError: a hub module with what it cannot do.
    """
    check_module(settings.hub_module, settings.compute_dtype, recompute=settings.recompute)
    if settings.hub_module and settings.gradient_accumulation_steps > 1:
        raise UserError(
            f"--gradient_accumulation_steps={settings.gradient_accumulation_steps} does not work "
            "with a hub module, which cannot run in a loop. Use 1, or start from a checkpoint."
        )

    def train(features: Features, model_dir: Optional[str]) -> Any:
        return _training_spec(settings, head, features, model_dir=model_dir)

    def evaluate(features: Features) -> Tuple[tf.Tensor, Callable, Tensors]:
        output = head(features, _encoder(settings, is_training=False))
        real = features.get("is_real_example")
        if real is None:
            real = tf.ones_like(output.per_example_loss)
        tensors = dict(
            output.outputs,
            per_example_loss=output.per_example_loss,
            is_real_example=tf.cast(tf.reshape(real, [-1]), tf.int32),
        )
        return tf.reduce_mean(output.per_example_loss), metric_fn or _mean_loss, tensors

    def predict(features: Features) -> Tensors:
        output = head(features, _encoder(settings, is_training=False))
        predictions = dict(output.outputs)
        if output.per_example_loss is not None:
            predictions["per_example_loss"] = output.per_example_loss
        for name in ("is_real_example", "example_index"):
            if name in features:
                predictions[name] = tf.reshape(features[name], [-1])
        return predictions

    return by_mode(settings, train=train, evaluate=evaluate, predict=predict)


def _encoder(
    settings: FineTuningModel, *, is_training: bool, dropout_seed: Optional[tf.Tensor] = None
) -> Encoder:
    return Encoder(
        settings.config,
        is_training,
        hub_module=settings.hub_module,
        dropout_seed=dropout_seed,
        use_one_hot_embeddings=settings.use_one_hot_embeddings,
        compute_dtype=settings.compute_dtype,
        recompute=settings.recompute and is_training,
        # Without gradients the compiled parts gain nothing, and each length would be compiled.
        use_xla=settings.use_xla and is_training,
    )


def _training_spec(
    settings: FineTuningModel, head: Head, features: Features, *, model_dir: Optional[str]
) -> "tf_estimator.tpu.TPUEstimatorSpec":
    first = next(iter(features.values()))
    batch_size = tf.shape(first)[:1]
    shares = tf.ones(batch_size) / tf.cast(batch_size, tf.float32)  # [B]

    def loss_of(micro_batch: Features, dropout_seed: tf.Tensor):
        encoder = _encoder(settings, is_training=True, dropout_seed=dropout_seed)
        output = head(micro_batch, encoder)
        part = micro_batch[_SHARES]
        logged = {
            name: tf.reduce_sum(part * tf.cast(value, tf.float32))
            for name, value in output.logged.items()
        }
        return tf.reduce_sum(part * output.per_example_loss), logged

    batch = dict(features, **{_SHARES: shares})
    return training_spec(settings, loss_of, batch, model_dir=model_dir)


def _mean_loss(
    *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
) -> Dict[str, Any]:
    """The metric of a task that names none."""
    del outputs
    return {"eval_loss": tf.metrics.mean(per_example_loss, is_real_example)}


# ---------------------------------------------------------------------------------------------
# The model of a fine-tuning, built from its flags.

# On TensorFlow 1.15 compiling is faster above this many examples times width for each possible
# length (one in 16 tokens). The first few lengths are not counted: the larger graph without
# clusters costs their time too. Fitted to processor seconds of whole runs: docs/results.md.
_WORTH_COMPILING = 8.5e3
_LENGTHS_FOR_NOTHING = 5
# Up to this product of an update's tokens, layers and width TensorFlow's own gradients, which keep
# more in memory than the clusters' do, fit into about a gigabyte.
_SMALL_UPDATE = 1e7


class TrainingLength(NamedTuple):
    """How long training is."""

    num_train_steps: int
    num_warmup_steps: int


def training_length(settings: FineTuningFlags, examples: int) -> TrainingLength:
    """Returns the steps of training and of its warm-up; raises ValueError if there are none.

    num_train_epochs takes precedence over train_step, warmup_proportion over warmup_step.
    """
    if not settings.num_train_epochs:
        steps = settings.train_step
    else:
        steps = int(examples / settings.train_batch_size * settings.num_train_epochs)
        if not steps:
            raise UserError(
                f"--num_train_epochs={settings.num_train_epochs:g} of {examples} examples is less "
                f"than one batch of {settings.train_batch_size}. Give more epochs or a smaller "
                "--train_batch_size."
            )
    if settings.warmup_proportion is None:
        warmup = settings.warmup_step
    else:
        warmup = int(steps * settings.warmup_proportion)
    if warmup >= steps:
        _LOGGER.warning(
            "The warm-up of %d steps is not below the %d of training: the learning rate never "
            "reaches its peak.",
            *(warmup, steps),
        )
    return TrainingLength(steps, warmup)


def compiles(
    settings: FineTuningFlags, config: Optional[modeling.AlbertConfig], length: TrainingLength
) -> bool:
    """Returns whether training compiles the element-wise parts (--use_xla).

    Each length of a batch is compiled for itself. On TensorFlow 1.15 a short training of small
    batches or a small model would lose by it; there --use_xla has to be given.
    """
    if settings.use_tpu or not settings.use_xla:
        return False
    if compat.is_tf2() or config is None or "use_xla" in getattr(settings, "given", ()):
        return True
    size = config.num_hidden_layers * config.hidden_size
    batch, longest = settings.train_batch_size, settings.max_seq_length
    if settings.padding == "max" or batch * longest * size > _SMALL_UPDATE:
        return True
    lengths = longest / padded_batches.LENGTH_MULTIPLE - _LENGTHS_FOR_NOTHING
    width = length.num_train_steps * batch * config.hidden_size
    return width > _WORTH_COMPILING * lengths


def announce_compilation(
    settings: FineTuningFlags, config: Optional[modeling.AlbertConfig], length: TrainingLength
) -> None:
    """Logs what `compiles` says of a training."""
    if settings.albert_hub_module_handle or not settings.use_xla or settings.use_tpu:
        return
    if compiles(settings, config, length):
        _LOGGER.info(
            "Element-wise parts are compiled (--use_xla): a step takes some seconds longer where a "
            "batch is the first of its length."
        )
    else:
        _LOGGER.info(
            "Element-wise parts are not compiled: in so short a training compiling would "
            "cost more than it saves. --use_xla compiles them all the same."
        )


def model_settings(
    settings: FineTuningFlags,
    config: Optional[modeling.AlbertConfig],
    length: TrainingLength,
    *,
    init_checkpoint: Optional[str] = None,
) -> FineTuningModel:
    """Returns what build_model_fn takes beside a head; `config` is None with a hub module."""
    fields = dict(
        of_flags(settings),
        config=config,
        init_checkpoint=init_checkpoint,
        num_train_steps=length.num_train_steps,
        num_warmup_steps=length.num_warmup_steps,
        hub_module=settings.albert_hub_module_handle,
        use_xla=compiles(settings, config, length),
    )
    return FineTuningModel(**fields)
