# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One process at a time trains into a folder: on this machine, elsewhere, and after a kill."""

import errno
import fcntl
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

import pytest
import tensorflow.compat.v1 as tf

from albert import run_classifier, run_pretraining, run_race, run_squad_v1, run_squad_v2, sweep
from albert.demo import __main__, runs
from albert.util import files, folder_lock
from albert.util import flags as flags_lib

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from albert.util import folder_lock
assert "tensorflow" not in sys.modules
with folder_lock.held(sys.argv[1], sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""
QUICK = {"beat_seconds": 0.05, "patience_seconds": 0.5}


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


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_file_is_refused_and_what_it_leads_to_stays(tmp_path, kind):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = tmp_path / folder_lock.lock_name()
    os.symlink(str(victim), str(path)) if kind == "link" else os.mkfifo(str(path))
    with pytest.raises(ValueError, match=path.name), folder_lock.held(str(tmp_path)):
        raise AssertionError("held")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("text", ["[" * 100000, '{"time": "abc"}', ""], ids=len)
def test_a_lock_without_an_owner_is_taken(tmp_path, text):
    (tmp_path / folder_lock.lock_name()).write_text(text)
    with folder_lock.held(str(tmp_path), **QUICK):
        assert names_in(tmp_path) == [folder_lock.lock_name()]


def test_a_second_process_is_told_who_has_the_folder_and_a_dead_one_has_it_no_more(start, tmp_path):
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
        (folder / "model.ckpt-0").touch()
    assert names_in(folder) == ["model.ckpt-0"]


def test_one_that_waits_goes_on_once_the_other_has_ended(start, tmp_path):
    process = start(tmp_path, folder_lock.EVALUATION)
    threading.Timer(0.2, process.stdin.close).start()
    with folder_lock.held(str(tmp_path), folder_lock.EVALUATION, waits=True):
        assert process.wait() == 0


def test_a_folder_that_stays_empty_goes_again(tmp_path):
    with pytest.raises(ZeroDivisionError), folder_lock.held(str(tmp_path / "new" / "out")):
        assert (tmp_path / "new" / "out").is_dir()
        raise ZeroDivisionError
    assert names_in(tmp_path) == []


def test_one_process_may_ask_for_its_own_folder_again(start, tmp_path):
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


class OtherHost:
    """An owner on another host, which says that it lives until it is silenced."""

    def __init__(self, folder, **changes):
        tf.io.gfile.makedirs(folder)
        self.path = f"{folder}/{folder_lock.lock_name()}"
        with folder_lock.held(folder, **QUICK), tf.io.gfile.GFile(self.path) as stream:
            self.content = json.loads(stream.read())
        self.content.update(host="far-away", key="another", **changes)
        self.write()

    def write(self):
        self.content["beats"] += 1
        files.atomic_write_json(self.path, self.content)


@pytest.mark.parametrize("place", ["remote", "local", "without locks"])
def test_an_owner_elsewhere_lives_as_long_as_its_count_goes_up(tmp_path, monkeypatch, place):
    folder = f"file://{tmp_path}" if place == "remote" else str(tmp_path)
    if place == "without locks":

        def refuse(*_):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(fcntl, "lockf", refuse)
    other = OtherHost(folder)
    alive = threading.Event()

    def beat():
        while not alive.wait(0.05):
            other.write()

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with pytest.raises(ValueError, match="far-away"), folder_lock.held(folder, **QUICK):
            pytest.fail("held twice")
    finally:
        alive.set()
        thread.join()
    # It is silent now.
    with folder_lock.held(folder, **QUICK), tf.io.gfile.GFile(other.path) as stream:
        assert json.loads(stream.read())["process"] == os.getpid()
    assert not tf.io.gfile.exists(other.path)


def test_an_owner_of_long_ago_is_not_waited_for(tmp_path):
    other = OtherHost(str(tmp_path), time=0.0)
    with folder_lock.held(str(tmp_path), beat_seconds=0.05, patience_seconds=1e6):
        pass
    assert not tf.io.gfile.exists(other.path)


MODEL = "--albert_config_file=c"
SQUAD = [MODEL, "--train_file=train.json", "--predict_file=dev.json", "--do_predict"]


@pytest.mark.parametrize(
    "script, main, needed",
    [
        (run_pretraining, run_pretraining.pretrain, [MODEL, "--input_file=r"]),
        (run_classifier, run_classifier.classify, [MODEL, "--task_name=mrpc", "--data_dir=glue"]),
        (run_race, run_race.answer, [MODEL, "--data_dir=data"]),
        (run_squad_v1, run_squad_v1.main, SQUAD),
        (run_squad_v2, run_squad_v2.main, SQUAD),
        (sweep, sweep.sweep, ["--data_dir=glue"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_second_run_into_a_folder_ends_at_once(start, tmp_path, script, main, needed):
    process = start(tmp_path)
    train = [] if script is sweep else ["--do_train"]
    given = [f"--output_dir={tmp_path}", *needed, *train]
    with pytest.raises(ValueError, match=f"{tmp_path}.*{process.pid}"):
        main(flags_lib.parse(script.Flags, given))
    if train:
        part = [] if needed is SQUAD else ["--do_eval"]
        with pytest.raises(ValueError) as error:
            main(flags_lib.parse(script.Flags, [*given, "--nodo_train", *part]))
        assert str(process.pid) not in str(error.value)


def test_two_demos_do_not_share_a_folder(start, tmp_path, capsys):
    process = start(tmp_path)
    for phase in ("tour", "pretraining"):
        assert __main__.main([phase, "-o", str(tmp_path)]) == 2
        assert str(process.pid) in capsys.readouterr().err


def test_a_lock_that_a_kill_left_is_no_content_of_a_folder(tmp_path):
    (tmp_path / folder_lock.lock_name()).write_text("{}", encoding="utf-8")
    runs.claim_folder(str(tmp_path), {"model": "base"})
