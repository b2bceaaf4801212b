# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How devices are named on machines that are made up: a driver's answer, TensorFlow's list."""

import pytest
import tensorflow.compat.v1 as tf

from albert.runtimes import devices

H100 = "NVIDIA H100 80GB HBM3, 81559"
T4 = "Tesla T4, 15360"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Sets what nvidia-smi prints, and how many GPUs TensorFlow sees."""

    def has(lines, count, status=0):
        program = tmp_path / "nvidia-smi"
        printed = "\n".join(f'echo "{line}"' for line in lines)
        program.write_text(f"#!/bin/sh\n{printed}\nexit {status}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(
            tf.config.experimental, "list_physical_devices", lambda kind: ["GPU"] * count
        )

    return has


@pytest.mark.parametrize(
    "lines, count, named",
    [
        ([H100, "WARNING: infoROM is corrupted"], 1, "1 NVIDIA H100 80GB HBM3 (80 GB)"),
        ([T4, H100], 2, "1 Tesla T4 (15 GB) and 1 NVIDIA H100 80GB HBM3 (80 GB)"),
        ([T4, T4, T4], 2, "2 Tesla T4 (15 GB)"),  # one is hidden
        ([T4, H100], 1, "1 GPU"),  # it may be either
        (["NVIDIA GB10, [N/A]"], 1, "1 GPU"),
        ([], 1, "1 GPU"),
    ],
)
def test_training_line_names_the_gpus(machine, lines, count, named):
    machine(lines, count)
    assert devices.training_line() == f"Training on {named}."


def test_training_line_names_the_gpus_in_use(machine):
    machine([H100] * 4, 4)
    assert " 2 NVIDIA" in devices.training_line(2)
    assert "mirrored" in devices.training_line(1) and "mirrored" not in devices.training_line()


def test_training_line_without_a_gpu_names_the_cpu(machine):
    machine([T4], 0)
    assert "no GPU" in devices.training_line() and "CPU" in devices.training_line()


@pytest.mark.parametrize("lines, status", [(["driver mismatch"], 9), (["No devices"], 0)])
def test_driver_gpus_are_none_without_a_working_driver(machine, lines, status):
    machine(lines, 0, status)
    assert devices.driver_gpus() == []
