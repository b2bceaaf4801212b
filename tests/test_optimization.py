# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of the schedule, the optimizers, clipping, replicas and gradient accumulation."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import lamb_optimizer, optimization
from albert.configs.shared_flags import OptimizerFlags
from albert.runtimes import compat
from tests.support import recorded

TABLE, KERNEL, BIAS, UNUSED = "embeddings/table", "dense/kernel", "dense/bias", "unused/kernel"
ROWS, WIDTH, LABELS, IDS = 7, 4, 3, 5
_random = np.random.RandomState(1)
WEIGHTS = {
    TABLE: _random.randn(ROWS, WIDTH),
    KERNEL: _random.randn(WIDTH, LABELS),
    BIAS: np.zeros(LABELS),
}
SUFFIXES = {"w": "", "m": "/adam_m", "v": "/adam_v"}
OTHER_NUMBERS = {
    "weight_decay_rate": 0.3,
    "adam_beta_1": 0.7,
    "adam_beta_2": 0.95,
    "adam_epsilon": 1e-2,
    "max_grad_norm": 0.25,
}

each_optimizer = pytest.mark.parametrize("optimizer", ["adamw", "lamb"])


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def new_session():
    session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    session.run(tf.global_variables_initializer())
    return session


def variable(name, value, use_resource=None):
    value = np.asarray(value, np.float32)
    return tf.get_variable(name, initializer=value, use_resource=use_resource)


def values_of_variables(session):
    return session.run({item.op.name: item for item in tf.global_variables()})


def examples(count, seed=0):
    random = np.random.RandomState(seed)
    ids = random.randint(0, ROWS, [count, IDS]).astype(np.int32)
    return {"ids": ids, "targets": random.randn(count, LABELS).astype(np.float32)}


THREE = [examples(8, seed) for seed in range(3)]


def placeholders(batch):
    return {
        name: tf.placeholder(value.dtype, [None, *value.shape[1:]]) for name, value in batch.items()
    }


def model_loss(batch, size=8.0, use_resource=None):
    """A looked-up table, a dense layer and an unused variable; the loss is a mean."""
    table, kernel, bias = (variable(*item, use_resource) for item in WEIGHTS.items())
    variable(UNUSED, np.ones(LABELS), use_resource)
    mean = tf.reduce_mean(tf.nn.embedding_lookup(table, batch["ids"]), 1)  # [b, WIDTH]
    errors = tf.matmul(mean, kernel) + bias - batch["targets"]  # [b, LABELS]
    return 20.0 * tf.reduce_sum(tf.square(errors)) / size * tf.reduce_mean(batch.get("factor", 1.0))


def train_step(gradients, *, optimizer="adamw", flags=(), **options):
    """One update by gradients, or by those of a loss."""
    if isinstance(gradients, tf.Tensor):
        gradients = optimization.differentiate(gradients)
    optimizer_flags = OptimizerFlags(
        **{"learning_rate": 0.1, "optimizer": optimizer, **dict(flags)}
    )
    options = {"num_train_steps": 10, "num_warmup_steps": 0, **options}
    return optimization.build_train_step(gradients, optimizer_flags, **options)


def model_step(batch, *, size=8.0, steps=1, has_scale=False, use_resource=None, **options):
    scale = optimization.LossScale() if has_scale else None
    sums = optimization.accumulate_gradients(
        lambda part, _: (model_loss(part, size, use_resource), {}), batch, steps, loss_scale=scale
    )
    return train_step(sums, loss_scale=scale, **options)


def run_all(session, step, fed, batches):
    """The variables after an update by each batch, and the norm of the last one."""
    for batch in batches:
        norm = session.run(step, {fed[name]: batch[name] for name in fed}).gradient_norm
    return dict(values_of_variables(session), norm=norm)


def assert_same_values(actual, expected):
    """Slots are linear in gradients; where their terms cancel, rounding shows in an update."""
    for name, value in expected.items():
        near = 2e-6 if name.endswith(("/adam_m", "/adam_v")) else 1e-4
        np.testing.assert_allclose(actual[name], value, rtol=near, atol=near, err_msg=name)


