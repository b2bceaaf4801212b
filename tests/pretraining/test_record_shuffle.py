# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shuffling records through parts on disk."""

import os

import numpy as np
import pytest

from albert.data import records as example_batches
from albert.pretraining import record_shuffle


def batch(records):
    ends = np.cumsum([len(record) for record in records], dtype=np.int64)
    return example_batches.EncodedExamples(b"".join(records), ends)


def make_parts(folder, sizes, *, seed=0):
    """Parts with records that tell their key; returns them and all (key, record) in order."""
    random = np.random.RandomState(seed)
    parts, everything = [], []
    for number, size in enumerate(sizes):
        keys = np.sort(random.randint(0, 2**63, size).astype(np.uint64) * np.uint64(2))
        records = [b"%d:%d" % (number, key) * random.randint(1, 9) for key in keys.tolist()]
        batches = [batch(records[start : start + 7]) for start in range(0, size, 7)]
        path = str(folder / f"{number}.part")
        parts.append(record_shuffle.write_part(path, keys, batches, note={"number": number}))
        everything += zip(keys.tolist(), records)
    return parts, sorted(everything, key=lambda pair: pair[0])


def test_a_part_is_read_as_it_was_written(tmp_path):
    parts, _ = make_parts(tmp_path, [20, 0, 1])
    for part in parts:
        assert record_shuffle.read_part(part.path) == part
        assert record_shuffle.read_part(part.path, verify=True) == part
    assert [part.count for part in parts] == [20, 0, 1]
    assert [part.note for part in parts] == [{"number": 0}, {"number": 1}, {"number": 2}]


def test_a_part_that_is_not_whole_does_not_count(tmp_path):
    (part,), _ = make_parts(tmp_path, [20])
    content = (tmp_path / "0.part").read_bytes()
    other = tmp_path / "other.part"
    assert record_shuffle.read_part(str(other)) is None
    for damaged in (b"", content[:-1], content[:100], content[5:-30]):
        other.write_bytes(damaged)
        assert record_shuffle.read_part(str(other)) is None
    other.write_bytes(content[:10] + b"?" + content[11:])
    assert record_shuffle.read_part(str(other)) is not None
    assert record_shuffle.read_part(str(other), verify=True) is None


def test_a_part_appears_only_when_it_is_whole(tmp_path):
    def failing():
        yield batch([b"one"])
        raise RuntimeError("stop")

    path = str(tmp_path / "a.part")
    with pytest.raises(RuntimeError, match="stop"):
        record_shuffle.write_part(path, np.zeros(2, np.uint64), failing(), note={})
    assert os.listdir(str(tmp_path)) == []


@pytest.mark.parametrize("range_bytes", [1, 100, 1000, 1 << 20])
def test_records_of_all_parts_come_in_order_of_key(tmp_path, range_bytes):
    parts, expected = make_parts(tmp_path, [50, 0, 33, 1, 70])
    shuffle = record_shuffle.WindowShuffle(parts, range_bytes=range_bytes)
    assert shuffle.count == 154
    assert list(shuffle.records(0, 154)) == [record for _, record in expected]


def test_any_stretch_can_be_read_alone(tmp_path):
    parts, expected = make_parts(tmp_path, [50, 60])
    records = [record for _, record in expected]
    for start, end in ((0, 0), (0, 3), (17, 90), (90, 110), (109, 110), (40, 41), (0, 110)):
        shuffle = record_shuffle.WindowShuffle(parts, range_bytes=200)
        assert list(shuffle.records(start, end)) == records[start:end]
        assert list(shuffle.records(start, end)) == records[start:end]


def test_records_with_equal_keys_stay_in_order_of_part(tmp_path):
    keys = np.array([5, 5], np.uint64)
    parts = [
        record_shuffle.write_part(str(tmp_path / name), keys, [batch(records)], note={})
        for name, records in (("a", [b"1", b"2"]), ("b", [b"3", b"4"]))
    ]
    shuffle = record_shuffle.WindowShuffle(parts)
    assert list(shuffle.records(0, 4)) == [b"1", b"2", b"3", b"4"]


def test_only_one_range_of_records_is_in_memory(tmp_path, monkeypatch):
    parts, expected = make_parts(tmp_path, [400, 300])
    read = []
    original = record_shuffle._read_rows

    def counting(part, first, last):
        read.append(last - first)
        return original(part, first, last)

    monkeypatch.setattr(record_shuffle, "_read_rows", counting)
    size = sum(part.bytes for part in parts)
    shuffle = record_shuffle.WindowShuffle(parts, range_bytes=size // 10)
    records = shuffle.records(0, 700)
    next(records)
    assert sum(read) < 700 / 5
    assert len(list(records)) == 699
    assert sum(read) == 700
