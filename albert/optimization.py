# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Learning rate schedule, AdamW and LAMB as one update rule, clipping, gradient accumulation.

AdamW (arXiv:1711.05101) has no bias correction here, as in the training of BERT and ALBERT. LAMB
(arXiv:1904.00962, algorithm 2), also without bias correction, is AdamW times the trust ratio. For
an embedding table, the clipping norm uses the gradients of the looked-up rows, repeated ids
separately (as tf.clip_by_global_norm does for IndexedSlices).

Dimensions: B batch of one update, b micro-batch, n micro-batches (B = n * b).
"""

import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import tensorflow.compat.v1 as tf

from albert.configs.shared_flags import OptimizerFlags
from albert.runtimes import compat
from albert.util import wording

# These match anywhere in a variable's name, so "debiased_weights" counts as a bias. The released
# models were trained with this rule.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")

Gradient = Union[tf.Tensor, tf.IndexedSlices]
Tensors = Dict[str, tf.Tensor]

# XLA compiles a program for each size (0.1 s), so smaller variables are padded to this size.
_SMALLEST_SIZE = 4096


class TrainStep(NamedTuple):
    """One update of all variables."""

    train_op: tf.Operation  # updates the variables, and adds 1 to the global step
    learning_rate: tf.Tensor  # float32 [], for this update
    gradient_norm: tf.Tensor  # float32 [], before clipping


class AccumulatedGradients(NamedTuple):
    """Sums over the micro-batches of one update.

    Variables that the loss does not use have no gradient.
    """

    loss: tf.Tensor  # []
    metrics: Tensors
    gradients: Tensors  # by the variable's name
    # By the name of an embedding table: the sum of squares of the looked-up rows' gradients,
    # repeated ids separately, for the clipping norm.
    squares_of_rows: Tensors


def learning_rate_schedule(
    global_step: Any,
    *,
    init_lr: float,
    num_train_steps: int,
    num_warmup_steps: int,
    poly_power: float = 1.0,
    start_warmup_step: int = 0,
) -> tf.Tensor:
    """Returns the learning rate, float32 [], of the update from global_step to global_step + 1.

    The learning rate decays as a polynomial of exponent poly_power from init_lr at step 0 to zero
    at num_train_steps. While global_step - start_warmup_step < num_warmup_steps, it rises linearly
    from zero at start_warmup_step instead. (As in the published code, it is negative before
    start_warmup_step.)
    """
    step = tf.cast(global_step, tf.float32)
    remaining = 1.0 - tf.minimum(step, num_train_steps) / num_train_steps
    decayed = init_lr * tf.pow(remaining, poly_power)
    if not num_warmup_steps:
        return decayed
    since_start = step - start_warmup_step
    rising = init_lr * since_start / num_warmup_steps
    return tf.where_v2(since_start < num_warmup_steps, rising, decayed)


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam with decoupled weight decay and without bias correction (arXiv:1711.05101).

    m = beta_1 m + (1 - beta_1) g; v = beta_2 v + (1 - beta_2) g^2; direction = m / (sqrt(v) +
    epsilon) + weight_decay_rate w; w -= learning_rate direction.

    For a sparse gradient, sums the rows with the same id, and then updates the whole table,
    including rows that were not looked up. Checkpoints have the slots as `<variable>/adam_m` and
    `<variable>/adam_v`.

    Args:
      learning_rate: a float, a scalar tensor, or a function without arguments that returns it.
      exclude_from_weight_decay: regular expressions that match anywhere in a variable's name:
        "bias" matches "debiased_weights".
      use_xla: compile the element-wise part of each update into one cluster.

    Attributes:
      condition: None, or bool []: if false, an update changes nothing.
    """

    def __init__(
        self,
        learning_rate,
        weight_decay_rate=0.0,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-6,
        exclude_from_weight_decay=None,
        name="AdamWeightDecayOptimizer",
        *,
        use_xla=False,
    ):
        super().__init__(use_locking=False, name=name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.exclude_from_weight_decay = tuple(exclude_from_weight_decay or ())
        self.condition = None
        # All variables share one function, so that each size is compiled once.
        self._rules = {decays: self._adam(decays, use_xla) for decays in (True, False)}
        self._learning_rate_tensor = None

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "adam_m", "adam_m")
            self._zeros_slot(variable, "adam_v", "adam_v")

    def _prepare(self):
        rate = self.learning_rate
        self._learning_rate_tensor = tf.convert_to_tensor(rate() if callable(rate) else rate)

    def _apply_dense(self, grad, var):
        return self._update(grad, var)

    _resource_apply_dense = _apply_dense

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the operation that updates the variables.

        Ignores pairs without a gradient or without a variable. Raises ValueError if no pair
        remains. Ignores `global_step`, as the published optimizers do: their programs add 1 to it
        themselves.
        """
        pairs = [
            (_dense(gradient, variable), variable)
            for gradient, variable in grads_and_vars
            if variable is not None
        ]
        # Only the base class updates every replica and every shard.
        return super().apply_gradients(pairs, name=name)

    def apply_same(
        self, strategy: tf.distribute.Strategy, pairs: Sequence[Tuple[tf.Tensor, tf.Variable]]
    ) -> List[tf.Operation]:
        """Updates every copy of the variables by gradients that are the same on all replicas.

        (`apply_gradients` would sum them over the replicas.) Call it in cross-replica context.
        """
        with tf.init_scope():
            self._create_slots([variable for _, variable in pairs])
        self._prepare()

        def update(gradient, variable):
            # Each copy takes its replica's gradient from this iterator. As an argument of `update`,
            # TensorFlow 1.15 refuses a gradient, as it may differ between replicas.
            gradients = iter(strategy.experimental_local_results(gradient))
            return strategy.extended.update(
                variable, lambda copy: self._update(next(gradients), copy)
            )

        return [update(gradient, variable) for gradient, variable in pairs]

    def _update(self, gradient: tf.Tensor, variable: tf.Variable) -> tf.Operation:
        """Returns the operation that updates one variable and its two slots."""
        name = _parameter_name(variable)
        slots = self.get_slot(variable, "adam_m"), self.get_slot(variable, "adam_v")
        weight, m, v = (tf.convert_to_tensor(tensor) for tensor in (variable, *slots))
        gradient = tf.cast(gradient, weight.dtype)
        decays = self.weight_decay_rate != 0 and not _matches(name, self.exclude_from_weight_decay)
        new_m, new_v, direction = self._rules[decays](gradient, m, v, weight)
        rate = tf.cast(self._learning_rate_tensor, weight.dtype)
        change = rate * self._trust_ratio(name, weight, direction) * direction
        if self.condition is not None:
            change = tf.where_v2(self.condition, change, tf.zeros_like(change))
            new_m = tf.where_v2(self.condition, new_m, m)
            new_v = tf.where_v2(self.condition, new_v, v)
        return tf.group(
            variable.assign_sub(change, read_value=False),
            *(slot.assign(new, read_value=False) for slot, new in zip(slots, (new_m, new_v))),
        )

    def _adam(self, decays: bool, use_xla: bool) -> Callable:
        """Returns the function from gradient, m, v and weight to new m, new v and direction."""

        def adam(*tensors):
            gradient, m, v, weight = tensors
            m = self.beta_1 * m + (1.0 - self.beta_1) * gradient
            v = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(gradient)
            direction = m / (tf.sqrt(v) + self.epsilon)
            return m, v, direction + self.weight_decay_rate * weight if decays else direction

        cluster = compat.xla_cluster(adam)

        def adam_of_vectors(*tensors):
            shape = tensors[-1].shape
            size = shape.num_elements()
            padding = [[0, max(_SMALLEST_SIZE - size, 0)]]
            vectors = [tf.pad(tf.reshape(tensor, [size]), padding) for tensor in tensors]
            return [tf.reshape(vector[:size], shape) for vector in cluster(*vectors)]

        return adam_of_vectors if use_xla and compat.is_tf2() else adam

    def _trust_ratio(self, name: str, weight: tf.Tensor, direction: tf.Tensor):
        return 1.0


class LAMBOptimizer(AdamWeightDecayOptimizer):
    """AdamW whose step is multiplied by a trust ratio for each variable (arXiv:1904.00962).

    The ratio is |w| / |direction|. It is 1 if either norm is zero, or if the variable's name
    matches `exclude_from_layer_adaptation` (None or empty: exclude_from_weight_decay).
    """

    def __init__(
        self,
        learning_rate,
        weight_decay_rate=0.0,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-6,
        exclude_from_weight_decay=None,
        exclude_from_layer_adaptation=None,
        name="LAMBOptimizer",
        *,
        use_xla=False,
    ):
        rates = (learning_rate, weight_decay_rate, beta_1, beta_2, epsilon)
        super().__init__(*rates, exclude_from_weight_decay, name, use_xla=use_xla)
        self.exclude_from_layer_adaptation = tuple(
            exclude_from_layer_adaptation or self.exclude_from_weight_decay
        )

    def _trust_ratio(self, name: str, weight: tf.Tensor, direction: tf.Tensor):
        if _matches(name, self.exclude_from_layer_adaptation):
            return 1.0
        weight_norm = tf.sqrt(_sum_of_squares(weight))
        direction_norm = tf.sqrt(_sum_of_squares(direction))
        ratio = tf.math.divide_no_nan(weight_norm, direction_norm)
        return tf.where_v2(ratio > 0, ratio, tf.ones_like(ratio))


OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    loss,
    init_lr,
    num_train_steps,
    num_warmup_steps,
    use_tpu,
    optimizer="adamw",
    poly_power=1.0,
    start_warmup_step=0,
    colocate_gradients_with_ops=False,
    excluded_tvars=None,
):
    """Returns the train op of `build_train_step`. For the arguments, see there."""
    return build_train_step(
        differentiate(loss, colocate_gradients_with_ops=colocate_gradients_with_ops),
        OptimizerFlags(learning_rate=init_lr, optimizer=optimizer),
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_tpu=use_tpu,
        poly_power=poly_power,
        start_warmup_step=start_warmup_step,
        excluded_tvars=excluded_tvars or (),
    ).train_op


def build_train_step(
    gradients: AccumulatedGradients,
    flags: OptimizerFlags,
    *,
    use_tpu: bool = False,
    use_xla: bool = False,
    excluded_tvars: Sequence[str] = (),
    loss_scale: Optional["LossScale"] = None,
    **schedule: Any,
) -> TrainStep:
    """Builds one update of the trainable variables: clipping, then AdamW or LAMB.

    With replicas (tf.distribute) or shards (TPU), each loss is the mean over the replica's batch.
    Gradients are averaged, then clipped: N replicas with batches of b train like 1 with N * b.

    If the gradient norm is NaN or infinite, the step fails. On a TPU, or if the loss scale can
    still go down, the update is skipped.

    Args:
      gradients: from `differentiate` or `accumulate_gradients`.
      flags: the optimizer, its numbers, and the peak learning rate.
      use_tpu: sum over the shards of a TPU.
      use_xla: compile the element-wise part.
      excluded_tvars: names of variables that must not change, with or without ":0".
      loss_scale: for float16. `gradients` must be gradients of the loss times loss_scale.value.
      schedule: num_train_steps and other arguments of `learning_rate_schedule`.

    Raises:
      ValueError: an unknown optimizer or variable name, or no variable to train.
    """
    global_step = tf.train.get_or_create_global_step()
    learning_rate = learning_rate_schedule(global_step, init_lr=flags.learning_rate, **schedule)
    rule = _rule(flags, learning_rate, use_xla)
    used = _without_excluded(gradients.gradients, excluded_tvars)
    rows = {name: row for name, row in gradients.squares_of_rows.items() if name in used}

    # 1. Sum over the devices. A sum times `mean_factor` is the mean, without the loss scale.
    (sums, rows), devices = sum_over_replicas((used, rows), use_tpu=use_tpu)
    mean_factor = 1.0 / devices / (loss_scale.value if loss_scale else 1.0)

    # 2. Compute the norm, and the factor that clips.
    squares = [rows[name] if name in rows else _sum_of_squares(sums[name]) for name in sums]
    norm = tf.sqrt(tf.add_n(squares), name="gradient_norm") * mean_factor
    is_finite = tf.math.is_finite(norm)
    if not use_tpu:
        norm = _checked(norm, is_finite, loss_scale)
    scale = flags.max_grad_norm / tf.maximum(norm, flags.max_grad_norm) * mean_factor

    # 3. Update every copy of each variable.
    variables = _trainable_variables()
    pairs = [(total * scale, variables[name]) for name, total in sums.items()]
    rule.condition = is_finite if loss_scale or use_tpu else None
    updates = tf.distribute.get_replica_context().merge_call(rule.apply_same, args=(pairs,))
    if loss_scale:
        updates += loss_scale.updates(is_finite)
    count = tf.cast(is_finite, global_step.dtype.base_dtype) if use_tpu else 1
    with tf.control_dependencies([*updates, learning_rate]):
        train_op = global_step.assign_add(count, read_value=False)
    rule.compute_gradients(tf.zeros([]))  # makes Estimator report the mean of the losses
    return TrainStep(train_op, learning_rate, norm)


def _checked(norm: tf.Tensor, is_finite: tf.Tensor, loss_scale: Optional["LossScale"]) -> tf.Tensor:
    """Returns the norm. If it is not finite, the step fails, unless the loss scale can go down."""
    can_skip = loss_scale.value > 1.0 if loss_scale else False
    step = tf.train.get_global_step()
    message = ["gradient norm is not finite; global step, norm:", step, norm]
    check = tf.debugging.Assert(tf.logical_or(is_finite, can_skip), message)
    with tf.control_dependencies([check]):
        return tf.identity(norm)


def sum_over_replicas(values: Any, *, use_tpu: bool) -> Tuple[Any, Any]:
    """Returns (sums over all replicas or TPU cores, number of replicas), equal on each replica.

    Every replica must run the sums; otherwise the others wait for it. `values` are nested float32
    tensors, with the same shapes on each replica.
    """
    if use_tpu:
        total = tf.tpu.cross_replica_sum
        return tf.nest.map_structure(total, values), total(tf.ones([]))
    replica = tf.distribute.get_replica_context()

    # The same as replica.all_reduce, which fails in some graphs: to define its gradient, it looks
    # for variables, and cannot find the variables of other replicas.
    def add(strategy, *tensors):
        pairs = [(tensor, tensor) for tensor in tensors]
        return strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)

    sums = replica.merge_call(add, args=tf.nest.flatten(values))
    return tf.nest.pack_sequence_as(values, sums), replica.num_replicas_in_sync


def _rule(
    flags: OptimizerFlags, learning_rate: tf.Tensor, use_xla: bool
) -> AdamWeightDecayOptimizer:
    name = flags.optimizer
    if name not in OPTIMIZERS:
        raise ValueError(f"Unknown optimizer {name!r}. Choose one of: {', '.join(OPTIMIZERS)}.")
    return OPTIMIZERS[name](
        learning_rate,
        weight_decay_rate=flags.weight_decay_rate,
        beta_1=flags.adam_beta_1,
        beta_2=flags.adam_beta_2,
        epsilon=flags.adam_epsilon,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        use_xla=use_xla,
    )


def _without_excluded(gradients: Tensors, excluded: Sequence[str]) -> Tensors:
    """Returns the gradients without the excluded variables. Raises ValueError if none remain."""
    names = [re.sub(r":\d+$", "", name) for name in excluded]
    for name in set(names).difference(_trainable_variables()):
        raise ValueError(
            f"excluded_tvars names {name!r}, which is not a trainable variable."
            f"{wording.did_you_mean(name, _trainable_variables())}"
        )
    used = {name: gradient for name, gradient in gradients.items() if name not in names}
    if not used:
        raise ValueError(
            "Nothing to train: the loss has no gradient for any trainable variable outside "
            "excluded_tvars. Check excluded_tvars and the loss."
        )
    return used


def _trainable_variables() -> Dict[str, tf.Variable]:
    return {_parameter_name(variable): variable for variable in tf.trainable_variables()}


def differentiate(
    loss: tf.Tensor, loss_scale: Optional["LossScale"] = None, **options: Any
) -> AccumulatedGradients:
    """Returns the gradients of a loss times the loss scale. `options` go to tf.gradients."""
    variables = _trainable_variables()
    scaled = loss * loss_scale.value if loss_scale else loss
    gradients_of = dict(zip(variables, tf.gradients(scaled, list(variables.values()), **options)))
    return AccumulatedGradients(
        loss,
        metrics={},
        gradients={
            name: _dense(gradient, variables[name])
            for name, gradient in gradients_of.items()
            if gradient is not None
        },
        squares_of_rows={
            name: _sum_of_squares(gradient.values)
            for name, gradient in gradients_of.items()
            if isinstance(gradient, tf.IndexedSlices)
        },
    )


def _parameter_name(variable: tf.Variable) -> str:
    """Returns a variable's name in checkpoints, without ":0" and without a replica's number."""
    return re.sub(r"(/replica_\d+)?(:\d+)?$", "", variable.name)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(re.search(pattern, name) for pattern in patterns)


def _dense(gradient: Gradient, variable: tf.Variable) -> tf.Tensor:
    """Returns the gradient in the variable's shape. Sums the rows of repeated ids."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows = variable.shape.as_list()[0]
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)


