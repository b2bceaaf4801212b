# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model by itself: configuration, sizes, variants, gradients, precision, seeds."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.ops import fused, plain
from albert.util import UserError
from tests.support import graphs, model_outputs, write_json

BATCH, LENGTH = 3, 12


def tiny_config(**changes):
    """A model that trains in milliseconds; large weights, so that errors show."""
    flags = {
        "vocab_size": 50,
        "embedding_size": 8,
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 20,
        "initializer_range": 0.3,
    }
    flags.update(changes)
    return modeling.AlbertConfig(**flags)


def features_for(config):
    """Fixed inputs with some padding."""
    generator = np.random.RandomState(5)
    return {
        "input_ids": generator.randint(0, config.vocab_size, [BATCH, LENGTH]).astype(np.int32),
        "input_mask": (np.arange(LENGTH) < np.array([[LENGTH], [7], [3]])).astype(np.int32),
        "token_type_ids": np.tile(np.int32(np.arange(LENGTH) >= 5), [BATCH, 1]),
        "masked_lm_positions": generator.randint(0, 3, [BATCH, 4]).astype(np.int32),
        "masked_lm_ids": generator.randint(0, config.vocab_size, [BATCH, 4]).astype(np.int32),
        "masked_lm_weights": np.array([[1, 1, 1, 0]] * BATCH, np.float32),
        "next_sentence_labels": np.array([[0], [1], [0]]),
    }


def build_model(config, **options):
    return model_outputs.build(config, features_for(config), **options)


def assert_same_training(config, expected=None, **options):
    """Training with the options has the expected outputs and gradients; returns its own."""
    if "dropout_seed" in options:
        options["dropout_seed"] = np.array(options["dropout_seed"], np.int32)
    found = model_outputs.outputs_and_gradients(
        config, features_for(config), is_training=True, **options
    )
    for actual, wanted in zip(found, expected or found):
        if wanted:
            model_outputs.assert_near(actual, wanted, 1e-5)
    return found


# ---- configuration -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_act": "swish"},
        {"hidden_act": ["gelu"]},
        {"num_attention_heads": 3},
        {"num_hidden_layers": 2.5},
        {"hidden_dropout_prob": 1.0},
        {"num_hidden_groups": 4},
        {"share_type": "half"},
    ],
    ids=str,
)
def test_config_refuses_wrong_setting(changes):
    (key,) = changes
    named = "'swish'" if changes[key] == "swish" else key
    with tf.Graph().as_default(), pytest.raises(ValueError, match=named):
        modeling.AlbertModel(tiny_config(**changes), False, tf.zeros([1, 2], tf.int32))


def test_config_refuses_misspelt_key():
    with pytest.raises(ValueError, match="'hiden_size'.*'hidden_size'"):
        modeling.AlbertConfig.from_dict({"vocab_size": 10, "hiden_size": 32})
    both = {"vocab_size": 10, "hidden_size": 64, "hiden_size": 32}
    assert modeling.AlbertConfig.from_dict(both).hidden_size == 64


@pytest.mark.parametrize("key, value", [("layer_norm_eps", 1e-5), ("position_embedding_type", "x")])
def test_config_file_with_a_setting_that_is_not_implemented_is_refused(key, value, tmp_path):
    path = tmp_path / "albert_config.json"
    write_json(path, {"vocab_size": 10, key: value})
    with pytest.raises(ValueError, match=f"albert_config.json.*{key}"):
        modeling.AlbertConfig.from_json_file(str(path))


@pytest.mark.parametrize("key", ["validate", "to_dict", "__class__"])
def test_config_refuses_a_key_that_is_a_name_of_the_class(key):
    with pytest.raises(UserError, match=key):
        modeling.AlbertConfig.from_dict({"vocab_size": 5, key: 1})


def test_config_keeps_unknown_keys():
    flags = json.loads(tiny_config().to_json_string())
    flags.update(net_structure_type=0, gap_size=0, directionality="bidi", layer_norm_eps=1e-12)
    config = modeling.AlbertConfig.from_dict(flags)
    assert json.loads(config.to_json_string()) == flags
    assert config.to_json_string().endswith("}\n")


# ---- variants ------------------------------------------------------------------------------------


def test_layer_groups_divide_the_layers():
    config = tiny_config(num_hidden_layers=5, num_hidden_groups=3)
    groups = [modeling.layer_groups(config, layer).attention for layer in range(5)]
    assert groups == [0, 0, 1, 1, 2]


