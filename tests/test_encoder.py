# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model and its gradients against recorded float64 outputs, without and with dropout.

tests/fixtures/README.md says how encoder.npz was made.
"""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.ops import fused, plain
from albert.runtimes import compat
from tests.support import graphs, model_outputs
from tests.support.model_outputs import assert_near
from tests.support.recorded import arrays

HIDDEN_RATE, ATTENTION_RATE = 0.2, 0.4
CONFIG = {
    "vocab_size": 40,
    "embedding_size": 8,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_hidden_groups": 1,
    "inner_group_num": 1,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "hidden_act": "gelu",
    "max_position_embeddings": 10,
    "type_vocab_size": 2,
}
RATES = [HIDDEN_RATE] + 2 * [ATTENTION_RATE, HIDDEN_RATE, HIDDEN_RATE]
OPS = {"plain": plain, "fused": fused}


def outputs_and_gradients(others=(), *, rates=RATES, **options):
    """What the recorded weights give."""
    names = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **dict(zip(names, rates))))
    weights, batch = arrays("encoder", "weights"), arrays("encoder", "batch")
    return model_outputs.outputs_and_gradients(config, batch, others, weights=weights, **options)


@pytest.mark.parametrize(
    "dtype, use_xla, tolerances",
    [
        ("float32", False, (1e-4, 1e-4)),
        ("float16", False, (1e-2, 0.05)),
        pytest.param("float16", True, (1e-2, 0.06), marks=pytest.mark.slow),
        pytest.param("bfloat16", False, (5e-2, 0.3), marks=pytest.mark.slow),
        ("bfloat16", True, (5e-2, 0.3)),
    ],
)
def test_encoder_gives_recorded_outputs_and_gradients(dtype, use_xla, tolerances):
    # Dropout counts in training only.
    options = {"is_training": use_xla, "rates": [0.0, 0.0] if use_xla else RATES}
    outputs, gradients, _ = outputs_and_gradients(
        use_xla=use_xla, compute_dtype=tf.as_dtype(dtype), **options
    )
    assert {value.dtype for value in outputs.values()} == {np.dtype("float32")}
    assert_near(outputs, arrays("encoder", "plain/outputs"), tolerances[0])
    assert_near(gradients, arrays("encoder", "plain/gradients"), tolerances[1])


@pytest.mark.skipif(not compat.has_onednn(), reason="a CPU or TensorFlow without oneDNN")
@pytest.mark.parametrize(
    "dtype, has_matrix_unit, tolerance",
    [("float32", False, 1e-4), ("bfloat16", False, 5e-2), ("bfloat16", True, 5e-2)],
)
def test_onednn_gives_recorded_outputs(dtype, has_matrix_unit, tolerance, monkeypatch):
    monkeypatch.setattr(compat, "cpu_has", lambda flag: has_matrix_unit)
    outputs = outputs_and_gradients(compute_dtype=tf.as_dtype(dtype), use_onednn=True)[0]
    assert_near(outputs, arrays("encoder", "plain/outputs"), tolerance)


def test_gelu_of_large_float16_is_exact():
    with graphs.new_session() as session:
        x = tf.constant([300.0, -300.0, 50.0], tf.float16)
        activated = plain.gelu(x)
        found = session.run([activated, tf.gradients(activated, x)[0]])
    np.testing.assert_array_equal(found, np.array([[300, 0, 50], [1, 0, 1]], np.float16))


@pytest.mark.parametrize("ops", sorted(OPS))
def test_dropout_has_a_mask_for_each_place(ops, monkeypatch):
    drawn, masks, drop = [], arrays("encoder", "masks"), OPS[ops].dropout

    def with_recorded_mask(inputs, keep, rate):
        drawn.append(keep)
        mask = tf.reshape(tf.constant(masks[str(len(drawn) - 1)]), tf.shape(keep))
        return drop(inputs, mask, rate)

    monkeypatch.setattr(OPS[ops], "dropout", with_recorded_mask)
    seed = np.array([3, 5], np.int32)
    options = {"is_training": True, "use_xla": ops == "fused", "dropout_seed": seed}
    outputs, gradients, kept = outputs_and_gradients(drawn, **options)
    assert len(kept) == len(RATES)
    assert_near(outputs, arrays("encoder", "dropout/outputs"), 1e-4)
    assert_near(gradients, arrays("encoder", "dropout/gradients"), 1e-4)
    for rate, keep in zip(RATES, kept):
        assert abs(keep.mean() - (1 - rate)) < 0.1
    for first, second in ((1, 4), (2, 3), (5, 6), (2, 5), (3, 6)):
        assert (kept[first] != kept[second]).mean() > 0.2, (first, second)


def test_dropout_depends_on_seed_step_and_place():
    keys = [((4, 9), 1), ((5, 9), 1), ((4, 10), 1), ((4, 9), 2), ((4, 9), 4)]
    with graphs.new_session() as session:
        ones = tf.ones([50, 40])
        masks = [modeling.dropout(ones, 0.5, seed=tf.constant(k), position=p) for k, p in keys]
        masks, again = session.run(masks), session.run(masks[0])
    np.testing.assert_array_equal(masks[0], again)
    for first, second in itertools.combinations(masks, 2):
        assert abs((first == second).mean() - 0.5) < 0.06
