# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model by itself: configuration, sizes, variants, gradients, precision, seeds."""

import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import configs, modeling

BATCH, LENGTH, PREDICTIONS = 3, 12, 4

# Parameters of the backbone, and with both pretraining heads. Base to xxlarge of Google and base
# of albert_zh are published figures.
PARAMETERS = {
    "albert_base_v1": (11683584, 11813810),
    "albert_base_v2": (11683584, 11813810),
    "albert_base_zh": (10547968, 10669322),
    "albert_large_v1": (17683968, 17847474),
    "albert_large_v2": (17683968, 17847474),
    "albert_large_zh": (16548352, 16702986),
    "albert_xlarge_v1": (58724864, 59021490),
    "albert_xlarge_v2": (58724864, 59021490),
    "albert_xlarge_zh": (57589248, 57877002),
    "albert_xxlarge_v1": (222595584, 223158450),
    "albert_xxlarge_v2": (222595584, 223158450),
    "albert_xxlarge_zh": (221459968, 222013962),
    "albert_zh_tiny": (4175152, 4295186),
    "albert_zh_small": (4742272, 4813706),
    "albert_zh_base": (10877440, 11492234),
    "albert_zh_large": (17009664, 18084490),
    "albert_zh_xlarge": (58577920, 62803594),
    "albert_zh_xxlarge": (223503360, 240322186),
}

# Embedding size, what layers share, parameters with separate copies of decoder and projection, and
# with tied weights; the size table of lonePatient/albert_pytorch (476.5 MB to 57.2 MB).
ALBERT_PYTORCH_SIZES = [
    (768, "none", 119108746, 102882442),
    (768, "attention", 93105802, 76879498),
    (768, "ffn", 67145098, 50918794),
    (768, "all", 41142154, 24915850),
    (128, "none", 92261514, 89458826),
    (128, "attention", 66258570, 63455882),
    (128, "ffn", 40297866, 37495178),
    (128, "all", 14294922, 11492234),
]


def tiny_config(**changes):
    """A model that trains in milliseconds; large weights, so that errors show."""
    settings = {
        "vocab_size": 50,
        "embedding_size": 8,
        "hidden_size": 16,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 20,
        "initializer_range": 0.3,
    }
    settings.update(changes)
    return modeling.AlbertConfig(**settings)


def build(config, *, training=False, **options):
    """(model, loss of both heads) on fixed inputs with some padding."""
    generator = np.random.RandomState(5)
    ids = generator.randint(0, config.vocab_size, [BATCH, LENGTH]).astype(np.int32)
    mask = (np.arange(LENGTH) < np.array([[LENGTH], [7], [3]])).astype(np.int32)
    types = (np.arange(LENGTH) >= 5).astype(np.int32) * np.ones([BATCH, 1], np.int32)
    labels = generator.randint(0, config.vocab_size, [BATCH, PREDICTIONS]).astype(np.int32)
    positions = generator.randint(0, 3, [BATCH, PREDICTIONS]).astype(np.int32)
    weights = np.array([[1, 1, 1, 0]] * BATCH, np.float32)
    model = modeling.AlbertModel(
        config, training, tf.constant(ids), tf.constant(mask), tf.constant(types), **options
    )
    masked = modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        tf.constant(positions),
        tf.constant(labels),
        tf.constant(weights),
        projection=model.get_embedding_projection(),
    )
    order = modeling.get_sentence_order_output(
        config, model.get_pooled_output(), tf.constant([[0], [1], [0]])
    )
    return model, masked.loss + order.loss


def loss_and_gradients(config, *, seed=3, **options):
    """Sequence output, loss and all gradients by name, of weights drawn from `seed`."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        if "dropout_seed" in options:
            options["dropout_seed"] = tf.constant(options["dropout_seed"], tf.int32)
        model, loss = build(config, **options)
        variables = tf.trainable_variables()
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(loss, variables)]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            fetched = session.run([model.get_sequence_output(), loss, gradients])
    return fetched[0], fetched[1], dict(zip([v.op.name for v in variables], fetched[2]))


def assert_same_training(actual, expected, tolerance):
    """Compares output, loss and every gradient, relative to each tensor's largest value."""
    np.testing.assert_allclose(actual[0], expected[0], atol=tolerance * np.abs(expected[0]).max())
    np.testing.assert_allclose(actual[1], expected[1], rtol=tolerance)
    assert set(actual[2]) == set(expected[2])
    scale = max(np.abs(value).max() for value in expected[2].values())
    for name, value in expected[2].items():
        np.testing.assert_allclose(actual[2][name], value, atol=tolerance * scale, err_msg=name)


