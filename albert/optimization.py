# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Learning rate schedule, AdamW and LAMB as one update rule, clipping, gradient accumulation.

AdamW: Loshchilov and Hutter, arXiv:1711.05101, without bias correction, as BERT and ALBERT are
trained. LAMB: You et al., arXiv:1904.00962, algorithm 2, without bias correction: AdamW times the
trust ratio.

Dimensions: B batch of one update, b micro-batch, n micro-batches (B = n * b).
"""

import re
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Union,
)

import tensorflow.compat.v1 as tf

from albert.util import runtime as precision
from albert.util import wording

# Searched for anywhere in a variable's name, so "debiased_weights" counts as a bias. Models that
# are in use were trained with this rule.
NEVER_DECAYED = ("LayerNorm", "layer_norm", "bias")
CLIP_NORM = 1.0

Gradient = Union[tf.Tensor, tf.IndexedSlices]


class TrainStep(NamedTuple):
    """One update of all variables.

    Attributes:
      train_op: operation that updates the variables and then adds one to the global step.
      learning_rate: float32 scalar, the rate this update uses.
      gradient_norm: float32 scalar, the global norm before clipping.
    """

    train_op: tf.Operation
    learning_rate: tf.Tensor
    gradient_norm: tf.Tensor


class AccumulatedGradients(NamedTuple):
    """Sums over the micro-batches of one update.

    Attributes:
      loss: scalar.
      gradients: one per variable, of its shape; None for a variable the loss does not use.
      variables: the variables the gradients belong to.
      metrics: sums of what the loss function returned beside the loss.
      squared_norms: one per variable: for a table that is looked up, the scalar sum of squares of
        the looked-up rows' gradients, which is what the clipping norm counts; else None.
    """

    loss: tf.Tensor
    gradients: List[Optional[Gradient]]
    variables: List[tf.Variable]
    metrics: Dict[str, tf.Tensor]
    squared_norms: List[Optional[tf.Tensor]]


class _Adam(NamedTuple):
    """What one application of the rule gives, each of the variable's shape."""

    m: tf.Tensor
    v: tf.Tensor
    direction: tf.Tensor


class _Applied(NamedTuple):
    """An update and the norm its gradients had before clipping."""

    train_op: tf.Operation
    gradient_norm: tf.Tensor


class _Pair(NamedTuple):
    """A gradient, its variable, and its squared norm where that is not the gradient's own."""

    gradient: Gradient
    variable: tf.Variable
    squared_norm: Optional[tf.Tensor]


def learning_rate_schedule(
    global_step: Any,
    *,
    init_lr: float,
    num_train_steps: int,
    num_warmup_steps: int,
    poly_power: float = 1.0,
    start_warmup_step: int = 0,
) -> tf.Tensor:
    """Returns the learning rate of the update that takes global_step to global_step + 1.

    The rate decays as a polynomial from init_lr at step 0 to zero at num_train_steps. While
    global_step - start_warmup_step < num_warmup_steps it rises linearly from zero at
    start_warmup_step instead (and is negative before that step, as in the published code).

    Args:
      global_step: integer scalar tensor or variable.
      init_lr: the rate without warm-up and decay.
      num_train_steps: where the decay ends.
      num_warmup_steps: length of the warm-up; 0 for none.
      poly_power: exponent of the decay; 1 is linear.
      start_warmup_step: where the warm-up starts.

    Returns:
      float32 scalar.

    Raises:
      ValueError: an argument out of range.
    """
    _check_schedule(init_lr, num_train_steps, num_warmup_steps)
    _refuse_negative(poly_power=poly_power, start_warmup_step=start_warmup_step)
    step = tf.cast(global_step, tf.float32)
    remaining = 1.0 - tf.minimum(step, float(num_train_steps)) / float(num_train_steps)
    decayed = init_lr * tf.pow(remaining, poly_power)
    if not num_warmup_steps:
        return decayed
    since_start = step - float(start_warmup_step)
    rising = init_lr * since_start / float(num_warmup_steps)
    return tf.where_v2(since_start < float(num_warmup_steps), rising, decayed)


