# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trainings in float16: as good as in float32, overflows, the loss scale in files."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.configs.shared_flags import TrainingFlags
from albert.formats import warm_start
from albert.training import estimators, program
from tests.support import one_weight
from tests.support.workers import MIRRORED

pytestmark = pytest.mark.slow

STEPS, OVERFLOW = 8, 3
# The first gradient of this input, times the first scale, is more than float16 can hold.
TOO_LARGE = 1000.0


class Pair(program.Program):
    """Two weights, each to be the inverse of the input."""

    def values(self, features, encoder):
        dtype = tf.as_dtype(self.flags.precision)
        weight = tf.get_variable("bert/weight", initializer=np.array([0.5, 0.25], np.float32))
        product = tf.cast(weight, dtype) * tf.cast(features["x"], dtype)  # [b, 2]
        losses = tf.square(tf.cast(product, tf.float32) - 1.0)
        return {"": {"loss": tf.reduce_mean(losses, axis=1)}}


def model_fn_of(dtype):
    flags = TrainingFlags(learning_rate=0.1, precision=dtype.name, use_xla=False)
    config = modeling.AlbertConfig.from_dict(one_weight.CONFIG)
    return Pair(flags, config, program.Schedule(20)).model_fn


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
        model_fn_of(dtype),
        input_fn,
        max_steps=max_steps,
        documents=one_weight.DOCUMENTS,
    )


def checkpoint_of(folder, step):
    return one_weight.values_in(folder / f"model.ckpt-{step}")


@pytest.mark.parametrize(
    "arguments, stops",
    [
        ([], (OVERFLOW - 1, OVERFLOW)),
        (MIRRORED, (OVERFLOW,)),
    ],
    ids=["alone", "two"],
)
def test_float16_resumes_bit_exact_around_overflow(tmp_path, arguments, stops):
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


def test_float32_resumes_float16_only(tmp_path):
    train(tmp_path, max_steps=1)
    train(tmp_path, max_steps=2, dtype=tf.float32)
    assert "loss_scale" not in checkpoint_of(tmp_path, 2)
    with pytest.raises(ValueError, match="--precision.*--init_checkpoint"):
        train(tmp_path, max_steps=3)
    with tf.Graph().as_default():
        weight = tf.get_variable("bert/weight", [2])
        report = warm_start.warm_start(f"{tmp_path}/model.ckpt-1", [weight])
    assert not report.left_over  # loss_scale is a part of the optimizer
