# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Long texts: which tokens are kept, and what becomes of the outputs of windows."""

import numpy as np
import pytest
from scipy import special

from albert.configs.shared_flags import END, HEAD_TAIL, WINDOWS, FineTuningFlags
from albert.data import truncation
from albert.data.truncation import NUM_WINDOWS
from albert.training import program
from tests.support import graphs

COUNTS = [1, 3, 3, 3, 2, 2]  # of the windows of three examples
STARTS, ENDS = [0, 1, 4], [1, 4, 6]


def test_head_tail_keeps_128_tokens_at_most_half_and_the_end():
    ids = list(range(1000))
    for length, expected in (
        (510, [*range(128), *range(618, 1000)]),
        (5, [0, 1, 997, 998, 999]),
        (0, []),
        (1000, ids),
        (2000, ids),
    ):
        assert truncation.parts_of(ids, length, HEAD_TAIL) == [expected]
        assert truncation.parts_of(ids, length, END) == [ids[:length]]


@pytest.mark.parametrize("count, length", [(0, 4), (4, 4), (5, 4), (100, 8), (7, 1), (9, 0)])
def test_windows_hold_each_token_and_overlap_by_a_quarter(count, length):
    parts = truncation.parts_of(range(count), length, WINDOWS)
    assert not length or {token for part in parts for token in part} == set(range(count))
    assert {len(part) for part in parts} == {min(count, length)}
    for before, after in zip(parts, parts[1:]):
        assert 0 < after[0] - before[0] <= length - length // 4


def merge(logits, labels, **more):
    """Merges outputs whose loss is 0, 1, 2, ..."""
    windows = {"logits": logits, "label_ids": labels, "per_example_loss": np.arange(6.0), **more}
    merged = truncation.merge_windows({**windows, NUM_WINDOWS: np.array(COUNTS, np.int32)})
    np.testing.assert_array_equal(merged["label_ids"], labels[STARTS])
    np.testing.assert_allclose(merged["per_example_loss"], [0, 2, 4.5], rtol=1e-6)  # means
    return merged


def test_logits_of_windows_are_averaged():
    logits = np.random.RandomState(0).normal(0, 9, [6, 4]).astype(np.float32)
    labels = np.array([2, 0, 0, 0, 3, 3], np.int32)
    layers = np.array([1, 2, 4, 3, 1, 2], np.int32)
    merged = merge(logits, labels, predictions=logits.argmax(-1), layers=layers)
    means = np.stack([logits[start:end].mean(0) for start, end in zip(STARTS, ENDS)])
    np.testing.assert_allclose(merged["logits"], means, rtol=1e-5)
    np.testing.assert_allclose(merged["probabilities"], special.softmax(means, -1), atol=1e-6)
    assert merged["predictions"].tolist() == means.argmax(-1).tolist()
    assert merged["layers"].tolist() == [1, 4, 2]


def test_scores_of_windows_are_averaged():
    scores = np.array([[1], [2], [3], [7], [0], [1]], np.float32)
    labels = np.array([0.1, 0.2, 0.2, 0.2, 0.3, 0.3], np.float32)
    merged = merge(scores, labels, predictions=scores[:, 0], probabilities=scores)
    np.testing.assert_allclose(merged["predictions"], [1, 4, 0.5], rtol=1e-6)
    np.testing.assert_allclose(merged["probabilities"], [[1], [4], [0.5]], rtol=1e-6)


def test_of_several_labels_the_maximum_over_windows_counts():
    logits = np.random.RandomState(0).normal(0, 3, [6, 4]).astype(np.float32)
    labels = np.repeat([[0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], [1, 3, 2], axis=0)
    probabilities = special.expit(logits)
    is_predicted = (probabilities > 0.3).astype(np.int32)
    merged = merge(logits, labels, predictions=is_predicted, probabilities=probabilities)
    maxima = np.stack([logits[start:end].max(0) for start, end in zip(STARTS, ENDS)])
    np.testing.assert_array_equal(merged["logits"], maxima)
    np.testing.assert_allclose(merged["probabilities"], special.expit(maxima), rtol=1e-6)
    np.testing.assert_array_equal(merged["predictions"], special.expit(maxima) > 0.3)


def test_an_example_of_many_windows_weighs_one_in_training():
    trained = program.FineTuningProgram(FineTuningFlags(), None, None, schedule=program.ONE_STEP)
    with graphs.new_session() as session:
        weights = session.run(trained.weights({NUM_WINDOWS: np.array(COUNTS, np.int32)})[""])
    np.testing.assert_allclose(np.add.reduceat(weights, STARTS), 1, rtol=1e-6)
