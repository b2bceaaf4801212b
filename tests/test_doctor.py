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
from tests.support import fake_machine, processes

FIXTURES = pathlib.Path(__file__).parent / "fixtures"


def settings_for(*arguments):
    return flags_lib.parse(doctor.Flags, arguments)


def findings_of(check, *arguments):
    return list(check(settings_for(*arguments)))


@pytest.fixture
def machine(monkeypatch, tmp_path):
    return fake_machine.Machine(monkeypatch, tmp_path)


# ---------------------------------------------------------------------------------------------
# Devices.


def test_a_gpu_that_is_used_is_named(machine, monkeypatch):
    machine.driver("NVIDIA H100 80GB HBM3, 81559, 9.0")
    machine.tensorflow([("NVIDIA H100 80GB HBM3", (9, 0))])
    monkeypatch.setattr(doctor, "kernels_for", lambda gpus: iter(()))
    (found,) = findings_of(doctor.check_devices)
    assert found.state == doctor.OK and "1 NVIDIA H100 (80 GB)" in found.text


def test_a_gpu_that_is_not_used_is_a_problem_with_a_remedy(machine):
    machine.driver("Tesla T4, 15360, 7.5")
    machine.tensorflow([], has_cuda=False)
    (found,) = findings_of(doctor.check_devices)
    assert found.state == doctor.PROBLEM and "tensorflow[and-cuda]" in found.remedy


def test_a_machine_without_a_gpu_has_no_problem(machine):
    (found,) = findings_of(doctor.check_devices)
    assert found.state == doctor.OK and not found.remedy


def states(*capabilities):
    gpus = [devices.Gpu("GPU", None, one) for one in capabilities]
    return [found.state for found in doctor.kernels_for(gpus)]


@pytest.mark.skipif(not hasattr(tf.sysconfig, "get_build_info"), reason="TensorFlow 1.15")
def test_programs_that_a_tensorflow_lacks_for_a_gpu_are_noted(monkeypatch):
    built = ["sm_60", "sm_75", "compute_80"]
    info = {"cuda_compute_capabilities": built}
    monkeypatch.setattr(tf.sysconfig, "get_build_info", lambda: info)
    assert states((6, 1), (7, 5), (8, 6)) == []  # what is built for 6.0 runs on 6.1
    assert states((9, 0), (7, 0), (9, 0)) == [doctor.NOTE, doctor.NOTE]
    built.append("sm_90")
    assert states((9, 0)) == []


def test_tensorflow_1_needs_nvidias_build_from_ampere_on(machine, monkeypatch, tmp_path):
    machine.tensorflow([], "1.15.5")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert states((7, 0), (7, 5)) == []
    assert states((8, 0)) == states((9, 0)) == [doctor.PROBLEM]
    (tmp_path / "nvidia_tensorflow-1.15.5+nv23.3.dist-info").mkdir()
    assert states((8, 0)) == []


