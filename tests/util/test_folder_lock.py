# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One process at a time trains into a folder."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

import pytest

from albert import run_classifier, run_pretraining
from albert.demo import __main__
from albert.util import flags as flags_lib
from albert.util import folder_lock

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from albert.util import folder_lock
assert "tensorflow" not in sys.modules
with folder_lock.held(sys.argv[1], sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def start():
    """Starts processes that hold a folder until their input ends."""
    started = []

    def run(folder, purpose=folder_lock.TRAINING):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder), purpose],
            cwd=str(ROOT),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started.append(process)
        assert process.stdout.readline() == b"held\n"
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_held_names_the_other_process_until_it_is_dead(start, tmp_path):
    folder = tmp_path / "new" / "out"
    process = start(folder)
    with pytest.raises(ValueError) as error, folder_lock.held(str(folder)):
        pytest.fail("held twice")
    for part in (str(folder), socket.gethostname(), str(process.pid)):
        assert part in str(error.value)
    # An evaluation may run beside it.
    with folder_lock.held(str(folder), folder_lock.EVALUATION):
        assert all(map(folder_lock.is_lock, names_in(folder)))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert names_in(folder) == [folder_lock.lock_name()]
    with folder_lock.held(str(folder)):
        pass
    assert names_in(folder) == []


def test_held_waits_for_the_other_process(start, tmp_path):
    process = start(tmp_path, folder_lock.EVALUATION)
    threading.Timer(0.2, process.stdin.close).start()
    with folder_lock.held(str(tmp_path), folder_lock.EVALUATION, waits=True):
        assert process.wait() == 0


def test_held_twice_in_one_process(start, tmp_path):
    with folder_lock.held(str(tmp_path)):
        with folder_lock.held(os.path.join(str(tmp_path), ".")):
            assert names_in(tmp_path) == [folder_lock.lock_name()]
        refused = subprocess.run(
            [sys.executable, "-c", HOLDER, str(tmp_path), folder_lock.TRAINING],
            cwd=str(ROOT),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert refused.returncode == 1 and str(os.getpid()) in refused.stderr.decode()
    assert names_in(tmp_path) == []


def test_held_says_once_that_a_remote_folder_is_unlocked(tmp_path, caplog):
    for _ in range(2):
        with folder_lock.held(f"file://{tmp_path}"):
            assert names_in(tmp_path) == []
    assert len(caplog.records) == 1


MODEL = "--albert_config_file=c"


@pytest.mark.parametrize(
    "script, main, needed",
    [
        (run_pretraining, run_pretraining.pretrain, [MODEL, "--input_file=r"]),
        (run_classifier, run_classifier.classify, [MODEL, "--task_name=mrpc", "--data_dir=glue"]),
    ],
    ids=["pretraining", "classifier"],
)
def test_a_second_training_into_a_folder_ends_at_once(start, tmp_path, script, main, needed):
    process = start(tmp_path)
    given = [f"--output_dir={tmp_path}", *needed, "--do_train"]
    with pytest.raises(ValueError, match=f"{tmp_path}.*{process.pid}"):
        main(flags_lib.parse(script.Flags, given))
    with pytest.raises(ValueError) as error:
        main(flags_lib.parse(script.Flags, [*given, "--nodo_train", "--do_eval"]))
    assert str(process.pid) not in str(error.value)


def test_two_demos_do_not_share_a_folder(start, tmp_path, capsys):
    process = start(tmp_path)
    for phase in ("tour", "pretraining"):
        assert __main__.main([phase, "-o", str(tmp_path)]) == 1
        assert str(process.pid) in capsys.readouterr().err
