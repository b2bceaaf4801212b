# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Programs as people wrote them for google-research/albert, on TPUEstimator without a TPU."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import (
    classifier_utils,
    fine_tuning_utils,
    modeling,
    optimization,
)
from albert.runtimes import estimator as our_estimator
from albert.training import metrics
from tests.support import classification_data as data

LENGTH, BATCH, STEPS = 32, 8, 12
# What such a program imports from TensorFlow 2.16 on, in place of tf.estimator.
tf_estimator = getattr(tf, "estimator", our_estimator)
MODES = tf_estimator.ModeKeys

pytestmark = pytest.mark.slow


def own_model_fn(config, num_labels):
    """A classifier with a head of one's own."""

    def model_fn(features, labels, mode, params):
        del labels, params
        inputs = (features[name] for name in ("input_ids", "input_mask", "segment_ids"))
        pooled, sequence = fine_tuning_utils.create_albert(
            config, mode == MODES.TRAIN, *inputs, False, use_einsum=False, hub_module=None
        )
        hidden = tf.concat([pooled, tf.reduce_max(sequence, axis=1)], axis=-1)
        weights = tf.get_variable(
            "mine/weights", [num_labels, 2 * config.hidden_size], initializer=tf.zeros_initializer()
        )
        logits = tf.matmul(hidden, weights, transpose_b=True)
        make_spec = functools.partial(tf_estimator.tpu.TPUEstimatorSpec, mode=mode)
        if mode == MODES.PREDICT:
            return make_spec(predictions={"probabilities": tf.nn.softmax(logits)})
        label_ids = features["label_ids"]
        loss = tf.losses.sparse_softmax_cross_entropy(label_ids, logits)
        if mode == MODES.TRAIN:
            train_op = optimization.create_optimizer(loss, 1e-2, STEPS, 2, False, "lamb")
            return make_spec(loss=loss, train_op=train_op)

        def metric_fn(label_ids, logits):
            predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
            return {"eval_accuracy": tf.metrics.accuracy(label_ids, predictions)}

        return make_spec(loss=loss, eval_metrics=(metric_fn, [label_ids, logits]))

    return model_fn


def published_model_fn(config, num_labels):
    return classifier_utils.model_fn_builder(
        config, num_labels, None, 1e-3, STEPS, 0, False, False, "mrpc"
    )


@pytest.mark.parametrize("build", [own_model_fn, published_model_fn])
def test_program_trains_evaluates_and_predicts(build, tmp_path):
    """Training reads features in memory, and evaluation a record file."""
    folder, records = data.write_mrpc(tmp_path), f"{tmp_path}/dev.tf_record"
    processor = classifier_utils.MrpcProcessor(use_spm=True, do_lower_case=True)
    train, dev = processor.get_train_examples(folder), processor.get_dev_examples(folder)
    labels = processor.get_labels()
    tokenizer = fine_tuning_utils.create_vocab(
        vocab_file=None, do_lower_case=True, spm_model_file=str(data.VOCABULARY), hub_module=None
    )
    features = classifier_utils.convert_examples_to_features(
        train, labels, LENGTH, tokenizer, "mrpc"
    )
    train_fn = classifier_utils.input_fn_builder(features, LENGTH, True, True)
    classifier_utils.file_based_convert_examples_to_features(
        dev, labels, LENGTH, tokenizer, records, "mrpc"
    )
    dev_fn = classifier_utils.file_based_input_fn_builder(
        input_file=records,
        seq_length=LENGTH,
        is_training=False,
        drop_remainder=False,
        task_name="mrpc",
        use_tpu=False,
        bsz=BATCH,
    )
    estimator = tf_estimator.tpu.TPUEstimator(
        use_tpu=False,
        model_fn=build(modeling.AlbertConfig.from_dict(data.CONFIG), len(labels)),
        config=tf_estimator.tpu.RunConfig(model_dir=f"{tmp_path}/model", tf_random_seed=1),
        train_batch_size=BATCH,
        eval_batch_size=BATCH,
        predict_batch_size=BATCH,
    )
    estimator.train(input_fn=train_fn, max_steps=STEPS)
    result = estimator.evaluate(input_fn=dev_fn)
    rows = [row["probabilities"] for row in estimator.predict(dev_fn)]
    right = [labels[np.argmax(row)] == item.label for row, item in zip(rows, dev)]
    assert result["global_step"] == STEPS and len(rows) == len(dev)
    assert np.mean(right) == pytest.approx(result["eval_accuracy"])
    if build is published_model_fn:
        sides = [labels.index(item.label) for item in dev], np.argmax(rows, axis=-1)
        expected = metrics.compute(["matthew_corr"], metrics.Predictions(*map(np.array, sides), ()))
        assert {name: result[name] for name in expected} == pytest.approx(expected)
