# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The heads of fine-tuning, and a hub module's encoder, against the reference's outputs.

tests/test_heads.py compares with recorded outputs, which need no reference.
"""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import classifier_utils, fine_tuning_utils, modeling, race_utils
from albert.tasks.squad import decoding
from albert.tasks.squad import head as squad_head
from tests.support import cases, golden_heads, graphs
from tests.support.shared import needs_shared, shared_path

pytestmark = needs_shared
KEYS = (*golden_heads.INPUTS, "is_real_example")


def classifier(task, labels):
    return (
        lambda config, inputs: classifier_utils.create_model(
            config, False, *inputs, labels, False, task, None
        ),
        lambda config, checkpoint: classifier_utils.model_fn_builder(
            config, labels, checkpoint, 1e-3, 10, 0, False, False, task
        ),
    )


# Name -> what makes create_model's outputs, and the model function.
HEADS = {
    "cls3": classifier("mnli", 3),
    "cls2": classifier("mrpc", 2),
    "cls2_cola": classifier("cola", 2),
    "stsb": classifier("STS-B", 1),
    "race": (
        lambda config, inputs: race_utils.create_model(
            config, False, *inputs, 4, False, 32, dropout_prob=0.0, hub_module=None
        ),
        lambda config, checkpoint: race_utils.model_fn_builder(
            config, 4, checkpoint, 1e-3, 10, 0, False, False, 32, 0.0, None
        ),
    ),
}


def every_head(*quick):
    return pytest.mark.parametrize("name", cases.slow_but(quick, HEADS))


@every_head("cls3", "stsb", "race")
def test_create_model_equals_the_reference(name):
    golden_heads.check_outputs(name, functools.partial(HEADS[name][0], golden_heads.config()))


@every_head("race")
def test_model_fn_metrics_equal_the_reference(name):
    arrays = golden_heads.arrays(name)
    starts = range(0, len(arrays["label_ids"]), 8)
    batches = [{key: arrays[key][start : start + 8] for key in KEYS} for start in starts]
    model_fn = HEADS[name][1](golden_heads.config(), golden_heads.checkpoint(name))
    measured = golden_heads.measured(model_fn, batches)
    for key, value in golden_heads.expected_metrics(name).items():
        assert measured[key] == pytest.approx(value, abs=1e-4), key


def run_head(name, head, *, is_training):
    """The head's outputs or, in training, the losses, with the reference's input and weights."""
    arrays = golden_heads.arrays(name)
    outputs = ("start_logits", "end_logits")
    inputs = {key: value for key, value in arrays.items() if value.ndim and "/" not in key}
    with graphs.new_session() as session:
        features = {key: tf.constant(inputs[key]) for key in inputs if key not in outputs}
        output = head(features, fine_tuning_utils.Encoder(golden_heads.config(), is_training))
        tf.train.Saver(tf.trainable_variables()).restore(session, golden_heads.checkpoint(name))
        return session.run(output.per_example_loss if is_training else output.outputs)


def test_encoder_of_a_hub_module_equals_the_reference():
    expected = np.load(shared_path("golden/hub/expected_outputs.npz"))
    with graphs.new_session() as session:
        config = modeling.AlbertConfig(7)  # the module's takes its place
        module = str(shared_path("golden/hub/module"))
        encoder = fine_tuning_utils.Encoder(config, False, hub_module=module)
        encoded = encoder(*[tf.constant(expected[name]) for name in golden_heads.INPUTS[:3]])
        session.run(tf.global_variables_initializer())
        pooled, sequence = session.run(list(encoded))
    np.testing.assert_allclose(pooled, expected["tokens/pooled_output"], atol=1e-4)
    np.testing.assert_allclose(sequence, expected["tokens/sequence_output"], atol=1e-4)


V2 = functools.partial(squad_head.v2_head, options=squad_head.V2Options(4, 3, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, head, loss, outputs",
    [
        (
            "squad_v1",
            squad_head.v1_head,
            "loss",
            {key: key for key in ("start_logits", "end_logits")},
        ),
        ("squad_v2", V2, "train/loss", {key: f"predict/{key}" for key in decoding.BEAMS}),
    ],
)
def test_squad_heads_equal_the_reference(name, head, loss, outputs):
    arrays = golden_heads.arrays(name)
    losses = run_head(name, head, is_training=True)
    assert losses.mean() == pytest.approx(float(arrays[loss]), abs=1e-4)
    predicted = run_head(name, head, is_training=False)
    for key, golden in outputs.items():
        np.testing.assert_allclose(predicted[key], arrays[golden], atol=1e-4, err_msg=key)
