# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""TF-Hub modules, written and loaded again in every way they are meant for."""

import os
import pathlib
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import saved_model_pb2

from tests.support import hub_modules, pretrained_models, read_json
from tests.support.hub_modules import BATCH, call, export
from tests.support.recorded import assert_close
from tests.support.shared import needs_shared, shared_path

slow = pytest.mark.slow

OUTPUTS = {
    "tokens": {"pooled_output", "sequence_output"},
    "sop": {"pooled_output", "sequence_output", "sop_log_probs"},
    "mlm": {"pooled_output", "sequence_output", "mlm_logits"},
}


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


def test_signatures_give_model_outputs(expected, module):
    names = ["30k-clean.model", "30k-clean.vocab", "albert_config.json"]
    assert sorted(os.listdir(os.path.join(module, "assets"))) == names
    for signature, batch in hub_modules.SIGNATURES.items():
        found = call(module, signature, batch)
        assert set(found) == OUTPUTS[signature]
        assert_close(found, expected)


@slow
@pytest.mark.skipif(not hub_modules.HAS_HUB_MODULE, reason="tensorflow-hub 0.16 dropped hub.Module")
def test_hub_module_gives_outputs(expected, module):
    for found in hub_modules.call_by_hub_module(module).values():
        assert_close(found, expected)


def saved_model_of(module):
    return saved_model_pb2.SavedModel.FromString(
        pathlib.Path(module, "saved_model.pb").read_bytes()
    )


def test_graphs_are_plain_and_random_in_training_only(module):
    draws = {}
    for graph in saved_model_of(module).meta_graphs:
        assert not graph.graph_def.library.function
        operations = [node.op for node in graph.graph_def.node]
        assert not [name for name in operations if re.search("Xla|PyFunc|PartitionedCall", name)]
        draws[tuple(graph.meta_info_def.tags)] = sum("Random" in name for name in operations)
    assert draws[()] == 0 < draws["train",]
    assert len(tf.train.list_variables(f"{module}/variables/variables")) == 32


def test_module_is_encoder_for_fine_tuning(expected, module):
    pooled, gradients = hub_modules.encode(module)
    assert gradients == 25
    np.testing.assert_allclose(pooled, expected["pooled_output"], atol=1e-5)


# ---------------------------------------------------------------------------------------------
# The format of TensorFlow 2.


@pytest.fixture(scope="module")
def module_tf2(archive, tmp_path_factory):
    return export(archive, str(tmp_path_factory.mktemp("tf2") / "module"), "--format=tf2")


@slow
def test_hub_load_gives_outputs_and_trains(expected, module_tf2):
    for outputs in hub_modules.call_loaded(module_tf2):
        assert_close(outputs, expected)


# ---------------------------------------------------------------------------------------------
# Mistakes.


@pytest.mark.parametrize(
    "flag",
    ["--checkpoint_name=model.ckpt-9", "--config_name=config.json", "--vocab_file=vocab.txt"],
)
def test_export_names_a_missing_file(archive, tmp_path, flag):
    with pytest.raises(ValueError, match=flag.split("=")[1]):
        export(archive, f"{tmp_path}/module", flag)
    assert list(tmp_path.iterdir()) == []


def test_export_refuses_an_existing_folder(archive, module):
    with pytest.raises(ValueError, match=module):
        export(archive, module)


# ---------------------------------------------------------------------------------------------
# Against the reference.


def described(tensors):
    return {
        name: [tf.as_dtype(info.dtype).name, tf.TensorShape(info.tensor_shape).as_list()]
        for name, info in tensors.items()
    }


@slow
@needs_shared
def test_module_equals_reference(tmp_path):
    path = export(str(shared_path("golden/hub/albert_directory")), f"{tmp_path}/module")
    arrays = np.load(shared_path("golden/hub/expected_outputs.npz"))
    tokens = {name: arrays[name] for name in ("input_ids", "input_mask", "segment_ids")}
    for signature in OUTPUTS:
        extra = {"mlm_positions": arrays["mlm_positions"]} if signature == "mlm" else {}
        for name, value in call(path, signature, dict(tokens, **extra)).items():
            expected = arrays[f"{signature}/{name}"]
            np.testing.assert_allclose(value, expected, atol=1e-4, err_msg=name)
    known = read_json(shared_path("golden/hub/expected_info.json"))
    graphs = saved_model_of(path).meta_graphs
    assert sorted(sorted(graph.meta_info_def.tags) for graph in graphs) == sorted(known["tag_sets"])
    for graph in graphs:
        assert sorted(graph.signature_def) == known["signatures"]
        for side in ("inputs", "outputs"):
            definitions = graph.signature_def.items()
            assert {name: described(getattr(one, side)) for name, one in definitions} == known[side]
    names = [name for name, _ in tf.train.list_variables(f"{path}/variables/variables")]
    assert names == known["variable_map"]
