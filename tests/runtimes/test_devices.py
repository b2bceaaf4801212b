# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How the devices of machines that are made up are named."""

import pytest
import tensorflow.compat.v1 as tf

from albert.runtimes import devices

H100, T4 = "NVIDIA H100 80GB HBM3", "Tesla T4"


def details_of(name):
    return {"device_name": name}


@pytest.fixture
def machine(monkeypatch):
    """Sets the names of the GPUs that TensorFlow sees."""

    def has(*names, is_tf2=True):
        experimental = tf.config.experimental
        monkeypatch.setattr(devices.compat, "is_tf2", lambda: is_tf2)
        monkeypatch.setattr(experimental, "list_physical_devices", lambda kind: names)
        monkeypatch.setattr(experimental, "get_device_details", details_of, raising=False)

    return has


def test_training_line_names_the_gpus_in_use(machine):
    machine(T4, H100, H100, H100)
    assert devices.training_line() == f"Training on 1 {T4} and 3 {H100}."
    assert f" 1 {T4} and 1 {H100}." in devices.training_line(2)
    assert "mirrored" in devices.training_line(1) and "mirrored" not in devices.training_line()
    machine(T4, T4, is_tf2=False)
    assert " 2 GPU." in devices.training_line()
    machine()
    assert "no GPU" in devices.training_line() and "CPU" in devices.training_line()


@pytest.mark.parametrize(
    "printed, status, listed",
    [
        ("GPU 0: Tesla T4 (UUID: GPU-1)\nGPU 1: Tesla T4 (UUID: GPU-2)", 0, [T4, T4]),
        ("No devices found", 0, []),
        ("GPU 0: Tesla T4 (driver mismatch)", 9, []),
    ],
)
def test_driver_gpus_are_those_of_a_working_driver(monkeypatch, tmp_path, printed, status, listed):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho '{printed}'\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert devices.driver_gpus() == listed
