# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model function of fine-tuning: losses, seeds, micro-batches, modes and metrics."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from albert.configs.flags import FineTuningFlags
from albert.runtimes import estimator as tf_estimator
from albert.training import hooks
from albert.training import model_fn as training_graph
from tests.support import classification_data as data
from tests.support.shared import needs_shared, shared_path

TRAIN, PREDICT = tf_estimator.ModeKeys.TRAIN, tf_estimator.ModeKeys.PREDICT
MODULE = str(shared_path("golden/hub/module"))


def config(**changes):
    return modeling.AlbertConfig.from_dict(dict(data.CONFIG, **changes))


def batch_of(count=8, length=16, seed=0):
    generator = np.random.RandomState(seed)
    mask = np.arange(length) < generator.randint(3, length, [count, 1])
    return {
        "input_ids": (generator.randint(5, 300, [count, length]) * mask).astype(np.int32),
        "input_mask": mask.astype(np.int32),
        "segment_ids": np.zeros([count, length], np.int32),
        "label_ids": generator.randint(0, 2, [count]).astype(np.int32),
    }


def head(features, encoder):
    """A score of the pooled output, and its squared distance from the label."""
    encoded = encoder(features["input_ids"], features["input_mask"], features["segment_ids"])
    pooled = encoder.dropout(encoded.pooled_output, 0.3)
    weights = modeling.get_weight("head/kernel", [int(pooled.shape[-1]), 1], 0.5)
    score = tf.squeeze(tf.matmul(pooled, weights), -1)
    labels = tf.cast(features["label_ids"], tf.float32)
    return fine_tuning_utils.HeadOutput(
        tf.square(score - labels), {"score": score}, {"distance": tf.abs(score - labels)}
    )


def model_fn_of(function=head, schedule=(10,), albert_config=None, **flags):
    flags = {"learning_rate": 0.01, "use_xla": False, **flags}
    return training_graph.build_model_fn(
        FineTuningFlags(**flags),
        albert_config or config(),
        function,
        schedule=training_graph.Schedule(*schedule),
    )


@pytest.mark.parametrize("params", [{}, {"model_dir": "folder"}])
def test_a_tpu_reports_to_its_host_only_into_a_folder(params):
    with tf.Graph().as_default():
        features = {name: tf.constant(value) for name, value in batch_of().items()}
        spec = model_fn_of(use_tpu=True)(features, None, TRAIN, params)
    assert bool(spec.host_call) == bool(params)


def train(batch, steps=3, function=head, **settings):
    """Returns losses, reported numbers and final variables of a few updates."""
    model_fn = model_fn_of(function, **settings)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        features = {name: tf.constant(value) for name, value in batch.items()}
        spec = model_fn(features, None, TRAIN, {})
        scalars = hooks.reported_scalars()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            fetched = [session.run([spec.loss, scalars, spec.train_op])[:2] for _ in range(steps)]
            values = session.run({item.op.name: item for item in tf.trainable_variables()})
    return [loss for loss, _ in fetched], [numbers for _, numbers in fetched], values


# ---------------------------------------------------------------------------------------------
# The model function.


@pytest.mark.slow
def test_losses_are_a_function_of_seed_and_step():
    # train() gives the graph the seed 1.
    first, second, other = (train(batch_of(), seed=seed) for seed in (1, None, 2))
    losses, scalars, _ = first
    assert losses == second[0] and losses[0] != other[0][0]
    assert scalars[0]["loss"] == losses[0]
    assert set(scalars[0]) == {"loss", "distance", "learning_rate", "gradient_norm"}
    assert 0 < scalars[0]["distance"] <= np.sqrt(losses[0]) + 1e-6


@pytest.mark.slow
def test_micro_batches_make_the_update_of_the_whole_batch():
    no_dropout = config(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)

    def deterministic(features, encoder):
        encoder.is_training = False
        return head(features, encoder)

    whole, parts = (
        train(
            batch_of(),
            4,
            deterministic,
            albert_config=no_dropout,
            gradient_accumulation_steps=steps,
        )[0]
        for steps in (1, 4)
    )
    np.testing.assert_allclose(whole, parts, atol=1e-5)


