# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files as transactions: nothing half-written is ever seen, and what changed is named."""

import errno
import os
import stat
import threading

import pytest
import tensorflow.compat.v1 as tf

from albert.util import UserError, files
from tests.support import processes


def test_atomic_write_replaces_file(tmp_path):
    path = tmp_path / "new,folder" / "results.json"
    files.atomic_write_text(str(path), "old")
    with pytest.raises(RuntimeError), files.atomic_path(str(path)) as temporary:
        with open(temporary, "w") as stream:
            stream.write("half")
        raise RuntimeError("stopped")
    assert path.read_text() == "old"
    files.atomic_write_json(str(path), {"b": 1, "a": "é"})
    assert files.read_text(str(path)) == '{\n  "a": "é",\n  "b": 1\n}\n'
    assert os.listdir(path.parent) == ["results.json"]


WRITER = """
import sys, time
from albert.util import files
with files.atomic_path(sys.argv[1]) as temporary:
    with open(temporary, "w") as stream:
        stream.write("half")
    print("begun", file=sys.stderr, flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_next_process_removes_what_a_killed_one_left(tmp_path):
    (tmp_path / ".mine.tmp-0123456789abcdef").write_text("a user's")
    writers = [processes.start("-c", WRITER, f"{tmp_path}/{name}") for name in "ab"]
    for writer in writers:
        processes.read_until(writer, "begun")
    writers[0].kill()
    writers[0].wait()
    another = "from albert.util import files; files.atomic_write_text(sys.argv[1], '')"
    processes.finish(processes.start("-c", f"import sys; {another}", f"{tmp_path}/c"))
    assert sorted(name.split(".tmp-")[0] for name in os.listdir(tmp_path)) == [".b", ".mine", "c"]
    writers[1].kill()
    writers[1].wait()


def test_folder_of_another_process_is_kept(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(UserError, match="exists"), files.atomic_folder(str(path)):
        path.mkdir()
        (path / "theirs").write_text("")
    assert os.listdir(tmp_path) == ["model"] and os.listdir(path) == ["theirs"]


def test_atomic_write_to_pipe(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    files.atomic_write_text(str(path), "text")
    assert stat.S_ISFIFO(os.stat(path).st_mode)
    reader.join(10)
    assert read == [b"text"]


FULL = tf.errors.ResourceExhaustedError


@pytest.mark.parametrize(
    "error, expected",
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), UserError),
        (tf.errors.PermissionDeniedError(None, None, "a; Permission denied"), UserError),
        (FULL(None, None, "OOM when allocating tensor"), FULL),
    ],
)
def test_atomic_path_names_file(tmp_path, error, expected):
    path = f"{tmp_path}/the_file"
    with pytest.raises(expected) as found, files.atomic_path(path):
        raise error
    assert (expected is FULL) != ("the_file" in str(found.value))
    assert not os.listdir(tmp_path)


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
def test_unusable_path_is_named(tmp_path, act, path, named):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=named):
        act(f"{tmp_path}/{path}")


def test_expand_patterns(tmp_path):
    for name in ("b.txt", "a.txt", ".a.txt.meta.json", "c[1].txt", "d.rec", "e,f.rec"):
        (tmp_path / name).write_text("")

    def find(patterns):
        return [os.path.basename(path) for path in files.expand_patterns(patterns, "input_file")]

    texts = ["a.txt", "b.txt", "c[1].txt"]
    assert find(f"{tmp_path}/*.txt, {tmp_path}/a.txt,{tmp_path}/c[1].txt") == texts
    assert find(f"{tmp_path}/*") == [*texts, "d.rec", "e,f.rec"]
    assert find(f"{tmp_path}/e,f.rec") == ["e,f.rec"]


@pytest.mark.parametrize("pattern, named", [("", ""), ("nothing/*.txt", r"nothing/\*"), (".",) * 2])
def test_expand_patterns_without_match(pattern, named):
    with pytest.raises(UserError, match=f"--input_file.*{named}"):
        files.expand_patterns(pattern, "input_file")
