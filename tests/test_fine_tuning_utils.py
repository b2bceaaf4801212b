# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The encoder from a configuration or a hub module."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling
from tests.support.shared import needs_shared, shared_path

INPUTS = ("input_ids", "input_mask", "segment_ids")
MODULE = str(shared_path("golden/hub/module"))


@needs_shared
def test_encoder_of_a_hub_module_equals_the_reference():
    expected = np.load(str(shared_path("golden/hub/expected_outputs.npz")))
    with tf.Graph().as_default(), tf.Session() as session:
        config = modeling.AlbertConfig(7)  # the module's takes its place
        encoder = fine_tuning_utils.Encoder(config, False, hub_module=MODULE)
        encoded = encoder(*[tf.constant(expected[name]) for name in INPUTS])
        session.run(tf.global_variables_initializer())
        pooled, sequence = session.run(list(encoded))
    np.testing.assert_allclose(pooled, expected["tokens/pooled_output"], atol=1e-4)
    np.testing.assert_allclose(sequence, expected["tokens/sequence_output"], atol=1e-4)


def test_encoder_needs_a_configuration_or_a_module():
    with pytest.raises(ValueError):
        fine_tuning_utils.Encoder(None, False)
