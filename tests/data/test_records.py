# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many records at once in wire format."""

import numpy as np
import pytest

from albert.data import batches, records
from albert.pretraining import model


def records_of(encoded):
    ends = encoded.ends.tolist()
    return [encoded.data[start:end] for start, end in zip([0] + ends, ends)]


def random_features(count, length, slots, *, largest):
    random = np.random.RandomState(0)
    weights = np.zeros([count, slots], np.float32)
    weights[:, : slots // 2] = 1.0
    weights[0, 0] = -0.1
    return {
        "input_ids": random.randint(0, largest, [count, length]),
        "input_mask": random.randint(0, 2, [count, length]).astype(np.uint8),
        "segment_ids": random.randint(0, 2, [count, length]).astype(np.uint8),
        "token_boundary": random.randint(0, 2, [count, length]).astype(np.uint8),
        "masked_lm_positions": random.randint(0, length, [count, slots]),
        "masked_lm_ids": random.randint(0, largest, [count, slots]),
        "masked_lm_weights": weights,
        "next_sentence_labels": random.randint(0, 2, [count, 1]),
    }


@pytest.mark.parametrize(
    "length,slots,largest", [(16, 3, 100), (128, 20, 30000), (512, 40, 3000000), (5, 1, 2**40)]
)
def test_records_are_the_bytes_that_the_feature_spec_writes(length, slots, largest):
    features = random_features(7, length, slots, largest=largest)
    spec = model.feature_spec(length, slots)
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
