# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of the schedule, the optimizers, clipping, replicas and gradient accumulation."""

import itertools
import re
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import lamb_optimizer, optimization
from albert.configs.flags import OptimizerFlags
from albert.runtimes import compat
from tests.support import numpy_albert
from tests.support.shared import needs_shared, shared_path

TABLE, KERNEL, BIAS, GAMMA = "embeddings/table", "dense/kernel", "dense/bias", "LayerNorm/gamma"
ROWS, WIDTH, LABELS = 7, 4, 3

either_kind_of_variable = pytest.mark.parametrize(
    "use_resource", [False, True], ids=["reference", "resource"]
)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture(params=["v1", "v2"])
def control_flow(request):
    """Runs a test with the loops of TensorFlow 1 and with those of TensorFlow 2."""
    before = tf.control_flow_v2_enabled()
    switch = {"v1": tf.disable_control_flow_v2, "v2": tf.enable_control_flow_v2}
    switch[request.param]()
    yield request.param
    switch["v2" if before else "v1"]()


def new_session(devices=1):
    session = tf.Session(config=tf.ConfigProto(device_count={"CPU": devices}))
    session.run(tf.global_variables_initializer())
    return session


def variable(name, value, use_resource=None):
    value = np.asarray(value, np.float32)
    return tf.get_variable(name, initializer=value, use_resource=use_resource)


def train_step(loss, **changes):
    flags = {"learning_rate": 0.1, **changes.pop("flags", {})}
    if "optimizer" in changes:
        flags["optimizer"] = changes.pop("optimizer")
    options = {"num_train_steps": 10, "num_warmup_steps": 0, **changes}
    return optimization.build_train_step(loss, OptimizerFlags(**flags), **options)


def values_of_variables(session):
    return session.run({item.op.name: item for item in tf.global_variables()})


# Sums in another order round otherwise, by what the processor has. Slots are linear in gradients
# and squares and stay that near. A weight's update is m / (sqrt(v) + epsilon): where the terms of a
# gradient cancel, their rounding is all that is left of it, a visible part of an update.
SAME_SLOTS, SAME_WEIGHTS = 1e-6, 1e-4


def assert_same_values(actual, expected, tolerance=None):
    assert sorted(actual) == sorted(expected)
    for name, value in expected.items():
        usual = SAME_SLOTS if name.endswith(("/adam_m", "/adam_v")) else SAME_WEIGHTS
        near = usual if tolerance is None else tolerance
        np.testing.assert_allclose(actual[name], value, rtol=near, atol=near, err_msg=name)


def examples(count, seed=0):
    random = np.random.RandomState(seed)
    ids = random.randint(0, ROWS, [count, 5]).astype(np.int32)
    targets = random.randn(count, LABELS).astype(np.float32)
    return {"ids": ids, "targets": targets}


def placeholders(batch, batch_size=None):
    return {
        name: tf.placeholder(
            tf.as_dtype(value.dtype), (batch_size or [len(value)]) + list(value.shape[1:])
        )
        for name, value in batch.items()
    }


def model_loss(batch, batch_size, use_resource=None):
    """A looked-up table, a dense layer and an unused variable; the loss is a mean."""
    random = np.random.RandomState(1)
    table = variable(TABLE, random.randn(ROWS, WIDTH), use_resource)
    kernel = variable(KERNEL, random.randn(WIDTH, LABELS), use_resource)
    bias = variable(BIAS, np.zeros(LABELS), use_resource)
    variable("unused/kernel", np.ones(LABELS), use_resource)
    mean = tf.reduce_mean(tf.nn.embedding_lookup(table, batch["ids"]), 1)  # [b, WIDTH]
    logits = tf.matmul(mean, kernel) + bias  # [b, LABELS]
    return 20.0 * tf.reduce_sum(tf.square(logits - batch["targets"])) / batch_size


