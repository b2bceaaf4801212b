# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TF-Hub modules, written and loaded again in every way they are meant for."""

import json
import os
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import tensorflow_hub as hub

from albert import export_to_tfhub, fine_tuning_utils, tokenization
from albert.util import flags as flags_lib
from albert.util import runtime as precision
from tests.support import other_runtime, pretrained_models
from tests.support.shared import needs_shared, shared_path

needs_tf2 = pytest.mark.skipif(
    not precision.is_tf2(), reason="modules of TensorFlow 2 need TensorFlow 2"
)
SIGNATURES = {
    "tokens": {"pooled_output", "sequence_output"},
    "sop": {"pooled_output", "sequence_output", "sop_log_probs"},
    "mlm": {"pooled_output", "sequence_output", "mlm_logits"},
}


def export(archive, path, *arguments):
    arguments = [f"--albert_directory={archive}", f"--export_path={path}", *arguments]
    return export_to_tfhub.export(flags_lib.parse(export_to_tfhub.define_flags, arguments))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    # A rate at which the graph has its dropout and no number is dropped.
    folder = tmp_path_factory.mktemp("archive")
    return pretrained_models.write_archive(folder, hidden_dropout_prob=1e-6)


@pytest.fixture(scope="module")
def module(archive, tmp_path_factory):
    return export(archive, str(tmp_path_factory.mktemp("tf1") / "module"))


