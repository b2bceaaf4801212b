# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The doctor on machines that are made up, and on this one."""

import os
import shutil
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.commands import doctor
from albert.runtimes import devices
from albert.util import UserError
from albert.util import flags as flags_lib
from tests.support import ROOT, pretrained_models


def settings_for(*arguments):
    return flags_lib.parse(doctor.Flags, arguments)


@pytest.mark.parametrize(
    "listed, used, last_loss, named",
    [
        ([], [], 7.0, ""),
        (["T4"], ["T4"], 7.0, ""),
        (["T4"], [], 7.0, "devices"),
        ([], [], float("nan"), "training"),
    ],
)
def test_check_devices_and_training(monkeypatch, listed, used, last_loss, named):
    monkeypatch.setattr(devices, "driver_gpus", lambda: listed)
    monkeypatch.setattr(devices, "gpus", lambda: used)
    found = lambda precision: (20.0, [8.0, last_loss], [])  # noqa: E731
    monkeypatch.setattr(doctor, "train_two_layers", found)
    for name in ("devices", "training"):
        check = getattr(doctor, f"check_{name}")
        if name == named:
            with pytest.raises(UserError):
                check(settings_for())
        else:
            assert name == "devices" or "20 ms" in check(settings_for())


def test_check_disk_finds_little_room_or_file_in_the_way(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        doctor.check_disk(settings_for(f"--output_dir={tmp_path / 'file'}"))
    flag = "--keep_checkpoint_max"
    for free in (10**9, 10**11):
        usage = shutil.disk_usage(str(tmp_path))._replace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder, usage=usage: usage)
        found = doctor.check_disk(settings_for(f"--output_dir={tmp_path}/to/come"))
        assert (flag in found) == (free == 10**9)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_check_vocabulary_shows_what_a_model_sees():
    vocabulary = f"--spm_model_file={pretrained_models.VOCABULARY}"
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=str(pretrained_models.VOCABULARY))
    tokens = tokenizer.tokenize("the quick brown fox jumps over the lazy dog.")
    assert doctor.check_vocabulary(settings_for(vocabulary)).endswith(f": {' '.join(tokens)}")


def test_main_goes_on_after_failed_check(monkeypatch, capsys):
    def fail(flags):
        raise RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED\nmore")

    monkeypatch.setattr(doctor, "CHECKS", {"A": fail, "B": doctor.check_versions})
    assert doctor.main(settings_for()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "CUBLAS_STATUS_NOT_INITIALIZED" in lines[0] and "TensorFlow" in lines[1]


@pytest.mark.slow
def test_main_finds_this_machine_ready(capsys):
    status, printed = doctor.main(settings_for()), capsys.readouterr().out
    assert status == 0 and all(name in printed for name in doctor.CHECKS), printed


def test_main_without_tensorflow_says_why(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise TypeError('Descriptors\\nMore.')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    ended = subprocess.run(
        [sys.executable, "-m", "albert", "doctor"],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert ended.returncode == 1 and "Descriptors" in ended.stdout.decode().splitlines()[0]


@pytest.mark.slow
def test_check_training_finds_variable_without_gradient(monkeypatch):
    pooled = modeling.AlbertModel.get_pooled_output
    stopped = lambda model: tf.stop_gradient(pooled(model))  # noqa: E731
    monkeypatch.setattr(modeling.AlbertModel, "get_pooled_output", stopped)
    with pytest.raises(UserError, match="pooler"):
        doctor.check_training(settings_for())