class TestLearningRateSchedule:
    def rates(self, steps, **changes):
        settings = {"init_lr": 1.0, "num_train_steps": 10, "num_warmup_steps": 0}
        settings.update(changes)
        step = tf.placeholder(tf.int64, [])
        rate = optimization.learning_rate_schedule(step, **settings)
        assert rate.dtype == tf.float32
        with tf.Session() as session:
            return [float(session.run(rate, {step: value})) for value in steps]

    @pytest.mark.parametrize(
        "steps, changes, expected",
        [
            ([0, 5, 10, 12], {}, [1.0, 0.5, 0.0, 0.0]),
            ([0, 5, 9], {"poly_power": 2.0}, [1.0, 0.25, 0.01]),
            # Warm-up joins the decay counted from step zero; before its start it is negative.
            ([0, 1, 3, 4], {"num_warmup_steps": 4}, [0.0, 0.25, 0.75, 0.6]),
            (
                [0, 2, 5, 6],
                {"num_warmup_steps": 4, "start_warmup_step": 2},
                [-0.5, 0.0, 0.75, 0.4],
            ),
        ],
    )
    def test_rate_rises_linearly_and_decays_as_a_polynomial(self, steps, changes, expected):
        np.testing.assert_allclose(self.rates(steps, **changes), expected, rtol=1e-5, atol=1e-7)

    def test_warm_up_longer_than_training_warns(self, monkeypatch):
        warnings = []
        monkeypatch.setattr(tf.logging, "warning", lambda *values: warnings.append(values))
        self.rates([0], num_warmup_steps=11)
        assert len(warnings) == 1 and warnings[0][1:] == (11, 10)

    @pytest.mark.parametrize(
        "name, value",
        [
            ("num_train_steps", 0),
            ("num_train_steps", -5),
            ("num_warmup_steps", -1),
            ("init_lr", -0.1),
            ("init_lr", float("nan")),
            ("poly_power", -1.0),
            ("start_warmup_step", -1),
        ],
    )
    def test_numbers_out_of_range_are_refused(self, name, value):
        with pytest.raises(ValueError, match=f"{name}={value}"):
            self.rates([0], **{name: value})


PUBLISHED = {}
OTHERS = {
    "weight_decay_rate": 0.3,
    "adam_beta_1": 0.7,
    "adam_beta_2": 0.95,
    "adam_epsilon": 1e-2,
    "max_grad_norm": 0.25,
}


def updated(state, gradients, *, lamb, rate=0.1, numbers=PUBLISHED):
    """The states by variable after an update; KERNEL and TABLE decay and are adapted."""
    flags = OptimizerFlags(**numbers)
    return {
        name: numpy_albert.updated(
            part,
            gradients[name],
            rate=rate,
            decay=flags.weight_decay_rate if name in (KERNEL, TABLE) else 0.0,
            use_ratio=lamb and name in (KERNEL, TABLE),
            betas=(flags.adam_beta_1, flags.adam_beta_2),
            epsilon=flags.adam_epsilon,
        )
        for name, part in state.items()
    }


def assert_state(found, state):
    for name, part in state.items():
        for kind, suffix in (("w", ""), ("m", "/adam_m"), ("v", "/adam_v")):
            np.testing.assert_allclose(found[name + suffix], part[kind], atol=2e-6)