def count(config):
    """Parameters of (the backbone, backbone and heads)."""
    with tf.Graph().as_default():
        build(config)
        sizes = {v.op.name: v.shape.num_elements() for v in tf.trainable_variables()}
    backbone = sum(size for name, size in sizes.items() if name.startswith("bert/"))
    return backbone, sum(sizes.values())


# ---- configuration -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"hidden_act": "swish"}, "Unknown activation 'swish'"),
        ({"num_attention_heads": 3}, "hidden_size 16 is not a multiple of num_attention_heads 3"),
        ({"hidden_size": -16}, "hidden_size must be a positive whole number, not -16"),
        ({"vocab_size": 0}, "vocab_size must be a positive whole number, not 0"),
        ({"num_hidden_layers": 2.5}, "num_hidden_layers must be a positive whole number, not 2.5"),
        ({"hidden_dropout_prob": 1.0}, "hidden_dropout_prob must be at least 0 and below 1"),
        ({"attention_probs_dropout_prob": "x"}, "attention_probs_dropout_prob must be"),
        ({"initializer_range": 0}, "initializer_range must be positive"),
        ({"num_hidden_groups": 4}, "num_hidden_groups 4 exceeds num_hidden_layers 3"),
        ({"share_type": "half"}, "share_type 'half' is unknown. Choose one of: all, attention"),
        ({"ln_type": "mid"}, "ln_type 'mid' is unknown"),
        ({"embedding_layout": "bert"}, "embedding_layout 'bert' is unknown"),
    ],
)
def test_wrong_setting_is_named(changes, message):
    with pytest.raises(ValueError, match=message.replace("(", "\\(")):
        tiny_config(**changes).validate()


def test_a_wrong_setting_is_found_when_a_model_is_built():
    for changes in ({"vocab_size": None}, {"num_attention_heads": 3}):
        config = tiny_config(**changes)
        with tf.Graph().as_default(), pytest.raises(ValueError, match=next(iter(changes))):
            modeling.AlbertModel(config, False, tf.zeros([1, 2], tf.int32))


def test_missing_vocab_size_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"hidden_size": 16}')
    with pytest.raises(ValueError, match="config.json.*no 'vocab_size'.*keys found: hidden_size"):
        modeling.AlbertConfig.from_json_file(str(path))


@pytest.mark.parametrize("text, message", [("{", "not JSON"), ("[1]", "JSON object")])
def test_config_file_that_is_not_an_object_is_named(tmp_path, text, message):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"config.json.*{message}"):
        modeling.AlbertConfig.from_json_file(str(path))


def test_missing_config_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere.json.*not found"):
        modeling.AlbertConfig.from_json_file(str(tmp_path / "nowhere.json"))


def test_misspelt_key_is_refused_where_the_right_one_is_absent():
    with pytest.raises(ValueError, match="'hiden_size'. Did you mean 'hidden_size'"):
        modeling.AlbertConfig.from_dict({"vocab_size": 10, "hiden_size": 32})
    both = {"vocab_size": 10, "hidden_size": 64, "hiden_size": 32}
    assert modeling.AlbertConfig.from_dict(both).hidden_size == 64


def test_unknown_keys_survive_a_round_trip():
    settings = json.loads(tiny_config().to_json_string())
    settings.update(net_structure_type=0, gap_size=0, directionality="bidi")
    config = modeling.AlbertConfig.from_dict(settings)
    assert json.loads(config.to_json_string()) == settings
    assert config.to_json_string().endswith("}\n")


def test_defaults_are_the_xxlarge_model():
    config = modeling.AlbertConfig(30000)
    assert config.to_dict() == {
        "vocab_size": 30000,
        "embedding_size": 128,
        "hidden_size": 4096,
        "num_hidden_layers": 12,
        "num_hidden_groups": 1,
        "num_attention_heads": 64,
        "intermediate_size": 16384,
        "inner_group_num": 1,
        "down_scale_factor": 1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0,
        "attention_probs_dropout_prob": 0,
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "initializer_range": 0.02,
    }


