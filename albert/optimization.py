# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Learning rate schedule, AdamW and LAMB as one update rule, clipping, gradient accumulation.

AdamW (arXiv:1711.05101) has no bias correction, as BERT and ALBERT are trained. LAMB
(arXiv:1904.00962, algorithm 2), also without it, is AdamW times the trust ratio. Dimensions: B
batch of one update, b micro-batch, n micro-batches (B = n * b).
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


class TrainStep(NamedTuple):
    """One update of all variables, after which the global step grows by one."""

    train_op: tf.Operation
    learning_rate: tf.Tensor  # float32 [], of this update
    gradient_norm: tf.Tensor  # float32 [], before clipping


class AccumulatedGradients(NamedTuple):
    """Sums over the micro-batches of one update; the lists have an item for each variable."""

    loss: tf.Tensor  # []
    gradients: List[Optional[Gradient]]  # None where the loss does not use the variable
    variables: List[tf.Variable]
    metrics: Dict[str, tf.Tensor]
    # Of tables that are looked up: the sum of squares of the looked-up rows' gradients, which is
    # what the clipping norm counts; else None.
    squared_norms: List[Optional[tf.Tensor]]


class _Pair(NamedTuple):
    """A gradient, its variable, and its squared norm where that is not the gradient's own."""

    gradient: Gradient
    variable: tf.Variable
    squared_norm: Optional[tf.Tensor]

    def square(self) -> tf.Tensor:
        """What the gradient adds to the square of the clipping norm."""
        return _sum_of_squares(self.gradient) if self.squared_norm is None else self.squared_norm


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

    Raises:
      ValueError: an argument out of range.
    """
    numbers = {"init_lr": init_lr, "num_train_steps": num_train_steps, "poly_power": poly_power}
    numbers.update(num_warmup_steps=num_warmup_steps, start_warmup_step=start_warmup_step)
    for name, value in numbers.items():
        if not value >= 0 or (name == "num_train_steps" and not value):
            raise ValueError(f"{name}={value} must be positive.")
    if num_warmup_steps > num_train_steps:
        tf.logging.warning(
            "num_warmup_steps=%d is more than num_train_steps=%d: the learning rate never "
            "reaches init_lr.",
            num_warmup_steps,
            num_train_steps,
        )
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
        self.use_xla = use_xla
        self.condition: Optional[tf.Tensor] = None  # bool []; where it is false nothing changes
        self._learning_rate_tensor = None
        self._rules: Dict[bool, Callable] = {}  # by whether the weights decay

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "adam_m", "adam_m")
            self._zeros_slot(variable, "adam_v", "adam_v")

    def _prepare(self):
        rate = self.learning_rate() if callable(self.learning_rate) else self.learning_rate
        self._learning_rate_tensor = tf.convert_to_tensor(rate, name="learning_rate")
        # One function for all variables: each of its shapes is compiled once.
        compiled = compat.xla_cluster if self.use_xla else lambda rule: rule
        self._rules = {True: compiled(self._decayed_adam), False: compiled(self._adam)}

    def _apply_dense(self, grad, var):
        return self._update(grad, var)

    _resource_apply_dense = _apply_sparse = _apply_dense

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._update(tf.IndexedSlices(grad, indices), handle)

    # The update is dense, and making a sparse gradient dense sums repeated ids: going through the
    # base class's search for unique ids would only cost time.
    _apply_sparse_duplicate_indices = _apply_sparse
    _resource_apply_sparse_duplicate_indices = _resource_apply_sparse

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the operation that updates the variables.

        Pairs without a gradient or without a variable are left out; ValueError if no gradient
        remains. `global_step` is ignored, as in the published optimizers, whose programs add one to
        it themselves.
        """
        del global_step
        pairs = [pair for pair in grads_and_vars if pair[1] is not None]
        # Only the base class updates every replica and every shard.
        return super().apply_gradients(pairs, name=name)

    def apply_aggregated(
        self, strategy: tf.distribute.Strategy, pairs: Sequence[_Pair], scale: tf.Tensor
    ) -> List[tf.Operation]:
        """Updates each replica's copy of the variables by `scale` times summed gradients.

        `apply_gradients` would sum them over the replicas once more. Called in cross-replica
        context.
        """
        with tf.init_scope():
            self._create_slots([pair.variable for pair in pairs])
        self._prepare()
        updates: List[tf.Operation] = []
        for pair in pairs:
            updates += strategy.extended.update(
                pair.variable,
                lambda copy, gradient: self._update(_scaled(gradient, scale), copy),
                args=(pair.gradient,),
                group=False,
            )
        return updates

    def _update(self, gradient: Gradient, variable: tf.Variable) -> tf.Operation:
        """Returns the operation that updates one variable and its two slots."""
        name = _parameter_name(variable)
        weight = tf.convert_to_tensor(variable)
        gradient = tf.cast(_dense(gradient, variable), weight.dtype)
        m, v = self.get_slot(variable, "adam_m"), self.get_slot(variable, "adam_v")
        rule = self._rules[self._is_decayed(name)]
        old_m, old_v = tf.convert_to_tensor(m), tf.convert_to_tensor(v)
        new_m, new_v, direction = rule(gradient, old_m, old_v, weight)
        rate = tf.cast(self._learning_rate_tensor, weight.dtype)
        change = rate * self._trust_ratio(name, weight, direction) * direction
        if self.condition is not None:
            change = tf.where_v2(self.condition, change, tf.zeros_like(change))
            new_m = tf.where_v2(self.condition, new_m, old_m)
            new_v = tf.where_v2(self.condition, new_v, old_v)
        return tf.group(
            variable.assign_sub(change, read_value=False),
            m.assign(new_m, read_value=False),
            v.assign(new_v, read_value=False),
        )

    def _adam(self, *tensors: tf.Tensor):
        """Gives m, v and direction; takes gradient, m, v and weight, as a compiled function can."""
        gradient, m, v, _ = tensors
        m = self.beta_1 * m + (1.0 - self.beta_1) * gradient
        v = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(gradient)
        return m, v, m / (tf.sqrt(v) + self.epsilon)

    def _decayed_adam(self, *tensors: tf.Tensor):
        m, v, direction = self._adam(*tensors)
        return m, v, direction + self.weight_decay_rate * tensors[-1]

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
        both = tf.logical_and(weight_norm > 0, direction_norm > 0)
        # where_v2 computes both branches, so the division must not be by zero.
        ratio = weight_norm / tf.where_v2(both, direction_norm, tf.ones_like(direction_norm))
        return tf.where_v2(both, ratio, tf.ones_like(ratio))


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
        loss,
        OptimizerFlags(learning_rate=init_lr, optimizer=optimizer),
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_tpu=use_tpu,
        poly_power=poly_power,
        start_warmup_step=start_warmup_step,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        excluded_tvars=excluded_tvars,
    ).train_op