class TestUpdateRule:
    @pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
    @pytest.mark.parametrize("use_xla", [False, True], ids=["plain", "xla"])
    @pytest.mark.parametrize(
        "use_resource, numbers",
        [(False, PUBLISHED), (True, OTHERS)],
        ids=["reference-published", "resource-other_numbers"],
    )
    def test_five_updates_follow_the_published_formulas(
        self, optimizer, use_xla, use_resource, numbers
    ):
        random = np.random.RandomState(3)
        shapes = {KERNEL: (4, 3), BIAS: (3,), GAMMA: (3,), TABLE: (5, 2)}
        values = {name: random.randn(*shape) for name, shape in shapes.items()}
        variables = {name: variable(name, values[name], use_resource) for name in shapes}
        inputs = {name: tf.placeholder(tf.float32, shapes[name]) for name in shapes}
        ids = tf.placeholder(tf.int32, [4])
        rows = tf.placeholder(tf.float32, [4, 2])
        loss = tf.reduce_sum(tf.nn.embedding_lookup(variables[TABLE], ids) * rows)
        feed_names = (KERNEL, BIAS, GAMMA)
        for name in feed_names:
            loss += tf.reduce_sum(variables[name] * inputs[name])
        step = train_step(loss, optimizer=optimizer, use_xla=use_xla, flags=numbers)
        limit = numbers.get("max_grad_norm", 1.0)
        state = {name: {"w": values[name], "m": 0.0, "v": 0.0} for name in shapes}
        with new_session() as session:
            for update in range(5):
                gradients = {name: 0.1 * random.randn(*shapes[name]) for name in shapes}
                looked_up, row_gradients = random.randint(0, 3, [4]), 0.1 * random.randn(4, 2)
                gradients[TABLE] = np.zeros(shapes[TABLE])
                np.add.at(gradients[TABLE], looked_up, row_gradients)
                feed = {inputs[name]: gradients[name] for name in feed_names}
                session.run(step.train_op, {ids: looked_up, rows: row_gradients, **feed})
                squares = [(gradients[name] ** 2).sum() for name in feed_names]
                norm = np.sqrt(sum(squares) + (row_gradients**2).sum())
                clip = limit / max(norm, limit)
                gradients = {name: clip * value for name, value in gradients.items()}
                rate, lamb = 0.1 * (1 - update / 10), optimizer == "lamb"
                state = updated(state, gradients, lamb=lamb, rate=rate, numbers=numbers)
            assert_state(values_of_variables(session), state)

    @pytest.mark.parametrize(
        "optimizer", [optimization.AdamWeightDecayOptimizer, lamb_optimizer.LAMBOptimizer]
    )
    def test_gradients_applied_by_hand_leave_the_global_step_to_the_program(self, optimizer):
        gradients = {KERNEL: np.array([0.5, -2.0]), BIAS: np.array([3.0])}
        state = {
            KERNEL: {"w": np.array([1.0, 2.0]), "m": 0.0, "v": 0.0},
            BIAS: {"w": np.array([4.0]), "m": 0.0, "v": 0.0},
        }
        variables = {name: variable(name, state[name]["w"]) for name in gradients}
        pairs = [(tf.constant(gradients[name], tf.float32), variables[name]) for name in gradients]
        unused = [(None, variable("unused", [1.0])), (tf.zeros([1]), None)]
        step = tf.train.get_or_create_global_step()
        rule = optimizer(lambda: tf.constant(0.1), 0.01, exclude_from_weight_decay=["bias"])
        train_op = rule.apply_gradients(unused + pairs, global_step=step, name="mine")
        with new_session() as session:
            for _ in range(2):
                session.run(train_op)
                lamb = optimizer is lamb_optimizer.LAMBOptimizer
                state = updated(state, gradients, lamb=lamb)
            assert session.run(step) == 0
            assert_state(values_of_variables(session), state)

    def test_an_empty_list_excludes_from_adaptation_what_is_not_decayed(self):
        rule = optimization.LAMBOptimizer(0.1, 0.01, 0.8, 0.9, 1e-5, ["bias"], [], "mine")
        assert list(rule.exclude_from_layer_adaptation) == ["bias"]
        fields = ("learning_rate", "weight_decay_rate", "beta_1", "beta_2", "epsilon")
        assert [getattr(rule, name) for name in fields] == [0.1, 0.01, 0.8, 0.9, 1e-5]

    @pytest.mark.parametrize("decay", [0.0, 0.01])
    def test_trust_ratio_is_one_for_a_zero_weight_or_direction(self, decay):
        kernel, still = variable(KERNEL, np.zeros([2, 2])), variable("other/kernel", np.ones([2]))
        loss = tf.reduce_sum(kernel) * 0.25 + tf.reduce_sum(0.0 * still)
        step = train_step(loss, optimizer="lamb", flags={"weight_decay_rate": decay})
        with new_session() as session:
            session.run(step.train_op)
            # m = 0.1 g, v = 0.001 g^2: the direction is 0.1 / sqrt(0.001).
            np.testing.assert_allclose(session.run(kernel), -0.1 * 0.1 / np.sqrt(0.001), 1e-3)
            if not decay:
                np.testing.assert_array_equal(session.run(still), np.ones([2]))

    def test_exclusion_searches_anywhere_in_the_name(self):
        names = [
            "scope/debiased_weights",
            "a/layer_norm_2/beta",
            "a/LayerNorm_1/gamma",
            "dense/kernel",
        ]
        variables = [variable(name, np.ones([2])) for name in names]
        step = train_step(tf.add_n([tf.reduce_sum(0.0 * item) for item in variables]))
        with new_session() as session:
            session.run(step.train_op)
            decayed = [name for name, item in zip(names, variables) if session.run(item)[0] < 1]
        assert decayed == ["dense/kernel"]

    def test_layer_adaptation_can_be_excluded_apart_from_decay(self):
        optimizer = optimization.LAMBOptimizer(
            0.1, 0.01, exclude_from_weight_decay=["bias"], exclude_from_layer_adaptation=["kernel"]
        )
        kernel, bias = variable(KERNEL, [4.0]), variable(BIAS, [4.0])
        train_op = optimizer.minimize(tf.reduce_sum(kernel + bias))
        direction = 0.1 / np.sqrt(0.001)
        with new_session() as session:
            session.run(train_op)
            # No ratio but decay; and a ratio that makes the step 0.1 * |w| whatever the gradient.
            np.testing.assert_allclose(session.run(kernel), 4 - 0.1 * (direction + 0.04), 1e-4)
            np.testing.assert_allclose(session.run(bias), 4 - 0.1 * 4, 1e-5)