@pytest.mark.parametrize("name, function", [("linear", None), ("", None), (None, None)])
def test_no_activation_by_name(name, function):
    assert modeling.get_activation(name) is function


def test_activation_that_is_no_string_is_returned():
    assert modeling.get_activation(tf.nn.relu) is tf.nn.relu
    assert modeling.get_activation("GELU") is modeling.gelu


# ---- sizes ---------------------------------------------------------------------------------------


def test_every_preset_has_an_expected_size():
    assert sorted(PARAMETERS) == configs.preset_names()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_preset_has_its_published_number_of_parameters(name):
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(name))
    assert count(config) == PARAMETERS[name]


@pytest.mark.slow
@pytest.mark.parametrize("embedding, share_type, separate, tied", ALBERT_PYTORCH_SIZES)
def test_size_table_of_albert_pytorch(embedding, share_type, separate, tied):
    config = modeling.AlbertConfig(
        21128,
        embedding_size=embedding,
        hidden_size=768,
        num_attention_heads=12,
        intermediate_size=3072,
        share_type=share_type,
        embedding_layout="albert_zh",
    )
    parameters = count(config)[1]
    copies = 21128 * embedding + (embedding * 768 if embedding != 768 else 0)
    assert (parameters, parameters + copies) == (tied, separate)


@pytest.mark.slow
def test_change_1_factorised_embedding_makes_the_table_small():
    def embedding_parameters(size):
        config = modeling.AlbertConfig(30000, embedding_size=size, embedding_layout="albert_zh")
        with tf.Graph().as_default():
            build(config)
            names = ("bert/embeddings/word_embeddings", "embedding_hidden_mapping_in/kernel")
            return sum(
                v.shape.num_elements()
                for v in tf.trainable_variables()
                if v.op.name.endswith(names)
            )

    assert embedding_parameters(4096) == 30000 * 4096 == 122880000
    assert embedding_parameters(128) == 30000 * 128 + 128 * 4096 == 4364288


@pytest.mark.slow
def test_change_2_sharing_makes_the_encoder_small():
    def encoder_parameters(share_type):
        config = modeling.AlbertConfig(
            100, 1024, 1024, 12, 1, 16, intermediate_size=3072, share_type=share_type
        )
        with tf.Graph().as_default():
            build(config)
            return sum(
                v.shape.num_elements()
                for v in tf.trainable_variables()
                if v.op.name.startswith("bert/encoder/transformer/")
            )

    # 12 layers of 10,498,048. The published comparison lists kernels and biases only, without the
    # two LayerNorms (4 H a layer).
    assert encoder_parameters("all") - 4 * 1024 == 10498048 - 4 * 1024
    assert encoder_parameters("none") == 125976576 == 12 * encoder_parameters("all")


# ---- variants ------------------------------------------------------------------------------------


def groups_by_part(config):
    """Group numbers of the attention variables and of the feed-forward variables."""
    with tf.Graph().as_default():
        build(config)
        names = [v.op.name for v in tf.trainable_variables() if "/group_" in v.op.name]
    feed_forward = {n for n in names if "/ffn_1/" in n or "/LayerNorm_1/" in n}

    def numbers(selected):
        return sorted({int(n.split("/group_")[1].split("/")[0]) for n in selected})

    return numbers(set(names) - feed_forward), numbers(feed_forward)


@pytest.mark.parametrize(
    "share_type, expected",
    [
        ("all", ([0], [0])),
        ("attention", ([0], [0, 1, 2])),
        ("ffn", ([0, 1, 2], [0])),
        ("none", ([0, 1, 2], [0, 1, 2])),
    ],
)
def test_share_type_decides_each_parts_groups(share_type, expected):
    assert groups_by_part(tiny_config(share_type=share_type)) == expected


def test_layers_share_groups_by_integer_division():
    config = tiny_config(num_hidden_layers=5, num_hidden_groups=3)
    groups = [modeling.layer_groups(config, layer).attention for layer in range(5)]
    assert groups == [0, 0, 1, 1, 2]


