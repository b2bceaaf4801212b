# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trainable model: it gives values with weights, and `Program` computes all means.

The means do not depend on the number of micro-batches and devices that share a batch. Dropout masks
depend only on the seed, the step, and the position of the (micro-)batch.

Dimensions: B batch, N predictions in a batch, such as all masked words.
"""

import functools
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert import modeling, optimization
from albert.configs.shared_flags import FineTuningFlags, TrainingFlags
from albert.data.truncation import NUM_WINDOWS
from albert.fine_tuning_utils import Encoder, Head
from albert.formats import warm_start
from albert.runtimes import estimator as tf_estimator
from albert.runtimes import hub_module as hub
from albert.training import distribution, hooks
from albert.util import UserError, log

# Separates the random streams of micro-batches and replicas; odd, so that no two are equal.
_STREAM_FACTOR = 0x61C88647
_SMALLEST_TOTAL = 1e-5

# Flags of programs that call a model_fn_builder of google-research/albert: dropout uses the graph's
# seed, and nothing is compiled.
PROGRAM_DEFAULTS = {"seed": None, "use_xla": False}

Tensors = Mapping[str, tf.Tensor]
PartValues = Mapping[str, Tensors]  # part -> name -> float32 [N]


class Schedule(NamedTuple):
    """The length of training and the schedule of the learning rate."""

    num_train_steps: int
    num_warmup_steps: int = 0
    poly_power: float = 1.0
    start_warmup_step: int = 0


ONE_STEP = Schedule(1)


def check_warmup(steps: int, warmup_steps: int) -> None:
    """Warns if the warm-up is as long as the training."""
    if warmup_steps >= steps:
        log.warning(
            "The warm-up of %d steps is not below the %d of training: the learning rate never "
            "reaches its peak.",
            warmup_steps,
            steps,
        )


class Program:
    """A model, its training and its evaluation.

    A model predicts in parts, such as masked words and sentence orders. Its loss is the sum of the
    parts' mean losses. The mean of "accuracy" in the part "masked_lm" is named masked_lm_accuracy.
    If a model has only one part, the part is named "", and its means have no prefix.

    A subclass defines `values` and, if they differ, `weights`, `predict` and `evaluate`.

    Attributes:
      flags: training flags. init_checkpoint names the initial weights, unless the estimator's
        params have another init_checkpoint.
      epsilon: part -> number added to the sum of its weights, as in google-research/albert.
      use_one_hot_embeddings: whether to look up embeddings by a matrix product.
      compiles_evaluation: whether evaluation runs compiled operations, as training does.
    """

    epsilon: Mapping[str, float] = {}
    compiles_evaluation = False  # no gain without gradients; each length would need a compilation

    def __init__(
        self,
        flags: TrainingFlags,
        config: Optional[modeling.AlbertConfig],
        schedule: Schedule,
    ):
        """`config`: the encoder's configuration."""
        self.flags, self.config, self.schedule = flags, config, schedule
        self.use_xla = flags.use_xla and not flags.use_tpu
        # On a TPU, looking up rows is slower than a matrix product.
        self.use_one_hot_embeddings = flags.use_tpu

    # ---- the model ----

    def weights(self, features: Tensors) -> Tensors:
        """Returns part -> weight of each prediction, float32 [N]."""
        return {"": tf.ones(tf.shape(next(iter(features.values())))[:1])}

    def values(self, features: Tensors, encoder: Encoder) -> PartValues:
        """Returns part -> {"loss": ..., other names of values to average}, float32 [N] each.

        It must create the same variables in each call.
        """
        raise NotImplementedError

    def predict(self, features: Tensors, encoder: Encoder) -> Tensors:
        """Returns the predictions by name, [B, ...] each."""
        raise UserError("This model has the modes train and eval, but no predictions.")

    def encoder(self, is_training: bool, seed: Optional[tf.Tensor] = None) -> Encoder:
        """Returns the encoder; `seed` is the result of `dropout_seed`."""
        return Encoder(
            self.config,
            is_training,
            dropout_seed=seed,
            use_one_hot_embeddings=self.use_one_hot_embeddings,
            compute_dtype=tf.as_dtype(self.flags.precision),
            recompute=self.flags.recompute and is_training,
            use_xla=self.use_xla and (is_training or self.compiles_evaluation),
        )

    # ---- the modes of a TPUEstimator ----

    def model_fn(
        self, features: Tensors, labels: Any, mode: str, params: Mapping[str, Any]
    ) -> "tf_estimator.tpu.TPUEstimatorSpec":
        """The model function of a TPUEstimator."""
        init_checkpoint = params.get("init_checkpoint", self.flags.init_checkpoint)
        if mode == tf_estimator.ModeKeys.TRAIN:
            return self._train(features, init_checkpoint, params.get("model_dir"))
        encoder = self.encoder(is_training=False)
        if mode == tf_estimator.ModeKeys.EVAL:
            outputs = self.evaluate(features, encoder)
        else:
            outputs = {"predictions": self.predict(features, encoder)}
        return tf_estimator.tpu.TPUEstimatorSpec(
            mode=mode, scaffold_fn=initialize_weights(self.flags, init_checkpoint), **outputs
        )

    def evaluate(self, features: Tensors, encoder: Encoder) -> Dict[str, Any]:
        """Returns the batch's loss, and eval_metrics: means over all batches."""
        values, weights = self.values(features, encoder), self.weights(features)
        loss, _ = _means(values, weights, self._totals(_sums(weights)))
        tensors = {}
        for part, weights_of_part in weights.items():
            for name, value in values[part].items():
                tensors[_name(part, name)] = value
                tensors[_name(part, name) + _WEIGHTS] = weights_of_part
        return {"loss": loss, "eval_metrics": (_mean_metrics, tensors)}

    def _train(
        self, features: Tensors, init_checkpoint: Optional[str], model_dir: Optional[str]
    ) -> "tf_estimator.tpu.TPUEstimatorSpec":
        """Builds one update: gradients, warm start, optimizer, and the scalars to report.

        `model_dir`: folder of a TPU host's TensorBoard files.
        """
        flags, use_tpu = self.flags, self.flags.use_tpu
        loss_scale = optimization.LossScale() if flags.precision == "float16" else None
        # Replicas may have different numbers of predictions. Each divides by the mean of these
        # numbers, so that the mean of the replicas' losses is the loss of the whole batch.
        totals = self._totals(_replica_means(_sums(self.weights(features)), use_tpu=use_tpu))
        gradients = optimization.accumulate_gradients(
            functools.partial(self._losses, totals),
            features,
            flags.gradient_accumulation_steps,
            loss_scale=loss_scale,
        )
        scaffold_fn = initialize_weights(flags, init_checkpoint)
        step = optimization.build_train_step(
            gradients,
            flags,
            loss_scale=loss_scale,
            use_tpu=use_tpu,
            use_xla=self.use_xla,
            **self.schedule._asdict(),
        )
        # The means synchronize replicas even where they are not logged.
        means = _replica_means(
            {"loss": gradients.loss, **gradients.metrics, **hooks.stop_request(flags)},
            use_tpu=use_tpu,
        )
        scalars = {
            **means,
            "learning_rate": step.learning_rate,
            "gradient_norm": step.gradient_norm,
        }
        if loss_scale:
            scalars["loss_scale"] = loss_scale.value
        host_call = None
        if not use_tpu:
            hooks.report_scalars(scalars)
        elif model_dir:
            host_call = hooks.tpu_host_call(scalars, model_dir)
        return tf_estimator.tpu.TPUEstimatorSpec(
            mode=tf_estimator.ModeKeys.TRAIN,
            loss=means["loss"],
            train_op=tf.group(step.train_op, *means.values()),
            scaffold_fn=scaffold_fn,
            host_call=host_call,
        )

    def _losses(
        self, totals: Tensors, micro_batch: Tensors, number: Any
    ) -> Tuple[tf.Tensor, Tensors]:
        """Returns a micro-batch's share of the batch's loss and of each mean."""
        seed = dropout_seed(self.flags, micro_batch, number)
        values = self.values(micro_batch, self.encoder(True, seed))
        return _means(values, self.weights(micro_batch), totals)

    def _totals(self, sums: Tensors) -> Tensors:
        """Returns part -> divisor of its weights; positive even if all weights are 0."""
        return {
            part: tf.maximum(total + self.epsilon.get(part, 0.0), _SMALLEST_TOTAL)
            for part, total in sums.items()
        }


