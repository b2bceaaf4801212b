# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many records at once in wire format."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import records

EDGES = [0, 127, 128, 16383, 16384, 2097151, 2097152, 2**31, 2**32, 2**62]  # lengths of varints


@pytest.mark.parametrize("length, largest", [(16, 100), (128, 30000), (512, 3000000), (5, 2**40)])
def test_encode_examples_equals_protocol_buffers(length, largest):
    random = np.random.RandomState(0)
    features = {
        "z": random.randint(0, largest, [7, length]),
        "a": random.randint(0, 2, [7, length]).astype(np.uint8),
        "é": random.randn(7, 3).astype(np.float32),
        "edges": np.tile([*EDGES, 5, -1, -(1 << 63), (1 << 63) - 1], [7, 1]),
    }
    expected = []
    for number in range(7):
        example = tf.train.Example()
        for name, values in features.items():
            feature = example.features.feature[name]
            numbers = feature.float_list if name == "é" else feature.int64_list
            numbers.value[:] = values[number].tolist()
        expected.append(example.SerializeToString(deterministic=True))
    assert list(records.encode_examples(features)) == expected
