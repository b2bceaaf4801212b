# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is said of GPUs, on machines that are made up: a driver's answers, TensorFlow's lists."""

import platform
import time

import pytest

from albert.runtimes import devices
from tests.support import fake_machine

H100 = "NVIDIA H100 80GB HBM3, 81559, 9.0"
A100 = "NVIDIA A100-SXM4-40GB, 40960, 8.0"
T4 = "Tesla T4, 15360, 7.5"
BROKEN = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


@pytest.fixture
def machine(monkeypatch, tmp_path):
    return fake_machine.Machine(monkeypatch, tmp_path)


@pytest.mark.parametrize(
    "line, said",
    [
        (H100, "1 NVIDIA H100 (80 GB)"),
        ("NVIDIA H100 PCIe, 81559, 9.0", "1 NVIDIA H100 PCIe (80 GB)"),
        (A100, "1 NVIDIA A100-SXM4 (40 GB)"),
        ("NVIDIA A100 80GB PCIe, 81920, 8.0", "1 NVIDIA A100 PCIe (80 GB)"),
        ("Tesla V100-SXM2-16GB, 16160, 7.0", "1 Tesla V100-SXM2 (16 GB)"),
        (T4, "1 Tesla T4 (15 GB)"),
        ("NVIDIA GeForce RTX 4090, 24564, 8.9", "1 NVIDIA GeForce RTX 4090 (24 GB)"),
        ("NVIDIA GB10, [N/A], 12.1", "1 NVIDIA GB10"),
    ],
)
def test_a_gpu_is_called_by_its_name_and_memory(machine, line, said):
    machine.driver(line, "WARNING: infoROM is corrupted at gpu 0000:3B:00.0")
    machine.tensorflow([(line.split(",")[0], (9, 0))])
    assert devices.training_line() == f"Training on {said}."


def test_of_several_gpus_those_that_a_training_uses_are_named(machine):
    machine.driver(H100, H100, H100, H100)
    machine.tensorflow([("NVIDIA H100 80GB HBM3", (9, 0))] * 4)
    assert "Training on 4 NVIDIA H100 (80 GB)." in devices.training_line()
    assert "Training on 2 NVIDIA H100 (80 GB)." in devices.training_line(2)
    assert "mirrored" in devices.training_line(1) and "mirrored" not in devices.training_line()


def test_of_the_drivers_gpus_those_that_tensorflow_sees_are_named(machine, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,1")
    machine.driver(T4, H100, A100)
    machine.tensorflow([("NVIDIA A100-SXM4-40GB", (8, 0)), ("NVIDIA H100 80GB HBM3", (9, 0))])
    said = "Training on 1 NVIDIA A100-SXM4 (40 GB) and 1 NVIDIA H100 (80 GB)."
    assert devices.training_line() == said
    assert [gpu.capability for gpu in devices.usable_gpus(devices.read_driver())] == [
        (8, 0),
        (9, 0),
    ]


def test_a_part_of_a_gpu_is_not_given_the_memory_of_the_whole(machine):
    machine.driver(H100)
    machine.tensorflow([("NVIDIA H100 80GB HBM3 MIG 1g.10gb", (9, 0))])
    assert devices.training_line() == "Training on 1 NVIDIA H100 MIG 1g.10gb."


def test_what_no_driver_of_nvidias_knows_is_called_as_tensorflow_does(machine):
    machine.tensorflow([("METAL", None)])
    assert devices.training_line() == "Training on 1 METAL."


def test_tensorflow_1_has_names_from_the_driver_if_there_is_one_kind(machine):
    machine.driver(T4, T4)
    machine.tensorflow([("", None)], "1.15.5")
    driver = devices.read_driver()
    assert devices.usable_gpus(driver) == [devices.Gpu("Tesla T4", 15360 << 20, (7, 5))]
    machine.driver(T4, H100)
    assert devices.describe(devices.usable_gpus(devices.read_driver())) == "1 GPU"


def test_a_driver_that_does_not_know_compute_capabilities_is_asked_for_less(machine):
    machine.script(
        'case "$1" in *compute_cap*) echo "compute_cap is not a valid field to query."; exit 2;;',
        "esac",
        'echo "Tesla T4, 15360"',
    )
    assert devices.read_driver() == devices.Driver([devices.Gpu("Tesla T4", 15360 << 20)], "")


def absence(found):
    """What is said of a machine without a GPU; where it has one, the line names it."""
    line = devices.training_line()
    assert line.startswith("Training on the CPU (") and "TensorFlow found no GPU" in line
    assert found in line
    return devices.why_no_gpu(devices.read_driver())


def test_a_machine_without_a_driver_needs_no_remedy(machine):
    assert absence("nvidia-smi").remedy == ""


def test_a_broken_drivers_own_words_are_the_reason(machine):
    machine.driver(BROKEN, "Make sure that it is running.", status=9)
    found = absence(BROKEN)
    assert "Make sure" in found.reason and found.remedy


def test_a_driver_that_hangs_is_not_waited_for(machine, monkeypatch):
    monkeypatch.setattr(devices, "DRIVER_SECONDS", 0.1)
    machine.script("exec sleep 20")
    began = time.monotonic()
    assert absence("did not answer").remedy
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("value", ["", "-1", "1", "NoDevFiles"])
def test_a_hidden_gpu_comes_with_the_variable_that_hides_it(machine, monkeypatch, value):
    machine.driver(T4)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert "unset CUDA_VISIBLE_DEVICES" in absence("Tesla T4").remedy


@pytest.mark.parametrize("value", ["0", "0,5", "GPU-8932f937"])
def test_a_variable_that_shows_a_gpu_is_not_the_reason(machine, monkeypatch, value):
    machine.driver(T4)
    machine.tensorflow([], has_cuda=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert "CUDA_VISIBLE_DEVICES" not in absence("Tesla T4").reason


@pytest.mark.parametrize(
    "version, processor, remedy",
    [
        ("2.21.0", "x86_64", "'tensorflow[and-cuda]==2.21.0'"),
        ("2.21.0", "aarch64", "docs/gpu.md"),  # PyPI has no such wheel
        ("1.15.5", "x86_64", "docs/gpu.md"),
    ],
)
def test_a_tensorflow_without_cuda_comes_with_what_to_install(
    machine, monkeypatch, version, processor, remedy
):
    machine.driver(A100)
    machine.tensorflow([], version, has_cuda=False)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    assert remedy in absence("NVIDIA A100").remedy


@pytest.mark.parametrize(
    "log, found, remedy",
    [
        (
            ["Could not load dynamic library 'libnvinfer.so.8'", "...library 'libcudnn.so.9'"],
            "libcudnn.so.9",
            "tensorflow[and-cuda]",
        ),
        (["...library 'libcuda.so.1'", "failed call to cuInit"], "libcuda.so.1", "docs/gpu.md"),
        (["failed call to cuInit: SYSTEM_DRIVER_MISMATCH"], "MISMATCH", "docs/gpu.md"),
        ([], "NVIDIA H100", "docs/gpu.md"),
    ],
)
def test_the_reason_that_tensorflow_gives_is_passed_on(machine, log, found, remedy):
    machine.driver(H100)
    log = [line.replace("...", "Could not load dynamic ") for line in log]
    machine.tensorflow([], log=log)
    told = absence(found)
    assert remedy in told.remedy and "libnvinfer" not in told.reason