# ---- means ----

_WEIGHTS = "_weights"


def _name(part: str, name: str) -> str:
    return f"{part}_{name}" if part else name


def _sums(weights: Tensors) -> Tensors:
    return {part: tf.reduce_sum(weights_of_part) for part, weights_of_part in weights.items()}


def _replica_means(scalars: Tensors, *, use_tpu: bool) -> Dict[str, tf.Tensor]:
    """Returns means over all replicas or TPU cores, float32 []. Replicas wait for each other."""
    stacked = tf.stack([tf.cast(scalar, tf.float32) for scalar in scalars.values()])
    total, replicas = optimization.sum_over_replicas(stacked, use_tpu=use_tpu)
    return dict(zip(scalars, tf.unstack(total / replicas)))


def _means(values: PartValues, weights: Tensors, totals: Tensors) -> Tuple[tf.Tensor, Tensors]:
    """Returns (loss, means by name). A micro-batch gives its share of the batch's means."""
    losses, means = [], {}
    for part, total in totals.items():
        shares = weights[part] / total
        for name, value in values[part].items():
            means[_name(part, name)] = tf.reduce_sum(shares * value)
        losses.append(means[_name(part, "loss")])
    return tf.add_n(losses), means


def _mean_metrics(**tensors: tf.Tensor) -> Dict[str, Tuple]:
    """Returns tf.metrics by name. `tensors` has the weights of NAME as NAME + _WEIGHTS."""
    return {
        name: tf.metrics.mean(value, tensors[name + _WEIGHTS])
        for name, value in tensors.items()
        if name + _WEIGHTS in tensors
    }