# ---- schedule and rule ----


# Warm-up joins the decay counted from step zero; before its start it is negative.
@pytest.mark.parametrize(
    "steps, changes, expected",
    [
        ([0, 5, 10, 12], {}, [1.0, 0.5, 0.0, 0.0]),
        ([0, 5, 9], {"poly_power": 2.0}, [1.0, 0.25, 0.01]),
        ([0, 1, 3, 4], {"num_warmup_steps": 4}, [0.0, 0.25, 0.75, 0.6]),
        ([0, 2, 5, 6], {"num_warmup_steps": 4, "start_warmup_step": 2}, [-0.5, 0.0, 0.75, 0.4]),
    ],
)
def test_learning_rate_warms_up_and_decays(steps, changes, expected):
    step = tf.placeholder(tf.int64, [])
    flags = {"init_lr": 1.0, "num_train_steps": 10, "num_warmup_steps": 0, **changes}
    rate = optimization.learning_rate_schedule(step, **flags)
    with tf.Session() as session:
        rates = [session.run(rate, {step: value}) for value in steps]
    assert rates[0].dtype == np.float32
    np.testing.assert_allclose(rates, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"optimizer": "adam"}, "'adam'.*adamw"),
        ({"excluded_tvars": ["dense/kernal"]}, "excluded_tvars.*'dense/kernal'.*'dense/kernel'"),
        ({"excluded_tvars": [TABLE, KERNEL, BIAS]}, "excluded_tvars"),
    ],
)
def test_build_train_step_refuses_wrong_settings(changes, named):
    with pytest.raises(ValueError, match=named):
        model_step(examples(8), **changes)


@each_optimizer
@pytest.mark.parametrize(
    "way",
    [
        {},
        {"use_xla": True, "use_resource": True, "flags": OTHER_NUMBERS},
        {"steps": 2, "has_scale": True, "use_xla": True},
    ],
    ids=lambda way: "-".join(way) or "plain",
)
def test_updates_follow_the_published_formulas(optimizer, way):
    fed = placeholders(THREE[0])
    step = model_step(fed, optimizer=optimizer, **way)
    with new_session() as session:
        found = run_all(session, step, fed, THREE)
    kind = "other" if "flags" in way else "plain"
    assert_same_values(found, recorded.arrays("optimizer", f"{optimizer}/{kind}"))


@pytest.mark.parametrize(
    "optimizer, more, adapted",
    [
        (optimization.AdamWeightDecayOptimizer, [], None),
        (lamb_optimizer.LAMBOptimizer, [[]], KERNEL),  # what is decayed
        (lamb_optimizer.LAMBOptimizer, [["kernel"]], BIAS),
    ],
)
def test_apply_gradients_leaves_global_step(optimizer, more, adapted):
    gradients = {KERNEL: np.array([0.5, -2.0]), BIAS: np.array([3.0])}
    pairs = [(None, variable("unused", [1.0])), (tf.zeros([1]), None)]
    pairs += [(tf.constant(part), tf.Variable(part, name=name)) for name, part in gradients.items()]
    step = tf.train.get_or_create_global_step()
    rule = optimizer(lambda: tf.constant(0.1), 0.01, 0.8, 0.9, 1e-5, ["bias"], *more, "mine")
    train_op = rule.apply_gradients(pairs, global_step=step, name="mine")
    with new_session() as session:
        session.run(train_op)
        found = values_of_variables(session)
    for name, expected in recorded.arrays("optimizer", f"by_hand/{adapted}").items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-5)
    assert found["global_step"] == 0