@pytest.mark.slow
def test_preln_has_the_same_variables_and_another_output():
    post = loss_and_gradients(tiny_config())
    pre = loss_and_gradients(tiny_config(ln_type="preln"))
    assert set(post[2]) == set(pre[2])
    assert np.abs(post[0] - pre[0]).max() > 0.1
    # Without a final LayerNorm the rows are not standardised.
    assert np.abs(post[0].std(axis=-1) - 1).max() < 1e-3 < np.abs(pre[0].std(axis=-1) - 1).max()


def test_albert_zh_embedding_normalises_after_the_projection():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        config = tiny_config(embedding_layout="albert_zh")
        model, _ = build(config)
        by_name = {v.op.name: v for v in tf.trainable_variables()}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            output, words, values = session.run(
                [model.get_embedding_output(), model.get_word_embedding_output(), by_name]
            )
    assert "bert/encoder/embedding_hidden_mapping_in/bias" not in by_name
    total = words.dot(values["bert/encoder/embedding_hidden_mapping_in/kernel"])
    types = (np.arange(LENGTH) >= 5).astype(int)
    total += values["bert/embeddings/token_type_embeddings"][types]
    total += values["bert/embeddings/position_embeddings"][:LENGTH]
    centred = total - total.mean(-1, keepdims=True)
    np.testing.assert_allclose(output, centred / total.std(-1, keepdims=True), atol=1e-4)


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
def test_custom_gradients_equal_plain_autodiff(variant):
    config = tiny_config(**variant)
    plain = loss_and_gradients(config, training=True)
    fused = loss_and_gradients(config, training=True, use_xla=True)
    assert_same_training(fused, plain, 1e-5)


def widest_sum(config, *, use_xla):
    """The most tensors that one operation of the optimised graph of all gradients adds up."""
    with tf.Graph().as_default():
        _, loss = build(config, training=True, use_xla=use_xla)
        gradients = tf.gradients(loss, tf.trainable_variables())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            metadata = tf.RunMetadata()
            options = tf.RunOptions(output_partition_graphs=True)
            session.run(gradients, options=options, run_metadata=metadata)
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    return max(node.attr["N"].i for node in nodes if node.op == "AddN")


def test_gradients_of_shared_weights_are_added_up_layer_by_layer():
    config = tiny_config(num_hidden_layers=6, hidden_act="relu")
    assert widest_sum(config, use_xla=False) == 6  # kept until those of all layers are there
    assert widest_sum(config, use_xla=True) < 4


def unused_operations(config, *, training):
    """Names of what a model makes that neither its outputs nor its variables need."""
    with tf.Graph().as_default() as graph, tf.variable_scope("", use_resource=False):
        ids = tf.zeros([BATCH, LENGTH], tf.int32)
        model = modeling.AlbertModel(config, training, ids, ids, ids)
        wanted = [model.get_pooled_output().op, model.get_sequence_output().op]
        wanted.append(tf.global_variables_initializer())
        wanted += [variable.value().op for variable in tf.global_variables()]
        made = set(graph.get_operations())
        while wanted:
            operation = wanted.pop()
            if operation in made:
                made.remove(operation)
                wanted += [tensor.op for tensor in operation.inputs] + operation.control_inputs
    return sorted(operation.name for operation in made)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("layout", modeling.VARIANTS["embedding_layout"])
def test_a_model_makes_no_operation_that_nobody_uses(layout, training):
    config = tiny_config(
        embedding_layout=layout, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1
    )
    assert unused_operations(config, training=training) == []


def test_plain_operations_have_no_gradient_of_their_own():
    with tf.Graph().as_default() as graph:
        build(tiny_config(hidden_dropout_prob=0.1), training=True)
        nodes = graph.as_graph_def().node
    assert [node.name for node in nodes if "_gradient_op_type" in node.attr] == []


@pytest.mark.slow
@pytest.mark.parametrize("use_xla", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_recomputation_changes_nothing(use_xla, dropout):
    config = tiny_config(hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    options = {"training": True, "use_xla": use_xla, "dropout_seed": [7, 2]}
    kept = loss_and_gradients(config, **options)
    recomputed = loss_and_gradients(config, recompute=True, **options)
    assert_same_training(recomputed, kept, 1e-5)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 3e38, 0.0])
