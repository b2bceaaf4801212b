# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Looking at many files at a time, and hashes that are kept."""

import collections
import os
import pathlib
import threading
import time

import pytest

from albert import modeling, tokenization
from albert.data import batches, record_files
from albert.pretraining import documents, instances, job, model
from albert.util import files, many_files
from tests.support import pretraining_records

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
LARGE = 17 << 20  # bytes, of which hashes are worth keeping


# ---------------------------------------------------------------------------------------------
# Many at a time.


def test_results_come_in_order_while_several_are_worked_on():
    meeting = threading.Barrier(4)

    def met(number):
        meeting.wait(timeout=60)
        return -number

    assert list(many_files.each(met, range(8))) == [0, -1, -2, -3, -4, -5, -6, -7]
    assert list(many_files.each(met, [])) == []


def test_of_several_errors_that_of_the_first_item_is_raised():
    later = threading.Event()

    def fail(number):
        if number == 30:
            later.set()
            raise ValueError(30)
        if number == 3:
            later.wait(timeout=60)
            raise ValueError(3)

    with pytest.raises(ValueError, match="^3$"):
        list(many_files.each(fail, range(100)))


def test_few_results_wait_and_none_is_made_that_nobody_wants():
    started, stopped = [], threading.Event()
    results = many_files.each(started.append, range(10000), stopped=stopped)
    next(results)
    assert not stopped.is_set()
    results.close()
    assert stopped.is_set() and len(started) < 200


def texts_in_a_folder(folder, meet):
    has_met = meet(record_files, "read_sidecar")
    assert len(documents.find_files(str(folder), "input_file")) == 8
    return has_met


def texts_of_a_pattern(folder, meet):
    has_met = meet(documents, "is_folder", after=1)  # the pattern
    assert len(documents.find_files(f"{folder}/*.txt", "input_file")) == 8
    return has_met


def records(folder, meet):
    paths = [pretraining_records.write_records(folder / f"{n}.tf", 2) for n in range(8)]
    has_met = meet(batches, "records")
    model.check_records(
        paths,
        max_seq_length=pretraining_records.LENGTH,
        max_predictions_per_seq=pretraining_records.PREDICTIONS,
        config=modeling.AlbertConfig.from_dict(pretraining_records.CONFIG),
    )
    return has_met


def finished_output(folder, meet):
    vocabulary = str(FIXTURES / "tiny.model")

    def create():
        return job.create_pretraining_data(
            [str(FIXTURES / "corpus.txt")],
            [str(folder / f"{number}.tf_record") for number in range(8)],
            tokenizer=tokenization.FullTokenizer(None, spm_model_file=vocabulary),
            tokenizer_file=vocabulary,
            settings=instances.DataSettings(max_seq_length=32),
            num_processes=1,
        )

    create()
    has_met = meet(record_files, "why_stale")
    assert create().was_current
    return has_met


@pytest.mark.parametrize(
    "look_at", [texts_in_a_folder, texts_of_a_pattern, records, finished_output]
)
def test_files_are_looked_at_together(tmp_path, meet, look_at):
    for number in range(8):
        (tmp_path / f"{number}.txt").write_text("A sentence, and so on.\n", encoding="utf-8")
    has_met = look_at(tmp_path, meet)
    assert has_met()


# ---------------------------------------------------------------------------------------------
# Hashes.


@pytest.fixture
def read_bytes(monkeypatch):
    """How many bytes of each file were read, by its name."""
    counts, original = collections.Counter(), files.open_to_read

    class Counted:
        def __init__(self, path):
            self._stream, self._name = original(path), os.path.basename(path)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._stream.close()

        def read(self, *size):
            content = self._stream.read(*size)
            counts[self._name] += len(content)
            return content

    monkeypatch.setattr(files, "open_to_read", Counted)
    return counts


def write(path, size, content=b""):
    """Writes a file that seems to have been there for a while."""
    with open(str(path), "wb") as stream:
        stream.write(content)
        stream.truncate(size)
    long_ago = time.time() - 1000
    os.utime(str(path), (long_ago, long_ago))
    return str(path)


def test_a_second_start_reads_nothing_again(tmp_path, read_bytes):
    paths = [write(tmp_path / "a", LARGE), write(tmp_path / "b", 10), write(tmp_path / "c", 0)]
    kept_in = str(tmp_path / "kept.json")
    expected = [files.file_fingerprint(path) for path in paths]
    for times in (2, 2):
        assert many_files.fingerprints(paths, kept_in) == expected
        assert (read_bytes["a"], read_bytes["b"]) == (times * LARGE, times * 10)


def test_a_changed_file_of_the_same_size_is_noticed(tmp_path, read_bytes):
    paths = [write(tmp_path / "a", LARGE, b"one"), write(tmp_path / "b", 10)]
    kept_in = str(tmp_path / "kept.json")
    first = many_files.fingerprints(paths, kept_in)
    was = os.stat(paths[0])
    write(paths[0], LARGE, b"two")
    second = many_files.fingerprints(paths, kept_in)
    write(paths[0], LARGE, b"one")
    os.utime(paths[0], ns=(was.st_atime_ns, was.st_mtime_ns))  # as some programs do that copy
    third = many_files.fingerprints(paths, kept_in)
    assert first[0] == third[0] != second[0]
    assert read_bytes["a"] == 3 * LARGE and read_bytes["b"] == 10


def test_a_file_that_was_just_written_is_read_again(tmp_path, read_bytes):
    path = write(tmp_path / "a", LARGE)
    os.utime(path, (time.time() + 1000, time.time() + 1000))
    for times in (1, 2):
        many_files.fingerprints([path], str(tmp_path / "kept.json"))
        assert read_bytes["a"] == times * LARGE


def test_hashing_goes_on_where_it_was_stopped(tmp_path, read_bytes):
    paths = [write(tmp_path / "a", LARGE), str(tmp_path / "b")]
    os.mkfifo(paths[1])  # which is refused
    kept_in = str(tmp_path / "kept.json")
    with pytest.raises(ValueError, match="pipe"):
        many_files.fingerprints(paths, kept_in)
    os.remove(paths[1])
    write(paths[1], 10)
    many_files.fingerprints(paths, kept_in)
    assert read_bytes["a"] == LARGE


@pytest.mark.parametrize("content", ["", "[]", '{"format_version": 1, "files": {"/a": 3}}', "{}"])
def test_what_holds_no_hashes_is_replaced(tmp_path, content):
    path, kept_in = write(tmp_path / "a", LARGE), tmp_path / "kept.json"
    kept_in.write_text(content.replace("/a", path))
    expected = [files.file_fingerprint(path)]
    assert many_files.fingerprints([path], str(kept_in)) == expected
    assert path in kept_in.read_text()


def test_of_files_that_are_read_in_a_moment_nothing_is_kept(tmp_path):
    path, kept_in = write(tmp_path / "a", 100), tmp_path / "kept.json"
    assert many_files.fingerprints([path], str(kept_in)) == [files.file_fingerprint(path)]
    assert not kept_in.exists()