def build_train_step(
    loss: Optional[tf.Tensor],
    settings: OptimizerFlags,
    *,
    use_tpu: bool = False,
    use_xla: bool = False,
    colocate_gradients_with_ops: bool = False,
    excluded_tvars: Optional[Sequence[str]] = None,
    gradients: Optional[AccumulatedGradients] = None,
    loss_scale: Optional["LossScale"] = None,
    **schedule: Any,
) -> TrainStep:
    """Builds one update of the trainable variables: gradients, clipping, AdamW or LAMB.

    Gradients are clipped to a global norm, which counts the rows of a looked-up table as they are,
    repeated ids separately (tf.clip_by_global_norm on IndexedSlices), in every mode.

    With replicas (tf.distribute) or shards (TPU) `loss` is the mean over the replica's own batch;
    gradients are averaged over the replicas and then clipped, so N replicas of batch b train as one
    of batch N * b. Estimator is told to report the mean of the replicas' losses. Where the gradient
    norm is not finite no variable changes, and off TPU the step fails.

    Args:
      loss: scalar; not used when `gradients` are given.
      settings: the optimizer, its numbers, and the peak learning rate.
      use_tpu: wraps the optimizer in CrossShardOptimizer.
      use_xla: compiles the element-wise part.
      excluded_tvars: names of variables that stay as they are, with or without ":0".
      gradients: what `accumulate_gradients` returned.
      loss_scale: of float16; `gradients` are those of the loss times its value.
      schedule: num_train_steps and so on, see `learning_rate_schedule`, which is taken at the
        global step before this update.

    Raises:
      ValueError: unknown optimizer or variable name, a number out of range, nothing to train.
    """
    step = tf.train.get_or_create_global_step()
    learning_rate = learning_rate_schedule(step, init_lr=settings.learning_rate, **schedule)
    rule = _rule(settings, learning_rate, use_xla)
    if gradients is None:
        variables = tf.trainable_variables()
        options = {"colocate_gradients_with_ops": colocate_gradients_with_ops}
        found = _differentiate(loss, variables, loss_scale, **options)
        gradients = AccumulatedGradients(loss, found, variables, {}, [None] * len(variables))
    pairs = _pairs(gradients, excluded_tvars)
    replicas = tf.distribute.get_replica_context()
    has_replicas = replicas and replicas.num_replicas_in_sync > 1
    update = _UpdateOnShards if use_tpu else _UpdateOnReplicas if has_replicas else _Update
    train_op, norm = update(rule, settings.max_grad_norm, loss_scale).build(pairs)
    return TrainStep(train_op, learning_rate, norm)