def _check_schedule(init_lr: float, num_train_steps: int, num_warmup_steps: int) -> None:
    """Refuses what would give no schedule, and warns of one that never reaches its peak."""
    _refuse_negative(init_lr=init_lr, num_warmup_steps=num_warmup_steps)
    if num_train_steps <= 0:
        raise ValueError(
            f"num_train_steps={num_train_steps} must be positive: the learning rate decays to "
            "zero over that many updates."
        )
    if num_warmup_steps > num_train_steps:
        tf.logging.warning(
            "num_warmup_steps=%d is more than num_train_steps=%d: the learning rate never "
            "reaches init_lr.",
            num_warmup_steps,
            num_train_steps,
        )


def _refuse_negative(**values: float) -> None:
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"{name}={value} must be zero or positive.")


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam with decoupled weight decay and without bias correction (arXiv:1711.05101).

    m = beta_1 m + (1 - beta_1) g;  v = beta_2 v + (1 - beta_2) g^2;
    direction = m / (sqrt(v) + epsilon) + weight_decay_rate w;  w -= learning_rate direction.

    Repeated ids of a sparse gradient are summed, and then the whole table is updated, rows that
    were not looked up too. The slots are saved as `<variable>/adam_m` and `<variable>/adam_v`.

    Args:
      learning_rate: float, scalar tensor, or function without arguments that returns one.
      weight_decay_rate: factor of the decoupled decay.
      beta_1: decay of the first moment.
      beta_2: decay of the second moment.
      epsilon: added to the root of the second moment.
      exclude_from_weight_decay: regular expressions; a variable in whose name one of them is
        found is not decayed. "bias" is found in "debiased_weights".
      name: of the operations.
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
        self.rate_factor: Optional[Callable[[str], float]] = None  # of a variable's name
        self.condition: Optional[tf.Tensor] = None  # bool []; where it is false nothing changes
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

    def _resource_apply_dense(self, grad, handle):
        return self._update(grad, handle)

    def _apply_sparse(self, grad, var):
        return self._update(grad, var)

    def _resource_apply_sparse(self, grad, handle, indices):
        return self._update(tf.IndexedSlices(grad, indices), handle)

    # The update is dense, and making a sparse gradient dense sums repeated ids: going through the
    # base class's search for unique ids would only cost time.
    _apply_sparse_duplicate_indices = _apply_sparse
    _resource_apply_sparse_duplicate_indices = _resource_apply_sparse

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the operation that updates the variables; the base class explains it.

        Args:
          grads_and_vars: pairs; those without a gradient or without a variable are left out.
          global_step: without effect, as in the published optimizers: programs made for them add
            one to it themselves.
          name: of the operation.

        Raises:
          ValueError: there is no gradient.
        """
        del global_step
        pairs = [pair for pair in grads_and_vars if pair[1] is not None]
        # Only the base class updates every replica and every shard.
        return super().apply_gradients(pairs, name=name)

    def apply_aggregated(
        self,
        strategy: tf.distribute.Strategy,
        gradients_and_variables: Sequence[Any],
        *,
        scale: tf.Tensor,
        global_step: tf.Variable,
    ) -> tf.Operation:
        """Updates each replica's copy of the variables by gradients that are aggregated already.

        `apply_gradients` would sum them over the replicas once more. Called in cross-replica
        context.

        Args:
          strategy: the strategy in whose cross-replica context this is called.
          gradients_and_variables: pairs of a mirrored gradient and its variable.
          scale: scalar every gradient is multiplied by.
          global_step: variable that grows by one after all updates.

        Returns:
          The operation.
        """
        pairs = list(gradients_and_variables)
        with tf.init_scope():
            self._create_slots([variable for _, variable in pairs])
        self._prepare()
        updates = []
        for gradient, variable in pairs:
            updates += strategy.extended.update(
                variable,
                lambda copy, gradient: self._update(_scaled(gradient, scale), copy),
                args=(gradient,),
                group=False,
            )
        with tf.control_dependencies(updates):
            increments = strategy.extended.update(
                global_step, lambda copy: copy.assign_add(1, read_value=False), group=False
            )
        return tf.group(*increments)

    def _update(self, gradient: Gradient, variable: tf.Variable) -> tf.Operation:
        """Returns the operation that updates one variable and its two slots."""
        name = _parameter_name(variable)
        weight = tf.convert_to_tensor(variable)
        gradient = tf.cast(_dense(gradient, variable), weight.dtype)
        m, v = self.get_slot(variable, "adam_m"), self.get_slot(variable, "adam_v")
        rule = self._decayed_adam if self._is_decayed(name) else self._adam
        if self.use_xla:
            rule = precision.xla_cluster(rule)
        adam = _Adam(*rule(gradient, tf.convert_to_tensor(m), tf.convert_to_tensor(v), weight))
        rate = tf.cast(self._learning_rate_tensor, weight.dtype)
        if self.rate_factor:
            rate = rate * self.rate_factor(name)
        change = rate * self._trust_ratio(name, weight, adam.direction) * adam.direction
        new_m, new_v = adam.m, adam.v
        if self.condition is not None:
            change = tf.where_v2(self.condition, change, tf.zeros_like(change))
            new_m = tf.where_v2(self.condition, new_m, tf.convert_to_tensor(m))
            new_v = tf.where_v2(self.condition, new_v, tf.convert_to_tensor(v))
        return tf.group(
            variable.assign_sub(change, read_value=False),
            m.assign(new_m, read_value=False),
            v.assign(new_v, read_value=False),
        )

    def _adam(self, *tensors: tf.Tensor) -> _Adam:
        """Takes gradient, m, v and weight, as a compiled function of tensors can."""
        gradient, m, v, _ = tensors
        m = self.beta_1 * m + (1.0 - self.beta_1) * gradient
        v = self.beta_2 * v + (1.0 - self.beta_2) * tf.square(gradient)
        return _Adam(m, v, m / (tf.sqrt(v) + self.epsilon))

    def _decayed_adam(self, *tensors: tf.Tensor) -> _Adam:
        weight = tensors[-1]
        adam = self._adam(*tensors)
        return adam._replace(direction=adam.direction + self.weight_decay_rate * weight)

    def _is_decayed(self, name: str) -> bool:
        return bool(self.weight_decay_rate) and not _matches(name, self.exclude_from_weight_decay)

    def _trust_ratio(self, name: str, weight: tf.Tensor, direction: tf.Tensor):
        del name, weight, direction
        return 1.0


class LAMBOptimizer(AdamWeightDecayOptimizer):
    """AdamW whose step is multiplied by a trust ratio for each variable (arXiv:1904.00962).

    The ratio is |w| / |direction|, and 1 where either norm is zero. Takes the arguments of
    AdamWeightDecayOptimizer and

    Args:
      exclude_from_layer_adaptation: regular expressions; a variable in whose name one of them is
        found keeps the ratio 1. None or empty: those of exclude_from_weight_decay.
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
        super().__init__(
            learning_rate,
            weight_decay_rate=weight_decay_rate,
            beta_1=beta_1,
            beta_2=beta_2,
            epsilon=epsilon,
            exclude_from_weight_decay=exclude_from_weight_decay,
            name=name,
            use_xla=use_xla,
        )
        self.exclude_from_layer_adaptation = tuple(
            exclude_from_layer_adaptation or self.exclude_from_weight_decay
        )

    def _trust_ratio(self, name: str, weight: tf.Tensor, direction: tf.Tensor):
        if _matches(name, self.exclude_from_layer_adaptation):
            return 1.0
        weight_norm = tf.sqrt(_sum_of_squares(weight))
        direction_norm = tf.sqrt(_sum_of_squares(direction))
        both = tf.logical_and(weight_norm > 0, direction_norm > 0)
        # Division by a norm of zero would be computed, if not chosen.
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
    *,
    gradients=None,
    weight_decay_rate=0.01,
    use_xla=False,
):
    """Returns the train op of `build_train_step`, which explains the arguments."""
    return build_train_step(
        loss,
        init_lr=init_lr,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        use_tpu=use_tpu,
        optimizer=optimizer,
        poly_power=poly_power,
        start_warmup_step=start_warmup_step,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        excluded_tvars=excluded_tvars,
        gradients=gradients,
        weight_decay_rate=weight_decay_rate,
        use_xla=use_xla,
    ).train_op