def _sum_of_squares(tensor: tf.Tensor) -> tf.Tensor:
    # l2_loss needs one pass, and no temporary of the tensor's size.
    return 2.0 * tf.nn.l2_loss(tensor)


class LossScale:
    """A factor for a float16 loss that keeps small gradients from vanishing (arXiv:1710.03740).

    If gradients are not finite, the update is skipped, but counts as a step, and the factor is
    halved; if the factor is 1, the step fails. After 2,000 good updates in a row, it is doubled.

    Attributes:
      value: the factor in this update, float32 [].
    """

    NAMES = ("loss_scale", "loss_scale_good_steps")
    FIRST, LARGEST, GROWTH_STEPS = 2.0**15, 2.0**24, 2000

    def __init__(self) -> None:
        """Creates the variables NAMES, which are part of checkpoints."""
        only_first = tf.VariableAggregation.ONLY_FIRST_REPLICA  # All replicas have the same values.
        options = {"trainable": False, "use_resource": True, "aggregation": only_first}
        first, zero = tf.constant_initializer(self.FIRST), tf.zeros_initializer()
        self._scale = tf.get_variable(self.NAMES[0], [], tf.float32, first, **options)
        self._good_steps = tf.get_variable(self.NAMES[1], [], tf.int64, zero, **options)
        # Read once, so that the whole update uses the same value.
        self.value = self._scale.read_value()

    def updates(self, is_finite: tf.Tensor) -> List[tf.Operation]:
        """Returns operations that adapt the factor. `is_finite`: whether the gradients are."""
        good_steps = tf.where_v2(is_finite, self._good_steps.read_value() + 1, 0)
        good_steps %= self.GROWTH_STEPS
        factor = tf.where_v2(is_finite, tf.where_v2(good_steps > 0, 1.0, 2.0), 0.5)
        # Without a limit, the factor of a loss near zero would grow to infinity.
        scale = tf.minimum(factor * self.value, self.LARGEST)
        updates = ((self._scale, scale), (self._good_steps, good_steps))
        return [variable.assign(value, read_value=False) for variable, value in updates]