@needs_shared
class TestAgainstReference:
    RUNS = [
        f"{optimizer}_power{power}_startwarm{start}_warm{warm}"
        for optimizer in ("adamw", "lamb")
        for power, start, warm in ((1, 0, 0), (1, 0, 4), (1, 2, 4), (2, 0, 4), (2, 2, 4))
    ]

    def test_every_recorded_run_is_compared(self):
        golden = np.load(str(shared_path("golden/optimizer.npz")))
        recorded = {key.split("/")[0] for key in golden.files if "_power" in key}
        assert recorded == set(self.RUNS)

    @pytest.mark.slow
    @pytest.mark.parametrize("run", RUNS)
    def test_fourteen_updates_agree_with_the_reference(self, run):
        golden = dict(np.load(str(shared_path("golden/optimizer.npz"))))
        names = [str(name) for name in golden["names"]]
        variables = {name: variable(name, golden[f"init/{name}"]) for name in names}
        ids = tf.placeholder(tf.int32, [6])
        inputs = {
            name: tf.placeholder(tf.float32, golden[f"input/grad/{name}"].shape[1:])
            for name in names
        }
        used = dict(variables)
        table = "embeddings/word_embeddings"
        used[table] = tf.nn.embedding_lookup(variables[table], ids)
        loss = tf.add_n([tf.reduce_sum(used[name] * inputs[name]) for name in names])
        optimizer, power, start, warm_up = run.split("_")
        step = train_step(
            loss,
            optimizer=optimizer,
            num_train_steps=12,
            num_warmup_steps=int(warm_up[len("warm") :]),
            poly_power=float(power[len("power") :]),
            start_warmup_step=int(start[len("startwarm") :]),
        )
        with new_session() as session:
            for update in range(14):
                feed = {inputs[name]: golden[f"input/grad/{name}"][update] for name in names}
                feed[ids] = golden["input/embedding_ids"][update]
                _, rate, norm = session.run(step, feed)
                assert abs(rate - golden[f"{run}/learning_rate"][update]) < 1e-5
                expected = golden["input/global_norm_before_clip"][update]
                np.testing.assert_allclose(norm, expected, rtol=2e-6)
                values = values_of_variables(session)
                for name, suffix in itertools.product(names, ("", "/adam_m", "/adam_v")):
                    kind = suffix[-1:] or "var"
                    np.testing.assert_allclose(
                        values[name + suffix],
                        golden[f"{run}/{kind}/{name}"][update + 1],
                        rtol=0,
                        atol=1e-5,
                        err_msg=f"{kind} of {name} after update {update}",
                    )


class TestTrainStep:
    @either_kind_of_variable
    def test_rate_is_always_the_one_before_the_increment(self, use_resource):
        with tf.variable_scope("", use_resource=use_resource):
            global_step = tf.train.get_or_create_global_step()
            kernel = variable(KERNEL, np.ones([300, 300]))
        step = train_step(tf.reduce_mean(tf.matmul(kernel, kernel)), num_train_steps=100)
        with new_session() as session:
            rates = [session.run([step.train_op, step.learning_rate])[1] for _ in range(50)]
            assert session.run(global_step) == 50
        np.testing.assert_allclose(rates, [0.1 * (1 - k / 100) for k in range(50)], rtol=1e-5)

    def test_slots_are_saved_under_the_published_names(self, tmp_path):
        train_step(model_loss(examples(4), 4.0), optimizer="lamb")
        with new_session() as session:
            path = tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
        trained = [TABLE, KERNEL, BIAS]
        slots = [f"{name}/{slot}" for name in trained for slot in ("adam_m", "adam_v")]
        saved = [name for name, _ in tf.train.list_variables(path)]
        assert saved == sorted(trained + slots + ["unused/kernel", "global_step"])

    def test_norm_counts_rows_of_repeated_ids_separately(self):
        table = variable(TABLE, np.ones([3, 1]))
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 1, 2]) * [[3.0]])
        step = train_step(loss)
        with new_session() as session:
            _, _, norm = session.run(step)
            m = values_of_variables(session)[f"{TABLE}/adam_m"]
        np.testing.assert_allclose(norm, 6.0, rtol=1e-6)
        np.testing.assert_allclose(m, [[0.0], [0.1 * 9 / 6], [0.1 * 3 / 6]], rtol=1e-5)

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e38])
    @either_kind_of_variable
    def test_gradients_that_are_not_finite_change_nothing(self, bad, use_resource):
        factor = tf.placeholder(tf.float32, [])
        step = train_step(model_loss(examples(4), 4.0, use_resource) * factor)
        with new_session() as session:
            session.run(step.train_op, {factor: 1.0})
            before = values_of_variables(session)
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(step.train_op, {factor: bad})
            assert "gradient norm is not finite" in str(caught.value)
            assert re.search(r"\[1\] \[-?(nan|inf)\]", str(caught.value))  # step and norm
            assert_same_values(values_of_variables(session), before, tolerance=0)

    def test_the_frozen_function_takes_the_reference_arguments_by_position(self):
        loss = model_loss(examples(4), 4.0)
        train_op = optimization.create_optimizer(
            loss, 0.1, 10, 2, False, "lamb", 2.0, 1, False, [BIAS]
        )
        with new_session() as session:
            session.run(train_op)
            assert session.run(tf.train.get_global_step()) == 1
            np.testing.assert_array_equal(values_of_variables(session)[BIAS], np.zeros(LABELS))

    def test_gradients_below_the_norm_are_not_scaled(self):
        kernel, _ = variable(KERNEL, [1.0]), variable(BIAS, [1.0])
        step = train_step(0.25 * tf.reduce_sum(kernel))
        with new_session() as session:
            assert session.run(step).gradient_norm == 0.25
            values = values_of_variables(session)
        np.testing.assert_allclose(values[f"{KERNEL}/adam_m"], [0.025], rtol=1e-6)
        assert values[KERNEL] < 1.0 and values[BIAS] == 1.0

    @pytest.mark.parametrize(
        "changes, named",
        [
            ({"optimizer": "adam"}, "'adam'.*'adamw'"),
            (
                {"excluded_tvars": ["dense/kernal"]},
                "excluded_tvars.*'dense/kernal'.*'dense/kernel'",
            ),
            ({"excluded_tvars": [TABLE, KERNEL, BIAS]}, "excluded_tvars"),
        ],
    )
    def test_wrong_arguments_are_named(self, changes, named):
        with pytest.raises(ValueError, match=named):
            train_step(model_loss(examples(4), 4.0), **changes)