def build_train_step(
    loss: Optional[tf.Tensor],
    *,
    init_lr: float,
    num_train_steps: int,
    num_warmup_steps: int,
    use_tpu: bool = False,
    optimizer: str = "adamw",
    poly_power: float = 1.0,
    start_warmup_step: int = 0,
    colocate_gradients_with_ops: bool = False,
    excluded_tvars: Optional[Sequence[str]] = None,
    gradients: Union[AccumulatedGradients, Sequence[Optional[Gradient]], None] = None,
    weight_decay_rate: float = 0.01,
    use_xla: bool = False,
    rate_factor: Optional[Callable[[str], float]] = None,
) -> TrainStep:
    """Builds one update of the trainable variables: gradients, clipping, AdamW or LAMB.

    Gradients are clipped to a global norm of 1, which counts the rows of a looked-up table as they
    are, repeated ids separately (tf.clip_by_global_norm on IndexedSlices), in every mode.

    With replicas (tf.distribute) or shards (TPU) `loss` is the mean over the replica's own batch;
    gradients are averaged over the replicas and then clipped, so N replicas of batch b train as
    one of batch N * b. Estimator is told to report the mean of the replicas' losses.
    Where the gradient norm is not finite no variable changes, and off TPU the step fails.

    Args:
      loss: scalar; not used when `gradients` are given.
      init_lr, num_train_steps, num_warmup_steps, poly_power, start_warmup_step: see
        `learning_rate_schedule`, taken at the global step before this update.
      use_tpu: wraps the optimizer in CrossShardOptimizer.
      optimizer: "adamw" or "lamb"; colocate_gradients_with_ops: as in tf.gradients.
      excluded_tvars: names of variables that stay as they are, with or without ":0".
      gradients: what `accumulate_gradients` returned, or one (or None) for each trainable variable.
      weight_decay_rate: factor of the decoupled decay; LayerNorm and bias are never decayed.
      use_xla: compiles the element-wise part of each update.
      rate_factor: variable name -> factor of its learning rate; None: 1 for all.

    Returns:
      The operation with the learning rate and the norm it uses.

    Raises:
      ValueError: unknown optimizer or variable name, a number out of range, nothing to train.
    """
    step = tf.train.get_or_create_global_step()
    learning_rate = learning_rate_schedule(
        step,
        init_lr=init_lr,
        num_train_steps=num_train_steps,
        num_warmup_steps=num_warmup_steps,
        poly_power=poly_power,
        start_warmup_step=start_warmup_step,
    )
    rule = _rule(optimizer, learning_rate, weight_decay_rate=weight_decay_rate, use_xla=use_xla)
    rule.rate_factor = rate_factor
    if gradients is None:
        gradients = _gradients_of(loss, excluded_tvars, colocate_gradients_with_ops)
    applied = _update_function(use_tpu)(rule, _pairs(gradients, excluded_tvars), step)
    return TrainStep(applied.train_op, learning_rate, applied.gradient_norm)