def test_recomputation_takes_a_gradient_as_it_is(number):
    """It is made to depend on the gradient's first number, which may not show."""
    found = []
    for recompute in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(3)
            model, _ = build(tiny_config(num_hidden_layers=1), training=True, recompute=recompute)
            output = model.get_sequence_output()
            upstream = np.ones(output.shape.as_list(), np.float32)
            upstream[0, 0, 0] = number
            norms = [v for v in tf.trainable_variables() if "LayerNorm_1/" in v.name]
            gradients = tf.gradients(output, norms, grad_ys=tf.constant(upstream))
            session.run(tf.global_variables_initializer())
            found.append(session.run(gradients))
    kept, recomputed = found
    assert len(kept) == 2 and all(np.isfinite(value).any() for value in kept)
    for value, expected in zip(recomputed, kept):
        np.testing.assert_array_equal(value, expected)


def test_recomputation_refuses_stateful_dropout():
    config = tiny_config(hidden_dropout_prob=0.1)
    with pytest.raises(ValueError, match="needs `dropout_seed`"):
        loss_and_gradients(config, training=True, recompute=True)


@pytest.mark.slow
@pytest.mark.parametrize("use_xla", [False, True])
def test_bfloat16_stays_near_float32(use_xla):
    # Weights of a real model's scale: large ones make a chaotic tiny network of the comparison.
    config = tiny_config(
        initializer_range=0.05, hidden_size=64, embedding_size=32, intermediate_size=128
    )
    exact = loss_and_gradients(config, training=True, use_xla=use_xla)
    half = loss_and_gradients(config, training=True, use_xla=use_xla, compute_dtype=tf.bfloat16)
    assert half[0].dtype == np.float32 and half[1].dtype == np.float32
    assert_same_training(half, exact, 2e-2)


# ---- seeds ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dropout_is_a_function_of_seed_and_step():
    config = tiny_config(hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3)

    def run(seed):
        return loss_and_gradients(config, training=True, dropout_seed=seed)[0]

    np.testing.assert_array_equal(run([1, 5]), run([1, 5]))
    assert np.abs(run([1, 5]) - run([1, 6])).max() > 0.1
    assert np.abs(run([1, 5]) - run([2, 5])).max() > 0.1


@pytest.mark.slow
def test_dropout_is_off_outside_training():
    with_rate = tiny_config(hidden_dropout_prob=0.3, attention_probs_dropout_prob=0.3)
    outputs = [loss_and_gradients(config)[0] for config in (with_rate, tiny_config())]
    np.testing.assert_array_equal(*outputs)


def test_dropout_masks_differ_between_layers_and_keep_the_mean():
    with tf.Graph().as_default():
        dropout = modeling._Dropout(tf.constant([4, 9], tf.int32), modeling.layers)
        masks = [dropout(tf.ones([200, 50]), 0.25, position) for position in (0, 1, 2)]
        with tf.Session() as session:
            masks = session.run(masks)
    for mask in masks:
        assert set(np.unique(mask)) == {np.float32(0), np.float32(1 / 0.75)}
        assert abs(mask.mean() - 1) < 0.03
    agreement = [(masks[0] == masks[1]).mean(), (masks[1] == masks[2]).mean()]
    np.testing.assert_allclose(agreement, 0.25**2 + 0.75**2, atol=0.02)


def test_stateful_dropout_serves_callers_without_a_seed():
    config = tiny_config(hidden_dropout_prob=0.3)
    with tf.Graph().as_default():
        model, _ = build(config, training=True)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            first, second = (session.run(model.get_sequence_output()) for _ in range(2))
    assert np.abs(first - second).max() > 0.1


def test_initial_values_depend_on_seed_and_name_alone():
    """The numbers hold on both runtimes, whatever else is in the graph."""
    with tf.Graph().as_default():
        tf.set_random_seed(12345)
        tf.get_variable("other", [3])
        build(tiny_config())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = {v.op.name: session.run(v) for v in tf.trainable_variables()}
    table = values["bert/embeddings/word_embeddings"]
    np.testing.assert_allclose(table[0, :4], GOLDEN_INITIAL_VALUES, rtol=1e-6)
    kernel = "bert/encoder/transformer/group_0/inner_group_0/attention_1/self/{}/kernel"
    assert np.abs(values[kernel.format("query")] - values[kernel.format("key")]).max() > 0.1
    assert np.abs(table).max() <= 2 * 0.3 and abs(table.std() - 0.88 * 0.3) < 0.02