class TestLossScale:
    """Of float16; here the gradients are float32, and a factor makes them overflow."""

    FIRST = optimization.LossScale.FIRST

    @staticmethod
    def states(factors, *, micro_batches=1, scale=None, **settings):
        """The variables after each update of a loss times such a factor, first those before."""
        batch = examples(8)
        factor = tf.placeholder(tf.float32, [8])
        loss_scale = optimization.LossScale()
        accumulated = optimization.accumulate_gradients(
            lambda part, _: (model_loss(part, 8.0) * tf.reduce_mean(part["factor"]), {}),
            dict(batch, factor=factor),
            micro_batches,
            loss_scale=loss_scale,
        )
        given = accumulated if micro_batches > 1 else None
        step = train_step(accumulated.loss, gradients=given, loss_scale=loss_scale, **settings)
        with new_session() as session:
            if scale is not None:
                (variable,) = [v for v in tf.global_variables() if v.op.name == "loss_scale"]
                variable.load(scale, session)
            yield values_of_variables(session)
            for number in factors:
                feed = {factor: [1.0] * 7 + [number]}
                norm, value, _ = session.run(
                    [step.gradient_norm, loss_scale.value, step.train_op], feed
                )
                assert np.isfinite(norm) == np.isfinite(number)
                yield dict(values_of_variables(session), used=value, norm=norm)

    @pytest.mark.parametrize(
        "optimizer, micro_batches, bad", [("adamw", 1, np.inf), ("lamb", 2, np.nan)]
    )
    def test_an_overflow_leaves_the_update_out_and_halves_the_scale(
        self, optimizer, micro_batches, bad
    ):
        states = list(
            self.states([1.0, bad, 1.0], optimizer=optimizer, micro_batches=micro_batches)
        )
        _, good, skipped, last = states
        trained = [name for name in good if "/" in name]
        assert f"{KERNEL}/adam_v" in trained
        for name in trained:
            np.testing.assert_array_equal(skipped[name], good[name])
        assert not np.array_equal(last[KERNEL], good[KERNEL])
        assert [state["global_step"] for state in states] == [0, 1, 2, 3]
        assert [state["loss_scale"] for state in states] == [
            *[self.FIRST] * 2,
            *[self.FIRST / 2] * 2,
        ]
        assert [state["loss_scale_good_steps"] for state in states] == [0, 1, 0, 1]
        # What the update was made with, not what comes after it.
        assert [state["used"] for state in states[1:]] == [*[self.FIRST] * 2, self.FIRST / 2]

    @pytest.mark.parametrize("use_xla, micro_batches", [(False, 2), (True, 1)])
    def test_the_scale_does_not_show_in_the_update(self, use_xla, micro_batches):
        *_, found = self.states([1.0] * 3, use_xla=use_xla, micro_batches=micro_batches)
        with tf.Graph().as_default():
            expected = train_on_one_device([examples(8)] * 3, use_xla=use_xla)
        assert found["norm"] > 1  # so that clipping counts
        assert_same_values({name: found[name] for name in expected}, expected, tolerance=1e-5)

    def test_two_thousand_good_updates_in_a_row_double_the_scale_up_to_a_limit(self, monkeypatch):
        assert optimization.LossScale.GROWTH_STEPS == 2000
        monkeypatch.setattr(optimization.LossScale, "GROWTH_STEPS", 3)
        limit = optimization.LossScale.LARGEST
        states = list(self.states([1.0] * 2 + [np.inf] + [1.0] * 7, scale=limit))
        in_halves = [state["loss_scale"] / limit for state in states]
        assert in_halves == [1, 1, 1, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1]
        counts = [state["loss_scale_good_steps"] for state in states]
        assert counts == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]

    def test_an_overflow_without_any_scale_left_fails_with_its_step(self):
        states = self.states([1.0, np.inf, np.inf], scale=2.0)
        assert [next(states)["loss_scale"] for _ in range(3)] == [2, 2, 1]
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            next(states)
        assert re.search(r"gradient norm is not finite.*\[2\] \[-?(nan|inf)\]", str(caught.value))

    def test_a_tpu_has_none(self):
        with pytest.raises(ValueError, match="TPU"):
            loss_scale = optimization.LossScale()
            train_step(model_loss(examples(4), 4.0), use_tpu=True, loss_scale=loss_scale)