# ---- seed and initial weights ----


def dropout_seed(flags: TrainingFlags, batch: Tensors, micro_batch: Any) -> tf.Tensor:
    """Returns the seed of a (micro-)batch's dropout masks, int32 [2].

    It depends on the seed and the step, and differs between micro-batches and replicas. Code for a
    TPU does not know its core, so the core's batch makes the seed different there.

    Args:
      batch: features with input_ids.
      micro_batch: index of the micro-batch in the update, an int or int32 [].
    """
    seed = flags.seed
    if seed is None:
        seed = tf.get_default_graph().seed or 0
    stream = distribution.replica_number() * flags.gradient_accumulation_steps + micro_batch
    if flags.use_tpu:
        stream += tf.reduce_sum(batch["input_ids"])
    step = tf.cast(tf.train.get_or_create_global_step(), tf.int32)
    return tf.stack([seed + stream * _STREAM_FACTOR, step])


def initialize_weights(flags: TrainingFlags, init_checkpoint: Optional[str]) -> Optional[Callable]:
    """Initializes the trainable variables from a checkpoint, if any; returns a scaffold_fn.

    Raises ValueError if the checkpoint does not fit the variables.
    """
    if not init_checkpoint:
        return None
    start = warm_start.warm_start(
        init_checkpoint,
        tf.trainable_variables(),
        init_from_group0=flags.init_from_group0,
        use_tpu=flags.use_tpu,
    )
    log.info("%s", start)
    return start.scaffold_fn


def check_first_weights(flags: TrainingFlags, config: modeling.AlbertConfig) -> None:
    """Checks the initial weights, before features are computed.

    Raises:
      UserError: the checkpoint is missing or damaged, or does not fit the configuration.
    """
    if flags.init_checkpoint:
        with tf.Graph().as_default():
            ids = tf.zeros([1, 1], tf.int32)
            Encoder(config, False)(ids, ids, ids)
            warm_start.warm_start(flags.init_checkpoint, tf.trainable_variables())


# ---- fine-tuning ----


class FineTuningProgram(Program):
    """An encoder with a head. The loss is the mean of the head's per_example_loss.

    Each feature's first dimension is B.
    """

    def __init__(
        self,
        flags: FineTuningFlags,
        config: Optional[modeling.AlbertConfig],
        head: Head,
        *,
        schedule: Schedule,
    ):
        """`head`: see `HeadOutput`; the other arguments are as for Program."""
        super().__init__(flags, config, schedule)
        self._head = head

    def weights(self, features: Tensors) -> Tensors:
        """Returns the weight of each example, or of each of N windows 1 / N."""
        if NUM_WINDOWS not in features:
            return super().weights(features)
        return {"": 1 / tf.cast(tf.maximum(features[NUM_WINDOWS], 1), tf.float32)}

    def values(self, features: Tensors, encoder: Encoder) -> PartValues:
        """Returns the loss of each example, and the values that the head logs."""
        output = self._head(features, encoder)
        logged = {name: tf.cast(value, tf.float32) for name, value in output.logged.items()}
        return {"": {**logged, "loss": output.per_example_loss}}

    def predict(self, features: Tensors, encoder: Encoder) -> Tensors:
        """Returns the head's outputs; copies some features if present."""
        predictions = self._head(features, encoder).with_losses()
        for name in ("is_real_example", "example_index", NUM_WINDOWS):
            if name in features:
                predictions[name] = tf.reshape(features[name], [-1])
        return predictions

    def evaluate(self, features: Tensors, encoder: Encoder) -> Dict[str, Any]:
        """Returns the mean loss of the batch, and `evaluation_metrics` as eval_metrics."""
        output = self._head(features, encoder)
        losses, real = output.per_example_loss, features.get("is_real_example")
        real = tf.ones_like(losses) if real is None else tf.reshape(real, [-1])
        tensors = dict(output.outputs, per_example_loss=losses, is_real_example=real)
        return {"loss": tf.reduce_mean(losses), "eval_metrics": (evaluation_metrics, tensors)}


