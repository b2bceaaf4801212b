# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where records are is known from metadata or from one walk, which is kept for the next start."""

import pytest
import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.util import files


def record_files_of(folder, counts):
    """Record files without metadata, with records of 5 bytes."""
    paths = []
    for number, count in enumerate(counts):
        paths.append(str(folder / f"r-{number}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            for _ in range(count):
                writer.write(b"bytes")
    return paths


def test_files_without_metadata_are_walked_once(tmp_path, monkeypatch):
    paths = record_files_of(tmp_path, [70, 0, 3])
    walked = count_walks(monkeypatch)
    out = str(tmp_path / "out")
    for _ in range(2):
        found = record_files.load(paths, folder=out)
        assert [one.count for one in found] == [70, 0, 3]
        assert [list(one.offsets) for one in found] == [[0, 64 * 21], [], [0]]
    assert sorted(walked) == paths
    with tf.io.TFRecordWriter(paths[2]) as writer:
        writer.write(b"0" * (3 * 21 - 16))  # as many bytes
    assert [one.count for one in record_files.load(paths, folder=out)] == [70, 0, 1]
    assert walked[3:] == [paths[2]]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"r": 1}'])
def test_a_kept_index_that_is_of_no_use_is_made_again(tmp_path, content):
    (path,) = record_files_of(tmp_path, [3])
    (tmp_path / record_files.INDEX_NAME).write_text(content.replace("r", path))
    assert record_files.load([path], folder=str(tmp_path))[0].count == 3
    assert path in index_in(tmp_path)["files"]


def index_in(folder):
    return files.read_json_object(str(folder / record_files.INDEX_NAME))


def count_walks(monkeypatch):
    """The files that are walked from now on."""
    walked = []
    walk = record_files.walk_records
    monkeypatch.setattr(
        record_files, "walk_records", lambda *file: walked.append(file[0]) or walk(*file)
    )
    return walked


def test_the_files_of_another_call_stay_in_the_index(tmp_path, monkeypatch):
    train, evaluation = record_files_of(tmp_path, [1, 2])
    walked = count_walks(monkeypatch)
    record_files.load([train], folder=str(tmp_path))
    record_files.load([evaluation], folder=str(tmp_path))
    assert set(index_in(tmp_path)["files"]) == {train, evaluation}
    record_files.load([train], folder=str(tmp_path))
    assert walked.count(train) == 1


def test_blocks_are_those_of_the_number_of_files_whatever_was_kept(tmp_path, monkeypatch):
    first, second = paths = record_files_of(tmp_path, [64 * 40, 64])
    monkeypatch.setattr(record_files, "_MOST_OFFSETS_TOGETHER", 40)

    def blocks(files):
        found = record_files.load(files, folder=str(tmp_path))[0]
        return found.block_records, len(found.offsets)

    for _ in range(2):
        assert blocks(paths) == (128, 20)
        assert blocks([first]) == (64, 40)


def test_load_ends_when_there_are_enough_records(tmp_path):
    paths = record_files_of(tmp_path, [3] * 5)
    assert [one.path for one in record_files.load(paths, enough=6)] == paths[:2]
