# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TF-Hub modules, written and loaded again in every way they are meant for."""

import json
import os
import pathlib
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import tensorflow_hub as hub

if not hasattr(hub, "Module"):
    from albert.runtimes import hub_module

    hub.Module = hub_module.Module

from albert import export_to_tfhub, fine_tuning_utils, tokenization
from albert.runtimes import compat
from albert.util import flags as flags_lib
from tests.support import other_runtime, pretrained_models
from tests.support.shared import needs_shared, shared_path

needs_tf2 = pytest.mark.skipif(
    not compat.is_tf2(), reason="modules of TensorFlow 2 need TensorFlow 2"
)
SIGNATURES = {
    "tokens": {"pooled_output", "sequence_output"},
    "sop": {"pooled_output", "sequence_output", "sop_log_probs"},
    "mlm": {"pooled_output", "sequence_output", "mlm_logits"},
}
BATCH = pretrained_models.inputs()
MLM_BATCH = dict(BATCH, mlm_positions=np.ones([len(BATCH["input_ids"]), 1], np.int32))


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


@pytest.fixture(scope="module")
def expected(archive):
    """What the model makes of BATCH."""
    return pretrained_models.outputs(archive, BATCH)


def call(path, signature, batch, tags=None):
    """What a signature of a module makes of a batch."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {name: tf.constant(value) for name, value in batch.items()}
        made = hub.Module(path, tags=tags)(inputs, signature=signature, as_dict=True)
        session.run(tf.global_variables_initializer())
        return session.run(made)


@pytest.mark.parametrize("signature", sorted(SIGNATURES))
def test_a_module_gives_the_outputs_of_the_model(expected, module, signature):
    found = call(module, signature, MLM_BATCH if signature == "mlm" else BATCH)
    assert set(found) == SIGNATURES[signature]
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], atol=1e-5, err_msg=name)


def train(path):
    """A module's output, and its loss before and after a step downhill."""
    with tf.Graph().as_default(), tf.Session() as session:
        batch = {name: tf.constant(value) for name, value in BATCH.items()}
        training = hub.Module(path, tags={"train"}, trainable=True)
        pooled = training(batch, signature="tokens", as_dict=True)["pooled_output"]
        loss = tf.reduce_mean(tf.square(pooled - 0.5))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, step])[0]) for _ in range(2)]
    return [call(path, "tokens", BATCH)["pooled_output"].tolist(), *losses]


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs",
    [
        other_runtime.evaluate_here,
        pytest.param(other_runtime.evaluate, marks=other_runtime.needs_other_runtime),
    ],
    ids=["on this runtime", "on the other runtime"],
)
def test_another_process_loads_and_trains_the_module(module, expected, runs):
    found, before, after = runs("test.train(sys.argv[2])", "test_export_to_tfhub", module)
    np.testing.assert_allclose(found, expected["pooled_output"], atol=1e-5)
    assert after < before


def test_a_module_has_its_vocabulary_with_it(module):
    info = tokenization.hub_vocabulary(module)
    assert info.is_sentencepiece and info.do_lower_case
    assert os.path.dirname(info.vocab_file) == os.path.join(module, "assets")
    names = ["30k-clean.model", "30k-clean.vocab", "albert_config.json"]
    assert sorted(os.listdir(os.path.join(module, "assets"))) == names


@pytest.mark.slow
def test_a_chinese_model_brings_its_word_pieces_and_training_has_dropout(tmp_path):
    archive = pretrained_models.write_archive(
        tmp_path / "zh", wordpiece=True, hidden_dropout_prob=0.5
    )
    arguments = ["--vocab_file=vocab_chinese.txt", "--nodo_lower_case"]
    path = export(archive, str(tmp_path / "module"), *arguments)
    info = tokenization.hub_vocabulary(path)
    assert not info.is_sentencepiece and not info.do_lower_case
    assert os.path.basename(info.vocab_file) == "vocab_chinese.txt"
    still, again = (call(path, "tokens", BATCH)["pooled_output"] for _ in range(2))
    np.testing.assert_array_equal(still, again)
    trained = call(path, "tokens", BATCH, tags={"train"})["pooled_output"]
    assert np.abs(trained - still).max() > 1e-3


