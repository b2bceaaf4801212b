# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records are written, parsed and served from one declaration; batch n depends on (seed, n)."""

import functools
import os
import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches as input_pipeline
from albert.data import record_files
from albert.data.batches import Feature, FeatureSpec, InputShard
from tests.support import number_records
from tests.support.number_records import NUMBER, served


def _numbers(paths, steps, **settings):
    """Batches of seeded_batches as an array [steps, B]."""
    elements = served(lambda: input_pipeline.seeded_batches(paths, NUMBER, **settings), steps)
    return np.array([element["number"] for element in elements])


# 61 records in 11 files, one of them empty.
SIZES = [7, 0, 3, 11, 5, 1, 2, 9, 4, 6, 13]


@pytest.fixture(name="paths", scope="module")
def _paths(tmp_path_factory):
    return number_records.write(tmp_path_factory.mktemp("numbers"), SIZES)


# ---------------------------------------------------------------------------------- declaration

MIXED = FeatureSpec(
    [
        Feature("ids", (2,), tf.int64),
        Feature("weights", (2, 1), tf.float32),
        Feature("label", (), tf.int64),
        Feature("extra", (2,), tf.int64, default=7),
    ]
)


def test_what_is_encoded_is_parsed_back_with_integers_as_int32_and_defaults_filled_in():
    rows = [
        {"ids": np.array([1, 300]), "weights": [[0.5], [-2]], "label": np.int64(1)},
        {"ids": (4, 5), "weights": [1, 0], "label": True, "extra": [1, 2]},
    ]
    records = [FeatureSpec(MIXED.features[:3]).encode(rows[0]), MIXED.encode(rows[1])]
    with tf.Graph().as_default(), tf.Session() as session:
        both = session.run(MIXED.parse_batch(tf.constant(records)))
    assert {name: value.tolist() for name, value in both.items()} == {
        "ids": [[1, 300], [4, 5]],
        "weights": [[[0.5], [-2]], [[1], [0]]],
        "label": [1, 1],
        "extra": [[7, 7], [1, 2]],
    }
    assert (both["ids"].dtype, both["weights"].dtype) == (np.int32, np.float32)


@pytest.mark.parametrize(
    "name, value",
    [
        ("ids", [1]),
        ("ids", [1, 0.5]),
        ("ids", [1 << 20, 0.5]),
        ("weights", [0] * 3),
        ("label", None),
    ],
)
def test_values_that_do_not_fit_the_declaration_are_named(name, value):
    values = {"ids": [1, 2], "weights": [0, 0], "label": 0, "extra": [0, 0], name: value}
    with pytest.raises(ValueError, match=f"'{name}'"):
        MIXED.encode({name: value for name, value in values.items() if value is not None})


# -------------------------------------------------------------------------------------- writing


def test_a_record_file_and_its_metadata_appear_together_at_the_end_or_not_at_all(tmp_path):
    path = str(tmp_path / "folder" / "a.tfrecord")
    with record_files.create(path, {"length": 3}) as file:
        file.write(b"one")
        file.write(b"two")
        assert not os.path.exists(path)
    assert record_files.read_sidecar(path).count == record_files.count_records(path) == 2
    with pytest.raises(RuntimeError), record_files.create(path, {"length": 4}) as file:
        file.write(b"other")
        raise RuntimeError("stopped")
    assert not record_files.why_stale(path, {"length": 3})
    assert sorted(os.listdir(str(tmp_path / "folder"))) == [".a.tfrecord.meta.json", "a.tfrecord"]


def test_a_writer_killed_between_its_two_renames_leaves_no_metadata_of_the_old_file(
    tmp_path, monkeypatch
):
    path = str(tmp_path / "a.tfrecord")
    with record_files.create(path, {"length": 3}) as file:
        file.write(b"one")

    def killed(*unused):
        raise KeyboardInterrupt

    monkeypatch.setattr(record_files, "write_sidecar", killed)
    with pytest.raises(KeyboardInterrupt), record_files.create(path, {"length": 4}) as file:
        file.write(b"two")  # as many bytes as before
    assert record_files.why_stale(path, {"length": 3})
    assert record_files.why_stale(path, {"length": 4})


# ------------------------------------------------------------------------------ reading: training


