# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model, its gradients and its training against float64 NumPy; and NumPy's pass itself."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.ops import fused, plain
from tests.support import model_outputs, numpy_albert

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
HIDDEN_RATE, ATTENTION_RATE = 0.2, 0.4
DROPOUT = {"hidden_dropout_prob": HIDDEN_RATE, "attention_probs_dropout_prob": ATTENTION_RATE}
OPS = {"plain": plain, "fused": fused}


def shapes():
    """The model's variables, as the released checkpoints name them."""
    embedding, hidden, inside = 8, 12, 20
    block = "bert/encoder/transformer/group_0/inner_group_0"
    self_attention = [f"{block}/attention_1/self/{part}" for part in ("query", "key", "value")]
    dense = {
        **dict.fromkeys(self_attention, (hidden, hidden)),
        "bert/encoder/embedding_hidden_mapping_in": (embedding, hidden),
        f"{block}/attention_1/output/dense": (hidden, hidden),
        f"{block}/ffn_1/intermediate/dense": (hidden, inside),
        f"{block}/ffn_1/intermediate/output/dense": (inside, hidden),
        "bert/pooler/dense": (hidden, hidden),
        "cls/predictions/transform/dense": (hidden, embedding),
    }
    norms = {"bert/embeddings": embedding, block: hidden, "cls/predictions/transform": embedding}
    norms = {f"{path}/LayerNorm": size for path, size in norms.items()}
    norms[f"{block}/LayerNorm_1"] = hidden
    return {
        "bert/embeddings/word_embeddings": (40, embedding),
        "bert/embeddings/token_type_embeddings": (2, embedding),
        "bert/embeddings/position_embeddings": (10, embedding),
        "cls/predictions/output_bias": (40,),
        "cls/seq_relationship/output_weights": (2, hidden),
        "cls/seq_relationship/output_bias": (2,),
        **{f"{path}/kernel": shape for path, shape in dense.items()},
        **{f"{path}/bias": shape[1:] for path, shape in dense.items()},
        **{f"{path}/{part}": (n,) for path, n in norms.items() for part in ("beta", "gamma")},
    }


def weights():
    random = np.random.RandomState(11)
    drawn = {name: 0.4 * random.randn(*shape) for name, shape in sorted(shapes().items())}
    return {name: value + name.endswith("gamma") for name, value in drawn.items()}


def batch():
    """Three sequences: whole, padded, and with a hole in the mask; some ids and places repeat."""
    random = np.random.RandomState(12)
    mask = np.ones([3, 8], np.int32)
    mask[1, 5:], mask[2, 2], mask[2, 7] = 0, 0, 0
    return {
        "input_ids": random.randint(0, 9, [3, 8]).astype(np.int32),
        "input_mask": mask,
        "token_type_ids": (np.arange(8) >= [[4], [2], [5]]).astype(np.int32),
        "masked_lm_positions": np.array([[1, 6, 3], [2, 4, 0], [5, 0, 0]], np.int32),
        "masked_lm_ids": random.randint(0, 40, [3, 3]).astype(np.int32),
        "masked_lm_weights": np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]], np.float32),
        "next_sentence_labels": np.array([[0], [1], [1]], np.int32),
    }


# ---- NumPy's pass itself -------------------------------------------------------------------------


def test_gradients_of_the_numpy_pass_are_its_slopes():
    values, random = weights(), np.random.RandomState(13)
    factors = {place: random.rand(3, 8, 12) for place in (2, 3, 5, 6)}
    factors.update({0: random.rand(3, 8, 8), 1: random.rand(3, 3, 8, 8)})
    gradients = numpy_albert.run(CONFIG, values, batch(), dropout=factors).gradients
    for name, value in values.items():
        direction = random.randn(*value.shape)
        losses = [
            numpy_albert.run(
                CONFIG, dict(values, **{name: value + h * direction}), batch(), dropout=factors
            ).outputs["loss"]
            for h in (1e-5, -1e-5)
        ]
        slope = (losses[0] - losses[1]) / 2e-5
        np.testing.assert_allclose((gradients[name] * direction).sum(), slope, atol=1e-7)


# ---- the model -----------------------------------------------------------------------------------


def built(*, training, config=None, **options):
    """Every output that NumPy's pass gives, as tensors."""
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **(config or {})))
    return model_outputs.build(config, batch(), is_training=training, **options)


def new_session():
    """A session in whose graph the variables hold `weights()`."""
    session, values = tf.Session(), weights()
    variables = tf.trainable_variables()
    assert {v.op.name: tuple(v.shape.as_list()) for v in variables} == shapes()
    session.run(
        [variable.initializer for variable in variables],
        {v.initializer.inputs[1]: values[v.op.name].astype(np.float32) for v in variables},
    )
    others = set(tf.global_variables()) - set(variables)
    session.run(tf.variables_initializer(list(others)))
    return session