def _rule(
    name: str, learning_rate: tf.Tensor, *, weight_decay_rate: float, use_xla: bool
) -> AdamWeightDecayOptimizer:
    _refuse_negative(weight_decay_rate=weight_decay_rate)
    if name not in OPTIMIZERS:
        raise ValueError(
            f"Unknown optimizer {name!r}.{wording.did_you_mean(name, OPTIMIZERS)} "
            f"Optimizers: {', '.join(sorted(OPTIMIZERS))}."
        )
    return OPTIMIZERS[name](
        learning_rate,
        weight_decay_rate=weight_decay_rate,
        exclude_from_weight_decay=NEVER_DECAYED,
        use_xla=use_xla,
    )


def _update_function(use_tpu: bool) -> Callable:
    if use_tpu:
        return _update_on_shards
    replicas = tf.distribute.get_replica_context()
    if replicas and replicas.num_replicas_in_sync > 1:
        return _update_on_replicas
    return _update_on_one_device


def _gradients_of(
    loss: tf.Tensor, excluded: Optional[Sequence[str]], colocate_gradients_with_ops: bool
) -> List[Optional[Gradient]]:
    """Returns a gradient for each trainable variable, None for those that are excluded."""
    variables = tf.trainable_variables()
    trained = _without(variables, excluded)
    gradients = tf.gradients(loss, trained, colocate_gradients_with_ops=colocate_gradients_with_ops)
    found = {_parameter_name(variable): item for variable, item in zip(trained, gradients)}
    return [found.get(_parameter_name(variable)) for variable in variables]


