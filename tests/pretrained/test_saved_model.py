# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported classifiers: signatures, portability, transactions, and the other runtime."""

import json
import os
import pathlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.classification import model_folder as fine_tuned_classifier
from albert.pretrained import saved_model as serving_export
from albert.util import runtime as precision
from tests.support import fine_tuned_models as models
from tests.support import other_runtime

IDS = np.array([[2, 17, 40, 3, 99, 3], [2, 17, 3, 0, 0, 0]], np.int32)
MASK = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]], np.int32)
SEGMENTS = np.array([[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]], np.int32)


def serialized(length=models.LENGTH):
    """The two sequences above as tf.Examples."""
    texts = []
    for row in zip(IDS, MASK, SEGMENTS):
        example = tf.train.Example()
        for name, values in zip(("input_ids", "input_mask", "segment_ids"), row):
            padded = list(values) + [0] * (length - len(values))
            example.features.feature[name].int64_list.value.extend(int(value) for value in padded)
        texts.append(example.SerializeToString())
    return texts


def run(folder, signature, inputs):
    """Serves a SavedModel as TensorFlow 1 does."""
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], folder)
        declared = loaded.signature_def[signature]
        feed = {declared.inputs[name].name: value for name, value in inputs.items()}
        return session.run(
            {name: info.name for name, info in declared.outputs.items()}, feed_dict=feed
        )


