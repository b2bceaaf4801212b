# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Padding: what is cut, what shares a batch, and that nothing is lost or served twice."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.configs import flags as shared_flags
from albert.data import batches as input_pipeline
from albert.data import padded_batches

S, COUNT = 64, 45
SPEC = input_pipeline.FeatureSpec(
    [
        input_pipeline.Feature("input_ids", (S,)),
        input_pipeline.Feature("input_mask", (S,)),
        input_pipeline.Feature("segment_ids", (S,)),
        input_pipeline.Feature("number", ()),
        input_pipeline.Feature("is_real_example", ()),
    ]
)


def length_of(number):
    return 3 + (number * 7919) % (S - 3)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write(str(tmp_path_factory.mktemp("records") / "records"), COUNT)


def write(path, count):
    with input_pipeline.AtomicRecordWriter(path, {}) as writer:
        for number in range(count):
            used = length_of(number)
            ones = [1] * used + [0] * (S - used)
            writer.write(
                SPEC.encode(
                    {
                        "input_ids": [number + 1] * used + [0] * (S - used),
                        "input_mask": ones,
                        "segment_ids": [0] * S,
                        "number": number,
                        "is_real_example": 1,
                    }
                )
            )
    return path


def served(dataset_fn, count=None):
    """Returns the batches of a dataset, at most `count`."""
    batches = []
    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.data.make_one_shot_iterator(dataset_fn()).get_next()
        for _ in itertools.count() if count is None else range(count):
            try:
                batches.append(session.run(batch))
            except tf.errors.OutOfRangeError:
                break
    return batches


def training(file, mode, count=12, *, start=0, seed=3, batch_size=4, **options):
    return served(
        lambda: padded_batches.training_batches(
            [file],
            SPEC,
            padding=padded_batches.Padding(mode),
            batch_size=batch_size,
            seed=seed,
            start_batch=start,
            **options,
        ),
        count,
    )


def evaluation(file, mode, batch_size=4):
    return served(
        lambda: padded_batches.evaluation_batches(
            [file], SPEC, padding=padded_batches.Padding(mode), batch_size=batch_size
        )
    )


def longest_of(batch):
    return max(length_of(number) for number in batch["number"])


