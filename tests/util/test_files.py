# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as transactions: nothing half-written is ever seen, and stale files are recognised."""

import hashlib
import json
import os
import socket
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from albert.util import files


def blocks_of(count):
    """What a writer of `count` records knows of them."""
    blocks = files.BlockOffsets()
    for _ in range(count):
        blocks.add(1)
    return blocks


def _write_records(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)


def _dead_process_id():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_module_is_imported_without_tensorflow():
    code = "import sys, albert.util.files; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.call([sys.executable, "-c", code]) == 0


def test_text_and_json_replace_the_old_content_and_leave_nothing_else(tmp_path):
    path = tmp_path / "new_folder" / "results.json"
    files.atomic_write_text(str(path), "old")
    files.atomic_write_json(str(path), {"b": 1, "a": "é"})
    assert path.read_text(encoding="utf-8") == '{\n  "a": "é",\n  "b": 1\n}\n'
    assert files.read_text(str(path)) == path.read_text(encoding="utf-8")
    assert os.listdir(str(path.parent)) == ["results.json"]


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "results.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), files.atomic_path(str(path)) as temporary:
        with open(temporary, "w") as stream:
            stream.write("half")
        raise RuntimeError("stopped")
    assert path.read_text() == "old"
    assert os.listdir(str(tmp_path)) == ["results.txt"]


def test_what_a_killed_writer_left_is_removed_by_the_next_writer_of_the_same_file(tmp_path):
    host = socket.gethostname()
    abandoned = tmp_path / f".data.txt.tmp-{host}-{_dead_process_id()}"
    in_use = tmp_path / f".data.txt.tmp-{host}-{os.getppid()}"
    elsewhere = tmp_path / ".data.txt.tmp-another_host-1"
    for path in (abandoned, in_use, elsewhere):
        path.write_text("half")
    files.atomic_write_text(str(tmp_path / "data.txt"), "whole")
    assert not abandoned.exists()
    assert in_use.exists()
    assert elsewhere.exists()


def test_patterns_give_sorted_unique_visible_files(tmp_path):
    for name in ("b.txt", "a.txt", ".a.txt.meta.json", "c[1].txt", "d.rec"):
        (tmp_path / name).write_text("")
    pattern = f"{tmp_path}/*.txt, {tmp_path}/a.txt,{tmp_path}/c[1].txt"
    found = files.expand_patterns(pattern, "input_file")
    assert [os.path.basename(name) for name in found] == ["a.txt", "b.txt", "c[1].txt"]
    assert files.expand_patterns([f"{tmp_path}/*"], "input_file") == sorted(
        [*found, f"{tmp_path}/d.rec"]
    )


@pytest.mark.parametrize(
    "pattern, message",
    [
        ("", "--input_file names no file"),
        ("nothing/*.txt", "--input_file: no file matches 'nothing/\\*.txt'"),
        (".", "'.' is a folder.*'./\\*'"),
    ],
)
def test_a_pattern_that_gives_no_file_is_an_error_that_names_flag_and_pattern(pattern, message):
    with pytest.raises(ValueError, match=message):
        files.expand_patterns(pattern, "input_file")