class TestExcludedVariables:
    @pytest.mark.parametrize(
        "excluded",
        [[KERNEL, BIAS], [f"{KERNEL}:0", f"{BIAS}:0"], [TABLE], [BIAS, TABLE], KERNEL],
        ids=["neighbours", "with_output_number", "looked_up_table", "last_first", "one_string"],
    )
    def test_exactly_the_named_variables_stay(self, excluded):
        step = train_step(model_loss(examples(4), 4.0), excluded_tvars=excluded)
        excluded = [excluded] if isinstance(excluded, str) else excluded
        with new_session() as session:
            before = values_of_variables(session)
            session.run(step.train_op)
            after = values_of_variables(session)
        for name in (TABLE, KERNEL, BIAS):
            stays = name in {item.split(":")[0] for item in excluded}
            assert stays == np.array_equal(before[name], after[name]), name
            assert stays == (f"{name}/adam_m" not in after)


def run_all(session, step, fed, batches):
    """The variables after an update by each batch."""
    for values in batches:
        session.run(step.train_op, {fed[name]: values[name] for name in fed})
    return values_of_variables(session)


def train_on_one_device(batches, **settings):
    with tf.Graph().as_default():
        fed = placeholders(batches[0])
        step = train_step(model_loss(fed, 8.0), **settings)
        with new_session() as session:
            return run_all(session, step, fed, batches)


class TwoReplicas:
    """Two CPU devices in one graph, each with half of a batch."""

    def __init__(self):
        self.strategy = tf.distribute.MirroredStrategy(
            ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
        )

    def run(self, function):
        run = getattr(self.strategy, "run", None) or self.strategy.experimental_run_v2
        with self.strategy.scope():
            tf.train.get_or_create_global_step()
            return run(function)

    def copies(self, value):
        return list(self.strategy.experimental_local_results(value))

    @staticmethod
    def half_of(batch):
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        start = 4 * int(tf.get_static_value(replica))
        return {name: value[start : start + 4] for name, value in batch.items()}

    def assert_both_copies_equal(self, session, expected):
        variables = {item.name.split(":")[0]: item for item in tf.global_variables()}
        values = session.run({name: self.copies(item) for name, item in variables.items()})
        for place in range(2):
            copy = {name: value[place] for name, value in values.items()}
            assert_same_values(copy, expected)


class TestReplicas:
    @pytest.mark.slow
    @pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
    @pytest.mark.parametrize("micro_batches", [1, 2])
    def test_two_replicas_of_four_train_as_one_of_eight(self, optimizer, micro_batches):
        batches = [examples(8, seed) for seed in range(3)]
        fed = placeholders(batches[0])
        replicas = TwoReplicas()

        def replica():
            accumulated = optimization.accumulate_gradients(
                lambda micro_batch, index: (model_loss(micro_batch, 4.0), {}),
                replicas.half_of(fed),
                micro_batches,
            )
            return train_step(accumulated.loss, optimizer=optimizer, gradients=accumulated)

        step = replicas.run(replica)
        # So Estimator reports the mean of the replicas' losses.
        assert tf.get_default_graph()._is_loss_scaled_by_optimizer
        train_op = tf.group(*replicas.copies(step.train_op))
        with new_session(devices=2) as session:
            for update, values in enumerate(batches):
                fetches = [train_op, replicas.copies(step.learning_rate)]
                _, rates = session.run(fetches, {fed[name]: values[name] for name in fed})
                np.testing.assert_allclose(rates, [0.1 * (1 - update / 10)] * 2, rtol=1e-6)
            expected = train_on_one_device(batches, optimizer=optimizer)
            replicas.assert_both_copies_equal(session, expected)

    @pytest.mark.parametrize("optimizer", ["adamw", pytest.param("lamb", marks=pytest.mark.slow)])
    def test_replicas_leave_out_the_same_update_where_one_of_them_overflows(self, optimizer):
        batch = dict(examples(8), factor=np.ones([8], np.float32))
        fed = placeholders(batch)
        replicas = TwoReplicas()

        def replica():
            loss_scale = optimization.LossScale()
            half = replicas.half_of(fed)
            loss = model_loss(half, 4.0) * tf.reduce_mean(half["factor"])
            return train_step(loss, optimizer=optimizer, loss_scale=loss_scale).train_op

        train_op = tf.group(*replicas.copies(replicas.run(replica)))
        # Only the second replica sees the last example.
        overflow = dict(batch, factor=np.array([1.0] * 7 + [np.inf], np.float32))
        with new_session(devices=2) as session:

            def update(values):
                session.run(train_op, {fed[name]: values[name] for name in fed})
                variables = {item.name.split(":")[0]: item for item in tf.global_variables()}
                return session.run({name: replicas.copies(v) for name, v in variables.items()})

            good, skipped, last = [update(values) for values in (batch, overflow, batch)]
        for name, copies in last.items():
            np.testing.assert_array_equal(copies[0], copies[1], err_msg=name)
        for name in [name for name in good if "/" in name]:
            np.testing.assert_array_equal(skipped[name], good[name], err_msg=name)
        assert not np.array_equal(last[KERNEL], good[KERNEL])
        scales = [state["loss_scale"][1] for state in (good, skipped, last)]
        assert scales == [2.0**15, 2.0**14, 2.0**14]
        assert last["global_step"] == [3, 3] and last["loss_scale_good_steps"] == [1, 1]

    @pytest.mark.parametrize("optimizer", ["adamw", "lamb"])
    def test_minimize_sums_the_replicas_gradients_as_every_optimizer_does(self, optimizer):
        replicas, batch = TwoReplicas(), examples(8)

        def update(values):
            rule = optimization.OPTIMIZERS[optimizer](0.1, 0.01)
            step = tf.train.get_or_create_global_step()
            return rule.minimize(model_loss(values, 8.0), step)

        train_op = replicas.run(lambda: update(replicas.half_of(batch)))
        with tf.Graph().as_default():
            expected_op = update(batch)
            with new_session() as session:
                session.run(expected_op)
                expected = values_of_variables(session)
        with new_session(devices=2) as session:
            session.run(tf.group(*replicas.copies(train_op)))
            replicas.assert_both_copies_equal(session, expected)