def outputs_and_gradients(others=(), **options):
    """Outputs and gradients by name, and the others, a list that may grow while it is built."""
    with tf.Graph().as_default():
        outputs = built(**options)
        variables = tf.trainable_variables()
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(outputs["loss"], variables)]
        named = {variable.op.name: value for variable, value in zip(variables, gradients)}
        with new_session() as session:
            return session.run([outputs, named, list(others)])


def assert_near(actual, expected, tolerance):
    """Compares by name, relative to each array's largest value and (a little) to the largest."""
    scale = max(np.abs(value).max() for value in expected.values())
    assert sorted(actual) == sorted(expected)
    for name, value in expected.items():
        bound = tolerance * (np.abs(value).max() + 0.01 * scale)
        difference = np.abs(actual[name].reshape(value.shape) - value).max()
        assert difference <= bound, f"{name}: {difference} where {bound} is allowed"


@pytest.mark.parametrize(
    "options, tolerances",
    [
        ({"training": True}, (1e-4, 1e-4)),
        ({"training": True, "use_xla": True}, (1e-4, 1e-4)),
        ({"training": False, "config": DROPOUT}, (1e-4, 1e-4)),
        ({"training": True, "compute_dtype": tf.float16}, (1e-2, 0.05)),
        ({"training": True, "compute_dtype": tf.float16, "use_xla": True}, (1e-2, 0.05)),
        ({"training": True, "compute_dtype": tf.bfloat16}, (5e-2, 0.3)),
        ({"training": True, "compute_dtype": tf.bfloat16, "use_xla": True}, (5e-2, 0.3)),
    ],
    ids=[
        *["plain", "fused", "no training"],
        *["float16", "float16 fused", "bfloat16", "bfloat16 fused"],
    ],
)
def test_outputs_and_gradients_are_those_of_numpy(options, tolerances):
    expected = numpy_albert.run(CONFIG, weights(), batch())
    outputs, gradients, _ = outputs_and_gradients(**options)
    assert {value.dtype for value in outputs.values()} == {np.dtype("float32")}
    assert_near(outputs, expected.outputs, tolerances[0])
    assert_near(gradients, expected.gradients, tolerances[1])


def test_gelu_of_a_large_number_in_float16_has_its_slope():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([300.0, -300.0, 50.0], tf.float16)
        activated = plain.gelu(x)
        found = session.run([activated, tf.gradients(activated, x)[0]])
    np.testing.assert_array_equal(found, np.array([[300, 0, 50], [1, 0, 1]], np.float16))


def recorded_masks(monkeypatch, ops):
    """The list to which the masks of the dropouts are added, in the order of the graph."""
    kept, drop = [], ops.dropout

    def recording(inputs, keep, rate):
        kept.append(keep)
        return drop(inputs, keep, rate)

    monkeypatch.setattr(ops, "dropout", recording)
    return kept


@pytest.mark.parametrize("ops", sorted(OPS))
def test_dropout_stands_in_seven_places_each_with_its_own_mask(ops, monkeypatch):
    options = {"training": True, "use_xla": ops == "fused", "config": DROPOUT}
    masks = recorded_masks(monkeypatch, OPS[ops])
    outputs, gradients, kept = outputs_and_gradients(
        masks, dropout_seed=np.array([3, 5], np.int32), **options
    )
    rates = [HIDDEN_RATE] + 2 * [ATTENTION_RATE, HIDDEN_RATE, HIDDEN_RATE]
    assert len(kept) == len(rates)
    factors = {
        place: keep.reshape((3, 8, -1) if keep.ndim == 2 else keep.shape) / (1 - rate)
        for place, (keep, rate) in enumerate(zip(kept, rates))
    }
    expected = numpy_albert.run(CONFIG, weights(), batch(), dropout=factors)
    assert_near(outputs, expected.outputs, 1e-4)
    assert_near(gradients, expected.gradients, 1e-4)
    for rate, keep in zip(rates, kept):
        assert abs(keep.mean() - (1 - rate)) < 0.1
    for first, second in ((1, 4), (2, 3), (5, 6), (2, 5), (3, 6)):
        assert (kept[first] != kept[second]).mean() > 0.2, (first, second)


def test_masks_depend_on_seed_step_and_place():
    keys = [((4, 9), 1), ((5, 9), 1), ((4, 10), 1), ((4, 9), 2), ((4, 9), 4)]
    with tf.Graph().as_default(), tf.Session() as session:
        masks = session.run(
            [
                modeling.dropout(tf.ones([50, 40]), 0.5, seed=tf.constant(seed), position=place)
                for seed, place in keys + keys[:1]
            ]
        )
    np.testing.assert_array_equal(masks[0], masks.pop())
    for first, second in itertools.combinations(range(len(keys)), 2):
        agreement = (masks[first] == masks[second]).mean()
        assert abs(agreement - 0.5) < 0.06, (keys[first], keys[second])