def _pairs(
    gradients: Union[AccumulatedGradients, Sequence[Optional[Gradient]]],
    excluded: Optional[Sequence[str]],
) -> List[_Pair]:
    """Returns gradients with their variables, but for those that are excluded or unused."""
    if isinstance(gradients, AccumulatedGradients):
        variables, squared_norms = gradients.variables, gradients.squared_norms
        gradients = gradients.gradients
    else:
        variables = tf.trainable_variables()
        squared_norms = [None] * len(variables)
    if len(gradients) != len(variables):
        raise ValueError(
            f"{len(gradients)} gradients were given for {len(variables)} trainable variables. Give "
            "one (or None) for each variable, in the order of tf.trainable_variables()."
        )
    trained = {_parameter_name(variable) for variable in _without(variables, excluded)}
    return _used(
        _Pair(gradient, variable, squared_norm)
        for gradient, variable, squared_norm in zip(gradients, variables, squared_norms)
        if _parameter_name(variable) in trained
    )


def _without(
    variables: Sequence[tf.Variable], excluded: Optional[Sequence[str]]
) -> List[tf.Variable]:
    """Returns the variables that are not named in `excluded`; names may end in ":0"."""
    excluded = [excluded] if isinstance(excluded, str) else list(excluded or ())
    names = [_parameter_name(variable) for variable in variables]
    excluded_names = {re.sub(r":\d+$", "", name) for name in excluded}
    for name in sorted(excluded_names.difference(names)):
        raise ValueError(
            f"excluded_tvars names {name!r}, which is no trainable variable."
            f"{wording.did_you_mean(name, names)} Take names from tf.trainable_variables()."
        )
    return [variable for variable, name in zip(variables, names) if name not in excluded_names]


def _used(pairs: Iterable[_Pair]) -> List[_Pair]:
    """Returns the pairs that have a gradient, with the squared norm of sparse ones."""
    used = []
    for pair in pairs:
        if pair.gradient is None:
            continue
        if isinstance(pair.gradient, tf.IndexedSlices) and pair.squared_norm is None:
            # Taken now: aggregation may sum the rows of repeated ids.
            pair = pair._replace(squared_norm=_sum_of_squares(pair.gradient.values))
        used.append(pair)
    if not used:
        raise ValueError(
            "There is nothing to train: no trainable variable that is not excluded has a gradient "
            "of the loss. Check excluded_tvars and what the loss depends on."
        )
    return used


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


