# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The doctor on machines that are made up, and on this one."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from albert import doctor, modeling
from albert.runtimes import devices
from albert.util import flags as flags_lib
from tests.support import processes

FIXTURES = pathlib.Path(__file__).parent / "fixtures"


def settings_for(*arguments):
    return flags_lib.parse(doctor.Flags, arguments)


def state_of(check, *arguments):
    """The worst state that a check finds, and what it says."""
    states, texts = zip(*check(settings_for(*arguments)))
    order = [doctor.OK, doctor.NOTE, doctor.PROBLEM]
    return max(states, key=order.index), " ".join(texts)


@pytest.mark.parametrize(
    "listed, used, state",
    [([], [], doctor.OK), (["T4"], ["T4"], doctor.OK), (["T4"], [], doctor.PROBLEM)],
)
def test_check_devices_finds_an_unused_gpu(monkeypatch, listed, used, state):
    monkeypatch.setattr(devices, "driver_gpus", lambda: listed)
    monkeypatch.setattr(devices, "gpus", lambda: used)
    assert state_of(doctor.check_devices)[0] == state


def test_check_versions_notes_several_tensorflows(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name, state in (
        ("tensorflow", doctor.OK),
        ("albert_tensorflow", doctor.OK),
        ("tensorflow_cpu", doctor.NOTE),
    ):
        (tmp_path / f"{name}-2.21.0.dist-info").mkdir()
        assert state_of(doctor.check_versions)[0] == state


def test_check_vocabulary_tries_it():
    model = f"--spm_model_file={FIXTURES / 'tiny.model'}"
    assert state_of(doctor.check_vocabulary, model)[0] == doctor.OK
    assert state_of(doctor.check_vocabulary)[0] == doctor.OK
    with pytest.raises(ValueError, match=r"nowhere\.txt"):
        state_of(doctor.check_vocabulary, "--vocab_file=nowhere.txt")


def test_check_disk_finds_too_little_room_and_a_file_in_the_way(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for name, state in (("to/come", doctor.OK), ("file", doctor.PROBLEM)):
        assert state_of(doctor.check_disk, f"--output_dir={tmp_path / name}")[0] == state
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    usage = shutil.disk_usage(str(tmp_path))._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    assert state_of(doctor.check_disk, f"--output_dir={tmp_path}")[0] == doctor.NOTE


@pytest.mark.parametrize("last, state", [(7.0, doctor.OK), (float("nan"), doctor.PROBLEM)])
def test_check_training_compares_losses_and_formats(monkeypatch, last, state):
    steps = lambda precision: (20.0, [8.0, last], [])  # noqa: E731
    monkeypatch.setattr(doctor, "train_two_layers", steps)
    assert state_of(doctor.check_training)[0] == state


@pytest.mark.slow
def test_check_training_finds_a_variable_without_gradient(monkeypatch):
    pooled = modeling.AlbertModel.get_pooled_output
    stopped = lambda model: tf.stop_gradient(pooled(model))  # noqa: E731
    monkeypatch.setattr(modeling.AlbertModel, "get_pooled_output", stopped)
    found, text = state_of(doctor.check_training)
    assert found == doctor.PROBLEM and "pooler" in text


def test_main_goes_on_after_a_check_that_fails(monkeypatch, capsys):
    def fail(settings):
        raise RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED\nmore")

    monkeypatch.setattr(doctor, "CHECKS", {"A": fail, "B": doctor.check_versions})
    assert doctor.main(settings_for()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "CUBLAS_STATUS_NOT_INITIALIZED" in lines[0] and "TensorFlow" in lines[1]


@pytest.mark.slow
def test_main_finds_this_machine_ready(capsys):
    status, printed = doctor.main(settings_for()), capsys.readouterr().out
    assert status == 0 and all(name in printed for name in doctor.CHECKS), printed


def test_main_says_in_one_line_that_tensorflow_cannot_be_loaded(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise TypeError('Descriptors\\nMore.')\n")
    path = os.pathsep.join([str(tmp_path), str(processes.ROOT)])
    ended = subprocess.run(
        [sys.executable, "-m", "albert.doctor"],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        check=False,
    )
    (line,) = ended.stderr.decode().splitlines()
    assert ended.returncode == 1 and "Descriptors" in line
