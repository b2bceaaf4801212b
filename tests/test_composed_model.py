# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parts of the model that programs compose themselves, in the public script's scopes."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from tests.support import graphs
from tests.support.fine_tuned_models import NO_DROPOUT

CONFIG = {
    "vocab_size": 11,
    "embedding_size": 4,
    "hidden_size": 6,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 7,
}
GROUPS = {"num_hidden_layers": 3, "num_hidden_groups": 2, "inner_group_num": 2}
IDS = [[2, 5, 3, 7, 1], [2, 10, 3, 0, 0]]
MASK = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
TYPES = [[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]


@pytest.fixture
def session():
    with graphs.new_session() as session:
        yield session


def random(*shape):
    return np.random.RandomState(len(shape)).randn(*shape).astype(np.float32)


def computed(session, tensor):
    session.run(tf.global_variables_initializer())
    return session.run(tensor)


def constant(values):
    return tf.constant(values, tf.float32)


SIZES = ("hidden_size", "num_hidden_layers", "num_hidden_groups", "num_attention_heads")
SIZES += ("intermediate_size", "inner_group_num")


def compose(config, input_ids, input_mask, token_type_ids, *, one_hot=False, einsum=True):
    """The outputs by name, as a program makes them without AlbertModel."""
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            words, _ = modeling.embedding_lookup(
                input_ids=input_ids,
                vocab_size=config.vocab_size,
                embedding_size=config.embedding_size,
                use_one_hot_embeddings=one_hot,
            )
            embeddings = modeling.embedding_postprocessor(
                input_tensor=words,
                use_token_type=True,
                token_type_ids=token_type_ids,
                token_type_vocab_size=config.type_vocab_size,
                max_position_embeddings=config.max_position_embeddings,
                dropout_prob=0.0,
                use_one_hot_embeddings=one_hot,
            )
        with tf.variable_scope("encoder"):
            layers = modeling.transformer_model(
                input_tensor=embeddings,
                attention_mask=input_mask,
                intermediate_act_fn=modeling.get_activation(config.hidden_act),
                do_return_all_layers=True,
                use_einsum=einsum,
                **NO_DROPOUT,
                **{name: getattr(config, name) for name in SIZES},
            )
        with tf.variable_scope("pooler"):
            options = (config.hidden_size, modeling.create_initializer(), tf.tanh, einsum)
            first = modeling.dense_layer_2d(layers[-1][:, :1], *options, name="dense")
    return [words, embeddings, *layers, layers[-1], tf.squeeze(first, axis=1)]


def outputs_of(model):
    """The same outputs of an AlbertModel, by its attributes."""
    first = [model.word_embedding_output, model.embedding_output]
    return [*first, *model.all_encoder_layers, model.sequence_output, model.pooled_output]


@pytest.mark.parametrize(
    "changes, options",
    [({}, {}), pytest.param(GROUPS, {"one_hot": True, "einsum": False}, marks=pytest.mark.slow)],
)
def test_composed_model_equals_albert_model(session, changes, options):
    config = modeling.AlbertConfig.from_dict(dict(CONFIG, **changes))
    inputs = [tf.constant(values) for values in (IDS, MASK, TYPES)]
    model = modeling.AlbertModel(config, False, *inputs)
    variables = tf.trainable_variables()
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        outputs = compose(config, *inputs, **options)
    assert tf.trainable_variables() == variables
    session.run([item.assign(random(*item.shape.as_list())) for item in variables])
    weights, values = constant(np.arange(6) / 6.0), []
    for found in (outputs, outputs_of(model)):
        loss = tf.add_n([tf.reduce_sum(tensor * weights) for tensor in found[-2:]])
        gradients = [tf.convert_to_tensor(item) for item in tf.gradients(loss, variables)]
        values.append(session.run([*found, *gradients]))
    for mine, theirs in zip(*values):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


# ---- each part by itself ----


def test_attention_layer_takes_matrices_or_sequences(session):
    source, target = constant(random(2, 3, 4)), constant(random(2, 5, 4))
    mask = tf.constant([[1, 1, 0, 1, 0], [1, 1, 1, 1, 1]])
    with tf.variable_scope("self", reuse=tf.AUTO_REUSE):
        expected = modeling.attention_layer(source, target, mask, 2, query_act=tf.nn.relu)
        flat = [modeling.reshape_to_matrix(tensor) for tensor in (source, target)]
        sizes = {"batch_size": 2, "from_seq_length": 3, "to_seq_length": 5}
        found = modeling.attention_layer(*flat, mask, 2, query_act=tf.nn.relu, **sizes)
    np.testing.assert_allclose(*computed(session, [found, expected]))


def test_embedding_lookup_concatenates_several_ids(session):
    ids = tf.constant([[[0, 1], [2, 0], [1, 1]]])
    words, table = modeling.embedding_lookup(ids, vocab_size=3, embedding_size=2)
    words, table = computed(session, [words, table])
    np.testing.assert_array_equal(words, table[[0, 1, 2, 0, 1, 1]].reshape(1, 3, 4))


def test_timing_signal_is_sines_then_cosines(session):
    position = np.array([[0, 1, 5]])
    signal = session.run(modeling.get_timing_signal_1d_given_position(5, tf.constant(position)))
    angles = position[..., None] * np.array([1.0, 1e-4])
    expected = np.concatenate([np.sin(angles), np.cos(angles), np.zeros([1, 3, 1])], axis=2)
    np.testing.assert_allclose(signal, expected, atol=1e-6)


def test_layer_norm_without_a_name_is_numbered(session):
    for _ in range(2):
        modeling.layer_norm(constant(random(2, 3)))
    modeling.layer_norm(constant(random(2, 3)), name="mine")
    names = [item.op.name for item in tf.trainable_variables() if "beta" in item.op.name]
    assert names == ["LayerNorm/beta", "LayerNorm_1/beta", "mine/beta"]