def _global_norm(pairs: Sequence[_Pair]) -> tf.Tensor:
    """Returns the norm over all gradients; rows of repeated ids count separately."""
    return _root_of_sum(
        _sum_of_squares(pair.gradient) if pair.squared_norm is None else pair.squared_norm
        for pair in pairs
    )


def _root_of_sum(squares: Iterable[tf.Tensor]) -> tf.Tensor:
    return tf.sqrt(tf.add_n(list(squares)), name="gradient_norm")


def _clip_scale(norm: tf.Tensor) -> tf.Tensor:
    return CLIP_NORM / tf.maximum(norm, CLIP_NORM)


def _finite_norm(norm: tf.Tensor, global_step: tf.Tensor) -> tf.Tensor:
    """Returns the norm; evaluating it fails where it is not finite.

    Every update depends on the norm, so nothing is changed when that happens.
    """
    message = ["gradient norm is not finite; global step, norm:", global_step, norm]
    check = tf.debugging.Assert(tf.math.is_finite(norm), message)
    with tf.control_dependencies([check]):
        return tf.identity(norm)


def _update_on_one_device(
    rule: AdamWeightDecayOptimizer, pairs: Sequence[_Pair], global_step: tf.Variable
) -> _Applied:
    norm = _finite_norm(_global_norm(pairs), tf.identity(global_step))
    scale = _clip_scale(norm)
    clipped = [(_scaled(pair.gradient, scale), pair.variable) for pair in pairs]
    return _Applied(_counted(rule.apply_gradients(clipped), global_step), norm)


def _counted(update: tf.Operation, global_step: tf.Variable, count: Any = 1) -> tf.Operation:
    """The update, after which the global step grows by one, or by `count`."""
    with tf.control_dependencies([update]):
        return tf.group(global_step.assign_add(count, read_value=False))


def _update_on_shards(
    rule: AdamWeightDecayOptimizer, pairs: Sequence[_Pair], global_step: tf.Variable
) -> _Applied:
    """Averages over the shards of a TPU, clips, and updates.

    CrossShardOptimizer sums over the shards what it is given. The clipped average is the same on
    each of them, so each gives its share. That second sum is the price of clipping after
    aggregation; ALBERT's shared layers keep it small.

    What is compiled cannot fail: an update whose norm is not finite is none, and is not counted.
    """
    total = tf.tpu.cross_replica_sum
    share = 1.0 / total(tf.ones([]))
    summed = [
        _Pair(
            total(_dense(pair.gradient, pair.variable)),
            pair.variable,
            None if pair.squared_norm is None else total(pair.squared_norm),
        )
        for pair in pairs
    ]
    norm = _global_norm(summed) * share
    scale = _clip_scale(norm) * share * share
    clipped = [(_scaled(pair.gradient, scale), pair.variable) for pair in summed]
    rule.condition = tf.math.is_finite(norm)
    update = tf.tpu.CrossShardOptimizer(rule).apply_gradients(clipped)
    count = tf.cast(rule.condition, global_step.dtype.base_dtype)
    return _Applied(_counted(update, global_step, count), norm)


class _Replica(NamedTuple):
    """What each replica brings to the update."""

    gradients: List[Gradient]
    squared_norm_of_rows: tf.Tensor
    learning_rate: tf.Tensor


