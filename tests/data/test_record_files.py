# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Record files: how they appear, their metadata, or what one walk finds and keeps."""

import os

import pytest
import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.util import files, json_files


@pytest.fixture
def path(tmp_path):
    return f"{tmp_path}/a.tfrecord"


def write(path, *records, fingerprint=None):
    """Writes a record file, with metadata where there is a fingerprint."""
    with record_files.create(path, fingerprint or {}) as file:
        for record in records:
            file.write(record)
    if fingerprint is None:
        os.remove(record_files.sidecar_path(path))
    return path


def write_several(folder, counts):
    """Record files without metadata, with records of 5 bytes."""
    return [
        write(f"{folder}/r-{number}.tfrecord", *[b"bytes"] * count)
        for number, count in enumerate(counts)
    ]


# ---- writing and metadata ------------------------------------------------------------------------


def test_create_is_atomic(tmp_path):
    path = f"{tmp_path}/folder/a.tfrecord"
    with record_files.create(path, {"length": 3}) as file:
        file.write(b"one")
        assert not os.path.exists(path)
    with pytest.raises(RuntimeError), record_files.create(path, {"length": 4}) as file:
        file.write(b"other")
        raise RuntimeError("stopped")
    assert not record_files.why_stale(path, {"length": 3})
    assert sorted(os.listdir(tmp_path / "folder")) == [".a.tfrecord.meta.json", "a.tfrecord"]


def test_create_when_killed(path, monkeypatch):
    write(path, b"one", fingerprint={"length": 3})
    monkeypatch.setattr(record_files, "write_sidecar", lambda file: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(path, b"two", fingerprint={"length": 4})  # as many bytes as before
    assert record_files.why_stale(path, {"length": 3})
    assert record_files.why_stale(path, {"length": 4})


def test_metadata_round_trip(path):
    write(path, b"one", b"two", fingerprint={"lengths": (1, 2), "lower": True})
    fingerprint = {"lengths": [1, 2], "lower": True}
    expected = record_files.RecordFile(path, os.path.getsize(path), 2, 64, [0], fingerprint)
    assert record_files.read_sidecar(path) == expected
    assert not record_files.why_stale(path, {"lower": True, "lengths": (1, 2)})


def test_why_stale_says_what_changed(path):
    made_from = {"max_seq_length": 128, "old": "x" * 100}
    assert record_files.why_stale(path, {}) == record_files.NOT_THERE
    write(path, b"one", fingerprint=made_from)
    reason = record_files.why_stale(path, {"max_seq_length": 512, "new": 1})
    assert "max_seq_length was 128 and is 512" in reason and "new" in reason
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"longer")
    assert record_files.why_stale(path, made_from)


@pytest.mark.parametrize("content", [None, "", "[]", '{"count": 1}', "not JSON"])
def test_metadata_missing_or_unreadable(path, content):
    write(path, b"one")
    if content is not None:
        files.atomic_write_text(record_files.sidecar_path(path), content)
    assert record_files.read_sidecar(path) is None
    assert record_files.why_stale(path, {})
    assert record_files.count_records(path) == 1


@pytest.mark.parametrize("lengths", [[], [0], [3, 0, 50, 200, 7], [16] * 100, [900000] * 3])
def test_count_without_metadata(path, lengths):
    write(path, *(b"x" * length for length in lengths))
    for address in (path, f"file://{path}"):
        assert record_files.count_records(address) == len(lengths)


def test_count_takes_metadata_that_fits(path):
    write(path, b"one")
    size = os.path.getsize(path)
    record_files.write_sidecar(record_files.RecordFile(path, size, 77))
    assert record_files.count_records(path) == 77
    with tf.io.TFRecordWriter(path) as writer:  # another program's: longer than the metadata says
        writer.write(b"longer")
    assert record_files.count_records(path) == 1


@pytest.mark.parametrize("size", [58 - missing for missing in (1, 4, 10, 19, 25)])
@pytest.mark.parametrize("fingerprint", [None, {}])
def test_count_of_truncated_file(path, size, fingerprint):
    write(path, b"one", b"two", b"three", fingerprint=fingerprint)
    os.truncate(path, size)
    told = "" if fingerprint is None else rf".* {size} .*59 .*\.meta\.json"
    with pytest.raises(ValueError, match=rf"a\.tfrecord{told}"):
        record_files.count_records(path)


@pytest.mark.parametrize("content", [None, "a line of text that is no record\n"])
def test_no_record_file(path, content):
    if content:
        files.atomic_write_text(path, content)
    for read in (record_files.count_records, record_files.first_records):
        with pytest.raises((ValueError, tf.errors.NotFoundError), match=path):
            read(path)


def test_first_records(path):
    write(path, b"one", b"two", b"three")
    assert record_files.first_records(path) == [b"one"]
    assert record_files.first_records(path, 2) == [b"one", b"two"]
    assert record_files.first_records(write(path)) == []


# ---- the index of files without metadata ---------------------------------------------------------


@pytest.fixture
def walked(monkeypatch):
    """The files that are walked."""
    paths, walk = [], record_files.walk_records
    monkeypatch.setattr(
        record_files, "walk_records", lambda *file: paths.append(file[0]) or walk(*file)
    )
    return paths


def index_in(folder):
    return json_files.read(f"{folder}/{record_files.INDEX_NAME}")


def test_load_walks_files_once(tmp_path, walked):
    paths = write_several(tmp_path, [70, 0, 3])
    for _ in range(2):
        found = record_files.load_metadata(paths, folder=str(tmp_path))
        assert [one.count for one in found] == [70, 0, 3]
        assert [list(one.offsets) for one in found] == [[0, 64 * 21], [], [0]]
    assert sorted(walked) == paths
    write(paths[2], b"0" * (3 * 21 - 16))  # as many bytes
    assert [one.count for one in record_files.load_metadata(paths, folder=str(tmp_path))] == [
        70,
        0,
        1,
    ]
    assert walked[3:] == [paths[2]]
    record_files.load_metadata(paths[:1], folder=str(tmp_path))
    assert sorted(index_in(tmp_path)["files"]) == paths


@pytest.mark.parametrize("content", ["", "[]", "{", '{"r": 1}'])
def test_load_renews_damaged_index(tmp_path, content):
    (path,) = write_several(tmp_path, [3])
    (tmp_path / record_files.INDEX_NAME).write_text(content.replace("r", path))
    assert record_files.load_metadata([path], folder=str(tmp_path))[0].count == 3
    assert path in index_in(tmp_path)["files"]


def test_load_ends_with_enough_records(tmp_path):
    paths = write_several(tmp_path, [3] * 5)
    assert [one.path for one in record_files.load_metadata(paths, enough=6)] == paths[:2]