# Batch 15 holds the end of the first epoch and the beginning of the second; batch 61 begins the
# fifth.
@pytest.mark.slow
@pytest.mark.parametrize("window", [1, 7, 1000])
def test_a_run_that_starts_at_batch_k_gets_the_batches_of_an_uninterrupted_one(paths, window):
    settings = {"batch_size": 4, "seed": 5, "shuffle_window": window}
    uninterrupted = _numbers(paths, 65, **settings)
    for start in (2, 13, 15, 16, 61):
        resumed = _numbers(paths, 3, start_batch=start, **settings)
        assert resumed.tolist() == uninterrupted[start : start + 3].tolist()


# Computed once, on TF 1.15.5: resuming a run on the other runtime must not change its data.
ORDERS = {"first": 4170994730, "far": 4246062944, "large": 2665824462}


def _digest(numbers):
    return zlib.crc32(np.int64(numbers).tobytes())


@pytest.mark.slow
def test_both_runtimes_draw_the_same_order_however_files_are_named(paths):
    settings = {"batch_size": 8, "seed": 5, "shuffle_window": 20}
    batches = _numbers(paths, 16, **settings)
    assert _digest(batches) == ORDERS["first"]
    far = _numbers(paths, 1, **dict(settings, seed=-(1 << 40), start_batch=10**9))
    assert _digest(far) == ORDERS["far"]
    assert batches.tolist() == _numbers(paths[::-1], 16, **settings).tolist()
    shard = {"batch_size": 4, "shard": InputShard(1, 2, 1)}  # in the second epoch
    batch = _numbers(paths, 1, **dict(settings, **shard, start_batch=15))[0]
    assert batch.tolist() == batches[15][1::2].tolist()


def test_two_shards_share_two_epochs_of_one_file_in_different_orders(tmp_path):
    paths = number_records.write(tmp_path, [61])
    parts = [_numbers(paths, 1, batch_size=61, seed=1, shard=InputShard(i, 2, 1)) for i in (0, 1)]
    first, second = np.stack(parts, axis=2).reshape(2, 61).tolist()
    assert first != second and sorted(first) == sorted(second) == list(range(61))


LARGE = {
    "one": [45000],
    "eight": [7000, 7000, 7000, 4000, 5000, 8000, 3000, 4000],
    "many": [225] * 200,
}


@pytest.fixture(name="large", scope="module")
def _large(tmp_path_factory):
    """Record files of more than a window: name -> paths."""
    folders = {name: tmp_path_factory.mktemp(name) for name in LARGE}
    return {name: number_records.write(folders[name], sizes) for name, sizes in LARGE.items()}