def attention_and_gradient(**options):
    """The attention of each layer, and the word embeddings' gradient of a loss on attention."""
    config = tiny_config()
    with graphs.new_session() as session:
        tf.set_random_seed(3)
        ids, mask, *_ = map(tf.constant, features_for(config).values())
        layers = modeling.AlbertModel(config, False, ids, mask, **options).get_attention_probs()
        loss = tf.add_n([tf.nn.l2_loss(layer) for layer in layers])
        (gradient,) = tf.gradients(loss, tf.trainable_variables()[:1])
        session.run(tf.global_variables_initializer())
        return session.run([layers, tf.convert_to_tensor(gradient)])


def test_attention_sums_to_one_without_padding_and_has_a_gradient():
    layers, gradient = attention_and_gradient()
    for layer in layers:
        assert layer.shape == (BATCH, 2, LENGTH, LENGTH)
        np.testing.assert_allclose(layer.sum(axis=3), 1, atol=1e-5)
        assert layer[1, :, :, 7:].max() < 1e-6  # padding
    np.testing.assert_allclose(attention_and_gradient(use_xla=True)[1], gradient, atol=1e-5)
    assert np.abs(gradient).max() > 0.1


VARIANTS = [
    {},
    {"num_hidden_groups": 2, "inner_group_num": 2},
    {"share_type": "ffn"},
    {"share_type": "attention", "embedding_layout": "albert_zh"},
    {"ln_type": "preln"},
    {"hidden_act": "relu"},
    {"embedding_size": 16},
]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_fused_gradients_equal_autodiff(variant):
    config = tiny_config(**variant)
    assert_same_training(config, assert_same_training(config), use_xla=True)


def test_shared_weights_add_gradients_in_float32():
    with graphs.new_session() as session:
        weight = tf.constant([2.0])
        first, rest = fused.shared([weight], [tf.cast(weight, tf.bfloat16)])
        second, _ = fused.shared(rest, first)
        total = 256.0 * first[0] + second[0]  # 257 is not a number of bfloat16
        assert session.run([first[0], second[0]]) == [2, 2]
        assert session.run(tf.gradients(total, weight)[0]) == [257]


def test_compiled_bfloat16_is_rounded_as_by_a_cast():
    with graphs.new_session() as session:
        x = tf.constant([[16.0], [50.0], [3e38], [np.inf], [np.nan]], tf.bfloat16)
        bias = tf.constant([0.0, 2.0**-4, 3 * 2.0**-4, 3e38], tf.bfloat16)  # between two numbers
        found = fused.gelu_forward(x, bias)  # their gelu is their sum
        right = tf.cast(tf.cast(x, tf.float32) + tf.cast(bias, tf.float32), tf.bfloat16)
        found, right = session.run([tf.cast(one, tf.float32) for one in (found, right)])
        np.testing.assert_array_equal(found, right)
        nan = tf.bitcast(tf.constant([-1]), tf.float32)  # the one with all bits
        lost = fused.layer_norm(x, plain.Norm(nan, nan))
        assert np.isnan(session.run(tf.cast(lost, tf.float32))).all()


def test_compiled_layer_norm_of_wide_rows_equals_the_plain_one():
    with graphs.new_session() as session:
        x = tf.constant(np.random.RandomState(1).normal(size=[3, 200]), tf.float32)
        norm = plain.Norm(tf.zeros([200]), tf.range(200.0))
        outputs = [ops.layer_norm(x, norm) for ops in (fused, plain)]
        gradients = [tf.gradients(tf.square(output), [x, norm.gamma]) for output in outputs]
        found, right = session.run(list(zip(outputs, *zip(*gradients))))
        for one, other in zip(found, right):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


def second_derivative(ops):
    with graphs.new_session() as session:
        x = tf.constant([[1.0, 2.0, 4.0, 3.0]], tf.bfloat16)
        normalised = ops.layer_norm(x, plain.Norm(tf.zeros([4]), tf.range(4.0)))
        (first,) = tf.gradients(tf.square(normalised), x)
        return session.run(tf.cast(tf.gradients(tf.square(first), x)[0], tf.float32))


def test_compiled_operations_have_second_derivatives():
    np.testing.assert_allclose(second_derivative(fused), second_derivative(plain), rtol=0.2)


def vocabulary_losses(ops, labels, dtype=tf.float32):
    """Losses and logits of four places over 50 words; gradients of inputs and weights."""
    random = np.random.RandomState(1)
    with graphs.new_session() as session:
        values = (random.randn(4, 8), random.randn(50, 8), random.randn(50))
        x, table, bias = (tf.constant(value, tf.float32) for value in values)
        weights = plain.Dense(table, bias)
        losses, logits = ops.vocabulary_loss(x, weights, tf.constant(labels), compute_dtype=dtype)
        total = tf.reduce_sum(losses * [0.5, 0.0, 2.0, 1.0])
        return session.run([losses, logits, *tf.gradients(total, [x, table, bias])])