def _rule(
    settings: OptimizerFlags, learning_rate: tf.Tensor, use_xla: bool
) -> AdamWeightDecayOptimizer:
    name = settings.optimizer
    if name not in OPTIMIZERS:
        raise ValueError(
            f"Unknown optimizer {name!r}.{wording.did_you_mean(name, OPTIMIZERS)} "
            f"Optimizers: {', '.join(sorted(OPTIMIZERS))}."
        )
    return OPTIMIZERS[name](
        learning_rate,
        weight_decay_rate=settings.weight_decay_rate,
        beta_1=settings.adam_beta_1,
        beta_2=settings.adam_beta_2,
        epsilon=settings.adam_epsilon,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        use_xla=use_xla,
    )


def _pairs(gradients: AccumulatedGradients, excluded: Optional[Sequence[str]]) -> List[_Pair]:
    """Returns the gradients of variables that are used and not excluded."""
    names = [_parameter_name(variable) for variable in gradients.variables]
    excluded = [excluded] if isinstance(excluded, str) else list(excluded or ())
    excluded = [re.sub(r":\d+$", "", name) for name in excluded]
    for name in sorted(set(excluded).difference(names)):
        raise ValueError(
            f"excluded_tvars names {name!r}, which is no trainable variable."
            f"{wording.did_you_mean(name, names)} Take names from tf.trainable_variables()."
        )
    pairs = []
    for name, gradient, variable, squared_norm in zip(
        names, gradients.gradients, gradients.variables, gradients.squared_norms
    ):
        if gradient is None or name in excluded:
            continue
        if isinstance(gradient, tf.IndexedSlices) and squared_norm is None:
            # Taken now: aggregation may sum the rows of repeated ids.
            squared_norm = _sum_of_squares(gradient.values)
        pairs.append(_Pair(gradient, variable, squared_norm))
    if not pairs:
        raise ValueError(
            "There is nothing to train: no trainable variable that is not excluded has a gradient "
            "of the loss. Check excluded_tvars and what the loss depends on."
        )
    return pairs


def _differentiate(
    loss: tf.Tensor, variables: List[tf.Variable], loss_scale: Optional["LossScale"], **options: Any
) -> List[Optional[Gradient]]:
    return tf.gradients(loss * loss_scale.value if loss_scale else loss, variables, **options)


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


def _scaled(gradient: Gradient, scale: Any) -> Gradient:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * scale, gradient.indices, gradient.dense_shape)
    return gradient * scale


def _sum_of_squares(tensor: tf.Tensor) -> tf.Tensor:
    # One pass without a temporary of the tensor's size.
    return 2.0 * tf.nn.l2_loss(tensor)


# ---------------------------------------------------------------------------------------------
# One update, on one device, on the shards of a TPU, or on replicas.

Squares = List[tf.Tensor]  # what each gradient adds to the square of the norm