@pytest.mark.parametrize("name", list(LARGE))
def test_large_data_is_shuffled_as_a_whole_and_anew_each_epoch(large, name):
    first, second = epochs = _numbers(large[name], 2, batch_size=45000, seed=7)
    for order in epochs:
        assert sorted(order) == list(range(45000))
        assert abs(np.corrcoef(order, range(45000))[0, 1]) < 0.05
        # Were the records sorted by label, no batch would hold mostly one of two labels.
        halves = (order[: 45000 // 32 * 32].reshape(-1, 32) >= 22500).mean(axis=1)
        assert halves.min() > 0.1 and halves.max() < 0.9
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
    assert np.mean(first == second) < 0.01


@pytest.mark.slow
def test_large_data_comes_in_the_same_order_on_both_runtimes_and_after_a_restart(large):
    whole = _numbers(large["eight"], 360, batch_size=128, seed=5)  # into the second epoch
    assert _digest(whole) == ORDERS["large"]
    for start in (200, 351):
        resumed = _numbers(large["eight"], 5, batch_size=128, seed=5, start_batch=start)
        assert resumed.tolist() == whole[start : start + 5].tolist()


def _bytes_read():
    """What this process has read from files so far."""
    with open("/proc/self/io", encoding="ascii") as stream:
        return int(stream.readline().split()[1])


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="no account of bytes read")
@pytest.mark.parametrize("shards", [1, 2, 64])
def test_a_shard_reads_its_share_of_the_data(tmp_path, shards):
    """In many files; a runtime that can begin anywhere reads no more of a single one."""
    spec = FeatureSpec([Feature("number", (), tf.int64), Feature("more", (900,), tf.int64)])
    files = 1 if hasattr(tf.raw_ops, "TFRecordDatasetV2") else 400
    paths = [str(tmp_path / f"{number}.tfrecord") for number in range(files)]
    for path in paths:
        with record_files.create(path) as file:
            for number in range(25600 // files):
                file.write(spec.encode({"number": number, "more": [0] * 900}))
    share = sum(map(os.path.getsize, paths)) / shards
    given = {"batch_size": 50, "shard": InputShard(shards - 1, shards, 1)}

    def train(batches):
        served(lambda: input_pipeline.seeded_batches(paths, spec, seed=1, **given), batches)

    train(1)  # what is read once, of the program and indices
    before = _bytes_read()
    train(25600 // shards // 100)  # half an epoch; a window is read ahead
    between = _bytes_read()
    assert between - before < (0.5 + 2.5 * 10000 / 25600) * share + 2e6
    served(lambda: input_pipeline.evaluation_batches(paths, spec, **given))
    assert _bytes_read() - between < 1.2 * share + 2e6


def test_a_batch_may_be_larger_than_the_data(tmp_path):
    paths = number_records.write(tmp_path, [3])
    batch = _numbers(paths, 1, batch_size=9, seed=1)[0]
    assert sorted(batch.tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


TRAINING = functools.partial(input_pipeline.seeded_batches, seed=1)


@pytest.mark.parametrize("serve", [TRAINING, input_pipeline.evaluation_batches])
def test_a_foreign_or_damaged_file_is_named_before_anything_runs(paths, tmp_path, serve):
    with pytest.raises(ValueError, match="record file"):
        serve([], NUMBER, batch_size=2)
    for feature in (("number", (2,)), ("another", ()), ("number", (), tf.float32)):
        with pytest.raises(ValueError, match=rf"0\.tfrecord.*'{feature[0]}'"):
            serve(paths, FeatureSpec([Feature(*feature)]), batch_size=2)
    first, second = number_records.write(tmp_path, [5, 5])
    os.truncate(second, os.path.getsize(second) - 1)
    with pytest.raises(ValueError, match=second):
        serve([first, second], NUMBER, batch_size=2)
    with record_files.create(first) as file:
        file.write(b"no Example")
    with pytest.raises(ValueError, match=first):
        serve([first], NUMBER, batch_size=2)


# ---------------------------------------------------------------------------- reading: evaluation


def _evaluation(paths, **settings):
    return served(lambda: input_pipeline.evaluation_batches(paths, NUMBER, **settings))


@pytest.mark.parametrize("pads, reality", [(True, [1, 0, 0]), (False, [1])])
def test_evaluation_serves_each_record_once_in_order_and_marks_what_fills_a_batch(
    tmp_path, pads, reality
):
    paths = number_records.write(tmp_path, [2, 5])
    batches = _evaluation([paths[1], paths[0]], batch_size=3, pad_final_batch=pads)
    numbers = [batch["number"].tolist() for batch in batches]
    assert numbers == [[2, 3, 4], [5, 6, 0], [1] * len(reality)]
    marks = [batch["is_real_example"].tolist() for batch in batches]
    assert marks == [[1, 1, 1], [1, 1, 1], reality]
    assert batches[0]["is_real_example"].dtype == np.int32


@pytest.fixture(name="uneven", scope="module")
def _uneven(tmp_path_factory):
    return number_records.write(tmp_path_factory.mktemp("uneven"), [500, 0, 300, 7])


@pytest.mark.parametrize("shards", [2, 3, 80])
@pytest.mark.parametrize("limit", [None, 4])
def test_evaluation_shards_serve_together_what_one_serves(uneven, shards, limit):
    def numbers(batch_size, **settings):
        settings.update(batch_size=batch_size, max_batches=limit)
        batches = _evaluation(
            uneven, transform=lambda rows, place: dict(rows, place=place), **settings
        )
        found = []
        for batch in batches:
            real = batch["is_real_example"] > 0
            found += batch["number"][real].tolist()
            assert (batch["number"] == batch["place"])[real].all()
        return found

    whole = numbers(20 * shards)
    for index in sorted({0, 1, shards // 2, shards - 1}):
        begin, end = (len(whole) * number // shards for number in (index, index + 1))
        assert numbers(20, shard=InputShard(index, shards, 1)) == whole[begin:end]