@pytest.mark.parametrize("dtype, tolerance", [(tf.float32, 2e-6), (tf.bfloat16, 0.01)])
def test_fused_vocabulary_loss_equals_plain(dtype, tolerance):
    labels = [3, 49, 3, 0]
    right = vocabulary_losses(plain, labels)
    compiled = vocabulary_losses(fused, labels, dtype)
    for value, expected in zip(compiled[:2], right[:2]):  # float32 in every precision
        np.testing.assert_allclose(value, expected, rtol=2e-6)
    for value, expected in zip(compiled[2:], right[2:]):
        assert np.abs(value - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("label", [50, -1])
def test_vocabulary_loss_refuses_label_out_of_range(label):
    for ops in (plain, fused):
        with pytest.raises(tf.errors.InvalidArgumentError):
            vocabulary_losses(ops, [3, label, 3, 0])


def test_prediction_computes_gelu_with_its_product():
    """In the graph that TensorFlow runs; only oneDNN, whose operations are _Mkl*, can do this."""
    with graphs.new_session() as session:
        output = build_model(tiny_config())["sequence_output"]
        session.run(tf.global_variables_initializer())
        options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
        session.run(output, options=options, run_metadata=metadata)
    nodes = metadata.partition_graphs[0].node
    fused_ops = [tuple(node.attr["fused_ops"].list.s) for node in nodes]
    if not any(node.op.startswith("_Mkl") for node in nodes):
        pytest.skip("This TensorFlow has no oneDNN.")
    assert fused_ops.count((b"BiasAdd", b"GeluApproximate")) == 3


@pytest.mark.slow
@pytest.mark.parametrize("use_xla", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_recomputation_changes_nothing(use_xla, dropout):
    config = tiny_config(hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    options = {"use_xla": use_xla, "dropout_seed": [7, 2]}
    kept = assert_same_training(config, **options)
    assert_same_training(config, kept, recompute=True, **options)


def test_recomputation_refuses_stateful_dropout():
    config = tiny_config(hidden_dropout_prob=0.1)
    with pytest.raises(ValueError, match="dropout_seed"):
        assert_same_training(config, recompute=True)


# ---- seeds ----


def test_initial_values_depend_on_seed_and_name():
    """The numbers hold on every runtime, whatever else is in the graph."""
    with tf.Graph().as_default():
        tf.set_random_seed(12345)
        tf.get_variable("other", [3])
        build_model(tiny_config())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = {v.op.name: session.run(v) for v in tf.trainable_variables()}
    found = values["bert/embeddings/word_embeddings"][0, :4]
    np.testing.assert_allclose(found, [0.2653442, -0.5589149, 0.11145899, 0.24032381], rtol=1e-6)
    kernel = "bert/encoder/transformer/group_0/inner_group_0/attention_1/self/{}/kernel"
    assert np.abs(values[kernel.format("query")] - values[kernel.format("key")]).max() > 0.1


# ---- inputs, exported graphs, loading ------------------------------------------------------------


@pytest.mark.parametrize("shape", [[1, 21], [5]], ids=["too long", "wrong rank"])
def test_input_of_wrong_shape_is_refused(shape):
    with tf.Graph().as_default(), pytest.raises(ValueError):
        modeling.AlbertModel(tiny_config(), False, tf.zeros(shape, tf.int32))


def test_assignment_map_gives_group_0_to_every_group(tmp_path):
    with graphs.new_session() as session:
        build_model(tiny_config())
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, f"{tmp_path}/model.ckpt")
    with tf.Graph().as_default():
        build_model(tiny_config(num_hidden_groups=3))
        variables = tf.trainable_variables()
    plain, names = modeling.get_assignment_map_from_checkpoint(variables, prefix)
    assert not any("group_1" in name for name in names)
    assert plain["bert/pooler/dense/bias"] == "bert/pooler/dense/bias"
    maps, names = modeling.get_assignment_map_from_checkpoint(variables, prefix, 3)
    source = "bert/encoder/transformer/group_0/inner_group_0/ffn_1/intermediate/dense/kernel"
    assert [m[source] for m in maps] == [source.replace("_0/i", f"_{g}/i") for g in range(3)]
    assert {v.op.name for v in variables} <= set(names)


def test_published_helpers_keep_their_results():
    with tf.Graph().as_default():
        matrix = modeling.reshape_to_matrix(tf.zeros([2, 3, 4]))
        assert matrix.shape.as_list() == [6, 4]
        assert modeling.reshape_from_matrix(matrix, [2, 3, 9]).shape.as_list() == [2, 3, 4]
        assert modeling.get_shape_list(matrix, expected_rank=[2, 3]) == [6, 4]
        assert modeling.dropout(matrix, 0.0) is matrix
        modeling.layer_norm_and_dropout(matrix, 0.1, name="norm")
        assert [v.op.name for v in tf.trainable_variables()] == ["norm/beta", "norm/gamma"]
