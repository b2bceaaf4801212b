# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the project asks of estimators, TensorFlow's own and those that stand in for them."""

import pathlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.runtimes import estimator as tf_estimator
from tests.support import one_weight
from tests.support.fine_tuned_models import serve
from tests.support.workers import MIRRORED

MODES = tf_estimator.ModeKeys
BATCHES = [(1.0, 10.0), (2.0, 20.0), (6.0, 60.0)]  # x and its label


def model_fn(features, labels, mode, params):
    """A weight that sums x; its loss is the batch's mean of x, times the weight."""
    assert params["greeting"] == "hello"
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    x = features["x"]
    if mode == MODES.PREDICT:
        predictions = {"sum": x + weight, "twice": tf.stack([x, x], axis=1)}
        return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, predictions=predictions)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(x) * tf.math.exp(0.0 * weight)
    if mode == MODES.EVAL:
        by_name = params.get("by_name")
        metrics = (
            lambda label, weight: {
                "label": tf.metrics.mean(label),
                "weight": tf.metrics.mean(weight),
            },
            {"weight": weight, "label": labels} if by_name else [labels, weight],
        )
        return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, loss=loss, eval_metrics=metrics)

    with tf.control_dependencies([weight.assign_add(tf.reduce_mean(x))]):
        train_op = step.assign_add(1)

    def first_values():
        def begin(scaffold, session):
            weight.load(100.0, session)

        return tf.train.Scaffold(init_fn=begin)

    return tf_estimator.tpu.TPUEstimatorSpec(
        mode=mode,
        loss=loss,
        train_op=train_op,
        scaffold_fn=first_values,
    )


def input_fn(batches=BATCHES, repeat=1):
    x, labels = np.float32(batches).T

    def read(params):
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, labels)).repeat(repeat)
        return dataset.batch(params["batch_size"], drop_remainder=False)

    return read


def estimator_in(folder, *, eval_batch_size=2, function=model_fn, seed=1, **params):
    return tf_estimator.tpu.TPUEstimator(
        model_fn=function,
        config=tf_estimator.tpu.RunConfig(
            model_dir=str(folder),
            save_checkpoints_steps=2,
            keep_checkpoint_max=2,
            tf_random_seed=seed,
            save_summary_steps=0,
            log_step_count_steps=None,
        ),
        use_tpu=False,
        params=dict(params, greeting="hello"),
        train_batch_size=1,
        eval_batch_size=eval_batch_size,
        predict_batch_size=2,
        export_to_tpu=False,
    )


def stored(folder):
    """Steps and weights of the checkpoints."""
    files = pathlib.Path(str(folder)).glob("model.ckpt-*.index")
    steps = sorted(int(file.stem.split("-")[1]) for file in files)
    path = f"{folder}/model.ckpt-"
    return {step: float(tf.train.load_variable(f"{path}{step}", "weight")) for step in steps}


def test_training_goes_on_to_its_last_step_and_keeps_the_newest_checkpoints(tmp_path):
    estimator, read = estimator_in(tmp_path), input_fn(repeat=None)
    estimator.train(read, max_steps=3)
    # The scaffold's first value, and x of three batches.
    assert stored(tmp_path) == {2: 103.0, 3: 109.0}
    estimator.train(read, max_steps=4)  # with the first batch again, from the stored weight
    assert stored(tmp_path)[4] == 110.0
    estimator.train(read, max_steps=4)  # nothing is left
    assert 5 not in stored(tmp_path) and estimator.get_variable_value("weight") == 110.0


def test_a_folder_may_be_moved_between_trainings(tmp_path):
    estimator_in(tmp_path / "old").train(input_fn(), max_steps=2)
    (tmp_path / "old").rename(tmp_path / "new")
    estimator_in(tmp_path / "new").train(input_fn(), max_steps=3)
    assert stored(tmp_path / "new")[3] == 103.0 + 1.0


def random_weight(folder, seed):
    """The first value of a random weight."""

    def random_fn(features, labels, mode, params):
        tf.get_variable("random", [4], initializer=tf.random_normal_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(features["x"])
        return tf_estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    estimator_in(folder, function=random_fn, seed=seed).train(input_fn(), max_steps=1)
    return tf.train.load_variable(str(folder), "random").tolist()


def test_first_weights_are_those_of_the_seed(tmp_path):
    first, again, other = (random_weight(tmp_path / str(n), s) for n, s in enumerate([1, 1, 2]))
    assert first == again != other


def test_a_saver_among_the_hooks_replaces_the_usual_one(tmp_path):
    saver = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=100)
    estimator_in(tmp_path).train(input_fn(), hooks=[saver])
    assert sorted(stored(tmp_path)) == [0, 3]


def test_a_loss_that_is_not_a_number_ends_the_training(tmp_path):
    bad = [(1.0, 0.0), (float("nan"), 0.0), (1.0, 0.0)]
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        estimator_in(tmp_path).train(input_fn(bad))
    assert 3 not in stored(tmp_path)