def test_graphs_hold_no_slots_and_no_compiled_parts_and_only_training_draws_numbers(module):
    from tensorflow.core.protobuf import saved_model_pb2

    content = pathlib.Path(module, "saved_model.pb").read_bytes()
    draws = {}
    for graph in saved_model_pb2.SavedModel.FromString(content).meta_graphs:
        nodes = [*graph.graph_def.node]
        for function in graph.graph_def.library.function:
            nodes += function.node_def
        assert not [node.op for node in nodes if re.search("Xla|PyFunc|PartitionedCall", node.op)]
        draws[tuple(graph.meta_info_def.tags)] = sum("Random" in node.op for node in nodes)
    assert draws[()] == 0 < draws["train",]
    variables = [name for name, _ in tf.train.list_variables(f"{module}/variables/variables")]
    assert not [name for name in variables if re.search("adam|lamb|global_step", name)]
    assert len(variables) == 32


@pytest.mark.slow
@pytest.mark.parametrize("is_training", [False, True])
def test_a_module_is_the_encoder_of_a_fine_tuned_model(expected, module, is_training):
    with tf.Graph().as_default(), tf.Session() as session:
        encoder = fine_tuning_utils.Encoder(None, is_training, hub_module=module)
        encoded = encoder(*(tf.constant(value) for value in BATCH.values()))
        gradients = tf.gradients(encoded.pooled_output, tf.trainable_variables())
        session.run(tf.global_variables_initializer())
        pooled = session.run(encoded.pooled_output)
    assert sum(gradient is not None for gradient in gradients) == 25
    np.testing.assert_allclose(pooled, expected["pooled_output"], atol=1e-5)


# ---------------------------------------------------------------------------------------------
# TensorFlow 2.


@pytest.fixture(scope="module")
def module_tf2(archive, tmp_path_factory):
    return export(archive, str(tmp_path_factory.mktemp("tf2") / "module"), "--format=tf2")


@pytest.mark.slow
@needs_tf2
def test_a_loaded_object_gives_the_outputs_of_the_model(expected, module_tf2):
    root = hub.load(module_tf2)
    tensors = {name: tf.constant(value) for name, value in MLM_BATCH.items()}
    tokens = {name: tensors[name] for name in BATCH}
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
    batch = {name: tf.constant(value) for name, value in BATCH.items()}
    inputs = {name: keras.layers.Input([None], dtype=tf.int32, name=name) for name in batch}
    outputs = keras.layers.Dense(1)(layer(inputs)["pooled_output"])
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.legacy.SGD(0.01), "mse")
    before = layer.trainable_variables[0].numpy()
    losses = model.fit(batch, tf.constant([[0.0], [1.0], [2.0]]), epochs=5, verbose=0).history
    assert losses["loss"][-1] < losses["loss"][0]
    assert np.abs(layer.trainable_variables[0].numpy() - before).max() > 0


# ---------------------------------------------------------------------------------------------
# Mistakes.


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--checkpoint_name=model.ckpt-9"], "model.ckpt-9"),
        (["--config_name=config.json"], "config.json"),
        (["--vocab_file=vocab.txt"], "vocab.txt"),
        pytest.param(
            ["--format=tf2"],
            "--format=tf2",
            marks=pytest.mark.skipif(compat.is_tf2(), reason="TensorFlow 2 can write them"),
        ),
    ],
)
def test_mistakes_are_named_and_leave_nothing(archive, tmp_path, arguments, words):
    with pytest.raises(ValueError, match=words):
        export(archive, str(tmp_path / "module"), *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_not_touched(archive, module):
    with pytest.raises(ValueError, match="--export_path"):
        export(archive, module)
    assert call(module, "tokens", BATCH)


@pytest.mark.slow
def test_files_that_do_not_belong_together_are_refused(tmp_path):
    archive = pretrained_models.write_archive(tmp_path / "archive")
    for changes, words in (({"num_hidden_groups": 2}, "group_1"), ({"vocab_size": 100}, "100")):
        config = pretrained_models.config(**changes).to_json_string()
        pathlib.Path(archive, "albert_config.json").write_text(config, encoding="utf-8")
        with pytest.raises(ValueError, match=words):
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
