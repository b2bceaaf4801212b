# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow computes on here, in words, and why it is not a GPU."""

import os
import re
import subprocess
from typing import List, NamedTuple, Optional

import tensorflow.compat.v1 as tf

_HIDES = "CUDA_VISIBLE_DEVICES"


class Gpu(NamedTuple):
    """A GPU that TensorFlow can use.

    Attributes:
      name: such as "NVIDIA H100 80GB HBM3".
      memory_bytes: None where it is not known.
    """

    name: str
    memory_bytes: Optional[int]


class Driver(NamedTuple):
    """What NVIDIA's driver says of this machine.

    Attributes:
      gpus: those that it knows, hidden ones too.
      error: why it could not say, or "".
    """

    gpus: List[Gpu]
    error: str


def read_driver() -> Driver:
    """Asks NVIDIA's driver for the machine's GPUs, by the program that comes with it."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, check=True, capture_output=True, timeout=20).stdout.decode(
            "utf-8", "replace"
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Driver([], "no NVIDIA driver" if isinstance(error, OSError) else str(error))
    found = re.findall(r"^(.+), (\d+)\s*$", answer, re.MULTILINE)
    return Driver([Gpu(name, int(megabytes) << 20) for name, megabytes in found], "")


def usable_gpus(driver: Driver) -> List[Gpu]:
    """Returns the GPUs that TensorFlow sees; their memory is what the driver says."""
    devices = tf.config.experimental.list_physical_devices("GPU")
    details = getattr(tf.config.experimental, "get_device_details", lambda device: {})
    names = [details(device).get("device_name", "") for device in devices]
    memory = {gpu.name: gpu.memory_bytes for gpu in driver.gpus}
    if driver.gpus and not any(names):  # TensorFlow 1.15 does not tell them
        names = [gpu.name for gpu in driver.gpus[: len(names)]]
    return [Gpu(name or "GPU", memory.get(name)) for name in names]


def describe(gpus: List[Gpu]) -> str:
    """Returns the devices of a training in words: "1 NVIDIA H100 (80 GB)"."""
    if not gpus:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return f"the CPU ({cores} {'core' if cores == 1 else 'cores'})"
    first = gpus[0]
    memory = f" ({first.memory_bytes / 2**30:.0f} GB)" if first.memory_bytes else ""
    return f"{len(gpus)} {first.name}{memory}"


def why_no_gpu(driver: Driver) -> str:
    """Returns why TensorFlow uses no GPU and what to do: a sentence, or two.

    A machine without one needs no remedy.
    """
    if not driver.gpus:
        return f"TensorFlow found no GPU ({driver.error or 'the driver knows none'})."
    found = f"TensorFlow does not use this machine's {describe(driver.gpus)}: "
    if os.environ.get(_HIDES, "0").strip() in ("", "-1"):
        return f"{found}{_HIDES}={os.environ[_HIDES]} hides it. Unset it (unset {_HIDES})."
    version = tf.__version__
    if version.startswith("1."):
        return (
            f"{found}the wheels of TensorFlow {version} need CUDA 10.0. docs/gpu.md says how to "
            "install NVIDIA's build."
        )
    reason = "CUDA's libraries were not found"
    if not tf.test.is_built_with_cuda():
        reason = "it was built without CUDA"
    return f"{found}{reason}. Install them: pip install 'tensorflow[and-cuda]=={version}'."


def training_line() -> str:
    """Returns the first line of a training's log: the device, and why it is no GPU."""
    driver = read_driver()
    gpus = usable_gpus(driver)
    return f"Training on {describe(gpus)}" + ("." if gpus else f": {why_no_gpu(driver)}")