@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_trust_ratio_is_one_for_a_zero_weight_or_direction(decay):
    kernel, still = variable(KERNEL, np.zeros([2, 2])), variable("other/kernel", np.ones([2]))
    loss = tf.reduce_sum(kernel) * 0.25 + tf.reduce_sum(0.0 * still)
    step = train_step(loss, optimizer="lamb", flags={"weight_decay_rate": decay})
    with new_session() as session:
        assert session.run(step).gradient_norm == 0.5  # which is not clipped
        values = values_of_variables(session)
    # m = 0.1 g, v = 0.001 g^2: the direction is 0.1 / sqrt(0.001).
    np.testing.assert_allclose(values[KERNEL], -0.1 * 0.1 / np.sqrt(0.001), 1e-3)
    np.testing.assert_allclose(values[f"{KERNEL}/adam_m"], 0.025, 1e-6)
    assert decay or np.all(values["other/kernel"] == 1)


def test_weight_decay_excludes_by_part_of_the_name():
    names = ["a/debiased_weights", "a/layer_norm_2/beta", "a/LayerNorm_1/gamma", KERNEL]
    variables = [variable(name, np.ones([2])) for name in names]
    step = train_step(tf.add_n([tf.reduce_sum(0.0 * item) for item in variables]))
    with new_session() as session:
        session.run(step.train_op)
        assert [session.run(item)[0] < 1 for item in variables] == [False, False, False, True]


# ---- one update ----


@pytest.mark.parametrize("bad, use_resource", [(np.nan, False), (1e38, True)])
def test_nonfinite_gradients_change_nothing(bad, use_resource):
    factor = tf.placeholder(tf.float32, [])
    step = model_step(dict(examples(8), factor=factor), use_resource=use_resource)
    with new_session() as session:
        session.run(step.train_op, {factor: 1.0})
        before = values_of_variables(session)
        # The step and the norm are named.
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"(?s)norm is not finite.*\[1\] \[-?(nan|inf)\]"
        ):
            session.run(step.train_op, {factor: bad})
        np.testing.assert_equal(values_of_variables(session), before)


@pytest.mark.parametrize("excluded", [[KERNEL, BIAS], [f"{BIAS}:0", f"{TABLE}:0"]])
def test_create_optimizer_leaves_excluded_variables(excluded):
    """With the reference's arguments by position."""
    loss = model_loss(examples(4))
    train_op = optimization.create_optimizer(
        loss, 0.1, 10, 0, False, "lamb", 2.0, 0, False, excluded
    )
    with new_session() as session:
        session.run(train_op)
        after = values_of_variables(session)
    assert after["global_step"] == 1
    for name, before in WEIGHTS.items():
        stays = any(item.split(":")[0] == name for item in excluded)
        assert stays == np.array_equal(before.astype(np.float32), after[name]), name
        assert stays == (f"{name}/adam_m" not in after)


@pytest.mark.skipif(not compat.is_tf2(), reason="TensorFlow 1.15 compiles nothing")
def test_rules_are_compiled_once():
    """Each function of its own would be compiled for itself: a third of a first step's time."""
    table, kernel, bias = (variable(name, np.ones([4])) for name in WEIGHTS)
    train_step(tf.reduce_sum(table * kernel + bias), use_xla=True)
    library = tf.get_default_graph().as_graph_def().library.function
    assert sum("adam" in function.signature.name for function in library) == 2  # with decay and not


# ---- loss scale ----


def variables_after_updates(factors, *, scale, **flags):
    """The variables after each update of a loss times such a factor, first those before."""
    factor = tf.placeholder(tf.float32, [8])
    step = model_step(dict(examples(8), factor=factor), has_scale=True, **flags)
    with new_session() as session:
        (held,) = [item for item in tf.global_variables() if item.op.name == "loss_scale"]
        assert session.run(held) == optimization.LossScale.FIRST
        held.load(scale, session)
        yield values_of_variables(session)
        for number in factors:
            norm = session.run(step, {factor: [1.0] * 7 + [number]}).gradient_norm
            assert np.isfinite(norm) == np.isfinite(number)
            yield values_of_variables(session)


