# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model against the reference's outputs, from checkpoints the reference wrote."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import configs, modeling
from tests.support.shared import needs_shared, shared_path

CASES = ("base", "groups3", "inner2", "groups2_inner2", "equal", "relu", "tanh", "dropout")
SIZES = ("variables_base", "variables_large", "variables_xlarge", "variables_xxlarge")

pytestmark = needs_shared


def _build(config, arrays, **model_options):
    """The reference's outputs by name, as tensors of a graph over constant inputs."""
    inputs = {name: tf.constant(arrays[name]) for name in ("input_ids", "input_mask")}
    model = modeling.AlbertModel(
        config=config,
        is_training=False,
        token_type_ids=tf.constant(arrays["token_type_ids"]),
        **inputs,
        **model_options,
    )
    outputs = {
        "word_embedding_output": model.get_word_embedding_output(),
        "embedding_output": model.get_embedding_output(),
        "sequence_output": model.get_sequence_output(),
        "pooled_output": model.get_pooled_output(),
    }
    for index, layer in enumerate(model.get_all_encoder_layers()):
        outputs[f"encoder_layer_{index}"] = layer
    mlm = modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        tf.constant(arrays["masked_lm_positions"]),
        tf.constant(arrays["masked_lm_ids"]),
        tf.constant(arrays["masked_lm_weights"]),
    )
    sop = modeling.get_sentence_order_output(
        config, model.get_pooled_output(), tf.constant(arrays["next_sentence_labels"])
    )
    for name, head in (("mlm", mlm), ("sop", sop)):
        for field, tensor in head._asdict().items():
            outputs[f"{name}_{field}"] = tensor
    return outputs


def _compute(case, arrays, **model_options):
    folder = shared_path(f"golden/model_tiny/{case}")
    config = modeling.AlbertConfig.from_json_file(str(folder / "albert_config.json"))
    with tf.Graph().as_default():
        outputs = _build(config, arrays, **model_options)
        saver = tf.train.Saver(tf.trainable_variables())
        with tf.Session() as session:
            saver.restore(session, str(folder / "model.ckpt"))
            return session.run(outputs)


def _assert_equal(outputs, arrays, tolerance=1e-4):
    for name, expected in arrays.items():
        if name in outputs:
            actual = outputs[name].reshape(expected.shape)
            np.testing.assert_allclose(actual, expected, atol=tolerance, err_msg=name)
    assert {"sequence_output", "mlm_log_probs", "sop_loss", "encoder_layer_0"} <= set(arrays)


@pytest.mark.parametrize("use_xla", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_forward_pass_and_losses_equal_the_reference(case, use_xla):
    arrays = dict(np.load(str(shared_path(f"golden/model_tiny/{case}/io.npz"))))
    _assert_equal(_compute(case, arrays, use_xla=use_xla), arrays)


def test_one_hot_lookup_without_einsum_equals_the_reference():
    arrays = dict(np.load(str(shared_path("golden/model_tiny/base/io.npz"))))
    options = {"use_one_hot_embeddings": True, "use_einsum": False}
    _assert_equal(_compute("base", arrays, **options), arrays)


def test_all_zero_mask_equals_the_reference():
    arrays = dict(np.load(str(shared_path("golden/model_tiny/base/io_zero_mask_row.npz"))))
    outputs = _compute("base", arrays)
    for name in ("sequence_output", "pooled_output"):
        np.testing.assert_allclose(outputs[name][1], arrays[name][1], atol=1e-2)
        others = [0, 2, 3, 4]
        np.testing.assert_allclose(outputs[name][others], arrays[name][others], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES + SIZES)
def test_variables_are_created_in_the_reference_order(case):
    folder = shared_path("golden/model_tiny")
    if case in CASES:
        files = [folder / case / "albert_config.json"]
        expected = folder / case / "variables.txt"
    else:
        preset = case.replace("variables", "albert")
        files = [configs.preset_path(f"{preset}_{version}") for version in ("v1", "v2")]
        expected = folder / f"{case}.txt"
    for file in files:
        config = modeling.AlbertConfig.from_json_file(str(file))
        with tf.Graph().as_default():
            _build(config, dict(np.load(str(folder / "base/io.npz"))))
            assert _variables() == expected.read_text().splitlines()


def _variables():
    return [f"{v.op.name}\t{v.shape.as_list()}" for v in tf.trainable_variables()]
