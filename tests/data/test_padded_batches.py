# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Padding: what is cut, what shares a batch, and that nothing is lost or served twice."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.configs import shared_flags
from albert.data import padded_batches, record_files, record_format, shuffling
from tests.support.number_records import served

S, COUNT = 64, 45
SEQUENCES = padded_batches.Padding().features
SPEC = record_format.FeatureSpec(
    [
        *(record_format.Feature(name, (S,)) for name in SEQUENCES),
        *(record_format.Feature(name, ()) for name in ("number", "is_real_example")),
    ]
)


def length_of(number):
    return 3 + (number * 7919) % (S - 3)


def write(path, masks):
    with record_files.create(str(path)) as file:
        for number, mask in enumerate(masks):
            row = dict.fromkeys(SEQUENCES, np.array(mask + [0] * (S - len(mask))))
            file.write(SPEC.encode(dict(row, number=number, is_real_example=1)))
    return str(path)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    masks = [[1] * length_of(number) for number in range(COUNT)]
    return write(tmp_path_factory.mktemp("records") / "records", masks)


def training(file, mode, count=12, **options):
    options = {"seed": 3, "batch_size": 4, "padding": padded_batches.Padding(mode), **options}
    return served(lambda: padded_batches.training_batches([file], SPEC, **options), count)


def evaluation(file, mode, batch_size):
    options = {"padding": padded_batches.Padding(mode), "batch_size": batch_size}
    return served(lambda: padded_batches.input_fn(file, SPEC, is_training=False, **options)({}))


def longest_of(batch):
    return max(length_of(number) for number in batch["number"])


@pytest.mark.slow
def test_bucket_groups_like_lengths_in_random_order(file):
    def spread(batches):
        return np.mean([np.ptp([length_of(n) for n in batch["number"]]) for batch in batches])

    buckets = training(file, "bucket", 22)
    assert spread(buckets) < 0.3 * spread(training(file, "max", 22))
    longest = [longest_of(batch) for batch in buckets[:11]]
    assert longest not in (sorted(longest), sorted(longest, reverse=True))


def test_bucket_is_the_same_on_every_runtime(file):
    first = training(file, "bucket", 2)
    assert [batch["number"].tolist() for batch in first] == [[0, 11, 22, 33], [8, 19, 30, 41]]
    assert [batch["input_ids"].shape[1] for batch in first] == [8, 40]


@pytest.mark.slow
@pytest.mark.parametrize("mode", shared_flags.PADDINGS)
def test_training_resumes_and_is_shared_by_readers(file, mode):
    whole = training(file, mode, 20)
    for start in (5, 17):
        for batch, expected in zip(training(file, mode, 3, start_batch=start), whole[start:]):
            tf.nest.map_structure(np.testing.assert_array_equal, batch, expected)

    # Two readers of two batches a step of eight.
    for start in (0, 3):
        steps = training(file, mode, 7, batch_size=8, start_batch=start)
        options = {"batch_size": 2, "start_batch": 2 * start}
        shares = [
            np.reshape(
                [part["number"] for part in training(file, mode, 14, **options, shard=shard)],
                [7, 4],
            )
            for shard in (shuffling.InputShard(reader, 2, 2) for reader in (0, 1))
        ]
        found = np.sort(np.concatenate(shares, axis=1))
        np.testing.assert_array_equal(found, np.sort([batch["number"] for batch in steps]))


@pytest.mark.parametrize("mode, batch_size", [("longest", 4), ("max", 64)])
def test_evaluation_serves_each_record_once(file, mode, batch_size):
    batches = evaluation(file, mode, batch_size)
    lengths = [S if mode == "max" else -(-longest_of(batch) // 16) * 16 for batch in batches]
    shapes = [batch["input_ids"].shape for batch in batches]
    assert shapes == [(batch_size, min(S, length)) for length in lengths]
    columns = ("number", "example_index", "is_real_example")
    numbers, index, real = (np.concatenate([batch[name] for batch in batches]) for name in columns)
    assert list(numbers[real > 0]) == list(index[real > 0]) == list(range(COUNT))


def test_longest_counts_masked_gaps(tmp_path):
    holes = write(tmp_path / "holes", [[1, 0, 1] + [0] * 13 + [1]])
    (batch,) = evaluation(holes, "longest", 1)
    assert batch["input_mask"].shape == (1, 32) and batch["input_mask"].sum() == 3
