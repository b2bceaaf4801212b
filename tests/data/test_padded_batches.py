# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Padding: what is cut, what shares a batch, and that nothing is lost or served twice."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.configs import flags as shared_flags
from albert.data import batches as input_pipeline
from albert.data import padded_batches, record_files
from tests.support.number_records import served

S, COUNT = 64, 45
SEQUENCES = padded_batches.Padding().features
SPEC = input_pipeline.FeatureSpec(
    [
        *(input_pipeline.Feature(name, (S,)) for name in SEQUENCES),
        *(input_pipeline.Feature(name, ()) for name in ("number", "is_real_example")),
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


def evaluation(file, mode, batch_size=4):
    padding = padded_batches.Padding(mode)
    options = {"is_training": False, "padding": padding, "batch_size": batch_size}
    return served(lambda: padded_batches.input_fn(file, SPEC, **options)({}))


def longest_of(batch):
    return max(length_of(number) for number in batch["number"])


@pytest.mark.slow
def test_longest_cuts_each_batch_and_changes_nothing_else(file):
    full, cut = training(file, "max"), training(file, "longest")
    lengths = [min(S, -(-longest_of(batch) // 16) * 16) for batch in cut]
    assert len(set(lengths)) > 1
    for whole, batch, length in zip(full, cut, lengths):
        for name in SEQUENCES:
            assert whole[name].shape == (4, S) and not whole[name][:, length:].any()
            np.testing.assert_array_equal(batch[name], whole[name][:, :length])
        np.testing.assert_array_equal(batch["number"], whole["number"])


@pytest.mark.slow
def test_bucket_has_sequences_of_like_length_in_random_order(file):
    def spread(batches):
        return np.mean([np.ptp([length_of(n) for n in batch["number"]]) for batch in batches])

    buckets = training(file, "bucket", 22)
    assert spread(buckets) < 0.3 * spread(training(file, "max", 22))
    longest = [longest_of(batch) for batch in buckets[:11]]
    assert longest not in (sorted(longest), sorted(longest, reverse=True))


def test_buckets_are_the_same_on_every_runtime(file):
    first = [batch["number"].tolist() for batch in training(file, "bucket", 2)]
    assert first == [[0, 11, 22, 33], [8, 19, 30, 41]]


@pytest.mark.slow
@pytest.mark.parametrize("mode", padded_batches.MODES)
@pytest.mark.parametrize("start", [5, 17])
def test_resumed_training_sees_the_same_batches(file, mode, start):
    rest = training(file, mode, 3, start_batch=start)
    for batch, expected in zip(rest, training(file, mode, start + 3)[start:]):
        tf.nest.map_structure(np.testing.assert_array_equal, batch, expected)


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("mode", padded_batches.MODES)
def test_two_readers_of_two_batches_share_each_batch_of_one_reader(file, mode, start):
    whole = training(file, mode, 7, batch_size=8, start_batch=start)
    shares = []
    for reader in range(2):
        options = {"batch_size": 2, "start_batch": 2 * start}
        options["shard"] = input_pipeline.InputShard(reader, 2, 2)
        parts = [part["number"] for part in training(file, mode, 14, **options)]
        shares.append(np.reshape(parts, [7, 4]))
    found = np.sort(np.concatenate(shares, axis=1))
    np.testing.assert_array_equal(found, np.sort([batch["number"] for batch in whole]))


def test_modes_are_those_of_the_flag_and_a_tpu_gets_static_shapes():
    assert shared_flags.PADDINGS == padded_batches.MODES
    assert [padded_batches.default_mode(use_tpu) for use_tpu in (True, False)] == ["max", "longest"]


@pytest.mark.parametrize("mode", ["longest", "max"])
@pytest.mark.parametrize("batch_size", [4, 64])
def test_evaluation_serves_each_record_once(file, mode, batch_size):
    batches = evaluation(file, mode, batch_size)
    lengths = [S if mode == "max" else -(-longest_of(batch) // 16) * 16 for batch in batches]
    shapes = [batch["input_ids"].shape for batch in batches]
    assert shapes == [(batch_size, min(S, length)) for length in lengths]
    columns = ("number", "example_index", "is_real_example")
    numbers, index, real = (np.concatenate([batch[name] for batch in batches]) for name in columns)
    assert list(numbers[real > 0]) == list(index[real > 0]) == list(range(COUNT))


def test_length_is_that_of_the_last_place_in_use(tmp_path):
    holes = write(tmp_path / "holes", [[1, 0, 1] + [0] * 13 + [1]])
    (batch,) = evaluation(holes, "longest", 1)
    assert batch["input_mask"].shape == (1, 32) and batch["input_mask"].sum() == 3