def _update_on_replicas(
    rule: AdamWeightDecayOptimizer, pairs: Sequence[_Pair], global_step: tf.Variable
) -> _Applied:
    """Averages over the replicas of a distribution strategy, clips, and updates every copy."""
    # Estimator reports the sum of the replicas' losses, unless the graph says that the optimizer
    # has made means of them.
    tf.get_default_graph()._is_loss_scaled_by_optimizer = True
    variables = [pair.variable for pair in pairs]
    step_before = tf.identity(global_step)

    def average_and_update(strategy, replicas):
        # Sums; the division is part of the scale.
        share = 1.0 / strategy.num_replicas_in_sync
        summed = _summed(strategy, replicas.gradients, variables)
        rows = _local_copies(
            strategy, *_summed(strategy, [replicas.squared_norm_of_rows], variables[:1])
        )
        squares = [
            _sum_of_squares(_local_copies(strategy, gradient)[0])
            for gradient, pair in zip(summed, pairs)
            if pair.squared_norm is None
        ]
        # Every copy of a reduction has to run, since the devices wait for each other, and every
        # replica's learning rate has to be read before the global step grows.
        with tf.control_dependencies(rows + _local_copies(strategy, replicas.learning_rate)):
            norm = _finite_norm(_root_of_sum(squares + rows[:1]) * share, step_before)
        train_op = rule.apply_aggregated(
            strategy,
            list(zip(summed, variables)),
            scale=_clip_scale(norm) * share,
            global_step=global_step,
        )
        return _Applied(train_op, norm)

    looked_up = [pair.squared_norm for pair in pairs if pair.squared_norm is not None]
    replica = _Replica(
        # Rows of a table cannot be gathered from workers whose batches differ in length.
        gradients=[_dense(pair.gradient, pair.variable) for pair in pairs],
        squared_norm_of_rows=tf.add_n(looked_up) if looked_up else tf.zeros([]),
        learning_rate=rule.learning_rate,
    )
    context = tf.distribute.get_replica_context()
    return context.merge_call(average_and_update, args=(replica,))


def _summed(
    strategy: tf.distribute.Strategy, values: Sequence[Any], destinations: Sequence[Any]
) -> List[Any]:
    """Returns the sums over the replicas, a copy on every device of each destination."""
    pairs = list(zip(values, destinations))
    return strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)


def _local_copies(strategy: tf.distribute.Strategy, value: Any) -> List[Any]:
    """Returns a value's copies on the devices of this process."""
    return list(strategy.experimental_local_results(value))


def accumulate_gradients(
    loss_fn: Callable[[Dict[str, tf.Tensor], tf.Tensor], Any],
    batch: Mapping[str, tf.Tensor],
    steps: int,
    *,
    variables: Optional[Sequence[tf.Variable]] = None,
) -> AccumulatedGradients:
    """Sums losses and gradients over micro-batches that run one after another in one step.

    Memory is that of one micro-batch. The sums are those of the whole batch if `loss_fn`
    normalises by numbers of the whole batch (its size, its sum of weights); so is the norm that
    clipping uses. `loss_fn` is called once outside the loop to make the variables (what it
    computes there is never run), and again inside it, where it must find the same variables.

    Args:
      loss_fn: (micro-batch, its index) -> (scalar loss, dict of metrics). A micro-batch has the
        tensors of `batch` with leading dimension b; the index is an int32 scalar. Metrics have
        static shapes.
      batch: tensors with leading dimension B = n * b.
      steps: n, the number of micro-batches.
      variables: those to take gradients of; tf.trainable_variables() by default.

    Returns:
      The sums; gradients of looked-up tables are dense, unless steps is 1.

    Raises:
      ValueError: steps that do not divide the batch, a metric of unknown shape, a loss_fn that
        makes new variables at each call.
    """
    micro_batch = _micro_batches(batch, steps)
    scope = tf.get_variable_scope()
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        loss, metrics = loss_fn(micro_batch(tf.constant(0)), tf.constant(0))
    variables = list(tf.trainable_variables() if variables is None else variables)
    if steps == 1:
        gradients = tf.gradients(loss, variables)
        return AccumulatedGradients(loss, gradients, variables, metrics, [None] * len(variables))
    loop = _MicroBatchLoop(loss_fn, micro_batch, variables)

    def body(index, sums):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            return index + 1, loop.add(index, sums)

    _, sums = tf.while_loop(
        lambda index, _: index < steps,
        body,
        (tf.constant(0), _zero_sums(loss, metrics, variables)),
        parallel_iterations=1,
        back_prop=False,
        maximum_iterations=steps,
        name="micro_batches",
    )
    return AccumulatedGradients(
        loss=sums.loss,
        gradients=loop.chosen(sums.gradients, (_DENSE, _SPARSE)),
        variables=variables,
        metrics=sums.metrics,
        squared_norms=loop.chosen(sums.squared_norms, (_SPARSE,)),
    )