def run_ids(folder):
    inputs = {"input_ids": IDS, "input_mask": MASK, "segment_ids": SEGMENTS}
    return run(folder, "ids", inputs)


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return models.write_classifier(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def exported(model_dir, tmp_path_factory):
    classifier = fine_tuned_classifier.read_classifier(model_dir)
    return fine_tuned_classifier.export_classifier(
        str(tmp_path_factory.mktemp("export")), classifier
    )


def expected_logits(model_dir, labels=("no", "maybe", "yes")):
    """What the trained graph says."""
    config = modeling.AlbertConfig.from_dict(models.CONFIG)
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = models.build(config, labels, *map(tf.constant, (IDS, MASK, SEGMENTS)))
        tf.train.Saver().restore(session, os.path.join(model_dir, "model.ckpt-best"))
        return session.run(outputs[3])


@pytest.mark.slow
def test_both_signatures_give_what_the_trained_model_gives(model_dir, exported):
    logits = expected_logits(model_dir)
    by_examples = run(exported, "serving_default", {"examples": serialized()})
    by_ids = run_ids(exported)
    for outputs in (by_examples, by_ids):
        assert sorted(outputs) == ["logits", "predictions", "probabilities"]
        np.testing.assert_allclose(outputs["logits"], logits, atol=1e-5)
        np.testing.assert_array_equal(outputs["predictions"], np.argmax(logits, -1))
        np.testing.assert_allclose(outputs["probabilities"].sum(-1), 1.0, rtol=1e-5)
    assert abs(logits[0] - logits[1]).max() > 0.01


def test_ids_take_any_batch_size_and_length(exported):
    one = {"input_ids": IDS[1:, :3], "input_mask": MASK[1:, :3], "segment_ids": SEGMENTS[1:, :3]}
    short = run(exported, "ids", one)
    np.testing.assert_allclose(short["logits"][0], run_ids(exported)["logits"][1], atol=1e-5)


def test_examples_of_another_length_are_refused(exported):
    with pytest.raises(tf.errors.InvalidArgumentError, match="int64 values"):
        run(exported, "serving_default", {"examples": serialized(length=16)})


@pytest.mark.slow
@other_runtime.needs_other_runtime
def test_the_other_runtime_gives_the_same(exported):
    by_examples, by_ids = other_runtime.evaluate(
        "[test.run(sys.argv[2], 'serving_default', {'examples': test.serialized()})['logits']"
        ".tolist(), test.run_ids(sys.argv[2])['logits'].tolist()]",
        "pretrained.test_saved_model",
        exported,
    )
    expected = run_ids(exported)["logits"]
    np.testing.assert_allclose(by_examples, expected, atol=1e-5)
    np.testing.assert_allclose(by_ids, expected, atol=1e-5)


@pytest.mark.skipif(not precision.is_tf2(), reason="the call is one of TensorFlow 2")
def test_tensorflow_2_calls_the_signatures_directly(exported):
    import tensorflow

    loaded = tensorflow.saved_model.load(exported)
    outputs = loaded.signatures["serving_default"](examples=tensorflow.constant(serialized()))
    np.testing.assert_allclose(outputs["logits"].numpy(), run_ids(exported)["logits"], atol=1e-5)
    stored = tf.train.list_variables(exported + "/variables/variables")
    assert len(loaded.variables) == len(stored)


@pytest.mark.slow
def test_the_threshold_is_an_output_unless_it_is_nan(model_dir, exported, tmp_path):
    classifier = fine_tuned_classifier.read_classifier(model_dir)
    plain = fine_tuned_classifier.export_classifier(
        str(tmp_path), classifier, threshold=float("nan")
    )
    chosen = fine_tuned_classifier.export_classifier(str(tmp_path), classifier, threshold=0.25)
    assert "threshold" not in run_ids(plain)
    assert run_ids(chosen)["threshold"] == 0.25
    inputs = {"examples": serialized()}
    assert run(chosen, "serving_default", inputs)["threshold"] == 0.25
    assert sorted(os.listdir(str(tmp_path))) == sorted(map(os.path.basename, (plain, chosen)))


@pytest.mark.slow
def test_a_regressor_gives_its_score(tmp_path):
    model_dir = models.write_classifier(tmp_path / "model", labels=())
    classifier = fine_tuned_classifier.read_classifier(model_dir)
    folder = fine_tuned_classifier.export_classifier(str(tmp_path / "export"), classifier)
    scores = expected_logits(model_dir, labels=())
    outputs = run_ids(folder)
    np.testing.assert_allclose(outputs["predictions"], scores, atol=1e-5)
    np.testing.assert_allclose(outputs["probabilities"], scores[:, None], atol=1e-5)


def test_the_graph_holds_plain_operations_only(exported):
    from tensorflow.core.protobuf import saved_model_pb2

    content = saved_model_pb2.SavedModel()
    content.ParseFromString(pathlib.Path(exported, "saved_model.pb").read_bytes())
    graph = content.meta_graphs[0].graph_def
    assert not graph.library.function
    operations = {node.op for node in graph.node}
    assert not [name for name in operations if "Xla" in name or "PartitionedCall" in name]
    assert not [name for name in operations if "Random" in name or "Adam" in name]


def test_the_model_can_be_used_from_the_extra_assets_alone(exported, model_dir, tmp_path):
    extra = pathlib.Path(exported, "assets.extra")
    assert sorted(path.name for path in extra.iterdir()) == [
        "albert_config.json",
        "classifier.json",
        "tiny.model",
    ]
    checkpoint = os.path.join(model_dir, "model.ckpt-best")
    classifier = fine_tuned_classifier.read_classifier(str(extra), checkpoint)
    assert classifier.labels == ("no", "maybe", "yes")
    assert classifier.spm_model_file == str(extra / "tiny.model")


@pytest.mark.parametrize(
    "recorded", [{}, {"hub_module": "https://hub/albert/1", "is_pair": True}, {"is_pair": False}]
)
def test_the_extra_assets_say_all_that_is_known_of_the_model(tmp_path, recorded):
    folder = models.write_classifier(tmp_path, description=recorded)
    contents = fine_tuned_classifier.portable_files(fine_tuned_classifier.read_classifier(folder))
    described = json.loads(contents["classifier.json"].decode("utf-8"))
    original = json.loads((tmp_path / "classifier.json").read_text(encoding="utf-8"))
    original["spm_model_file"]["path"] = "tiny.model"
    assert described == original
    assert {name: described[name] for name in recorded} == recorded


def test_nothing_remains_of_an_export_that_fails(model_dir, tmp_path):
    classifier = fine_tuned_classifier.read_classifier(model_dir)
    other = classifier._replace(labels=("no", "yes"))
    with pytest.raises(ValueError, match=r"output_weights \[2, 16\].*same folder"):
        fine_tuned_classifier.export_classifier(str(tmp_path), other)
    assert list(tmp_path.iterdir()) == []


def test_compiled_clusters_are_refused(tmp_path, model_dir):
    classifier = fine_tuned_classifier.read_classifier(model_dir)

    def compiled(inputs):
        outputs = fine_tuned_classifier.build_outputs(classifier, inputs, use_xla=True)
        return outputs._asdict()

    with pytest.raises(ValueError, match="use_xla=False"):
        serving_export.export_saved_model(
            str(tmp_path), compiled, classifier.checkpoint, max_seq_length=8
        )