@pytest.mark.slow
def test_three_hundred_updates_in_float16_end_at_the_loss_of_float32():
    # A quarter of the labels is wrong, so that a perfect model has a loss of 3/16, and the best
    # constant score (which is where training begins) one of 1/4.
    batch = {name: np.repeat(value, 4, axis=0) for name, value in batch_of(4, length=8).items()}
    batch["label_ids"] = np.array([1, 1, 1, 0, 0, 0, 0, 1] * 2, np.int32)
    settings = {"learning_rate": 3e-3, "schedule": (300, 30), "seed": 1}
    single, half = (
        train(batch, 300, precision=precision, **settings) for precision in ("float32", "float16")
    )
    losses = [np.mean(run[0][-20:]) for run in (single, half)]
    assert losses[0] < 0.22
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert half[0] != single[0]
    assert set(half[1][0]) == {*single[1][0], "loss_scale"}
    assert {value.dtype for value in half[2].values()} == {np.dtype("float32")}


@pytest.mark.slow
def test_the_model_starts_from_a_checkpoint_and_says_so(tmp_path, caplog):
    with tf.Graph().as_default(), tf.Session() as session:
        modeling.AlbertModel(config(), False, tf.zeros([1, 4], tf.int32), scope="bert")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt-best"))
    with caplog.at_level("INFO", "albert"):
        _, _, values = train(
            batch_of(), steps=1, init_checkpoint=str(tmp_path), learning_rate=0.0, seed=1
        )
    stored = tf.train.load_checkpoint(str(tmp_path / "model.ckpt-best"))
    for name in values:
        if name.startswith("bert/"):
            np.testing.assert_array_equal(values[name], stored.get_tensor(name))
    assert "1 variable (16 parameters) new, at random: head/kernel" in caplog.text


def test_prediction_needs_no_labels_and_names_its_examples():
    batch = batch_of()
    batch["example_index"] = np.arange(8, dtype=np.int32)

    def without_loss(features, encoder):
        return head(features, encoder)._replace(per_example_loss=None)

    with tf.Graph().as_default():
        features = {name: tf.constant(value) for name, value in batch.items()}
        model_fn = model_fn_of(without_loss)
        assert set(model_fn(features, None, PREDICT, {}).predictions) == {"score", "example_index"}


def test_evaluation_inside_the_graph_counts_real_examples_only():
    batch = batch_of()
    batch["is_real_example"] = np.array([1] * 5 + [0] * 3, np.int32)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {name: tf.constant(value) for name, value in batch.items()}
        spec = model_fn_of()(features, None, tf_estimator.ModeKeys.EVAL, {})
        metric_fn, tensors = spec.eval_metrics
        (name, (value, update)), *_ = metric_fn(**tensors).items()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        losses, _ = session.run([tensors["per_example_loss"], update])
        assert name == "eval_loss"
        assert session.run(value) == pytest.approx(losses[:5].mean())


@pytest.mark.slow
@needs_shared
def test_a_hub_module_is_trained():
    with tf.Graph().as_default(), tf.Session() as session:
        batch = {name: tf.constant(value) for name, value in batch_of().items()}
        model_fn = training_graph.build_for_program(
            head,
            None,
            num_train_steps=100,
            num_warmup_steps=0,
            use_one_hot_embeddings=False,
            hub_module=MODULE,
            learning_rate=0.01,
        )
        spec = model_fn(batch, None, TRAIN, {})
        session.run(tf.global_variables_initializer())
        trained = {item.op.name: item for item in tf.trainable_variables("bert/")}
        before = session.run(trained)
        session.run(spec.train_op)
        after = session.run(trained)
    first = tf.train.load_checkpoint(f"{MODULE}/variables/variables")
    assert len(trained) > 20
    for name, value in before.items():
        np.testing.assert_array_equal(value, first.get_tensor(name))
        assert 0 < np.abs(after[name] - value).max() < 1, name