class _Update:
    """An update on one device; a subclass sums gradients over several."""

    can_fail = True
    share: Any = 1.0  # of a device in the mean over all

    def __init__(
        self,
        rule: AdamWeightDecayOptimizer,
        max_grad_norm: float,
        loss_scale: Optional["LossScale"],
    ):
        if loss_scale and not self.can_fail:
            raise ValueError("A TPU computes in bfloat16, which needs no loss scale.")
        self.rule = rule
        self.global_step = tf.train.get_global_step()
        self._step_before = tf.identity(self.global_step)
        self._limit = max_grad_norm
        self._loss_scale = loss_scale

    def build(self, pairs: List[_Pair]) -> Tuple[tf.Operation, tf.Tensor]:
        """Returns the train op and the norm before clipping.

        An update whose norm is not finite fails; it is left out on a TPU, and with a loss scale
        that can be lowered.
        """
        loss_scale, limit = self._loss_scale, self._limit
        summed, squares = self.sum(pairs)
        unit = self.share / loss_scale.value if loss_scale else self.share
        norm = tf.sqrt(tf.add_n(squares), name="gradient_norm") * unit
        if self.can_fail:
            is_right = tf.math.is_finite(norm)
            if loss_scale:
                is_right = tf.logical_or(is_right, loss_scale.value > 1.0)
            message = ["gradient norm is not finite; global step, norm:", self._step_before, norm]
            with tf.control_dependencies([tf.debugging.Assert(is_right, message)]):
                norm = tf.identity(norm)
        if loss_scale or not self.can_fail:
            self.rule.condition = tf.math.is_finite(norm)
        scale = limit / tf.maximum(norm, limit) * unit
        updates = self.apply(summed, scale)
        if loss_scale:
            updates += loss_scale.updates(self.rule.condition)
        with tf.control_dependencies(updates):
            return self.count(), norm

    def sum(self, pairs: List[_Pair]) -> Tuple[List[_Pair], Squares]:
        """Returns the gradients summed over all devices, and their squares."""
        return pairs, [pair.square() for pair in pairs]

    def apply(self, pairs: List[_Pair], scale: tf.Tensor) -> List[tf.Operation]:
        """Returns what updates the variables by `scale` times the sums."""
        return [self.rule.apply_gradients(_all_scaled(pairs, scale))]

    def count(self) -> tf.Operation:
        """Returns what adds one to the global step."""
        return tf.group(self.global_step.assign_add(1, read_value=False))


def _all_scaled(pairs: List[_Pair], scale: tf.Tensor) -> List[Tuple[Gradient, tf.Variable]]:
    return [(_scaled(pair.gradient, scale), pair.variable) for pair in pairs]


class _UpdateOnShards(_Update):
    """An update on a TPU, whose compiled code cannot fail: a refused one counts nothing.

    CrossShardOptimizer sums what it is given over the shards, so each gives its share of the
    clipped average. That second sum is the price of clipping after aggregation; ALBERT's shared
    layers keep it small.
    """

    can_fail = False

    def sum(self, pairs: List[_Pair]) -> Tuple[List[_Pair], Squares]:
        total = tf.tpu.cross_replica_sum
        self.share = 1.0 / total(tf.ones([]))
        summed = [
            _Pair(
                total(_dense(pair.gradient, pair.variable)),
                pair.variable,
                None if pair.squared_norm is None else total(pair.squared_norm),
            )
            for pair in pairs
        ]
        return super().sum(summed)

    def apply(self, pairs: List[_Pair], scale: tf.Tensor) -> List[tf.Operation]:
        scaled = _all_scaled(pairs, scale * self.share)
        return [tf.tpu.CrossShardOptimizer(self.rule).apply_gradients(scaled)]

    def count(self) -> tf.Operation:
        count = tf.cast(self.rule.condition, self.global_step.dtype.base_dtype)
        return tf.group(self.global_step.assign_add(count, read_value=False))


