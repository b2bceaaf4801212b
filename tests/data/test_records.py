# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many records at once in wire format."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches, records


def records_of(encoded):
    ends = encoded.ends.tolist()
    return [encoded.data[start:end] for start, end in zip([0] + ends, ends)]


@pytest.mark.parametrize("length, largest", [(16, 100), (128, 30000), (512, 3000000), (5, 2**40)])
def test_records_are_the_bytes_that_the_feature_spec_writes(length, largest):
    random = np.random.RandomState(0)
    features = {
        "ids": random.randint(0, largest, [7, length]),
        "mask": random.randint(0, 2, [7, length]).astype(np.uint8),
        "weights": random.randn(7, 3).astype(np.float32),
        "label": random.randint(0, 2, [7, 1]),
    }
    kinds = {"weights": tf.float32}
    spec = batches.FeatureSpec(
        [
            batches.Feature(name, values.shape[1:], kinds.get(name, tf.int64))
            for name, values in features.items()
        ]
    )
    expected = [spec.encode({name: features[name][row] for name in features}) for row in range(7)]
    assert records_of(records.encode_examples(features)) == expected


def test_varints_change_their_length_at_powers_of_128():
    values = np.array([[0, 127, 128, 16383, 16384, 2097151, 2097152, 2**62]])
    record = records.encode_examples({"x": values})
    expected = batches.FeatureSpec([batches.Feature("x", (8,))]).encode({"x": values[0].tolist()})
    assert records_of(record) == [expected]


def test_negative_integers_are_refused():
    with pytest.raises(ValueError, match="Feature 'x' holds -1"):
        records.encode_examples({"x": np.array([[3, -1]])})