class Preempted(tf.train.SessionRunHook):
    """Loses the session once, before the third run."""

    runs = 0

    def before_run(self, run_context):
        self.runs += 1
        if self.runs == 3:
            raise tf.errors.AbortedError(None, None, "the server was restarted")


@pytest.mark.parametrize("by_name", [False, True])
def test_an_evaluation_takes_means_over_its_batches(tmp_path, by_name):
    estimator = estimator_in(tmp_path, by_name=by_name)
    estimator.train(input_fn())
    result = estimator.evaluate(input_fn())
    # Losses of the two batches are 1.5 and 6.
    expected = {"loss": 3.75, "label": 30.0, "weight": 109.0, "global_step": 3}
    assert result == pytest.approx(expected)
    older = str(tmp_path / "model.ckpt-2")
    result = estimator.evaluate(input_fn(), steps=1, checkpoint_path=older)
    assert result == pytest.approx({"loss": 1.5, "label": 15.0, "weight": 103.0, "global_step": 2})
    assert list((tmp_path / "eval").glob("events.*"))


def test_an_evaluation_that_loses_its_session_gives_no_result_of_a_part(tmp_path):
    estimator = estimator_in(tmp_path, eval_batch_size=1)
    estimator.train(input_fn())
    if tf_estimator.HAS_TF_ESTIMATOR:  # it begins again
        result = estimator.evaluate(input_fn(), steps=3, hooks=[Preempted()])
        assert result["loss"] == 3.0  # of all three batches
        return
    with pytest.raises(tf.errors.AbortedError):
        estimator.evaluate(input_fn(), steps=3, hooks=[Preempted()])


def test_predictions_come_one_by_one_or_in_batches(tmp_path):
    estimator = estimator_in(tmp_path)
    estimator.train(input_fn())
    rows = list(estimator.predict(input_fn()))
    assert [row["sum"] for row in rows] == [110.0, 111.0, 115.0]
    assert rows[2]["twice"].tolist() == [6.0, 6.0]
    older = str(tmp_path / "model.ckpt-2")
    batches = list(
        estimator.predict(input_fn(), checkpoint_path=older, yield_single_examples=False)
    )
    assert [batch["sum"].tolist() for batch in batches] == [[104.0, 105.0], [109.0]]


def test_a_program_asks_for_checkpoints_variables_and_parameters(tmp_path):
    estimator = estimator_in(tmp_path, mine=[1])
    assert estimator.latest_checkpoint() is None
    with pytest.raises(ValueError):
        estimator.get_variable_names()
    estimator.train(input_fn())
    assert pathlib.Path(estimator.latest_checkpoint()) == tmp_path / "model.ckpt-3"
    assert estimator.get_variable_names() == ["global_step", "weight"]
    assert estimator.params == {"greeting": "hello", "mine": [1]}
    assert estimator.config.model_dir == estimator.model_dir == str(tmp_path)


@pytest.mark.parametrize("is_named", [False, True])
def test_an_exported_model_predicts_as_the_checkpoint_does(tmp_path, is_named):
    estimator, base = estimator_in(tmp_path / "model"), tmp_path / "saved"

    def receive():
        x = tf.placeholder(tf.float32, [None], "x")
        return tf_estimator.export.ServingInputReceiver({"x": x}, {"values": x} if is_named else x)

    with pytest.raises(ValueError):
        estimator.export_saved_model(str(base), receive)
    estimator.train(input_fn())
    older = str(tmp_path / "model" / "model.ckpt-2")
    for checkpoint, weight in ((None, 109.0), (older, 103.0)):  # within a second
        folder = estimator.export_saved_model(str(base), receive, checkpoint_path=checkpoint)
        given = {"values" if is_named else "input": [1.0, 2.0]}
        found = serve(tf.compat.as_str(folder), "serving_default", given)
        assert found["sum"].tolist() == [weight + 1.0, weight + 2.0]
    assert [path.name.isdigit() for path in base.iterdir()] == [True, True]


def losses_on_two_devices(folder):
    """Means of x, to which a small random weight is added."""

    def mean_of_x(features, labels, mode, params):
        initializer = tf.random_normal_initializer(stddev=0.001)
        loss = tf.reduce_mean(features["x"]) + tf.get_variable("w", [], initializer=initializer)
        step = tf.train.get_or_create_global_step()
        return tf_estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    flags = [*MIRRORED, "--train_batch_size=2", "--log_steps=1"]
    values = (1.0, 3.0, 5.0, 7.0)
    one_weight.train(folder, *flags, max_steps=2, values=values, function=mean_of_x)
    return [float(row["loss"]) for row in one_weight.curve_of(folder)]


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
def test_each_of_several_devices_has_its_batches(tmp_path):
    # 1 and 3, 5 and 7: TensorFlow's own estimator reports the sum, the others the mean.
    expected = [4.0, 12.0] if tf_estimator.HAS_TF_ESTIMATOR else [2.0, 6.0]
    losses = losses_on_two_devices(tmp_path / "first")
    assert losses == pytest.approx(expected, abs=0.02)
    assert losses == losses_on_two_devices(tmp_path / "again")