class _Sums(NamedTuple):
    """What the loop over micro-batches carries."""

    loss: tf.Tensor
    metrics: Dict[str, tf.Tensor]
    gradients: List[tf.Tensor]
    squared_norms: List[tf.Tensor]


def _zero_sums(
    loss: tf.Tensor, metrics: Mapping[str, tf.Tensor], variables: Sequence[tf.Variable]
) -> _Sums:
    for name, metric in metrics.items():
        if not metric.shape.is_fully_defined():
            raise ValueError(
                f"The metric {name!r} has the shape {metric.shape}. Sums over micro-batches need "
                "static shapes: return sums and counts."
            )
    return _Sums(
        loss=tf.zeros([], loss.dtype),
        metrics={name: tf.zeros(metric.shape, metric.dtype) for name, metric in metrics.items()},
        gradients=[tf.zeros(variable.shape, variable.dtype.base_dtype) for variable in variables],
        squared_norms=[tf.zeros([]) for _ in variables],
    )


_UNUSED, _DENSE, _SPARSE = "unused", "dense", "sparse"


class _MicroBatchLoop:
    """The body of the loop, and what building it shows about the gradients."""

    def __init__(self, loss_fn: Callable, micro_batch: Callable, variables: List[tf.Variable]):
        self._loss_fn = loss_fn
        self._micro_batch = micro_batch
        self._variables = variables
        self._kinds = [_UNUSED] * len(variables)

    def add(self, index: tf.Tensor, sums: _Sums) -> _Sums:
        """Returns the sums with those of micro-batch `index` added."""
        known = len(tf.trainable_variables())
        loss, metrics = self._loss_fn(self._micro_batch(index), index)
        new = tf.trainable_variables()[known:]
        if new:
            raise ValueError(
                f"loss_fn made new variables at its second call: {[item.name for item in new]}. "
                "Make variables by tf.get_variable with fixed names, so that each micro-batch "
                "uses the same."
            )
        gradients, squared_norms = list(sums.gradients), list(sums.squared_norms)
        for place, gradient in enumerate(tf.gradients(loss, self._variables)):
            if gradient is None:
                continue
            self._kinds[place] = _DENSE
            if isinstance(gradient, tf.IndexedSlices):
                self._kinds[place] = _SPARSE
                squared_norms[place] += _sum_of_squares(gradient.values)
            gradients[place] += _dense(gradient, self._variables[place])
        return _Sums(
            loss=sums.loss + loss,
            metrics={name: sums.metrics[name] + value for name, value in metrics.items()},
            gradients=gradients,
            squared_norms=squared_norms,
        )

    def chosen(self, tensors: Sequence[tf.Tensor], kinds: Sequence[str]) -> List[Any]:
        """Returns the tensors whose variable's gradient is of one of the kinds, else None."""
        return [tensor if kind in kinds else None for tensor, kind in zip(tensors, self._kinds)]


def _micro_batches(
    batch: Mapping[str, tf.Tensor], steps: int
) -> Callable[[tf.Tensor], Dict[str, tf.Tensor]]:
    """Returns a function from an index to the micro-batch of that index."""
    if steps < 1:
        raise ValueError(f"{steps} micro-batches: the number must be positive.")
    split = {name: _split(name, tensor, steps) for name, tensor in batch.items()}
    return lambda index: {name: tf.gather(tensor, index) for name, tensor in split.items()}


def _split(name: str, tensor: tf.Tensor, steps: int) -> tf.Tensor:
    """Returns [B, ...] as [n, b, ...]."""
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