class TestTpu:
    @pytest.fixture
    def two_equal_shards(self, monkeypatch):
        def total(tensor, *_):
            return 2.0 * tf.convert_to_tensor(tensor)

        wrapper_module = sys.modules[tf.tpu.CrossShardOptimizer.__module__]
        monkeypatch.setattr(tf.tpu, "cross_replica_sum", total)
        monkeypatch.setattr(wrapper_module.tpu_ops, "cross_replica_sum", total)

    @pytest.mark.usefixtures("two_equal_shards")
    def test_two_equal_shards_train_as_one_replica(self):
        halves = [examples(4, seed) for seed in range(3)]
        whole = [
            {name: np.tile(value, [2, 1]) for name, value in batch.items()} for batch in halves
        ]
        fed = placeholders(halves[0])
        step = train_step(model_loss(fed, 4.0), use_tpu=True)
        operations = tf.get_default_graph().get_operations()
        assert not [item for item in operations if "Assert" in item.type]
        with new_session() as session:
            found = run_all(session, step, fed, halves)
        assert_same_values(found, train_on_one_device(whole))

    @pytest.mark.usefixtures("two_equal_shards")
    @pytest.mark.parametrize(
        "optimizer, compiled",
        [("adamw", False), ("lamb", False), pytest.param("lamb", True, marks=pytest.mark.slow)],
    )
    def test_an_update_of_shards_that_is_not_finite_changes_nothing(self, optimizer, compiled):
        batch = examples(4)
        with tf.variable_scope("", use_resource=True):
            tf.train.get_or_create_global_step()
            fed = placeholders(batch)

            def one_update(ids, targets):
                loss = model_loss({"ids": ids, "targets": targets}, 4.0)
                step = train_step(loss, use_tpu=True, optimizer=optimizer)
                with tf.control_dependencies([step.train_op]):
                    return tf.identity(loss)

            inputs = [fed["ids"], fed["targets"]]
            build = tf.xla.experimental.compile if compiled else lambda make, x: [make(*x)]
            update = build(one_update, inputs)[0]
            seen = []
            with new_session() as session:
                for poison in (0.0, np.nan, np.inf, 1e30, 0.0):
                    targets = batch["targets"] + poison
                    session.run(update, {fed["ids"]: batch["ids"], fed["targets"]: targets})
                    seen.append(values_of_variables(session))
        first, *refused, last = seen
        for values in refused:
            assert all(np.array_equal(values[name], first[name]) for name in first)
        assert (first["global_step"], last["global_step"]) == (1, 2)
        assert not np.array_equal(last[KERNEL], first[KERNEL]) and np.isfinite(last[KERNEL]).all()


@tf.custom_gradient
def doubled_with_own_gradient(tensor):
    return 2.0 * tensor, lambda gradient: 2.0 * gradient


