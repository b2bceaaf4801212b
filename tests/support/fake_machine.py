# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A machine with GPUs, as far as NVIDIA's driver and TensorFlow's lists say so."""

import os
import platform
import sys

import tensorflow.compat.v1 as tf


class Machine:
    """A machine whose driver and TensorFlow say what a test wants."""

    def __init__(self, monkeypatch, folder):
        self._patch, self._folder = monkeypatch, folder
        monkeypatch.setenv("PATH", str(folder) + os.pathsep + "/usr/bin:/bin")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setattr(platform, "machine", lambda: "x86_64")
        self.tensorflow([])

    def _program(self, name, lines):
        path = self._folder / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def driver(self, *lines, status=0):
        self._program("nvidia-smi", [f'echo "{line}"' for line in lines] + [f"exit {status}"])

    def script(self, *lines):
        self._program("nvidia-smi", lines)

    def tensorflow(self, gpus, version="2.21.0", *, has_cuda=True, log=()):
        """TensorFlow, with names and capabilities of the GPUs that it sees, and what it logs."""
        details = {
            f"/physical_device:GPU:{at}": {"device_name": name, "compute_capability": capability}
            for at, (name, capability) in enumerate(gpus)
        }
        config = tf.config.experimental
        self._patch.setattr(config, "list_physical_devices", lambda kind: list(details))
        self._patch.setattr(config, "get_device_details", details.get, raising=False)
        self._patch.setattr(tf, "__version__", version)
        self._patch.setattr(tf.test, "is_built_with_cuda", lambda: has_cuda)
        program = self._program("python", [f'echo "I0 gpu.cc:1] {line}" >&2' for line in log])
        self._patch.setattr(sys, "executable", program)
