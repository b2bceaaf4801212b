# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification head against the reference's outputs, and the names programs rely on."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, modeling
from albert.classification import features as classifier_features
from albert.data import batches as input_pipeline
from albert.data import padded_batches
from tests.support import classification_data as data
from tests.support.shared import needs_shared, shared_path

GOLDEN = (("cls3", "mnli", 3), ("cls2", "mrpc", 2), ("cls2_cola", "cola", 2), ("stsb", "STS-B", 1))
INPUTS = ("input_ids", "input_mask", "segment_ids", "label_ids")
TRAIN, EVAL = tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL


def golden(name):
    arrays = np.load(str(shared_path("golden/classifier_loss.npz")))
    return {key.split("/", 1)[1]: arrays[key] for key in arrays if key.startswith(name + "/")}


def golden_config():
    return modeling.AlbertConfig.from_json_file(str(shared_path("golden/heads/albert_config.json")))


def checkpoint_of(name):
    return str(shared_path(f"golden/heads/{name}/model.ckpt"))


@needs_shared
@pytest.mark.parametrize("name,task,labels", GOLDEN)
def test_the_model_gives_the_references_outputs(name, task, labels):
    expected = golden(name)
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = classifier_utils.create_model(
            golden_config(),
            False,
            *[tf.constant(expected[key]) for key in INPUTS],
            labels,
            False,
            task,
            None,
        )
        tf.train.Saver(tf.trainable_variables()).restore(session, checkpoint_of(name))
        values = session.run(list(outputs))
    keys = ("loss", "per_example_loss", "probabilities", "logits", "predictions")
    for key, value in zip(keys, values):
        assert value.shape == expected[key].shape and value.dtype == expected[key].dtype
        np.testing.assert_allclose(value, expected[key], atol=1e-4, err_msg=key)


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("name,task,labels", GOLDEN)
def test_the_model_function_measures_what_the_references_did(name, task, labels):
    text = shared_path("golden/heads/eval_metrics.json").read_text(encoding="utf-8")
    expected = json.loads(text)[name]["metrics"]
    arrays = golden(name)
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = {
            key: tf.placeholder(arrays[key].dtype, (8,) + arrays[key].shape[1:])
            for key in INPUTS + ("is_real_example",)
        }
        model_fn = classifier_utils.model_fn_builder(
            golden_config(), labels, checkpoint_of(name), 1e-3, 10, 0, False, False, task
        )
        metric_fn, tensors = model_fn(feeds, None, EVAL, {}).eval_metrics
        pairs = metric_fn(**tensors)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for rows in (slice(0, 8), slice(8, 16)):
            feed = {feeds[key]: arrays[key][rows] for key in feeds}
            session.run([update for _, update in pairs.values()], feed)
        measured = session.run({key: value for key, (value, _) in pairs.items()})
    for key in set(expected) - {"pred", "label_ids"}:
        assert measured[key] == pytest.approx(expected[key], abs=1e-4), key


@needs_shared
def test_the_heads_variables_have_the_published_names():
    names = shared_path("golden/heads/cls3/variables.txt").read_text(encoding="utf-8").split("\n")
    with tf.Graph().as_default():
        ids = tf.zeros([1, 8], tf.int32)
        classifier_utils.create_model(
            golden_config(), False, ids, ids, ids, None, 3, False, "mnli", None
        )
        built = {
            f"{variable.op.name}\t{variable.shape.as_list()}"
            for variable in tf.trainable_variables()
        }
    assert built == {name for name in names if name}


def test_a_preln_encoder_gets_a_layer_norm_before_the_head():
    config = modeling.AlbertConfig.from_dict(dict(data.CONFIG, ln_type="preln"))
    with tf.Graph().as_default():
        ids = tf.zeros([1, 8], tf.int32)
        classifier_utils.create_model(config, False, ids, ids, ids, None, 2, False, "afqmc", None)
        names = {variable.op.name for variable in tf.trainable_variables()}
    assert {"loss/LayerNorm/beta", "loss/LayerNorm/gamma", "output_weights"} <= names


