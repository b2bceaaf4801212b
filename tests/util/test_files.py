# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as transactions: nothing half-written is ever seen, and what changed is named."""

import hashlib
import os
import socket
import stat
import subprocess
import sys
import threading

import pytest

from albert.util import files


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
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    abandoned = tmp_path / f".data.txt.tmp-{host}-{dead.pid}"
    in_use = tmp_path / f".data.txt.tmp-{host}-{os.getppid()}"
    elsewhere = tmp_path / ".data.txt.tmp-another_host-1"
    for path in (abandoned, in_use, elsewhere):
        path.write_text("half")
    files.atomic_write_text(str(tmp_path / "data.txt"), "whole")
    assert not abandoned.exists()
    assert in_use.exists() and elsewhere.exists()


def test_patterns_give_sorted_unique_visible_files(tmp_path):
    for name in ("b.txt", "a.txt", ".a.txt.meta.json", "c[1].txt", "d.rec"):
        (tmp_path / name).write_text("")
    pattern = f"{tmp_path}/*.txt, {tmp_path}/a.txt,{tmp_path}/c[1].txt"
    found = files.expand_patterns(pattern, "input_file")
    assert [os.path.basename(name) for name in found] == ["a.txt", "b.txt", "c[1].txt"]
    everything = files.expand_patterns([f"{tmp_path}/*"], "input_file")
    assert everything == sorted([*found, f"{tmp_path}/d.rec"])


@pytest.mark.parametrize(
    "pattern, named", [("", ""), ("nothing/*.txt", r"nothing/\*.txt"), (".",) * 2]
)
def test_a_pattern_that_gives_no_file_is_an_error_that_names_flag_and_pattern(pattern, named):
    with pytest.raises(ValueError, match=f"--input_file.*{named}"):
        files.expand_patterns(pattern, "input_file")


def test_a_file_fingerprint_is_name_size_and_sha256(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    digest = hashlib.sha256(b"abc").hexdigest()
    assert files.file_fingerprint(str(path)) == {"name": "a.txt", "size": 3, "sha256": digest}


def test_changed_files_are_named_and_hashes_are_not():
    def made_from(*entries):
        return {"text": [{"name": name, "size": 1, "sha256": digest} for name, digest in entries]}

    one = made_from(("a.txt", "1"), ("b.txt", "2"))
    other = made_from(("a.txt", "1"), ("c.txt", "2"))
    assert files.fingerprint_difference(one, other) == "text was a.txt, b.txt and is a.txt, c.txt"
    changed = made_from(("a.txt", "1"), ("b.txt", "3"))
    assert files.fingerprint_difference(one, changed) == (
        "the content of a.txt, b.txt is not the same as before"
    )


def test_of_changed_settings_only_what_changed_is_named():
    old = {"settings": {"ngram": 3, "max_seq_length": 128}, "seed": 1}
    new = {"settings": {"ngram": 3, "max_seq_length": 64}, "seed": 2}
    difference = files.fingerprint_difference(old, new)
    assert difference == "seed was 1 and is 2; max_seq_length was 128 and is 64"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(str(path))
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    files.atomic_write_text(str(path), "text")
    assert stat.S_ISFIFO(os.stat(str(path)).st_mode)
    reader.join(10)
    assert read == [b"text"]
