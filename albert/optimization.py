# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Learning rate schedule, AdamW and LAMB as one update rule, clipping, gradient accumulation.

AdamW (arXiv:1711.05101) has no bias correction, as BERT and ALBERT are trained. LAMB
(arXiv:1904.00962, algorithm 2), also without it, is AdamW times the trust ratio. The norm by which
gradients are clipped counts the rows of a looked-up table as they are, repeated ids separately
(tf.clip_by_global_norm on IndexedSlices).

Dimensions: B batch of one update, b micro-batch, n micro-batches (B = n * b).
"""

import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import tensorflow.compat.v1 as tf

from albert.configs.flags import OptimizerFlags
from albert.runtimes import compat
from albert.util import wording

# Searched for anywhere in a variable's name, so "debiased_weights" counts as a bias. Models that
# are in use were trained with this rule.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")

Gradient = Union[tf.Tensor, tf.IndexedSlices]
Tensors = Dict[str, tf.Tensor]


class TrainStep(NamedTuple):
    """One update of all variables, after which the global step grows by one."""

    train_op: tf.Operation
    learning_rate: tf.Tensor  # float32 [], of this update
    gradient_norm: tf.Tensor  # float32 [], before clipping


class AccumulatedGradients(NamedTuple):
    """Sums over the micro-batches of one update; gradients are named as their variables.

    Variables that the loss does not use have no gradient. For an embedding table, the clipping norm
    uses the gradients of the looked-up rows, repeated ids separately: their sum of squares.
    """

    loss: tf.Tensor  # []
    metrics: Tensors
    gradients: Tensors
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

    It decays as a polynomial of exponent poly_power from init_lr at step 0 to zero at
    num_train_steps. While global_step - start_warmup_step < num_warmup_steps it rises linearly from
    zero at start_warmup_step instead (and is negative before that step, as in the published code).
    """
    step = tf.cast(global_step, tf.float32)
    remaining = 1.0 - tf.minimum(step, float(num_train_steps)) / float(num_train_steps)
    decayed = init_lr * tf.pow(remaining, poly_power)
    if not num_warmup_steps:
        return decayed
    since_start = step - float(start_warmup_step)
    rising = init_lr * since_start / float(num_warmup_steps)
    return tf.where_v2(since_start < float(num_warmup_steps), rising, decayed)


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam with decoupled weight decay and without bias correction (arXiv:1711.05101).

    m = beta_1 m + (1 - beta_1) g; v = beta_2 v + (1 - beta_2) g^2; direction = m / (sqrt(v) +
    epsilon) + weight_decay_rate w; w -= learning_rate direction.

    Repeated ids of a sparse gradient are summed, and then the whole table is updated, rows that
    were not looked up too. The slots are saved as `<variable>/adam_m` and `<variable>/adam_v`.

    Args:
      learning_rate: float, scalar tensor, or function without arguments that returns one.
      exclude_from_weight_decay: regular expressions that are searched for in a variable's name;
        "bias" is found in "debiased_weights".
      use_xla: compiles the element-wise part of each update into one cluster.

    Attributes:
      condition: None, or bool []: where it is false, an update changes nothing.
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
        # One function for all variables: each of its shapes is compiled once.
        self._rules = {decays: self._adam(decays, use_xla) for decays in (True, False)}
        self._learning_rate_tensor = None

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "adam_m", "adam_m")
            self._zeros_slot(variable, "adam_v", "adam_v")

    def _prepare(self):
        rate = self.learning_rate() if callable(self.learning_rate) else self.learning_rate
        self._learning_rate_tensor = tf.convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad, var):
        return self._update(grad, var)

    _resource_apply_dense = _apply_dense

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the operation that updates the variables.

        Pairs without a gradient or without a variable are left out; ValueError if no gradient
        remains. `global_step` is ignored, as in the published optimizers, whose programs add one to
        it themselves.
        """
        del global_step
        pairs = [
            (_dense(gradient, item), item) for gradient, item in grads_and_vars if item is not None
        ]
        # Only the base class updates every replica and every shard.
        return super().apply_gradients(pairs, name=name)

    def apply_same(
        self, strategy: tf.distribute.Strategy, pairs: Sequence[Tuple[tf.Tensor, tf.Variable]]
    ) -> List[tf.Operation]:
        """Updates every copy of the variables by gradients that are the same on all replicas.

        `apply_gradients` would sum them over the replicas. Called in cross-replica context.
        """
        with tf.init_scope():
            self._create_slots([variable for _, variable in pairs])
        self._prepare()

        def update(gradient, variable):
            # Each copy takes the gradient of its replica. As an argument, TensorFlow 1.15 refuses
            # it: it does not know that all replicas have the same.
            gradients = iter(strategy.experimental_local_results(gradient))
            return strategy.extended.update(
                variable, lambda copy: self._update(next(gradients), copy)
            )

        return [update(gradient, variable) for gradient, variable in pairs]

    def _update(self, gradient: tf.Tensor, variable: tf.Variable) -> tf.Operation:
        """Returns the operation that updates one variable and its two slots."""
        name = _parameter_name(variable)
        slots = self.get_slot(variable, "adam_m"), self.get_slot(variable, "adam_v")
        weight, m, v = (tf.convert_to_tensor(item) for item in (variable, *slots))
        gradient = tf.cast(gradient, weight.dtype)
        new_m, new_v, direction = self._rules[self._is_decayed(name)](gradient, m, v, weight)
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

        return compat.xla_cluster(adam) if use_xla else adam

    def _is_decayed(self, name: str) -> bool:
        return bool(self.weight_decay_rate) and not _matches(name, self.exclude_from_weight_decay)

    def _trust_ratio(self, name: str, weight: tf.Tensor, direction: tf.Tensor):
        del name, weight, direction
        return 1.0


class LAMBOptimizer(AdamWeightDecayOptimizer):
    """AdamW whose step is multiplied by a trust ratio for each variable (arXiv:1904.00962).

    The ratio is |w| / |direction|, and 1 where either norm is zero or one of
    `exclude_from_layer_adaptation` (None or empty: exclude_from_weight_decay) is found in the name.
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
    """Returns the train op of `build_train_step`, which explains the arguments."""
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

    With replicas (tf.distribute) or shards (TPU) the loss is the mean over the replica's own batch;
    gradients are averaged over the replicas and then clipped, so N replicas of batch b train as one
    of batch N * b. Estimator is told to report the mean of the replicas' losses.

    Args:
      gradients: what `differentiate` or `accumulate_gradients` returned.
      flags: the optimizer, its numbers, and the peak learning rate.
      use_tpu: sum over the shards of a TPU. Its compiled code cannot fail: updates that are not
        finite are skipped.
      use_xla: compiles the element-wise part.
      excluded_tvars: names of variables that stay as they are, with or without ":0".
      loss_scale: of float16; `gradients` are those of the loss times its value.
      schedule: num_train_steps and so on, see `learning_rate_schedule`, which is taken at the
        global step before this update.

    Raises:
      ValueError: unknown optimizer or variable name, or nothing to train.
    """
    global_step = tf.train.get_or_create_global_step()
    learning_rate = learning_rate_schedule(global_step, init_lr=flags.learning_rate, **schedule)
    rule = _rule(flags, learning_rate, use_xla)
    used = _without_excluded(gradients.gradients, excluded_tvars)
    rows = {name: row for name, row in gradients.squares_of_rows.items() if name in used}

    # 1. Sums over the devices; times `unit` they are means, without the loss scale.
    (sums, rows), devices = sum_over_replicas((used, rows), use_tpu=use_tpu)
    unit = 1.0 / devices / (loss_scale.value if loss_scale else 1.0)

    # 2. The norm, and the factor that clips.
    squares = [rows[n] if n in rows else _sum_of_squares(total) for n, total in sums.items()]
    norm = tf.sqrt(tf.add_n(squares), name="gradient_norm") * unit
    is_finite = tf.math.is_finite(norm)
    if not use_tpu:
        norm = _checked(norm, is_finite, loss_scale)
    scale = flags.max_grad_norm / tf.maximum(norm, flags.max_grad_norm) * unit

    # 3. The update, of every copy of a variable.
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
    """Returns sums over all replicas or TPU cores, the same on each of them, and their number.

    Every replica has to run them, or the others wait for it. `values` are nested float32 tensors,
    of the same shapes on each replica.
    """
    if use_tpu:
        total = tf.tpu.cross_replica_sum
        return tf.nest.map_structure(total, values), total(tf.ones([]))
    replica = tf.distribute.get_replica_context()

    # As replica.all_reduce, which fails in some graphs: for its own gradient it searches for
    # variables, and does not find those of other replicas.
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
        raise ValueError(f"Unknown optimizer {name!r}. Give one of {', '.join(OPTIMIZERS)}.")
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
    """Returns the gradients of the variables that are not excluded; ValueError for none."""
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
    """Returns the gradients of one loss, times the loss scale; `options` are of tf.gradients."""
    variables = _trainable_variables()
    scaled = loss * loss_scale.value if loss_scale else loss
    gradients_of = dict(zip(variables, tf.gradients(scaled, list(variables.values()), **options)))
    return AccumulatedGradients(
        loss,
        metrics={},
        gradients={n: _dense(g, variables[n]) for n, g in gradients_of.items() if g is not None},
        squares_of_rows={
            name: _sum_of_squares(gradient.values)
            for name, gradient in gradients_of.items()
            if isinstance(gradient, tf.IndexedSlices)
        },
    )


def _parameter_name(variable: tf.Variable) -> str:
    """Returns the name in checkpoints: without ":0" and without a replica's number."""
    return re.sub(r"(/replica_\d+)?(:\d+)?$", "", variable.name)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(re.search(pattern, name) for pattern in patterns)


