# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records are written, parsed and served from one declaration; batch n depends on (seed, n)."""

import functools
import os
import zlib
from unittest import mock

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import record_files, shuffling
from albert.data.record_format import Feature, FeatureSpec
from albert.data.shuffling import WHOLE, InputShard
from tests.support import graphs, number_records, recorded
from tests.support.number_records import NUMBER, served


def _numbers(paths, steps, **flags):
    """Batches of seeded_batches as an array [steps, B]."""
    flags = dict({"batch_size": 4, "seed": 5}, **flags)
    elements = served(lambda: shuffling.seeded_batches(paths, NUMBER, **flags), steps)
    return np.array([element["number"] for element in elements])


# Sizes of record files: 61 records, one file empty; or 4500, of which a window holds 1000.
SIZES = {
    "small": [7, 0, 3, 11, 5, 1, 2, 9, 4, 6, 13],
    "one": [4500],
    "eight": [700, 0, 700, 700, 400, 500, 800, 300, 400],
    "many": [18] * 250,
}
LARGE, WINDOW = 4500, 1000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Name of SIZES -> paths."""
    return {
        name: number_records.write(tmp_path_factory.mktemp(name), sizes)
        for name, sizes in SIZES.items()
    }


# ---------------------------------------------------------------------------------- declaration

MIXED = FeatureSpec(
    [
        Feature("ids", (2,)),
        Feature("weights", (2, 1), tf.float32),
        Feature("label", ()),
        Feature("extra", (2,), default=7),
    ]
)


def test_encode_and_parse_round_trip():
    records = [
        FeatureSpec(MIXED.features[:3]).encode(
            {"ids": np.array([1, 300]), "weights": [[0.5], [-2]], "label": np.int64(1)}
        ),
        MIXED.encode({"ids": (4, 5), "weights": [1, 0], "label": True, "extra": [1, 2]}),
    ]
    with graphs.new_session() as session:
        found = session.run(MIXED.parse_batch(tf.constant(records)))
    assert {name: value.tolist() for name, value in found.items()} == {
        "ids": [[1, 300], [4, 5]],
        "weights": [[[0.5], [-2]], [[1], [0]]],
        "label": [1, 1],
        "extra": [[7, 7], [1, 2]],
    }
    assert (found["ids"].dtype, found["weights"].dtype) == (np.int32, np.float32)


@pytest.mark.parametrize(
    "name, value",
    [("ids", [1]), ("ids", [1 << 20, 0.5]), ("weights", [0] * 3), ("label", None)],
)
def test_encode_names_unfit_feature(name, value):
    values = {"ids": [1, 2], "weights": [0, 0], "label": 0, "extra": [0, 0], name: value}
    with pytest.raises(ValueError, match=f"'{name}'"):
        MIXED.encode({name: value for name, value in values.items() if value is not None})


def test_encode_all_needs_a_value_for_each_record():
    weights = np.zeros([2, 4])
    with pytest.raises(ValueError, match="'ids'"):
        MIXED.encode_all({"weights": weights, "ids": np.arange(4).reshape(1, 4)})


# ------------------------------------------------------------------------------ reading: training


# Resuming a run on the other runtime must not change its data. In the
# small data batch 15 holds the end of the first epoch, and batch 61 begins the fifth.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name, window, starts",
    [
        ("small", 1, [2, 13, 15, 16, 61]),
        ("small", 7, [2, 13, 15, 16, 61]),
        ("small", WINDOW, [2, 13, 15, 16, 61]),
        ("eight", WINDOW, [600, 1123]),
    ],
)
def test_batches_resume_on_every_runtime(data, name, window, starts):
    whole = _numbers(data[name], starts[-1] + 4, shuffle_window=window)
    for start in starts:
        resumed = _numbers(data[name], 3, shuffle_window=window, start_batch=start)
        assert resumed.tolist() == whole[start : start + 3].tolist()
    recorded.assert_checksum(f"batches, {name}, {window}", zlib.crc32(np.int64(whole).tobytes()))


@pytest.mark.slow
def test_batches_of_shards_and_reordered_files(data):
    flags = {"batch_size": 8, "shuffle_window": 20}
    batches = _numbers(data["small"], 16, **flags)
    assert batches.tolist() == _numbers(data["small"][::-1], 16, **flags).tolist()
    shard = {"batch_size": 4, "shard": InputShard(1, 2, 1)}  # in the second epoch
    batch = _numbers(data["small"], 1, **dict(flags, **shard, start_batch=15))[0]
    assert batch.tolist() == batches[15][1::2].tolist()
    far = _numbers(data["small"], 1, **dict(flags, seed=-(1 << 40), start_batch=10**9))
    recorded.assert_checksum("batches, far", zlib.crc32(np.int64(far).tobytes()))


def test_batches_resume(data):
    whole = _numbers(data["small"], 15)
    assert len(set(whole.flat)) == 60  # of the first epoch
    assert _numbers(data["small"], 1, start_batch=2).tolist() == whole[2:3].tolist()


def test_shards_share_one_file(tmp_path):
    paths = number_records.write(tmp_path, [61])
    parts = [_numbers(paths, 1, batch_size=61, shard=InputShard(i, 2, 1)) for i in (0, 1)]
    first, second = np.stack(parts, axis=2).reshape(2, 61).tolist()
    assert first != second and sorted(first) == sorted(second) == list(range(61))


@pytest.mark.parametrize("name", ["one", "eight", "many"])
def test_batches_shuffle_whole_data(data, name):
    first, second = epochs = _numbers(data[name], 2, batch_size=LARGE, shuffle_window=WINDOW)
    for order in epochs:
        assert sorted(order) == list(range(LARGE))
        assert abs(np.corrcoef(order, range(LARGE))[0, 1]) < 0.1
        # Were the records sorted by label, no batch would hold mostly one of two labels.
        halves = (order[: LARGE // 32 * 32].reshape(-1, 32) >= LARGE // 2).mean(axis=1)
        assert halves.min() > 0.1 and halves.max() < 0.9
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1
    assert np.mean(first == second) < 0.01


def test_batch_larger_than_the_data(tmp_path):
    batch = _numbers(number_records.write(tmp_path, [3]), 1, batch_size=9)[0]
    assert sorted(batch.tolist()) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


TRAINING = functools.partial(shuffling.seeded_batches, seed=1)


@pytest.mark.parametrize("serve", [TRAINING, shuffling.evaluation_batches])
def test_batches_name_unfit_file(data, tmp_path, serve):
    first, second = number_records.write(tmp_path, [5, 5])
    os.truncate(second, os.path.getsize(second) - 1)
    with record_files.create(f"{tmp_path}/foreign") as file:
        file.write(b"no Example")
    wrong = [("number", (2,)), ("another", ()), ("number", (), tf.float32)]
    for paths, named, *feature in (
        ([], "record file"),
        *((data["small"], rf"0\.tfrecord.*'{one[0]}'", one) for one in wrong),
        ([first, second], second),
        ([f"{tmp_path}/foreign"], "foreign"),
    ):
        spec = FeatureSpec([Feature(*feature[0])]) if feature else NUMBER
        with pytest.raises(ValueError, match=named):
            serve(paths, spec, batch_size=2)


@pytest.mark.parametrize("is_tpu, shard", [(True, InputShard(1, 2, 4)), (False, WHOLE)])
def test_input_shard_of_a_tpu_host(is_tpu, shard):
    context = mock.Mock()
    context.current_input_fn_deployment.return_value = (None, 1, 2, 4)
    assert shuffling.input_shard({"use_tpu": is_tpu, "context": context}) == shard


# ---------------------------------------------------------------------------- reading: evaluation


def _evaluation(paths, **flags):
    return served(lambda: shuffling.evaluation_batches(paths, NUMBER, **flags))


@pytest.mark.parametrize("pads, reality", [(True, [1, 0, 0]), (False, [1])])
def test_evaluation_marks_what_fills_a_batch(tmp_path, pads, reality):
    paths = number_records.write(tmp_path, [2, 5])
    batches = _evaluation([paths[1], paths[0]], batch_size=3, pad_final_batch=pads)
    numbers = [batch["number"].tolist() for batch in batches]
    assert numbers == [[2, 3, 4], [5, 6, 0], [1] * len(reality)]
    marks = [batch["is_real_example"].tolist() for batch in batches]
    assert marks == [[1, 1, 1], [1, 1, 1], reality]
    assert batches[0]["is_real_example"].dtype == np.int32


def test_reading_is_not_tuned(data):
    with tf.Graph().as_default():
        read = functools.partial(shuffling.evaluation_batches, batch_size=4)
        for reader in (read, functools.partial(shuffling.seeded_batches, batch_size=4, seed=5)):
            options = reader(data["small"], NUMBER).options()
            if hasattr(options, "autotune"):
                assert options.autotune.enabled is False
            else:
                assert options.experimental_optimization.autotune is False


@pytest.mark.parametrize("shards, limit", [(2, 4), (80, None)])
def test_evaluation_shards_serve_each_record_once(data, shards, limit):
    def numbers(batch_size, **flags):
        flags.update(batch_size=batch_size, max_batches=limit)
        batches = _evaluation(
            data["eight"], transform=lambda rows, place: dict(rows, place=place), **flags
        )
        found = []
        for batch in batches:
            real = batch["is_real_example"] > 0
            found += batch["number"][real].tolist()
            assert (batch["number"] == batch["place"])[real].all()
        return found

    whole = numbers(20 * shards)
    for index in (0, shards - 1):
        begin, end = (len(whole) * number // shards for number in (index, index + 1))
        assert numbers(20, shard=InputShard(index, shards, 1)) == whole[begin:end]
