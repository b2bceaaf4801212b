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
        given = [labels, weight] if params["by_position"] else {"weight": weight, "label": labels}

        def means(label, weight):
            return {"label": tf.metrics.mean(label), "weight": tf.metrics.mean(weight)}

        return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, loss=loss, eval_metrics=(means, given))

    with tf.control_dependencies([weight.assign_add(tf.reduce_mean(x))]):
        train_op = step.assign_add(1)

    def first_values():
        return tf.train.Scaffold(init_fn=lambda scaffold, session: weight.load(100.0, session))

    return tf_estimator.tpu.TPUEstimatorSpec(
        mode=mode, loss=loss, train_op=train_op, scaffold_fn=first_values
    )


def input_fn(batches=BATCHES, repeat=1):
    x, labels = np.float32(batches).T

    def read(params):
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, labels)).repeat(repeat)
        return dataset.batch(params["batch_size"], drop_remainder=False)

    return read


def estimator_in(folder, *, eval_batch_size=2, function=model_fn, seed=1, by_position=False):
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
        params={"greeting": "hello", "by_position": by_position},
        train_batch_size=1,
        eval_batch_size=eval_batch_size,
        predict_batch_size=2,
        export_to_tpu=False,
    )


def stored(folder):
    """Steps and weights of the checkpoints."""
    files = pathlib.Path(folder).glob("model.ckpt-*.index")
    steps = sorted(int(file.stem.split("-")[1]) for file in files)
    path = f"{folder}/model.ckpt-"
    return {step: float(tf.train.load_variable(f"{path}{step}", "weight")) for step in steps}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a training of three steps, which tests only read."""
    folder = tmp_path_factory.mktemp("trained")
    estimator_in(folder).train(input_fn())
    return folder


def test_train_resumes_and_keeps_newest_checkpoints(tmp_path):
    estimator, read = estimator_in(tmp_path / "old"), input_fn(repeat=None)
    estimator.train(read, max_steps=3)
    # The scaffold's first value, and x of three batches.
    assert stored(tmp_path / "old") == {2: 103.0, 3: 109.0}
    (tmp_path / "old").rename(tmp_path / "new")
    estimator = estimator_in(tmp_path / "new")
    estimator.train(read, max_steps=4)  # with the first batch again, from the stored weight
    assert stored(tmp_path / "new")[4] == 110.0
    estimator.train(read, max_steps=4)  # nothing is left
    assert 5 not in stored(tmp_path / "new") and estimator.get_variable_value("weight") == 110.0


def random_weight(folder, seed):
    """The first value of a random weight."""

    def random_fn(features, labels, mode, params):
        tf.get_variable("random", [4], initializer=tf.random_normal_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(features["x"])
        return tf_estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    estimator_in(folder, function=random_fn, seed=seed).train(input_fn(), max_steps=1)
    return tf.train.load_variable(str(folder), "random").tolist()


def test_seed_decides_first_weights(tmp_path):
    first, again, other = (random_weight(tmp_path / str(n), s) for n, s in enumerate([1, 1, 2]))
    assert first == again != other


def test_saver_hook_replaces_the_usual_one(tmp_path):
    saver = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=100)
    estimator_in(tmp_path).train(input_fn(), hooks=[saver])
    assert sorted(stored(tmp_path)) == [0, 3]


def test_nan_loss_ends_training(tmp_path):
    bad = [(1.0, 0.0), (float("nan"), 0.0), (1.0, 0.0)]
    with pytest.raises(tf.train.NanLossDuringTrainingError):
        estimator_in(tmp_path).train(input_fn(bad))
    assert 3 not in stored(tmp_path)


@pytest.mark.parametrize("by_position", [False, True])
def test_evaluate_gives_means_over_batches(trained, by_position):
    estimator = estimator_in(trained, by_position=by_position)
    # Losses of the two batches are 1.5 and 6.
    expected = {"loss": 3.75, "label": 30.0, "weight": 109.0, "global_step": 3}
    assert estimator.evaluate(input_fn()) == pytest.approx(expected)
    result = estimator.evaluate(input_fn(), steps=1, checkpoint_path=f"{trained}/model.ckpt-2")
    assert result == pytest.approx({"loss": 1.5, "label": 15.0, "weight": 103.0, "global_step": 2})
    assert list((trained / "eval").glob("events.*"))


class Preempted(tf.train.SessionRunHook):
    """Loses the session once, before the third run."""

    runs = 0

    def before_run(self, run_context):
        self.runs += 1
        if self.runs == 3:
            raise tf.errors.AbortedError(None, None, "the server was restarted")


def test_evaluate_that_loses_its_session_gives_no_partial_result(trained):
    estimator = estimator_in(trained, eval_batch_size=1)
    if tf_estimator.HAS_TF_ESTIMATOR:  # it begins again
        result = estimator.evaluate(input_fn(), steps=3, hooks=[Preempted()])
        assert result["loss"] == 3.0  # of all three batches
        return
    with pytest.raises(tf.errors.AbortedError):
        estimator.evaluate(input_fn(), steps=3, hooks=[Preempted()])


def test_predict_gives_examples_or_batches(trained):
    estimator = estimator_in(trained)
    rows = list(estimator.predict(input_fn()))
    assert [row["sum"] for row in rows] == [110.0, 111.0, 115.0]
    assert rows[2]["twice"].tolist() == [6.0, 6.0]
    older = {"checkpoint_path": f"{trained}/model.ckpt-2"}
    batches = estimator.predict(input_fn(), yield_single_examples=False, **older)
    assert [batch["sum"].tolist() for batch in batches] == [[104.0, 105.0], [109.0]]


def test_estimator_tells_checkpoint_variables_and_parameters(trained, tmp_path):
    new, estimator = estimator_in(tmp_path), estimator_in(trained)
    assert new.latest_checkpoint() is None
    with pytest.raises(ValueError):
        new.get_variable_names()
    assert pathlib.Path(estimator.latest_checkpoint()) == trained / "model.ckpt-3"
    assert estimator.get_variable_names() == ["global_step", "weight"]
    assert estimator.params == {"greeting": "hello", "by_position": False}
    assert estimator.config.model_dir == estimator.model_dir == str(trained)


@pytest.mark.parametrize("name", ["input", "values"])
def test_exported_model_predicts_as_its_checkpoint(trained, tmp_path, name):
    base = tmp_path / "saved"

    def receive():
        x = tf.placeholder(tf.float32, [None], "x")
        given = x if name == "input" else {name: x}
        return tf_estimator.export.ServingInputReceiver({"x": x}, given)

    with pytest.raises(ValueError):
        estimator_in(tmp_path / "empty").export_saved_model(str(base), receive)
    older = f"{trained}/model.ckpt-2"
    for checkpoint, weight in ((None, 109.0), (older, 103.0)):  # within a second
        folder = estimator_in(trained).export_saved_model(
            str(base), receive, checkpoint_path=checkpoint
        )
        found = serve(tf.compat.as_str(folder), "serving_default", {name: [1.0, 2.0]})
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
    return one_weight.losses_of(folder)


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
def test_two_devices_share_batches_and_keep_the_seed(tmp_path):
    # 1 and 3, 5 and 7: TensorFlow's own estimator reports the sum, the others the mean.
    expected = [4.0, 12.0] if tf_estimator.HAS_TF_ESTIMATOR else [2.0, 6.0]
    losses = losses_on_two_devices(tmp_path / "first")
    assert losses == pytest.approx(expected, abs=0.02)
    assert losses == losses_on_two_devices(tmp_path / "again")