@pytest.mark.slow
def test_longest_cuts_each_batch_to_its_longest_rounded_up_and_changes_nothing_else(file):
    full, cut = training(file, "max"), training(file, "longest")
    assert len({batch["input_ids"].shape[1] for batch in cut}) > 1
    for whole, batch in zip(full, cut):
        expected = min(S, -(-longest_of(batch) // 16) * 16)
        assert whole["input_ids"].shape == (4, S)
        for name in ("input_ids", "input_mask", "segment_ids"):
            assert batch[name].shape == (4, expected)
            np.testing.assert_array_equal(batch[name], whole[name][:, :expected])
            assert not whole[name][:, expected:].any()
        np.testing.assert_array_equal(batch["number"], whole["number"])


@pytest.mark.slow
def test_sequences_of_like_length_share_a_bucket_in_an_order_that_the_seed_gives(file):
    def spread(batches):
        return np.mean([np.ptp([length_of(n) for n in batch["number"]]) for batch in batches])

    buckets = training(file, "bucket", 22)
    assert spread(buckets) < 0.3 * spread(training(file, "max", 22))
    longest = [longest_of(batch) for batch in buckets[:11]]
    assert longest != sorted(longest) and longest != sorted(longest, reverse=True)
    (other,) = training(file, "bucket", 1, seed=4)
    assert other["number"].tolist() != buckets[0]["number"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("mode", padded_batches.MODES)
@pytest.mark.parametrize("start", [5, 17])
def test_a_run_that_goes_on_sees_the_batches_it_would_have_seen(file, mode, start):
    whole = training(file, mode, start + 3)
    rest = training(file, mode, 3, start=start)
    for batch, expected in zip(rest, whole[start:]):
        for name, value in expected.items():
            np.testing.assert_array_equal(batch[name], value)


def test_buckets_are_the_same_on_every_runtime(file):
    first = [batch["number"].tolist() for batch in training(file, "bucket", 2)]
    assert first == [[0, 11, 22, 33], [8, 19, 30, 41]]


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("mode", padded_batches.MODES)
def test_two_readers_of_two_batches_a_step_share_each_batch_of_one_reader(file, mode, start):
    whole = training(file, mode, 7, batch_size=8, start=start)
    shares = [
        training(
            file,
            mode,
            14,
            batch_size=2,
            start=2 * start,
            shard=input_pipeline.InputShard(reader, 2, 2),
        )
        for reader in range(2)
    ]
    for step, batch in enumerate(whole):
        parts = [part for share in shares for part in share[2 * step : 2 * step + 2]]
        numbers = [number for part in parts for number in part["number"]]
        assert sorted(numbers) == sorted(batch["number"])


@pytest.mark.parametrize("serve", [training, evaluation])
def test_an_unknown_mode_is_refused(file, serve):
    with pytest.raises(ValueError, match="shortest"):
        serve(file, "shortest")
    assert shared_flags.PADDINGS == padded_batches.MODES


def test_a_tpu_gets_static_shapes_unless_told_otherwise():
    assert [padded_batches.default_mode(use_tpu) for use_tpu in (True, False)] == ["max", "longest"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", padded_batches.MODES)
@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_evaluation_serves_each_record_once_and_says_which(file, mode, batch_size):
    batches = evaluation(file, mode, batch_size)
    numbers = np.concatenate([batch["number"] for batch in batches])
    index = np.concatenate([batch["example_index"] for batch in batches])
    real = np.concatenate([batch["is_real_example"] for batch in batches])
    if mode != "bucket":
        assert len(batches) == -(-COUNT // batch_size)
        assert {batch["input_ids"].shape[0] for batch in batches} == {batch_size}
    assert sorted(numbers[real > 0]) == list(range(COUNT))
    np.testing.assert_array_equal(index[real > 0], numbers[real > 0])
    assert set(index[real == 0]) <= {-1}


def test_evaluation_serves_the_longest_first_and_cuts(file):
    batches = evaluation(file, "longest")
    longest = [max(length_of(n) for n in batch["example_index"] if n >= 0) for batch in batches]
    assert longest == sorted(longest, reverse=True)
    shapes = [batch["input_ids"].shape[1] for batch in batches]
    assert shapes == [min(S, -(-length // 16) * 16) for length in longest]


def test_records_of_later_pools_are_named_by_their_number_too(tmp_path):
    batches = evaluation(write(str(tmp_path / "records"), 110), "longest", batch_size=1)
    index = [batch["example_index"][0] for batch in batches]
    assert index == [batch["number"][0] for batch in batches]
    assert sorted(index) == list(range(110))


def test_evaluation_in_buckets_serves_more_of_the_shorter_ones_at_once(file):
    batches = evaluation(file, "bucket")
    rows = [batch["input_ids"].shape for batch in batches]
    for length in {length for _, length in rows}:
        counts = [count for count, other in rows if other == length]
        assert max(counts) <= 4 * S // length
        assert all(count == 4 * S // length for count in counts[:-1])
    assert max(count for count, _ in rows) > 4
    for batch in batches:
        assert longest_of(batch) > batch["input_ids"].shape[1] - 16


def test_the_length_is_that_of_the_last_place_in_use(tmp_path):
    path = str(tmp_path / "holes")
    with input_pipeline.AtomicRecordWriter(path, {}) as writer:
        mask = [1, 0, 1] + [0] * 13 + [1] + [0] * (S - 17)
        row = {name: [0] * S for name in ("input_ids", "segment_ids")}
        writer.write(SPEC.encode(dict(row, input_mask=mask, number=0, is_real_example=1)))
    (batch,) = evaluation(path, "longest", 1)
    assert batch["input_mask"].shape == (1, 32) and batch["input_mask"].sum() == 3
