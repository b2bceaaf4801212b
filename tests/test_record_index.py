# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where records are is known from metadata or from one walk, which is kept for the next start."""

import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import files, record_index


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


def test_few_offsets_are_kept_of_a_long_file(monkeypatch):
    monkeypatch.setattr(files, "_MOST_OFFSETS", 4)
    blocks = files.BlockOffsets()
    for _ in range(1000):
        blocks.add(4)
    assert (blocks.count, blocks.block_records) == (1000, 256)
    assert blocks.offsets == [0, 256 * 20, 512 * 20, 768 * 20]


def test_files_without_metadata_are_walked_once(tmp_path, monkeypatch):
    paths = random_files(tmp_path, [[5] * 70, [], [6] * 3])
    walked = []
    walk = files.walk_records
    monkeypatch.setattr(
        files, "walk_records", lambda path, size: walked.append(path) or walk(path, size)
    )
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
    files.write_sidecar(paths[0], files.walk_records(paths[0], size), {})
    sidecar = files.read_json(files.sidecar_path(paths[0]))
    del sidecar["blocks"]
    files.atomic_write_json(files.sidecar_path(paths[0]), sidecar)
    walks = []
    walk = files.walk_records
    monkeypatch.setattr(files, "walk_records", lambda *file: walks.append(file) or walk(*file))
    for _ in range(2):
        (found,) = record_index.load(paths, folder=str(tmp_path / "out"))
        assert (found.count, list(found.offsets)) == (70, [0, 64 * 21])
    assert len(walks) == 1


def test_a_file_that_changes_while_it_is_walked_is_not_kept(tmp_path, monkeypatch):
    paths = random_files(tmp_path, [[5] * 3])
    walk = files.walk_records

    def walk_slowly(path, size):
        found = walk(path, size)
        random_files(tmp_path, [[5] * 4])
        return found

    with monkeypatch.context() as patch:
        patch.setattr(files, "walk_records", walk_slowly)
        record_index.load(paths, folder=str(tmp_path))
    assert record_index.load(paths, folder=str(tmp_path))[0].count == 4


@pytest.mark.parametrize("content", ["", "[]", "{", '{"r": 1}'])
def test_a_kept_index_that_is_of_no_use_is_made_again(tmp_path, content):
    paths = random_files(tmp_path, [[5] * 3])
    (tmp_path / record_index.INDEX_NAME).write_text(content.replace("r", paths[0]))
    assert record_index.load(paths, folder=str(tmp_path))[0].count == 3
    assert paths[0] in files.read_json(str(tmp_path / record_index.INDEX_NAME))


def test_no_more_files_are_walked_than_hold_enough_records(tmp_path):
    paths = random_files(tmp_path, [[5] * 3] * 100)
    assert 10 <= len(record_index.load(paths, enough=30)) < 100
    assert len(record_index.load(paths)) == 100


def test_a_walk_reads_headers_only(tmp_path):
    if not os.path.exists("/proc/self/io"):
        pytest.skip("no account of the bytes read")

    def bytes_read():
        with open("/proc/self/io", encoding="ascii") as stream:
            return int(stream.readline().split()[1])

    paths = random_files(tmp_path, [[100000] * 50])
    before = bytes_read()
    assert files.walk_records(paths[0], os.path.getsize(paths[0])).count == 50
    assert bytes_read() - before < 50000