class _UpdateOnReplicas(_Update):
    """An update of every replica's copy of the variables."""

    def build(self, pairs: List[_Pair]) -> Tuple[tf.Operation, tf.Tensor]:
        # Estimator reports the sum of the replicas' losses, unless the graph says that the
        # optimizer has made means of them.
        tf.get_default_graph()._is_loss_scaled_by_optimizer = True
        looked_up = [pair.squared_norm for pair in pairs if pair.squared_norm is not None]
        square = tf.add_n(looked_up) if looked_up else tf.zeros([])
        # Rows of a table cannot be gathered from workers whose batches differ in length.
        gradients = [_dense(pair.gradient, pair.variable) for pair in pairs]

        def build(strategy, gradients, *of_replicas):
            self._strategy, self._of_replicas = strategy, of_replicas
            self.share = 1.0 / strategy.num_replicas_in_sync
            return super(_UpdateOnReplicas, self).build(
                [pair._replace(gradient=one) for pair, one in zip(pairs, gradients)]
            )

        replicas = tf.distribute.get_replica_context()
        return replicas.merge_call(build, args=(gradients, square, self.rule.learning_rate))

    def sum(self, pairs: List[_Pair]) -> Tuple[List[_Pair], Squares]:
        copies = self._strategy.experimental_local_results  # on the devices of this process
        looked_up, learning_rate = self._of_replicas
        sums = self._totals([(pair.gradient, pair.variable) for pair in pairs])
        summed = [pair._replace(gradient=total) for pair, total in zip(pairs, sums)]
        squares = [
            _sum_of_squares(copies(pair.gradient)[0])
            for pair in summed
            if pair.squared_norm is None
        ]
        rows = copies(self._totals([(looked_up, pairs[0].variable)])[0])
        # Every copy of a reduction has to run, since the devices wait for each other, and every
        # replica's learning rate has to be read before the global step grows.
        with tf.control_dependencies([*rows, *copies(learning_rate)]):
            return summed, [*squares, tf.identity(rows[0])]

    def _totals(self, values_and_variables: List[Tuple[Any, tf.Variable]]) -> List[Any]:
        """The sums over the replicas, a copy on every device of each variable."""
        total = tf.distribute.ReduceOp.SUM
        return self._strategy.extended.batch_reduce_to(total, values_and_variables)

    def apply(self, pairs: List[_Pair], scale: tf.Tensor) -> List[tf.Operation]:
        return self.rule.apply_aggregated(self._strategy, pairs, scale)

    def count(self) -> tf.Operation:
        update = self._strategy.extended.update
        return tf.group(
            *update(
                self.global_step, lambda copy: copy.assign_add(1, read_value=False), group=False
            )
        )


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
        """Returns what adapts the factor to an update's gradients (bool []), on each replica."""
        good = tf.where_v2(is_finite, self._good.read_value() + 1, 0)
        grows = tf.equal(good, self.GROWTH_STEPS)
        # A loss of next to nothing would let it grow to infinity.
        grown = tf.where_v2(grows, tf.minimum(2.0 * self.value, self.LARGEST), self.value)
        new = tf.where_v2(is_finite, grown, 0.5 * self.value)
        counted = tf.where_v2(grows, tf.zeros_like(good), good)
        updates = ((self._scale, new), (self._good, counted))
        return [variable.assign(value, read_value=False) for variable, value in updates]


