# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model against the reference's outputs, from checkpoints the reference wrote."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import configs, modeling
from tests.support import model_outputs
from tests.support.shared import needs_shared, shared_path

CASES = ("base", "groups3", "inner2", "groups2_inner2", "equal", "relu", "tanh", "dropout")

pytestmark = needs_shared


def _compute(case, arrays, **model_options):
    folder = shared_path(f"golden/model_tiny/{case}")
    config = modeling.AlbertConfig.from_json_file(f"{folder}/albert_config.json")
    with tf.Graph().as_default():
        outputs = model_outputs.build(config, arrays, **model_options)
        saver = tf.train.Saver(tf.trainable_variables())
        with tf.Session() as session:
            saver.restore(session, f"{folder}/model.ckpt")
            return session.run(outputs)


def _assert_equal(outputs, arrays):
    for name, expected in arrays.items():
        if name in outputs:
            actual = outputs[name].reshape(expected.shape)
            np.testing.assert_allclose(actual, expected, atol=1e-4, err_msg=name)
    assert {"sequence_output", "mlm_log_probs", "sop_loss", "encoder_layer_0"} <= set(arrays)


@pytest.mark.parametrize(
    "options",
    [
        {"use_one_hot_embeddings": True, "use_einsum": False},
        pytest.param({"use_xla": True}, marks=pytest.mark.slow),
    ],
    ids=["plain", "fused"],
)
@pytest.mark.parametrize("case", CASES)
def test_outputs_equal_the_reference(case, options):
    arrays = dict(np.load(shared_path(f"golden/model_tiny/{case}/io.npz")))
    _assert_equal(_compute(case, arrays, **options), arrays)


def test_all_zero_mask_equals_the_reference():
    arrays = dict(np.load(shared_path("golden/model_tiny/base/io_zero_mask_row.npz")))
    outputs = _compute("base", arrays)
    for name in ("sequence_output", "pooled_output"):
        np.testing.assert_allclose(outputs[name][1], arrays[name][1], atol=1e-2)
        others = [0, 2, 3, 4]
        np.testing.assert_allclose(outputs[name][others], arrays[name][others], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["base", "large", "xlarge", "xxlarge"])
def test_variables_have_reference_order(size):
    folder = shared_path("golden/model_tiny")
    for version in ("v1", "v2"):
        path = configs.preset_path(f"albert_{size}_{version}")
        with tf.Graph().as_default():
            config = modeling.AlbertConfig.from_json_file(path)
            model_outputs.build(config, dict(np.load(folder / "base/io.npz")))
            found = [f"{v.op.name}\t{v.shape.as_list()}" for v in tf.trainable_variables()]
        assert found == (folder / f"variables_{size}.txt").read_text().splitlines()
