# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Record files: their metadata, or what one walk finds and keeps; stale and damaged ones."""

import os

import pytest
import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.util import files


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.tfrecord")


def write(path, *records, fingerprint=None):
    """Writes a record file, and with a fingerprint its metadata."""
    with tf.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    if fingerprint is not None:
        walked = record_files.walk_records(path)
        walked.fingerprint = fingerprint
        record_files.write_sidecar(walked)


def write_several(folder, counts):
    """Record files without metadata, with records of 5 bytes."""
    paths = [str(folder / f"r-{number}.tfrecord") for number in range(len(counts))]
    for path, count in zip(paths, counts):
        write(path, *[b"bytes"] * count)
    return paths


# ---- metadata ------------------------------------------------------------------------------------


def test_metadata_survives_the_trip_and_its_fingerprint_compares_as_json(path):
    write(path, b"one", b"two", fingerprint={"lengths": (1, 2), "lower": True})
    fingerprint = {"lengths": [1, 2], "lower": True}
    expected = record_files.RecordFile(path, os.path.getsize(path), 2, 64, [0], fingerprint)
    assert record_files.read_sidecar(path) == expected
    assert not record_files.why_stale(path, {"lower": True, "lengths": (1, 2)})
    assert files.read_json_object(os.path.join(os.path.dirname(path), ".a.tfrecord.meta.json"))


def test_why_a_file_is_stale_says_what_changed(path):
    made_from = {"max_seq_length": 128, "old": "x" * 100}
    assert record_files.why_stale(path, {}) == record_files.NOT_THERE
    write(path, b"one")
    assert record_files.why_stale(path, {})
    write(path, b"one", fingerprint=made_from)
    reason = record_files.why_stale(path, {"max_seq_length": 512, "new": 1})
    assert "max_seq_length was 128 and is 512" in reason and "new" in reason
    write(path, b"one", b"more")
    assert record_files.why_stale(path, made_from)


@pytest.mark.parametrize("content", ["", "[]", '{"count": 1}', "not JSON"])
def test_unreadable_metadata_counts_as_none(path, content):
    write(path, b"one")
    files.atomic_write_text(record_files.sidecar_path(path), content)
    assert record_files.read_sidecar(path) is None
    assert record_files.why_stale(path, {})
    assert record_files.count_records(path) == 1


@pytest.mark.parametrize("lengths", [[], [0], [3, 0, 50, 200, 7], [16] * 100, [900000] * 3])
def test_records_are_counted_without_metadata(path, lengths):
    write(path, *(b"x" * length for length in lengths))
    for address in (path, f"file://{path}"):
        assert record_files.count_records(address) == len(lengths)


def test_metadata_that_fits_answers_for_the_file(path):
    write(path, b"one", fingerprint={})
    size = os.path.getsize(path)
    record_files.write_sidecar(record_files.RecordFile(path, size, 77))
    assert record_files.count_records(path) == 77
    write(path, b"one", b"two")  # by another program: longer than the metadata says
    assert record_files.count_records(path) == 2


@pytest.mark.parametrize("missing", [1, 4, 10, 19, 25])
def test_a_file_that_ends_inside_a_record_is_named(path, missing):
    write(path, b"one", b"two", b"three")
    os.truncate(path, os.path.getsize(path) - missing)
    with pytest.raises(ValueError, match=r"a\.tfrecord"):
        record_files.count_records(path)


def test_a_file_cut_between_two_records_is_noticed_by_its_metadata(path):
    write(path, b"one", b"two", fingerprint={})
    write(path, b"one")
    with pytest.raises(ValueError, match=r"a\.tfrecord.* 19 .* 38 .*\.meta\.json"):
        record_files.count_records(path)


def test_other_kinds_of_files_and_missing_ones_are_named(path):
    with pytest.raises(ValueError, match=path):
        record_files.count_records(path)
    files.atomic_write_text(path, "a line of text that is no record\n")
    for read in (record_files.count_records, record_files.first_records):
        with pytest.raises(ValueError, match=path):
            read(path)


def test_the_first_records_are_read_alone(path):
    write(path, b"one", b"two", b"three")
    assert record_files.first_records(path) == [b"one"]
    assert record_files.first_records(path, 2) == [b"one", b"two"]
    write(path)
    assert record_files.first_records(path) == []


# ---- the index of files without metadata ---------------------------------------------------------


def test_files_without_metadata_are_walked_once(tmp_path, monkeypatch):
    paths = write_several(tmp_path, [70, 0, 3])
    walked = count_walks(monkeypatch)
    out = str(tmp_path / "out")
    for _ in range(2):
        found = record_files.load(paths, folder=out)
        assert [one.count for one in found] == [70, 0, 3]
        assert [list(one.offsets) for one in found] == [[0, 64 * 21], [], [0]]
    assert sorted(walked) == paths
    write(paths[2], b"0" * (3 * 21 - 16))  # as many bytes
    assert [one.count for one in record_files.load(paths, folder=out)] == [70, 0, 1]
    assert walked[3:] == [paths[2]]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"r": 1}'])
def test_a_kept_index_that_is_of_no_use_is_made_again(tmp_path, content):
    (path,) = write_several(tmp_path, [3])
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
    train, evaluation = paths = write_several(tmp_path, [1, 2])
    walked = count_walks(monkeypatch)
    for path in (train, evaluation, train):
        record_files.load([path], folder=str(tmp_path))
    assert sorted(index_in(tmp_path)["files"]) == walked == paths


def test_blocks_are_those_of_the_number_of_files_whatever_was_kept(tmp_path, monkeypatch):
    first, second = paths = write_several(tmp_path, [64 * 40, 64])
    monkeypatch.setattr(record_files, "_MOST_OFFSETS_TOGETHER", 40)

    def blocks(files):
        found = record_files.load(files, folder=str(tmp_path))[0]
        return found.block_records, len(found.offsets)

    for _ in range(2):
        assert blocks(paths) == (128, 20)
        assert blocks([first]) == (64, 40)


def test_load_ends_when_there_are_enough_records(tmp_path):
    paths = write_several(tmp_path, [3] * 5)
    assert [one.path for one in record_files.load(paths, enough=6)] == paths[:2]
