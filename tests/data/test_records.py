# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many records at once in wire format."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches, records


@pytest.mark.parametrize("length, largest", [(16, 100), (128, 30000), (512, 3000000), (5, 2**40)])
def test_records_are_the_bytes_that_the_feature_spec_writes(length, largest):
    random = np.random.RandomState(0)
    edges = [0, 127, 128, 16383, 16384, 2097151, 2097152, 2**62]  # of the length of a varint
    features = {
        "ids": random.randint(0, largest, [7, length]),
        "mask": random.randint(0, 2, [7, length]).astype(np.uint8),
        "weights": random.randn(7, 3).astype(np.float32),
        "edges": np.tile(edges, [7, 1]),
    }
    kinds = {"weights": tf.float32}
    spec = batches.FeatureSpec(
        [
            batches.Feature(name, values.shape[1:], kinds.get(name, tf.int64))
            for name, values in features.items()
        ]
    )
    encoded = records.encode_examples(features)
    starts = [0, *encoded.ends.tolist()]
    for row, (start, end) in enumerate(zip(starts, encoded.ends)):
        expected = spec.encode({name: values[row] for name, values in features.items()})
        assert encoded.data[start:end] == expected
    assert len(encoded.ends) == 7


def test_negative_integers_are_refused():
    with pytest.raises(ValueError, match="Feature 'x' holds -1"):
        records.encode_examples({"x": np.array([[3, -1]])})