class TestAccumulation:
    @pytest.mark.parametrize("steps", [1, 2, 4, 8])
    @either_kind_of_variable
    def test_sums_equal_the_gradients_of_the_whole_batch(self, steps, use_resource, control_flow):
        batch = examples(8)

        def loss_fn(micro_batch, index):
            loss = model_loss(micro_batch, 8.0, use_resource)
            loss = doubled_with_own_gradient(loss)
            squares = tf.reduce_sum(tf.square(micro_batch["targets"]), 0)
            return loss, {"squares": squares, "index": tf.cast(index, tf.int32)}

        accumulated = optimization.accumulate_gradients(loss_fn, batch, steps)
        with tf.variable_scope("", reuse=True):
            loss = 2.0 * model_loss(batch, 8.0, use_resource)
        expected = tf.gradients(loss, accumulated.variables)
        assert [item is None for item in accumulated.gradients] == [False, False, False, True]
        with new_session() as session:
            np.testing.assert_allclose(*session.run([accumulated.loss, loss]), rtol=1e-6)
            for actual, wanted in zip(accumulated.gradients[:3], expected[:3]):
                actual, wanted = tf.convert_to_tensor(actual), tf.convert_to_tensor(wanted)
                actual, wanted = session.run([actual, wanted])
                np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6 * abs(wanted).max())
            metrics = session.run(accumulated.metrics)
        np.testing.assert_allclose(metrics["squares"], (batch["targets"] ** 2).sum(0), rtol=1e-5)
        assert metrics["index"] == sum(range(steps))

    @pytest.mark.slow
    def test_training_with_micro_batches_equals_training_without(self, control_flow):
        batches = [examples(8, seed) for seed in range(4)]
        expected = train_on_one_device(batches)
        fed = placeholders(batches[0], batch_size=[None])
        accumulated = optimization.accumulate_gradients(
            lambda micro_batch, index: (model_loss(micro_batch, 8.0), {}), fed, 4
        )
        step = train_step(accumulated.loss, gradients=accumulated)
        with new_session() as session:
            assert_same_values(run_all(session, step, fed, batches), expected)

    def test_micro_batches_run_in_order_and_once_each(self, control_flow):
        seen = []

        def note(index, value):
            seen.append(int(index))
            return value

        def loss_fn(micro_batch, index):
            loss = model_loss(micro_batch, 8.0)
            noted = tf.py_func(note, [index, loss], tf.float32, stateful=True)
            return loss + tf.stop_gradient(tf.reshape(noted, [])), {}

        accumulated = optimization.accumulate_gradients(loss_fn, examples(8), 4)
        with new_session() as session:
            session.run([accumulated.loss, accumulated.gradients[:3]])
        assert seen == [0, 1, 2, 3]

    def test_scopes_named_by_default_keep_their_names(self, control_flow):
        def loss_fn(micro_batch, index):
            # As an encoder with scope=None.
            with tf.variable_scope(None, default_name="encoder"):
                return model_loss(micro_batch, 8.0), {}

        optimization.accumulate_gradients(loss_fn, examples(8), 4)
        names = [item.op.name for item in tf.trainable_variables()]
        assert names == [f"encoder/{name}" for name in (TABLE, KERNEL, BIAS, "unused/kernel")]

    @pytest.mark.parametrize(
        "batch, steps, named",
        [(examples(8), 3, "8 .* 3 "), (examples(8), 0, "0 "), ({"weight": 1.0}, 2, "'weight'")],
    )
    def test_a_batch_that_cannot_be_split_is_refused(self, batch, steps, named):
        with pytest.raises(ValueError, match=named):
            optimization.accumulate_gradients(None, batch, steps)

    def test_metrics_of_unknown_shape_and_variables_made_each_time_are_refused(self):
        def unknown_shape(micro_batch, index):
            return model_loss(micro_batch, 8.0), {"chosen": tf.where(micro_batch["ids"] > 2)}

        calls = []

        def new_variables(micro_batch, index):
            calls.append(index)
            kernel = variable(f"kernel_{len(calls)}", np.ones([LABELS]), use_resource=True)
            return tf.reduce_sum(kernel * micro_batch["targets"]), {}

        for loss_fn, named in ((unknown_shape, "'chosen'"), (new_variables, "kernel_2")):
            with pytest.raises(ValueError, match=named):
                optimization.accumulate_gradients(loss_fn, examples(8), 2)


@pytest.mark.skipif(not compat.is_tf2(), reason="TensorFlow 1.15 compiles nothing")
def test_a_rule_is_compiled_once_for_all_variables():
    """Each function of its own would be compiled for itself: a third of a first step's time."""
    table, kernel, bias = (variable(name, np.ones([4])) for name in (TABLE, KERNEL, BIAS))
    train_step(tf.reduce_sum(table * kernel + bias), use_xla=True)
    library = tf.get_default_graph().as_graph_def().library.function
    rules = [function for function in library if "adam" in function.signature.name]
    assert len(rules) == 2  # with decay and without
