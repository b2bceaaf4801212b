# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trainings in float16: as good as in float32, overflows, the loss scale in files."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.configs.flags import FineTuningFlags, TrainingFlags
from albert.pretrained import warm_start
from albert.runtimes import estimator as tf_estimator
from albert.training import estimators, hooks
from albert.training import model_fn as training_graph
from tests.support import classification_data, one_weight
from tests.support.workers import MIRRORED

STEPS, OVERFLOW = 8, 3
# The first gradient of this input, times the first scale, is more than float16 can hold.
TOO_LARGE = 1000.0


def model_fn_of(dtype):
    def loss_of(batch, seed):
        del seed
        weight = tf.get_variable("bert/weight", initializer=np.array([0.5, 0.25], np.float32))
        product = tf.cast(weight, dtype) * tf.cast(batch["x"], dtype)  # [b, 2]
        return tf.reduce_mean(tf.square(tf.cast(product, tf.float32) - 1.0)), {}

    def model_fn(features, labels, mode, params):
        del labels, mode
        settings = TrainingFlags(learning_rate=0.1, precision=dtype.name, use_xla=False)
        batch = {"x": features["x"], "input_ids": tf.zeros([1, 1], tf.int32)}
        return training_graph.training_spec(
            settings,
            loss_of,
            batch,
            schedule=training_graph.Schedule(20),
            model_dir=params.get("model_dir"),
        )

    return model_fn


def train(folder, *arguments, max_steps=STEPS, dtype=tf.float16):
    """Trains on inputs of which that of one step overflows (on the second replica, if any)."""
    x = np.linspace(0.1, 0.8, 2 * STEPS).astype(np.float32).reshape([STEPS, 2, 1])
    x[OVERFLOW - 1, 1] = TOO_LARGE

    def input_fn(start):
        def read(params):
            # A pair is an update, on one device or two.
            rows = tf.data.Dataset.from_tensor_slices({"x": x[start:].reshape([-1, 1])})
            context = params.get("input_context")
            if context and context.num_input_pipelines > 1:
                rows = rows.shard(context.num_input_pipelines, context.input_pipeline_id)
            return rows.batch(params["batch_size"], drop_remainder=True)

        return read

    flags = ["--log_steps=1", "--save_checkpoints_steps=1", "--train_batch_size=2", *arguments]
    return estimators.train(
        one_weight.settings_for(folder, *flags),
        lambda first_weights: model_fn_of(dtype),
        input_fn,
        max_steps=max_steps,
        documents=one_weight.DOCUMENTS,
    )


def checkpoint_of(folder, step):
    return one_weight.values_in(folder / f"model.ckpt-{step}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, stops",
    [
        ([], (OVERFLOW - 1, OVERFLOW)),
        (MIRRORED, (OVERFLOW,)),
    ],
    ids=["alone", "two"],
)
def test_a_run_resumed_around_an_overflow_equals_an_uninterrupted_one(tmp_path, arguments, stops):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(whole, *arguments)
    for steps in (*stops, STEPS):
        train(parts, *arguments, max_steps=steps)
    for step in (OVERFLOW - 1, OVERFLOW, STEPS):
        expected, found = checkpoint_of(whole, step), checkpoint_of(parts, step)
        np.testing.assert_equal(found, expected)
    before, after, last = [checkpoint_of(whole, step) for step in (OVERFLOW - 1, OVERFLOW, STEPS)]
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed == {"global_step", "loss_scale", "loss_scale_good_steps"}
    assert [one["loss_scale"] for one in (before, after, last)] == [2.0**15, 2.0**14, 2.0**14]
    assert last["loss_scale_good_steps"] == STEPS - OVERFLOW
    rows = one_weight.curve_of(parts)
    assert [float(row["loss_scale"]) for row in rows] == [2.0**15] * 3 + [2.0**14] * 5
    assert [bool(row["gradient_norm"]) for row in rows] == [step != 3 for step in range(1, 9)]


@pytest.mark.slow
def test_checkpoints_pass_between_precisions_where_they_can(tmp_path):
    train(tmp_path, max_steps=1)
    train(tmp_path, max_steps=2, dtype=tf.float32)
    assert "loss_scale" not in checkpoint_of(tmp_path, 2)
    with pytest.raises(ValueError, match="--precision.*--init_checkpoint"):
        train(tmp_path, max_steps=3)
    with tf.Graph().as_default():
        weight = tf.get_variable("bert/weight", [2])
        report = warm_start.warm_start(str(tmp_path / "model.ckpt-1"), [weight])
    assert not report.left_over  # loss_scale is a part of the optimizer


# ---- As good as in float32.


def head(features, encoder):
    """A score of the pooled output, and its squared distance from the label."""
    encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
    pooled = encoder.dropout(encoded.pooled_output, 0.3)
    weights = modeling.get_weight("head/kernel", [int(pooled.shape[-1]), 1], 0.5)
    score = tf.squeeze(tf.matmul(pooled, weights), -1)
    labels = tf.cast(features["label_ids"], tf.float32)
    return fine_tuning_utils.HeadOutput(tf.square(score - labels), {"score": score}, {})


def three_hundred_updates(precision):
    """The mean of the last losses, and the names of the reported numbers."""
    generator = np.random.RandomState(0)
    mask = np.repeat(np.arange(8) < generator.randint(3, 8, [4, 1]), 4, axis=0)
    ids = np.repeat(generator.randint(5, 300, [4, 8]), 4, axis=0) * mask
    # A quarter of the labels is wrong, so that a perfect model has a loss of 3/16, and the best
    # constant score (which is where training begins) one of 1/4.
    labels = [1, 1, 1, 0, 0, 0, 0, 1] * 2
    flags = FineTuningFlags(learning_rate=3e-3, seed=1, precision=precision, use_xla=False)
    config = modeling.AlbertConfig.from_dict(classification_data.CONFIG)
    schedule = training_graph.Schedule(300, 30)
    model_fn = training_graph.build_model_fn(flags, config, head, schedule=schedule)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        given = {"input_ids": ids, "input_mask": mask, "segment_ids": 0 * ids, "label_ids": labels}
        features = {name: tf.constant(value, tf.int32) for name, value in given.items()}
        spec = model_fn(features, None, tf_estimator.ModeKeys.TRAIN, {})
        assert {item.dtype.base_dtype for item in tf.trainable_variables()} == {tf.float32}
        session.run(tf.global_variables_initializer())
        losses = [session.run([spec.loss, spec.train_op])[0] for _ in range(300)]
        return np.mean(losses[-20:]), set(hooks.reported_scalars())


@pytest.mark.slow
def test_three_hundred_updates_in_float16_end_at_the_loss_of_float32():
    single, half = map(three_hundred_updates, ("float32", "float16"))
    assert single[0] < 0.22
    assert half[0] == pytest.approx(single[0], rel=0.01) and half[0] != single[0]
    assert half[1] == {*single[1], "loss_scale"}