def published_model_fn(
    head: Head,
    config: Optional[modeling.AlbertConfig],
    *,
    hub_module: Optional[str],
    num_train_steps: int,
    num_warmup_steps: int,
    use_one_hot_embeddings: bool,
    **flags: Any,
) -> Callable:
    """Returns the model function of a head, as model_fn_builder of google-research/albert does.

    A hub module replaces the configuration and the initial weights. `flags` are fields of
    FineTuningFlags.
    """
    if hub_module:
        module = hub.read(hub_module)
        config = modeling.AlbertConfig.from_json_file(module.config_file)
        flags["init_checkpoint"] = module.checkpoint
    trained = FineTuningProgram(
        FineTuningFlags(**{**PROGRAM_DEFAULTS, **flags}),
        config,
        head,
        schedule=Schedule(num_train_steps, num_warmup_steps),
    )
    trained.use_one_hot_embeddings = use_one_hot_embeddings
    return trained.model_fn


def evaluation_metrics(
    *, per_example_loss: tf.Tensor, is_real_example: tf.Tensor, **outputs: tf.Tensor
) -> Dict[str, Tuple]:
    """Returns tf.metrics by name.

    All heads have the mean loss. Labels add the accuracy, and two labels also Matthews'
    coefficient. Scores add Pearson's correlation and the mean squared error.
    """
    metric_ops = {"eval_loss": tf.metrics.mean(per_example_loss, is_real_example)}
    if "label_ids" not in outputs:
        return metric_ops
    predictions = outputs["predictions"]
    sides = (tf.cast(outputs["label_ids"], predictions.dtype), predictions, is_real_example)
    if not predictions.dtype.is_integer:
        metric_ops["pearson"] = _streaming_correlation(*sides)
        metric_ops["MSE"] = tf.metrics.mean_squared_error(*sides)
        return metric_ops
    metric_ops["eval_accuracy"] = tf.metrics.accuracy(*sides)
    if "probabilities" in outputs and outputs["probabilities"].shape[-1] == 2:
        metric_ops["matthew_corr"] = _streaming_correlation(*sides)
    return metric_ops


def training_length(flags: FineTuningFlags, examples: int) -> Schedule:
    """Returns the steps of training and warm-up; ValueError if there is no step.

    num_train_epochs takes precedence over train_step, warmup_proportion over warmup_step.
    """
    steps, warmup = flags.train_step, flags.warmup_step
    if flags.num_train_epochs is not None:
        steps = int(examples / flags.train_batch_size * flags.num_train_epochs)
        if not steps:
            raise UserError(
                f"--num_train_epochs={flags.num_train_epochs:g} of {examples} examples is less "
                f"than one batch of {flags.train_batch_size}. Give more epochs or a smaller "
                "--train_batch_size."
            )
    if flags.warmup_proportion is not None:
        warmup = int(steps * flags.warmup_proportion)
    check_warmup(steps, warmup)
    return Schedule(steps, warmup)


def _streaming_correlation(
    labels: tf.Tensor, predictions: tf.Tensor, weights: tf.Tensor
) -> Tuple[tf.Tensor, tf.Tensor]:
    """Returns the correlation of numbers [B] over all batches, as (value, update) like tf.metrics.

    It is 0 if one side is constant. For labels 0 and 1, it is Matthews' coefficient.
    """
    rows = tf.cast(tf.stack([labels, predictions, tf.ones_like(labels)]), tf.float64)  # [3, B]
    products = tf.matmul(rows * tf.cast(weights, tf.float64), rows, transpose_b=True)
    kinds = [tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES]
    total = tf.Variable(tf.zeros([3, 3], tf.float64), trainable=False, collections=kinds)

    def value_of(sums: tf.Tensor) -> tf.Tensor:
        means = tf.math.divide_no_nan(sums, sums[2, 2])
        covariance = means - means[:, 2:] * means[2:]
        # Treat rounding errors of equal numbers as 0.
        covariance *= tf.cast(tf.abs(covariance) > 1e-13 * tf.abs(means), tf.float64)
        scale = tf.sqrt(covariance[0, 0] * covariance[1, 1])
        return tf.math.divide_no_nan(covariance[0, 1], scale)

    return value_of(tf.identity(total)), value_of(tf.assign_add(total, products))