def _dense(gradient: Gradient, variable: tf.Variable) -> tf.Tensor:
    """Returns the gradient in the variable's shape; rows of repeated ids are summed."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows = variable.shape.as_list()[0]
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)


def _sum_of_squares(tensor: tf.Tensor) -> tf.Tensor:
    # One pass without a temporary of the tensor's size.
    return 2.0 * tf.nn.l2_loss(tensor)


class LossScale:
    """The factor of a float16 loss that keeps small gradients from vanishing (arXiv:1710.03740).

    An update whose gradients are not finite is left out, but counts as a step, and halves the
    factor; at a factor of 1 the step fails. 2,000 good updates in a row double it.

    Attributes:
      value: the factor in this update, float32 [].
    """

    NAMES = ("loss_scale", "loss_scale_good_steps")
    FIRST, LARGEST, GROWTH_STEPS = 2.0**15, 2.0**24, 2000

    def __init__(self) -> None:
        """Makes the variables NAMES, which checkpoints hold."""
        only_first = tf.VariableAggregation.ONLY_FIRST_REPLICA  # the same on each
        options = {"trainable": False, "use_resource": True, "aggregation": only_first}
        first, none = tf.constant_initializer(self.FIRST), tf.zeros_initializer()
        self._scale = tf.get_variable(self.NAMES[0], [], tf.float32, first, **options)
        self._good = tf.get_variable(self.NAMES[1], [], tf.int64, none, **options)
        # Read once: the same for all of an update, whenever the variable changes.
        self.value = self._scale.read_value()

    def updates(self, is_finite: tf.Tensor) -> List[tf.Operation]:
        """Returns operations that adapt the factor; `is_finite`, bool []: of the gradients."""
        good = tf.where_v2(is_finite, self._good.read_value() + 1, 0) % self.GROWTH_STEPS
        factor = tf.where_v2(is_finite, tf.where_v2(good > 0, 1.0, 2.0), 0.5)
        # A loss of next to nothing would let it grow to infinity.
        scale = tf.minimum(factor * self.value, self.LARGEST)
        updates = ((self._scale, scale), (self._good, good))
        return [variable.assign(value, read_value=False) for variable, value in updates]


def accumulate_gradients(
    loss_fn: Callable[[Mapping[str, tf.Tensor], Any], Any],
    batch: Mapping[str, tf.Tensor],
    steps: int,
    *,
    loss_scale: Optional[LossScale] = None,
) -> AccumulatedGradients:
    """Sums losses and gradients over micro-batches that run one after another in one step.

    Memory is that of one micro-batch. The sums, and the norm that clipping uses, are those of the
    whole batch if `loss_fn` normalises by its numbers (its size, its sum of weights).

    Args:
      loss_fn: (micro-batch, its index, int32 []) -> (scalar loss, dict of metrics of static shape).
        Also called outside the loop, to make the variables: it makes the same ones each time.
      batch: tensors with leading dimension B = n * b; those of a micro-batch have b.
      steps: n, the number of micro-batches, which divides B.
      loss_scale: of float16; the gradients are those of the loss times its value.
    """
    if steps == 1:
        loss, metrics = loss_fn(batch, 0)
        return differentiate(loss, loss_scale)._replace(metrics=metrics)
    scope = tf.get_variable_scope()
    split = {name: _split(value, steps) for name, value in batch.items()}
    traced: List[AccumulatedGradients] = []  # of the loop's only trace: which gradients there are

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
        added = [_added(*parts) for parts in zip(sums[1:], new[1:])]
        return index + 1, AccumulatedGradients(sums.loss + loss, *added)

    _, sums = tf.while_loop(
        lambda index, _: index < steps,
        body,
        (tf.constant(0), zeros),
        parallel_iterations=1,
        back_prop=False,
        maximum_iterations=steps,
        name="micro_batches",
    )
    present = [{n: part[n] for n in names} for part, names in zip(sums[1:], traced[-1][1:])]
    return AccumulatedGradients(sums.loss, *present)


def _zeros(items: Mapping[str, Any]) -> Tensors:
    return {n: tf.zeros(item.shape, item.dtype.base_dtype) for n, item in items.items()}


def _added(sums: Tensors, new: Tensors) -> Tensors:
    return {n: total + new[n] if n in new else total for n, total in sums.items()}


def _split(tensor: tf.Tensor, steps: int) -> tf.Tensor:
    """Returns [B, ...] as [n, b, ...]."""
    return tf.reshape(tensor, tf.concat([[steps, -1], tf.shape(tensor)[1:]], 0))
