# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder from a configuration or a hub module, and its vocabulary."""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils
from tests.support.shared import needs_shared, shared_path

MODULE = str(shared_path("golden/hub/module"))


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


def test_a_vocabulary_is_described_by_its_name_and_content(tmp_path):
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", encoding="utf-8")
    settings = types.SimpleNamespace(
        vocab_file=str(vocab), spm_model_file=None, do_lower_case=True, albert_config_file=None
    )
    loaded = fine_tuning_utils.load_vocabulary(settings, None)
    described = loaded.description()
    assert described["do_lower_case"] is True
    assert described["vocab_file"]["path"] == "vocab.txt"
    assert len(described["vocab_file"]["sha256"]) == 64


def test_an_encoder_needs_a_configuration_or_a_module():
    with pytest.raises(ValueError):
        fine_tuning_utils.Encoder(None, False)