def test_a_file_fingerprint_is_name_size_and_sha256(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    assert files.file_fingerprint(str(path)) == {
        "name": "a.txt",
        "size": 3,
        "sha256": hashlib.sha256(b"abc").hexdigest(),
    }


def test_a_sidecar_survives_the_trip_and_its_fingerprint_compares_as_json(tmp_path):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one", b"two"])
    blocks = files.walk_records(str(path), os.path.getsize(str(path)))
    files.write_sidecar(str(path), blocks, {"lengths": (1, 2), "lower": True})
    size = os.path.getsize(str(path))
    expected = files.Sidecar(
        1, 2, size, {"lengths": [1, 2], "lower": True}, {"records": 64, "offsets": "0"}
    )
    assert files.read_sidecar(str(path)) == expected
    assert files.is_current(str(path), {"lower": True, "lengths": (1, 2)})
    assert json.loads((tmp_path / ".a.tfrecord.meta.json").read_text())["count"] == 2


def test_why_stale_says_what_changed(tmp_path):
    path = tmp_path / "a.tfrecord"
    assert files.why_stale(str(path), {}) == "it does not exist"
    _write_records(path, [b"one"])
    assert "no sidecar" in files.why_stale(str(path), {})
    files.write_sidecar(str(path), blocks_of(1), {"max_seq_length": 128, "old": "x" * 100})
    reason = files.why_stale(str(path), {"max_seq_length": 512, "new": 1})
    assert "max_seq_length was 128 and is 512" in reason
    assert "new was absent and is 1" in reason
    assert "x..." in reason
    assert not files.is_current(str(path), {"max_seq_length": 512})
    with open(str(path), "ab") as stream:
        stream.write(b"more")
    assert "bytes where" in files.why_stale(str(path), {"max_seq_length": 128, "old": "x" * 100})


def test_a_sidecar_of_another_format_version_is_stale(tmp_path):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one"])
    files.write_sidecar(str(path), blocks_of(1), {})
    sidecar = tmp_path / ".a.tfrecord.meta.json"
    sidecar.write_text(sidecar.read_text().replace('"format_version": 1', '"format_version": 0'))
    assert files.why_stale(str(path), {}) == "its format version was 0 and is 1"


@pytest.mark.parametrize("content", ["", "[]", '{"count": 1}', "not JSON"])
def test_an_unreadable_sidecar_counts_as_none(tmp_path, content):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one"])
    (tmp_path / ".a.tfrecord.meta.json").write_text(content)
    assert files.read_sidecar(str(path)) is None
    assert not files.is_current(str(path), {})
    assert files.count_records(str(path)) == 1


@pytest.mark.parametrize("chunk_bytes", [16, 100, 1 << 22])
def test_records_are_counted_without_a_sidecar(tmp_path, monkeypatch, chunk_bytes):
    monkeypatch.setattr(files, "_CHUNK_BYTES", chunk_bytes)
    path = tmp_path / "a.tfrecord"
    for lengths in ([], [0], [3, 0, 50, 200, 7], [16] * 100):
        _write_records(path, [b"x" * length for length in lengths])
        assert files.count_records(str(path)) == len(lengths)


def test_a_sidecar_that_fits_answers_for_the_file(tmp_path):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one"])
    files.write_sidecar(str(path), blocks_of(77), {})
    assert files.count_records(str(path)) == 77
    _write_records(path, [b"one", b"two"])  # by another program: longer than the sidecar says
    assert files.count_records(str(path)) == 2


@pytest.mark.parametrize("missing", [1, 4, 10, 19, 25])
def test_a_file_that_ends_inside_a_record_is_an_error_that_names_it(tmp_path, missing):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one", b"two", b"three"])
    content = path.read_bytes()
    path.write_bytes(content[:-missing])
    with pytest.raises(ValueError, match=r"a\.tfrecord' is damaged or was cut off: after [12] "):
        files.count_records(str(path))


def test_a_file_cut_between_two_records_is_noticed_by_its_sidecar(tmp_path):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one", b"two"])
    files.write_sidecar(str(path), blocks_of(2), {})
    _write_records(path, [b"one"])
    with pytest.raises(ValueError, match=r"holds 19 bytes where 38 were written.*\.meta\.json"):
        files.count_records(str(path))


def test_other_kinds_of_files_and_missing_ones_are_named(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("a line of text that is no record\n")
    with pytest.raises(ValueError, match=r"text\.txt' is not a TFRecord file"):
        files.count_records(str(path))
    with pytest.raises(ValueError, match="absent.tfrecord' does not exist"):
        files.count_records(str(tmp_path / "absent.tfrecord"))


def test_the_first_record_is_read_alone(tmp_path):
    path = tmp_path / "a.tfrecord"
    _write_records(path, [b"one", b"two"])
    assert files.read_first_record(str(path)) == b"one"
    _write_records(path, [])
    assert files.read_first_record(str(path)) is None


def test_content_of_a_record_file_is_told_by_its_sidecar_or_else_by_its_bytes(tmp_path):
    path = tmp_path / "eval.tf_record"
    path.write_bytes(b"abc")
    assert files.content_identity(str(path)) == files.file_fingerprint(str(path))
    files.write_sidecar(str(path), blocks_of(1), {"seed": 1})
    one = files.content_identity(str(path))
    files.write_sidecar(str(path), blocks_of(1), {"seed": 2})
    two = files.content_identity(str(path))
    assert set(one) == {"name", "size", "made_from"}
    assert one["made_from"] != two["made_from"]
    path.write_bytes(b"abcd")  # the sidecar is of another file now
    assert (
        files.content_identity(str(path))["sha256"] == files.file_fingerprint(str(path))["sha256"]
    )


def test_changed_files_are_named_and_hashes_are_not():
    def made_from(*entries):
        return {"text": [{"name": name, "size": 1, "sha256": digest} for name, digest in entries]}

    one = made_from(("a.txt", "1"), ("b.txt", "2"))
    other = made_from(("a.txt", "1"), ("c.txt", "2"))
    assert files.fingerprint_difference(one, other) == "text was a.txt, b.txt and is a.txt, c.txt"
    changed = made_from(("a.txt", "1"), ("b.txt", "3"))
    assert files.fingerprint_difference(one, changed) == "the content of a.txt, b.txt changed"


def test_of_changed_settings_only_what_changed_is_named():
    old = {"settings": {"ngram": 3, "max_seq_length": 128}, "seed": 1}
    new = {"settings": {"ngram": 3, "max_seq_length": 64}, "seed": 2}
    difference = files.fingerprint_difference(old, new)
    assert difference == "seed was 1 and is 2; max_seq_length was 128 and is 64"