def accumulate_gradients(
    loss_fn: Callable[[Mapping[str, tf.Tensor], Any], Any],
    batch: Mapping[str, tf.Tensor],
    steps: int,
    *,
    loss_scale: Optional[LossScale] = None,
) -> AccumulatedGradients:
    """Sums losses and gradients over micro-batches that run one after another in one step.

    Memory is that of one micro-batch. The sums are those of the whole batch if `loss_fn` normalises
    by numbers of the whole batch (its size, its sum of weights); so is the norm that clipping uses.
    With several micro-batches `loss_fn` is called once outside the loop to make the variables (what
    it computes there is never run), and again inside it, where it must find the same variables.

    Args:
      loss_fn: (micro-batch, its index) -> (scalar loss, dict of metrics). A micro-batch has the
        tensors of `batch` with leading dimension b; the index is an int32 scalar. Metrics have
        static shapes.
      batch: tensors with leading dimension B = n * b.
      steps: n, the number of micro-batches.
      loss_scale: of float16; the gradients are those of the loss times its value.

    Returns:
      The sums; gradients of looked-up tables are dense, unless steps is 1.

    Raises:
      ValueError: steps that do not divide the batch, a metric of unknown shape, a loss_fn that
        makes new variables at each call.
    """
    scope = tf.get_variable_scope()

    def loss_of(index: Any) -> Tuple[tf.Tensor, Dict[str, tf.Tensor]]:
        part = {name: tf.gather(tensor, index) for name, tensor in split.items()}
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            return loss_fn(part or batch, index)

    split = {name: _split(name, tensor, steps) for name, tensor in batch.items() if steps != 1}
    loss, metrics = loss_of(tf.constant(0) if split else 0)
    variables = list(tf.trainable_variables())
    if not split:
        gradients = _differentiate(loss, variables, loss_scale)
        return AccumulatedGradients(loss, gradients, variables, metrics, [None] * len(variables))
    for name, metric in metrics.items():
        if not metric.shape.is_fully_defined():
            raise ValueError(
                f"The metric {name!r} has the shape {metric.shape}. Sums over micro-batches "
                "need static shapes: return sums and counts."
            )
    zeros = AccumulatedGradients(
        loss=tf.zeros([], loss.dtype),
        gradients=[tf.zeros(item.shape, item.dtype.base_dtype) for item in variables],
        variables=[],
        metrics={name: tf.zeros(item.shape, item.dtype) for name, item in metrics.items()},
        squared_norms=[tf.zeros([]) for _ in variables],
    )
    return _sum_in_loop(loss_of, steps, variables, zeros=zeros, loss_scale=loss_scale)


def _sum_in_loop(
    loss_of: Callable,
    steps: int,
    variables: List[tf.Variable],
    *,
    zeros: AccumulatedGradients,
    loss_scale: Optional[LossScale],
) -> AccumulatedGradients:
    is_sparse: Dict[int, bool] = {}  # by place, of the variables that the loss uses

    def body(index, sums):
        known = len(tf.trainable_variables())
        loss, metrics = loss_of(index)
        new = tf.trainable_variables()[known:]
        if new:
            raise ValueError(
                f"loss_fn made new variables at its second call: {[item.name for item in new]}. "
                "Make variables by tf.get_variable with fixed names, so that each micro-batch "
                "uses the same."
            )
        gradients, squared_norms = list(sums.gradients), list(sums.squared_norms)
        for place, gradient in enumerate(_differentiate(loss, variables, loss_scale)):
            if gradient is None:
                continue
            is_sparse[place] = isinstance(gradient, tf.IndexedSlices)
            if is_sparse[place]:
                squared_norms[place] += _sum_of_squares(gradient.values)
            gradients[place] += _dense(gradient, variables[place])
        metrics = {name: sums.metrics[name] + value for name, value in metrics.items()}
        sums = AccumulatedGradients(sums.loss + loss, gradients, [], metrics, squared_norms)
        return index + 1, sums

    _, sums = tf.while_loop(
        lambda index, _: index < steps,
        body,
        (tf.constant(0), zeros),
        parallel_iterations=1,
        back_prop=False,
        maximum_iterations=steps,
        name="micro_batches",
    )
    places = range(len(variables))
    return sums._replace(
        gradients=[sums.gradients[place] if place in is_sparse else None for place in places],
        variables=variables,
        squared_norms=[sums.squared_norms[at] if is_sparse.get(at) else None for at in places],
    )


def _split(name: str, tensor: tf.Tensor, steps: int) -> tf.Tensor:
    """Returns [B, ...] as [n, b, ...]."""
    if steps < 1:
        raise ValueError(f"{steps} micro-batches: the number must be positive.")
    tensor = tf.convert_to_tensor(tensor)
    if not tensor.shape.ndims:
        raise ValueError(
            f"The feature {name!r} has the shape {tensor.shape}; a leading batch dimension is "
            "needed to split it into micro-batches."
        )
    size, *rest = tensor.shape.as_list()
    if size is not None and size % steps:
        raise ValueError(
            f"A batch of {size} examples (feature {name!r}) cannot be split into {steps} equal "
            f"micro-batches. Choose a batch size that is a multiple of {steps}."
        )
    dynamic = tf.shape(tensor)
    rest = [dynamic[axis + 1] if size is None else size for axis, size in enumerate(rest)]
    return tf.reshape(tensor, [steps, -1 if size is None else size // steps] + rest)
