# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as transactions: nothing half-written is ever seen, and what changed is named."""

import errno
import os
import stat
import threading

import pytest
import tensorflow.compat.v1 as tf

from albert.util import files
from albert.util.errors import UserError


def test_atomic_write_replaces_the_old_content_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "new,folder" / "results.json"
    files.atomic_write_text(str(path), "old")
    files.atomic_write_json(str(path), {"b": 1, "a": "é"})
    assert path.read_text(encoding="utf-8") == '{\n  "a": "é",\n  "b": 1\n}\n'
    assert files.read_text(str(path)) == path.read_text(encoding="utf-8")
    assert os.listdir(str(path.parent)) == ["results.json"]


def test_atomic_path_keeps_the_old_file_after_a_failure(tmp_path):
    path = tmp_path / "results.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), files.atomic_path(str(path)) as temporary:
        with open(temporary, "w") as stream:
            stream.write("half")
        raise RuntimeError("stopped")
    assert path.read_text() == "old"
    assert os.listdir(str(tmp_path)) == ["results.txt"]


def test_atomic_path_writes_to_a_pipe_as_it_is(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(str(path))
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    files.atomic_write_text(str(path), "text")
    assert stat.S_ISFIFO(os.stat(str(path)).st_mode)
    reader.join(10)
    assert read == [b"text"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        tf.errors.PermissionDeniedError(None, None, "a; Permission denied"),
    ],
)
def test_atomic_path_names_the_file_that_cannot_be_written(tmp_path, error):
    path = str(tmp_path / "the_file")
    with pytest.raises(UserError, match="the_file"), files.atomic_path(path):
        raise error
    assert not os.listdir(str(tmp_path))


def test_atomic_path_leaves_errors_of_ours_alone(tmp_path):
    full = tf.errors.ResourceExhaustedError
    with pytest.raises(full), files.atomic_path(str(tmp_path / "a")):
        raise full(None, None, "OOM when allocating tensor")


@pytest.mark.parametrize(
    "act, path, named",
    [
        (files.read_bytes, "none", "none"),
        (lambda path: files.read_text(f"file://{path}"), "none", "none"),
        (files.read_bytes, "", "regular file"),
        (files.state_of, "none", "none"),
        (lambda path: files.atomic_write_text(path, ""), "file/a", "file/a"),
    ],
)
def test_a_path_that_cannot_be_used_is_an_error_of_the_users(tmp_path, act, path, named):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=named):
        act(str(tmp_path / path))


def test_expand_patterns_gives_sorted_unique_visible_files(tmp_path):
    for name in ("b.txt", "a.txt", ".a.txt.meta.json", "c[1].txt", "d.rec", "e,f.rec"):
        (tmp_path / name).write_text("")

    def find(patterns):
        found = files.expand_patterns(patterns, "input_file")
        return [os.path.basename(path) for path in found]

    texts = ["a.txt", "b.txt", "c[1].txt"]
    assert find(f"{tmp_path}/*.txt, {tmp_path}/a.txt,{tmp_path}/c[1].txt") == texts
    assert find([f"{tmp_path}/*"]) == [*texts, "d.rec", "e,f.rec"]
    assert find(f"{tmp_path}/e,f.rec") == ["e,f.rec"]


@pytest.mark.parametrize("pattern, named", [("", ""), ("nothing/*.txt", r"nothing/\*"), (".",) * 2])
def test_expand_patterns_without_files_names_flag_and_pattern(pattern, named):
    with pytest.raises(UserError, match=f"--input_file.*{named}"):
        files.expand_patterns(pattern, "input_file")