@pytest.mark.parametrize("optimizer, steps, bad", [("adamw", 1, np.inf), ("lamb", 2, np.nan)])
def test_loss_scale_halves_and_doubles(monkeypatch, optimizer, steps, bad):
    assert optimization.LossScale.GROWTH_STEPS == 2000
    monkeypatch.setattr(optimization.LossScale, "GROWTH_STEPS", 3)
    largest = optimization.LossScale.LARGEST
    factors = [1.0, 1.0, bad] + [1.0] * 7
    states = list(variables_after_updates(factors, scale=largest, optimizer=optimizer, steps=steps))
    in_halves = [state["loss_scale"] / largest for state in states]
    assert in_halves == [1, 1, 1, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1]
    assert [state["loss_scale_good_steps"] for state in states] == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]
    assert [state["global_step"] for state in states] == list(range(11))
    assert_left_out(*states[2:5])


def assert_left_out(good, skipped, last):
    for name in [name for name in good if "/" in name]:
        np.testing.assert_array_equal(skipped[name], good[name], err_msg=name)
    assert not np.array_equal(last[KERNEL], good[KERNEL])


def test_loss_scale_of_one_fails_on_overflow():
    states = variables_after_updates([1.0, np.inf, np.inf], scale=2.0)
    assert [next(states)["loss_scale"] for _ in range(3)] == [2, 2, 1]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"(?s)norm is not finite.*\[2\] \[-?(nan|inf)\]"
    ):
        next(states)


# ---- shards of a TPU ----


@each_optimizer
def test_nonfinite_gradients_of_shards_change_nothing(monkeypatch, optimizer):
    monkeypatch.setattr(tf.tpu, "cross_replica_sum", lambda tensor: 2.0 * tensor)
    factor, seen = tf.placeholder(tf.float32, []), []
    batch = dict(examples(4), factor=factor)
    step = model_step(batch, use_tpu=True, optimizer=optimizer, use_resource=True)
    with new_session() as session:
        for number in (1.0, np.nan, np.inf, 1e30, 1.0):
            session.run(step.train_op, {factor: number})
            seen.append(values_of_variables(session))
    for values in seen[1:4]:
        np.testing.assert_equal(values, seen[0])
    assert [values["global_step"] for values in seen] == [1, 1, 1, 1, 2]
    assert_left_out(*seen[2:])


# ---- micro-batches ----


@tf.custom_gradient
def doubled_with_own_gradient(tensor):
    return 2.0 * tensor, lambda gradient: 2.0 * gradient


@pytest.mark.parametrize("steps, use_resource", [(1, False), (2, True), (4, False), (8, True)])
def test_accumulated_gradients_equal_whole_batch(steps, use_resource):
    batch = examples(8)

    def loss_fn(part, index):
        # As an encoder with scope=None, whose names must not count up.
        with tf.variable_scope(None, default_name="encoder"):
            loss = doubled_with_own_gradient(model_loss(part, use_resource=use_resource))
        return loss, {"in_order": tf.cast(index, tf.float32) * tf.reduce_sum(part["targets"])}

    sums = optimization.accumulate_gradients(loss_fn, batch, steps)
    assert list(sums.gradients) == [f"encoder/{name}" for name in WEIGHTS]
    with new_session() as session:
        loss, gradients, metrics = session.run([sums.loss, sums.gradients, sums.metrics])
    expected = recorded.arrays("optimizer", "gradients").values()
    for found, wanted in zip(gradients.values(), expected):
        np.testing.assert_allclose(found, 2.0 * wanted, rtol=1e-5, atol=1e-5)
    errors = WEIGHTS[TABLE][batch["ids"]].mean(1) @ WEIGHTS[KERNEL] - batch["targets"]
    np.testing.assert_allclose(loss, 40.0 * (errors**2).mean(0).sum(), rtol=1e-5)
    in_order = np.arange(steps) @ batch["targets"].reshape(steps, -1).sum(1)
    np.testing.assert_allclose(metrics["in_order"], in_order, rtol=1e-5, atol=1e-6)