@pytest.mark.parametrize(
    "installed, noted",
    [
        (["tensorflow"], None),
        (["tensorflow_cpu"], "tensorflow-cpu"),
        (["tensorflow", "tensorflow_cpu"], "uninstall tensorflow tensorflow-cpu,"),
        (["tensorflow_gpu", "tensorflow_rocm"], "uninstall tensorflow-gpu tensorflow-rocm,"),
        (["albert", "tensorflow", "tensorflow_intel"], None),  # a part of it on Windows
    ],
)
def test_versions_note_tensorflows_that_lie_over_each_other(
    installed, noted, monkeypatch, tmp_path
):
    for name in installed:
        (tmp_path / f"{name}-2.21.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = findings_of(doctor.check_versions)[1:]
    assert [one.state for one in found] == [doctor.NOTE] * bool(noted)
    assert all(noted in one.text + one.remedy for one in found)


# ---------------------------------------------------------------------------------------------
# The other checks.


@pytest.mark.parametrize(
    "rates, advised",
    [
        ((148, 814, 102), "bfloat16"),  # a CPU with AMX
        ((105, 62, 0.3), "float32"),  # TensorFlow 1.15 on it
        ((100, 110, 0.3), "float32"),  # hardly faster
        ((4_000, 900, 25_000), "float16"),  # T4
        ((14_000, 0, 90_000), "float16"),  # V100
        ((400_000, 700_000, 720_000), "bfloat16"),  # H100, float32 as TF32
    ],
)
def test_the_format_that_pays_is_advised(rates, advised):
    assert doctor.advised_precision(dict(zip(("float32", "bfloat16", "float16"), rates))) == advised


def test_a_vocabulary_is_tried():
    (found,) = findings_of(doctor.check_vocabulary, f"--spm_model_file={FIXTURES / 'tiny.model'}")
    assert found.state == doctor.OK
    (found,) = findings_of(doctor.check_vocabulary, "--vocab_file=nowhere.txt")
    assert found.state == doctor.PROBLEM and "nowhere.txt" in found.text
    (found,) = findings_of(doctor.check_vocabulary)
    assert found.state != doctor.PROBLEM


def test_little_room_and_a_file_in_the_way_of_the_folder(monkeypatch, tmp_path):
    (found,) = findings_of(doctor.check_disk, f"--output_dir={tmp_path / 'to' / 'come'}")
    assert str(tmp_path) in found.text and not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("", encoding="utf-8")
    (found,) = findings_of(doctor.check_disk, f"--output_dir={tmp_path / 'file'}")
    assert found.state == doctor.PROBLEM
    usage = shutil.disk_usage(str(tmp_path))._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    (found,) = findings_of(doctor.check_disk, f"--output_dir={tmp_path}")
    assert found.state == doctor.NOTE and found.remedy


@pytest.mark.slow
@pytest.mark.parametrize("share", [None, 0.0, float("nan")])
def test_training_that_does_not_reach_a_variable_is_a_problem(share, monkeypatch):
    monkeypatch.setattr(doctor, "product_rates", lambda: {"float32": 1.0})
    pooled = modeling.AlbertModel.get_pooled_output

    def stopped(model):
        output = tf.stop_gradient(pooled(model))
        return output if share is None else output + share * pooled(model)

    monkeypatch.setattr(modeling.AlbertModel, "get_pooled_output", stopped)
    step = "Training", doctor.check_training_step
    monkeypatch.setattr(doctor, "CHECKS", (step,))
    assert doctor.main(settings_for()) == 1


# ---------------------------------------------------------------------------------------------
# The whole.


def test_a_check_that_breaks_is_a_problem_and_the_others_go_on(monkeypatch, capsys):
    def broken(settings):
        raise RuntimeError("CUBLAS_STATUS_NOT_INITIALIZED\nmore")

    fine = ("Versions", doctor.check_versions)
    monkeypatch.setattr(doctor, "CHECKS", (("Broken", broken), fine))
    assert doctor.main(settings_for()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "CUBLAS_STATUS_NOT_INITIALIZED" in lines[0] and tf.__version__ in lines[1]
    monkeypatch.setattr(doctor, "CHECKS", (fine,))
    assert doctor.main(settings_for()) == 0


@pytest.mark.slow
def test_this_machine_is_ready_to_train(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "SIZES", (64, 128))
    assert doctor.main(settings_for()) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    for name, _ in doctor.CHECKS:
        assert name in said


def test_a_tensorflow_that_cannot_be_loaded_is_one_line(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text(
        "try:\n  raise TypeError('Descriptors cannot be created directly.\\nLong advice.')\n"
        "except TypeError as error:\n  raise ImportError('Traceback') from error\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(tmp_path), str(processes.ROOT)])
    ended = subprocess.run(
        [sys.executable, "-m", "albert.doctor"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    (line,) = ended.stderr.decode().splitlines()
    assert ended.returncode == 1 and "Descriptors" in line and "-m pip install" in line