def call(path, signature, batch, tags=None):
    """What a signature of a module makes of a batch."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {name: tf.constant(value) for name, value in batch.items()}
        made = hub.Module(path, tags=tags)(inputs, signature=signature, as_dict=True)
        session.run(tf.global_variables_initializer())
        return session.run(made)


def with_positions(batch):
    return dict(batch, mlm_positions=np.ones([len(batch["input_ids"]), 1], np.int32))


@pytest.mark.parametrize("signature", sorted(SIGNATURES))
def test_a_module_gives_the_outputs_of_the_model(archive, module, signature):
    batch = pretrained_models.inputs()
    expected = pretrained_models.outputs(archive, batch)
    found = call(module, signature, with_positions(batch) if signature == "mlm" else batch)
    assert set(found) == SIGNATURES[signature]
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], atol=1e-5, err_msg=name)


@pytest.mark.slow
@other_runtime.needs_other_runtime
def test_the_other_runtime_loads_the_module(archive, module):
    found = other_runtime.evaluate(
        "test.call(sys.argv[2], 'tokens', test.pretrained_models.inputs())['pooled_output']"
        ".tolist()",
        "test_export_to_tfhub",
        module,
    )
    expected = pretrained_models.outputs(archive, pretrained_models.inputs())["pooled_output"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_module_has_its_vocabulary_with_it(module):
    info = tokenization.hub_vocabulary(module)
    assert info.is_sentencepiece and info.do_lower_case
    assert os.path.dirname(info.vocab_file) == os.path.join(module, "assets")
    assert sorted(os.listdir(os.path.join(module, "assets"))) == [
        "30k-clean.model",
        "30k-clean.vocab",
        "albert_config.json",
    ]


@pytest.mark.slow
def test_a_chinese_model_brings_its_word_pieces(tmp_path):
    archive = pretrained_models.write_archive(tmp_path / "zh", wordpiece=True)
    arguments = ["--vocab_file=vocab_chinese.txt", "--nodo_lower_case"]
    path = export(archive, str(tmp_path / "module"), *arguments)
    info = tokenization.hub_vocabulary(path)
    assert not info.is_sentencepiece and not info.do_lower_case
    assert os.path.basename(info.vocab_file) == "vocab_chinese.txt"


@pytest.mark.slow
def test_only_the_training_tags_have_dropout(tmp_path):
    archive = pretrained_models.write_archive(tmp_path / "dropout", hidden_dropout_prob=0.5)
    path = export(archive, str(tmp_path / "module"))
    batch = pretrained_models.inputs()
    still, again = (call(path, "tokens", batch)["pooled_output"] for _ in range(2))
    np.testing.assert_array_equal(still, again)
    trained = call(path, "tokens", batch, tags={"train"})["pooled_output"]
    assert np.abs(trained - still).max() > 1e-3


def meta_graphs(path):
    from tensorflow.core.protobuf import saved_model_pb2

    with open(os.path.join(path, "saved_model.pb"), "rb") as stream:
        return saved_model_pb2.SavedModel.FromString(stream.read()).meta_graphs


def test_only_the_graph_of_the_training_tags_draws_random_numbers(module):
    draws = {
        tuple(graph.meta_info_def.tags): sum("Random" in node.op for node in graph.graph_def.node)
        for graph in meta_graphs(module)
    }
    assert draws[()] == 0 < draws["train",]


def test_graphs_hold_no_slots_and_no_compiled_parts(module):
    graphs = [meta_graph.graph_def for meta_graph in meta_graphs(module)]
    operations = {node.op for graph in graphs for node in graph.node}
    operations |= {
        node.op
        for graph in graphs
        for function in graph.library.function
        for node in function.node_def
    }
    foreign = {name for name in operations if re.search("Xla|PyFunc|PartitionedCall", name)}
    assert foreign == set()
    variables = [name for name, _ in tf.train.list_variables(f"{module}/variables/variables")]
    assert not [name for name in variables if re.search("adam|lamb|global_step", name)]
    assert len(variables) == 32


@pytest.mark.slow
@pytest.mark.parametrize("is_training", [False, True])
def test_a_module_is_the_encoder_of_a_fine_tuned_model(archive, module, is_training):
    batch = pretrained_models.inputs()
    with tf.Graph().as_default(), tf.Session() as session:
        encoder = fine_tuning_utils.Encoder(None, is_training, hub_module=module)
        encoded = encoder(*(tf.constant(value) for value in batch.values()))
        gradients = tf.gradients(encoded.pooled_output, tf.trainable_variables())
        session.run(tf.global_variables_initializer())
        pooled = session.run(encoded.pooled_output)
    assert sum(gradient is not None for gradient in gradients) == 25
    expected = pretrained_models.outputs(archive, batch)["pooled_output"]
    np.testing.assert_allclose(pooled, expected, atol=1e-5)


def train(path):
    """Takes a module's training graph a step downhill; returns the loss before and after."""
    with tf.Graph().as_default(), tf.Session() as session:
        batch = {name: tf.constant(value) for name, value in pretrained_models.inputs().items()}
        made = hub.Module(path, tags={"train"}, trainable=True)(
            batch, signature="tokens", as_dict=True
        )
        loss = tf.reduce_mean(tf.square(made["pooled_output"] - 0.5))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        return [float(session.run([loss, step])[0]) for _ in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs",
    [
        other_runtime.evaluate_here,
        pytest.param(other_runtime.evaluate, marks=other_runtime.needs_other_runtime),
    ],
    ids=["on this runtime", "on the other runtime"],
)
def test_another_process_trains_the_module(module, runs):
    before, after = runs("test.train(sys.argv[2])", "test_export_to_tfhub", module)
    assert after < before


# ---------------------------------------------------------------------------------------------
# TensorFlow 2.


@pytest.fixture(scope="module")
def module_tf2(archive, tmp_path_factory):
    return export(archive, str(tmp_path_factory.mktemp("tf2") / "module"), "--format=tf2")


@pytest.mark.slow
@needs_tf2
def test_a_loaded_object_gives_the_outputs_of_the_model(archive, module_tf2):
    batch = pretrained_models.inputs()
    expected = pretrained_models.outputs(archive, batch)
    root = hub.load(module_tf2)
    tensors = {name: tf.constant(value) for name, value in with_positions(batch).items()}
    tokens = {name: tensors[name] for name in batch}
    for found in (root(tokens), root.sop(tokens), root.mlm(tensors)):
        for name, value in found.items():
            np.testing.assert_allclose(value, expected[name], atol=1e-5, err_msg=name)
    served = root.signatures["serving_default"](**tokens)
    np.testing.assert_allclose(served["pooled_output"], expected["pooled_output"], atol=1e-5)
    assert set(root.signatures) == {"serving_default", "tokens", "sop", "mlm"}
    assert root.do_lower_case.numpy()
    assert root.vocab_file.asset_path.numpy().endswith(b"30k-clean.model")