GOLDEN_INITIAL_VALUES = [0.2653442, -0.5589149, 0.11145899, 0.24032381]


@pytest.mark.slow
def test_seeded_model_gives_the_same_losses_on_both_runtimes():
    output, loss, gradients = loss_and_gradients(tiny_config(), seed=2024)
    assert loss == pytest.approx(GOLDEN_LOSS, rel=1e-5)
    assert np.abs(output).sum() == pytest.approx(GOLDEN_OUTPUT_SUM, rel=1e-5)
    norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    assert norm == pytest.approx(GOLDEN_GRADIENT_NORM, rel=1e-4)


GOLDEN_LOSS, GOLDEN_OUTPUT_SUM, GOLDEN_GRADIENT_NORM = 4.7576647, 467.91846, 3.5304687


# ---- inputs, exported graphs, loading ------------------------------------------------------------


def test_too_long_a_sequence_is_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="length 21 exceeds.* 20"):
        modeling.AlbertModel(tiny_config(), False, tf.zeros([1, 21], tf.int32))


def test_wrong_rank_is_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="rank 1.*expected rank 2"):
        modeling.AlbertModel(tiny_config(), False, tf.zeros([5], tf.int32))


def test_unknown_batch_and_length_give_the_same_output():
    ids = np.random.RandomState(0).randint(0, 50, [2, 9]).astype(np.int32)

    def run(shape):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            placeholder = tf.placeholder(tf.int32, shape)
            model = modeling.AlbertModel(tiny_config(), False, placeholder)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run(model.get_sequence_output(), {placeholder: ids})

    np.testing.assert_allclose(run([None, None]), run([2, 9]), atol=1e-6)


def test_plain_graph_holds_no_compiled_or_stateful_operations():
    with tf.Graph().as_default() as graph:
        modeling.AlbertModel(tiny_config(), False, tf.placeholder(tf.int32, [None, None]))
        types = {operation.type for operation in graph.get_operations()}
        assert not list(graph.as_graph_def().library.function)
    forbidden = {"PartitionedCall", "StatefulPartitionedCall", "XlaLaunch", "IdentityN", "PyFunc"}
    assert not types & forbidden


def test_assignment_map_remaps_groups(tmp_path):
    with tf.Graph().as_default():
        build(tiny_config())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            prefix = tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    with tf.Graph().as_default():
        build(tiny_config(num_hidden_groups=3))
        variables = tf.trainable_variables()
        plain, names = modeling.get_assignment_map_from_checkpoint(variables, prefix)
        assert not any("group_1" in name for name in names)
        assert plain["bert/pooler/dense/bias"] == "bert/pooler/dense/bias"
        maps, names = modeling.get_assignment_map_from_checkpoint(variables, prefix, 3)
    assert len(maps) == 3
    source = "bert/encoder/transformer/group_0/inner_group_0/ffn_1/intermediate/dense/kernel"
    assert [m[source] for m in maps] == [source.replace("_0/i", f"_{g}/i") for g in range(3)]
    assert {v.op.name for v in variables} == {n for n in names if not n.endswith(":0")}


def test_helpers_of_the_public_script_keep_their_meaning():
    with tf.Graph().as_default():
        matrix = modeling.reshape_to_matrix(tf.zeros([2, 3, 4]))
        assert matrix.shape.as_list() == [6, 4]
        assert modeling.reshape_from_matrix(matrix, [2, 3, 9]).shape.as_list() == [2, 3, 4]
        assert modeling.get_shape_list(matrix, expected_rank=[2, 3]) == [6, 4]
        assert modeling.dropout(matrix, 0.0) is matrix
        normed = modeling.layer_norm_and_dropout(matrix, 0.1, name="norm")
        assert normed.shape.as_list() == [6, 4]
        assert [v.op.name for v in tf.trainable_variables()] == ["norm/beta", "norm/gamma"]
        with pytest.raises(ValueError, match="at least rank 2"):
            modeling.reshape_to_matrix(tf.zeros([2]))
