# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported classifiers: signatures, portability and transactions."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.tasks.classification.task import Predictor
from albert.training import fine_tuned
from tests.support import fine_tuned_models as models
from tests.support.fine_tuned_models import INPUTS, expected, serialized, serve

slow = pytest.mark.slow


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    return models.write_classifier(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def exported(classifier, tmp_path_factory):
    return models.export(classifier, tmp_path_factory.mktemp("export"))


@slow
def test_signatures_give_model_outputs(classifier, exported):
    logits = expected(classifier)[1]
    by_examples = serve(exported, "serving_default", {"examples": serialized()})
    for outputs in (by_examples, serve(exported, "ids", INPUTS)):
        assert sorted(outputs) == ["logits", "predictions", "probabilities"]
        np.testing.assert_allclose(outputs["logits"], logits, atol=1e-5)
        np.testing.assert_array_equal(outputs["predictions"], np.argmax(logits, -1))
        np.testing.assert_allclose(outputs["probabilities"].sum(-1), 1.0, rtol=1e-5)
    assert abs(logits[0] - logits[1]).max() > 0.01


@slow
def test_ids_may_be_shorter(classifier, exported):
    short = serve(exported, "ids", {name: values[1:, :4] for name, values in INPUTS.items()})
    np.testing.assert_allclose(short["logits"][0], expected(classifier)[1][1], atol=1e-5)


@slow
def test_examples_of_another_length_are_refused(exported):
    with pytest.raises(tf.errors.InvalidArgumentError, match="int64 values"):
        serve(exported, "serving_default", {"examples": serialized(length=16)})


@slow
def test_threshold_is_output_unless_nan(classifier, tmp_path):
    for threshold in (np.nan, 0.25):
        folder = models.export(classifier, tmp_path / str(threshold), threshold_to_export=threshold)
        found = serve(folder, "ids", INPUTS).get("threshold", np.nan)
        np.testing.assert_equal(float(found), threshold)


def test_example_has_a_text_its_ids_and_the_outputs(classifier, exported):
    path = pathlib.Path(exported, "assets.extra", "example.json")
    example = json.loads(path.read_text(encoding="utf-8"))
    with Predictor(classifier) as model:
        first, second = model.task.tokenizer.encode_ids_batch(example["texts"])
        outputs = model.predict_array([example["texts"]])
    assert example["input_ids"] == [[2, *first, 3, *second, 3]]
    np.testing.assert_allclose(example["probabilities"], outputs, atol=1e-5)


def test_graph_has_plain_operations_only(exported):
    from tensorflow.core.protobuf import saved_model_pb2

    content = pathlib.Path(exported, "saved_model.pb").read_bytes()
    graph = saved_model_pb2.SavedModel.FromString(content).meta_graphs[0].graph_def
    assert not graph.library.function
    foreign = ("Xla", "PartitionedCall", "Random", "Adam")
    assert not [node.op for node in graph.node if any(word in node.op for word in foreign)]


def test_extra_assets_alone_predict(exported, classifier):
    extra = pathlib.Path(exported, "assets.extra")
    found = models.open_folder(extra)
    assert found.labels == ("no", "maybe", "yes")
    assert found.vocabulary.path == f"{extra}/tiny.model"
    with Predictor(str(extra), f"{classifier}/model.ckpt-best") as model:
        assert len(model.predict(["the king"])) == 1


def test_failed_export_leaves_nothing(classifier, tmp_path):
    checkpoint = f"{classifier}/model.ckpt-best"
    task = models.open_folder(classifier)
    task.labels = ("no", "yes")
    with pytest.raises(ValueError, match=r"output_weights \[2, 16\]"):
        fine_tuned.export(task, checkpoint, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
