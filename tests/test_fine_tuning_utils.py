# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder from a configuration or a hub module, and its vocabulary."""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from tests.support import classification_data as data
from tests.support.shared import needs_shared, shared_path

MODULE = str(shared_path("golden/hub/module"))


# ---------------------------------------------------------------------------------------------
# Hub modules.


@needs_shared
def test_a_hub_module_encodes_as_recorded():
    expected = np.load(str(shared_path("golden/hub/expected_outputs.npz")))
    names = ("input_ids", "input_mask", "segment_ids")
    inputs = [
        expected[f"tokens/{name}" if f"tokens/{name}" in expected else name] for name in names
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        encoder = fine_tuning_utils.Encoder(None, False, hub_module=MODULE)
        encoded = encoder(*[tf.constant(value) for value in inputs])
        session.run(tf.global_variables_initializer())
        pooled, sequence = session.run(list(encoded))
    np.testing.assert_allclose(pooled, expected["tokens/pooled_output"], atol=1e-4)
    np.testing.assert_allclose(sequence, expected["tokens/sequence_output"], atol=1e-4)


def test_it_is_said_what_is_compiled_of_a_hub_module(caplog):
    for given in ((), ("use_xla",)):
        asked = settings(albert_hub_module_handle="b", use_xla=True, given=given)
        fine_tuning_utils.load_config(asked)
        assert ("--use_xla" in caplog.text) == bool(given)


def test_an_encoder_needs_a_configuration_or_a_module():
    with pytest.raises(ValueError, match="needs a configuration or the handle"):
        fine_tuning_utils.Encoder(None, False)


# ---------------------------------------------------------------------------------------------
# Vocabulary and configuration from the flags.


def settings(**changes):
    values = {
        "spm_model_file": None,
        "vocab_file": None,
        "do_lower_case": True,
        "albert_hub_module_handle": None,
        "albert_config_file": None,
        "init_checkpoint": None,
        "max_seq_length": 32,
    }
    values.update(changes)
    return types.SimpleNamespace(**values)


@needs_shared
def test_a_hub_module_brings_its_vocabulary_and_configuration():
    from_module = settings(albert_hub_module_handle=MODULE)
    vocabulary = fine_tuning_utils.load_vocabulary(from_module, None)
    assert vocabulary.kind == "spm_model_file" and vocabulary.file.endswith("30k-clean.model")
    loaded = fine_tuning_utils.load_config(from_module)
    assert loaded.vocab_size == len(vocabulary.tokenizer.vocab)


def test_a_vocabulary_is_described_by_its_absolute_path_and_content(tmp_path):
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", encoding="utf-8")
    loaded = fine_tuning_utils.load_vocabulary(settings(vocab_file=str(vocab)), None)
    described = loaded.description()
    assert described["do_lower_case"] is True
    assert described["vocab_file"]["path"] == str(vocab)
    assert len(described["vocab_file"]["sha256"]) == 64


@pytest.mark.parametrize(
    "changes,words",
    [
        ({}, "Give either --albert_config_file"),
        ({"albert_config_file": "a", "albert_hub_module_handle": "b"}, "not both"),
        ({"albert_hub_module_handle": "b", "init_checkpoint": "c"}, "module brings its weights"),
        ({"albert_hub_module_handle": "b", "precision": "bfloat16"}, "--precision=bfloat16"),
        ({"albert_hub_module_handle": "b", "recompute": True}, "--recompute"),
    ],
)
def test_a_model_comes_from_one_place(changes, words):
    with pytest.raises(ValueError, match=words):
        fine_tuning_utils.load_config(settings(**changes))


def test_a_sequence_longer_than_the_models_is_refused(tmp_path):
    path = data.write_config(tmp_path)
    with pytest.raises(ValueError, match="--max_seq_length=65 is longer"):
        fine_tuning_utils.load_config(settings(albert_config_file=path, max_seq_length=65))