def test_whole_numbers_are_labels_of_a_regression_too():
    config = modeling.AlbertConfig.from_dict(data.CONFIG)
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.ones([2, 8], tf.int32)
        loss, *_ = classifier_utils.create_model(
            config, False, ids, ids, ids, tf.constant([1, 3]), 1, False, "sts-b", None
        )
        session.run(tf.global_variables_initializer())
        assert np.isfinite(session.run(loss))


def test_without_labels_there_is_no_loss():
    config = modeling.AlbertConfig.from_dict(data.CONFIG)
    with tf.Graph().as_default():
        ids = tf.ones([2, 8], tf.int32)
        outputs = classifier_utils.create_model(
            config, False, ids, ids, ids, None, 2, False, "my own", None
        )
    assert outputs[:2] == (None, None)


def test_the_published_names_are_found_here():
    for processor in classifier_utils.PROCESSORS.values():
        assert getattr(classifier_utils, processor.__name__) is processor
    for name in (
        "InputExample",
        "PaddingInputExample",
        "InputFeatures",
        "convert_single_example",
        "file_based_convert_examples_to_features",
    ):
        assert callable(getattr(classifier_utils, name))


# ---------------------------------------------------------------------------------------------
# Padding.

LENGTH = 48


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("records") / "records")
    generator = np.random.RandomState(0)
    spec = classifier_features.feature_spec(LENGTH, False)
    with input_pipeline.AtomicRecordWriter(path, {}) as writer:
        for _ in range(24):
            used = generator.randint(4, 30)
            ids = generator.randint(5, 300, used).tolist()
            padding = [0] * (LENGTH - used)
            writer.write(
                spec.encode(
                    {
                        "input_ids": ids + padding,
                        "input_mask": [1] * used + padding,
                        "segment_ids": [0] * LENGTH,
                        "label_ids": int(generator.randint(0, 2)),
                        "is_real_example": 1,
                    }
                )
            )
    return path


def served(file, padding, *, is_training):
    spec = classifier_features.feature_spec(LENGTH, False)
    return padded_batches.input_fn(
        file,
        spec,
        is_training=is_training,
        batch_size=4,
        padding=padded_batches.Padding(padding),
        seed=5,
    )


def losses_of(file, padding, *, use_xla=False, steps=5):
    """The losses of a training without dropout in the encoder."""
    config = modeling.AlbertConfig.from_dict(
        dict(data.CONFIG, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    )
    model_fn = classifier_utils.model_fn_builder(
        config, 2, None, 1e-3, 100, 0, False, False, "mrpc", seed=5, use_xla=use_xla
    )
    input_fn = served(file, padding, is_training=True)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        features = tf.data.make_one_shot_iterator(input_fn({})).get_next()
        length = tf.shape(features["input_ids"])[1]
        spec = model_fn(features, None, TRAIN, {})
        session.run(tf.global_variables_initializer())
        fetched = [session.run([spec.loss, length, spec.train_op])[:2] for _ in range(steps)]
    return [loss for loss, _ in fetched], [length for _, length in fetched]


@pytest.mark.slow
@pytest.mark.parametrize("use_xla", [False, True])
def test_padding_to_the_longest_gives_the_losses_of_padding_to_the_end(file, use_xla):
    full, lengths = losses_of(file, "max", use_xla=use_xla)
    cut, cut_lengths = losses_of(file, "longest", use_xla=use_xla)
    assert set(lengths) == {LENGTH} and max(cut_lengths) <= 32
    np.testing.assert_allclose(cut, full, atol=1e-6)


@pytest.mark.slow
def test_with_our_padding_the_batch_size_of_the_estimator_goes_before_the_arguments(file):
    input_fn = served(file, "max", is_training=False)
    with tf.Graph().as_default():
        batch = tf.data.make_one_shot_iterator(input_fn({"batch_size": 6})).get_next()
        with tf.Session() as session:
            assert session.run(batch["label_ids"]).shape == (6,)