@pytest.mark.slow
@needs_tf2
def test_a_keras_layer_is_trained(module_tf2):
    keras = tf.keras
    layer = hub.KerasLayer(module_tf2, trainable=True)
    assert len(layer.trainable_variables) == 25
    batch = {name: tf.constant(value) for name, value in pretrained_models.inputs().items()}
    inputs = {name: keras.layers.Input([None], dtype=tf.int32, name=name) for name in batch}
    outputs = keras.layers.Dense(1)(layer(inputs)["pooled_output"])
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.legacy.SGD(0.01), "mse")
    before = layer.trainable_variables[0].numpy()
    losses = model.fit(batch, tf.constant([[0.0], [1.0], [2.0]]), epochs=5, verbose=0).history
    assert losses["loss"][-1] < losses["loss"][0]
    assert np.abs(layer.trainable_variables[0].numpy() - before).max() > 0


@pytest.mark.skipif(precision.is_tf2(), reason="TensorFlow 2 can write them")
def test_tensorflow_1_says_that_it_cannot_write_modules_of_2(archive, tmp_path):
    with pytest.raises(ValueError, match="--format=tf2 needs TensorFlow 2.15"):
        export(archive, str(tmp_path / "module"), "--format=tf2")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------------------
# Mistakes.


def test_a_folder_that_exists_is_not_touched(archive, module):
    with pytest.raises(ValueError, match="exists already"):
        export(archive, module)
    assert call(module, "tokens", pretrained_models.inputs())


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--checkpoint_name=model.ckpt-9"], "model.ckpt-9"),
        (["--config_name=config.json"], "has no config.json; it has 30k-clean.model"),
        (["--vocab_file=vocab.txt"], "has no vocab.txt"),
    ],
)
def test_missing_files_are_named(archive, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        export(archive, str(tmp_path / "module"), *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_files_that_do_not_belong_together_are_refused(tmp_path):
    archive = pretrained_models.write_archive(tmp_path / "archive")
    config = pretrained_models.config(num_hidden_groups=2)
    with open(os.path.join(archive, "albert_config.json"), "w") as stream:
        stream.write(config.to_json_string())
    with pytest.raises(ValueError, match="group_1"):
        export(archive, str(tmp_path / "module"))
    config = pretrained_models.config(vocab_size=100)
    with open(os.path.join(archive, "albert_config.json"), "w") as stream:
        stream.write(config.to_json_string())
    with pytest.raises(ValueError, match="they do not belong together"):
        export(archive, str(tmp_path / "module"))


# ---------------------------------------------------------------------------------------------
# Against the reference.


@pytest.mark.slow
@needs_shared
def test_our_module_of_its_model_equals_the_module_of_the_reference(tmp_path):
    path = export(str(shared_path("golden/hub/albert_directory")), str(tmp_path / "module"))
    arrays = np.load(str(shared_path("golden/hub/expected_outputs.npz")))
    tokens = {name: arrays[name] for name in ("input_ids", "input_mask", "segment_ids")}
    for signature in SIGNATURES:
        extra = {"mlm_positions": arrays["mlm_positions"]} if signature == "mlm" else {}
        for name, value in call(path, signature, dict(tokens, **extra)).items():
            expected = arrays[f"{signature}/{name}"]
            np.testing.assert_allclose(value, expected, atol=1e-4, err_msg=name)


@pytest.mark.slow
@needs_shared
def test_our_module_is_described_as_that_of_the_reference(tmp_path):
    path = export(str(shared_path("golden/hub/albert_directory")), str(tmp_path / "module"))
    known = json.loads(shared_path("golden/hub/expected_info.json").read_text())
    spec = hub.load_module_spec(path)
    assert sorted(spec.get_signature_names()) == known["signatures"]
    assert sorted(map(sorted, spec.get_tags())) == sorted(known["tag_sets"])
    described = {"inputs": spec.get_input_info_dict, "outputs": spec.get_output_info_dict}
    for side, get in described.items():
        for signature, expected in known[side].items():
            found = {
                name: [info.dtype.name, info.get_shape().as_list()]
                for name, info in get(signature).items()
            }
            assert found == expected
    with tf.Graph().as_default():
        assert sorted(hub.Module(path).variable_map) == known["variable_map"]
