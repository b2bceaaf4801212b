# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where records are is known from metadata or from one walk, which is kept for the next start."""

import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import record_files, record_index
from albert.util import files


def random_files(folder, lengths):
    """Record files without metadata."""
    generator = np.random.RandomState(0)
    paths = []
    for number, some in enumerate(lengths):
        paths.append(str(folder / f"r-{number}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for length in some:
                writer.write(generator.bytes(length))
    return paths


def test_files_without_metadata_are_walked_once(tmp_path, monkeypatch):
    paths = random_files(tmp_path, [[5] * 70, [], [6] * 3])
    walked = count_walks(monkeypatch)
    out = str(tmp_path / "out")
    for _ in range(2):
        found = record_index.load(paths, folder=out)
        assert [one.count for one in found] == [70, 0, 3]
        assert [list(one.offsets) for one in found] == [[0, 64 * 21], [], [0]]
    assert sorted(walked) == paths
    size = os.path.getsize(paths[2])
    with tf.io.TFRecordWriter(paths[2]) as writer:
        writer.write(b"0" * (size - 16))  # as many bytes
    assert [one.count for one in record_index.load(paths, folder=out)] == [70, 0, 1]
    assert walked[3:] == [paths[2]]


def test_metadata_without_blocks_is_added_to_once(tmp_path, monkeypatch):
    """As versions before wrote it."""
    paths = random_files(tmp_path, [[5] * 70])
    size = os.path.getsize(paths[0])
    record_files.write_sidecar(paths[0], record_files.walk_records(paths[0], size), {})
    sidecar = files.read_json(record_files.sidecar_path(paths[0]))
    del sidecar["blocks"]
    files.atomic_write_json(record_files.sidecar_path(paths[0]), sidecar)
    walks = count_walks(monkeypatch)
    for _ in range(2):
        (found,) = record_index.load(paths, folder=str(tmp_path / "out"))
        assert (found.count, list(found.offsets)) == (70, [0, 64 * 21])
    assert len(walks) == 1


def test_a_file_that_changes_while_it_is_walked_is_not_kept(tmp_path, monkeypatch):
    paths = random_files(tmp_path, [[5] * 3])
    walk = record_files.walk_records

    def walk_slowly(path, size):
        found = walk(path, size)
        random_files(tmp_path, [[5] * 4])
        return found

    with monkeypatch.context() as patch:
        patch.setattr(record_files, "walk_records", walk_slowly)
        record_index.load(paths, folder=str(tmp_path))
    assert record_index.load(paths, folder=str(tmp_path))[0].count == 4


@pytest.mark.parametrize("content", ["", "[]", "{", '{"r": 1}'])
def test_a_kept_index_that_is_of_no_use_is_made_again(tmp_path, content):
    paths = random_files(tmp_path, [[5] * 3])
    (tmp_path / record_index.INDEX_NAME).write_text(content.replace("r", paths[0]))
    assert record_index.load(paths, folder=str(tmp_path))[0].count == 3
    assert paths[0] in index_in(tmp_path)["files"]


def index_in(folder):
    return files.read_json(str(folder / record_index.INDEX_NAME))


def count_walks(monkeypatch):
    """The files that are walked from now on."""
    walked = []
    walk = record_files.walk_records
    monkeypatch.setattr(
        record_files, "walk_records", lambda *file: walked.append(file[0]) or walk(*file)
    )
    return walked


def test_an_index_of_another_version_is_made_anew(tmp_path, monkeypatch):
    paths = random_files(tmp_path, [[5] * 3])
    walked = count_walks(monkeypatch)
    record_index.load(paths, folder=str(tmp_path))
    index = dict(index_in(tmp_path), format_version=-1)
    files.atomic_write_json(str(tmp_path / record_index.INDEX_NAME), index)
    assert record_index.load(paths, folder=str(tmp_path))[0].count == 3
    assert walked == paths * 2


def test_files_that_are_gone_leave_the_index_and_those_of_another_call_do_not(
    tmp_path, monkeypatch
):
    train, evaluation, gone = random_files(tmp_path, [[5], [5] * 2, [5] * 3])
    walked = count_walks(monkeypatch)
    record_index.load([train, gone], folder=str(tmp_path))
    os.remove(gone)
    record_index.load([evaluation], folder=str(tmp_path))
    assert set(index_in(tmp_path)["files"]) == {train, evaluation}
    record_index.load([train], folder=str(tmp_path))
    assert walked.count(train) == 1


def test_of_many_files_few_blocks_are_kept_and_the_same_ones_at_each_start(tmp_path, monkeypatch):
    monkeypatch.setattr(record_index, "_MOST_OFFSETS", 64)
    monkeypatch.setattr(record_index, "_FEWEST_OFFSETS", 2)
    paths = random_files(tmp_path, [[1] * 640] * 40)
    walked = count_walks(monkeypatch)
    record = 12 + 1 + 4
    alone, many = [0, *range(64 * record, 640 * record, 64 * record)], [0, 512 * record]
    for kept_as in (1, 1, 40, 40, 1):  # files of a call
        found = record_index.load(paths[:kept_as], folder=str(tmp_path))
        assert list(found[0].offsets) == (alone if kept_as == 1 else many)
        assert found[0].block_records == (64 if kept_as == 1 else 512)
    # What was kept of many files is too little for one.
    assert walked.count(paths[0]) == 1 and walked.count(paths[1]) == 1
    record_index.load(paths[1:2], folder=str(tmp_path))
    (found,) = record_index.load(paths[1:2], folder=str(tmp_path))
    assert list(found.offsets) == alone and walked.count(paths[1]) == 2
    record_index.load(paths, folder=str(tmp_path))
    assert len(walked) == 41


def test_no_more_files_are_walked_than_hold_enough_records(tmp_path):
    paths = random_files(tmp_path, [[5] * 3] * 100)
    assert 10 <= len(record_index.load(paths, enough=30)) < 100
    assert len(record_index.load(paths)) == 100
