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


@pytest.fixture(scope="module")
def tokenizer():
    return fine_tuning_utils.create_vocab(
        vocab_file=None, do_lower_case=True, spm_model_file=str(data.VOCABULARY), hub_module=None
    )


def in_memory(config, tokenizer, examples, labels, folder):
    """A model function of one's own, and the input of each split from features in memory."""

    def input_fn(split):
        features = classifier_utils.convert_examples_to_features(
            examples[split], labels, LENGTH, tokenizer, "mrpc"
        )
        is_training = split == "train"
        return classifier_utils.input_fn_builder(features, LENGTH, is_training, is_training)

    return own_model_fn(config, len(labels)), input_fn


def from_records(config, tokenizer, examples, labels, folder):
    """The published builders of a model function and of input from record files."""
    for split in examples:
        classifier_utils.file_based_convert_examples_to_features(
            examples[split], labels, LENGTH, tokenizer, str(folder / split), "mrpc"
        )

    def input_fn(split):
        return classifier_utils.file_based_input_fn_builder(
            input_file=str(folder / split),
            seq_length=LENGTH,
            is_training=split == "train",
            drop_remainder=split == "train",
            task_name="mrpc",
            use_tpu=False,
            bsz=BATCH,
        )

    model_fn = classifier_utils.model_fn_builder(
        albert_config=config,
        num_labels=len(labels),
        init_checkpoint=None,
        learning_rate=1e-3,
        num_train_steps=STEPS,
        num_warmup_steps=0,
        use_tpu=False,
        use_one_hot_embeddings=False,
        task_name="mrpc",
    )
    return model_fn, input_fn


@pytest.mark.parametrize("program", [in_memory, from_records])
def test_a_program_trains_evaluates_and_predicts(program, tokenizer, tmp_path):
    folder = data.write_mrpc(tmp_path)
    processor = classifier_utils.MrpcProcessor(use_spm=True, do_lower_case=True)
    dev, labels = processor.get_dev_examples(folder), processor.get_labels()
    examples = {"train": processor.get_train_examples(folder), "dev": dev}
    config = modeling.AlbertConfig.from_dict(data.CONFIG)
    model_fn, input_fn = program(config, tokenizer, examples, labels, tmp_path)
    estimator = tf_estimator.tpu.TPUEstimator(
        use_tpu=False,
        model_fn=model_fn,
        config=tf_estimator.tpu.RunConfig(model_dir=f"{tmp_path}/model", tf_random_seed=1),
        train_batch_size=BATCH,
        eval_batch_size=BATCH,
        predict_batch_size=BATCH,
    )
    estimator.train(input_fn=input_fn("train"), max_steps=STEPS)
    result = estimator.evaluate(input_fn=input_fn("dev"))
    rows = [row["probabilities"] for row in estimator.predict(input_fn("dev"))]
    right = [labels[np.argmax(row)] == item.label for row, item in zip(rows, dev)]
    assert result["global_step"] == STEPS and len(rows) == len(dev)
    assert np.mean(right) == pytest.approx(result["eval_accuracy"])