def accumulate_gradients(
    loss_fn: Callable[[Mapping[str, tf.Tensor], Any], Any],
    batch: Mapping[str, tf.Tensor],
    steps: int,
    *,
    loss_scale: Optional[LossScale] = None,
) -> AccumulatedGradients:
    """Sums losses and gradients over micro-batches that run one after another in one step.

    Needs the memory of one micro-batch. If `loss_fn` divides by numbers of the whole batch (its
    size, its sum of weights), the sums and the clipping norm are equal to the whole batch's.

    Args:
      loss_fn: (micro-batch, its index, int32 []) -> (scalar loss, dict of metrics of static shape).
        Also called outside the loop, to create the variables, so it must reuse them.
      batch: tensors with the leading dimension B = n * b. A micro-batch has b.
      steps: n, the number of micro-batches, which divides B.
      loss_scale: for float16. The gradients are of the loss times loss_scale.value.
    """
    if steps == 1:
        loss, metrics = loss_fn(batch, 0)
        return differentiate(loss, loss_scale)._replace(metrics=metrics)
    scope = tf.get_variable_scope()
    split = {name: _split(value, steps) for name, value in batch.items()}
    traced: List[AccumulatedGradients] = []  # The loop's trace shows which gradients exist.

    def loss_of(index: tf.Tensor) -> Tuple[tf.Tensor, Tensors]:
        micro_batch = {name: tf.gather(value, index) for name, value in split.items()}
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            return loss_fn(micro_batch, index)

    _, metrics = loss_of(tf.constant(0))
    variables = _trainable_variables()
    squares = {name: tf.zeros([]) for name in variables}
    zeros = AccumulatedGradients(tf.zeros([]), _zeros(metrics), _zeros(variables), squares)

    def body(index, sums):
        loss, metrics = loss_of(index)
        new = differentiate(loss, loss_scale)._replace(metrics=metrics)
        traced.append(new)
        totals = [_totals(*fields) for fields in zip(sums[1:], new[1:])]
        return index + 1, AccumulatedGradients(sums.loss + loss, *totals)

    _, sums = tf.while_loop(
        lambda index, _: index < steps,
        body,
        (tf.constant(0), zeros),
        parallel_iterations=1,
        back_prop=False,
        maximum_iterations=steps,
        name="micro_batches",
    )
    existing = [
        {name: field[name] for name in names} for field, names in zip(sums[1:], traced[-1][1:])
    ]
    return AccumulatedGradients(sums.loss, *existing)


def _zeros(tensors: Mapping[str, Any]) -> Tensors:
    return {
        name: tf.zeros(tensor.shape, tensor.dtype.base_dtype) for name, tensor in tensors.items()
    }


def _totals(sums: Tensors, new: Tensors) -> Tensors:
    return {name: total + new[name] if name in new else total for name, total in sums.items()}


def _split(tensor: tf.Tensor, steps: int) -> tf.Tensor:
    """Returns [B, ...] as [n, b, ...]."""
    return tf.reshape(tensor, tf.concat([[steps, -1], tf.shape(tensor)[1:]], 0))
