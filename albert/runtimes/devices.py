# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lists and describes TensorFlow's devices, without allocating GPU memory."""

import collections
import re
import subprocess
from typing import List, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.runtimes import compat
from albert.util import parallel

_DRIVER_SECONDS = 5.0  # a broken driver never answers


def driver_gpus() -> List[str]:
    """Returns the GPUs that NVIDIA's driver lists, such as "Tesla T4"; [] without a driver."""
    try:
        table = subprocess.check_output(
            ["nvidia-smi", "-L"], stderr=subprocess.DEVNULL, timeout=_DRIVER_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return re.findall(r"^GPU \d+: (.+?) \(", table.decode("utf-8", "replace"), re.MULTILINE)


def gpus() -> List[str]:
    """Returns the names of TensorFlow's GPUs. TensorFlow 1.15 knows no names: each is "GPU"."""
    devices = tf.config.experimental.list_physical_devices("GPU")
    if not compat.is_tf2():
        return ["GPU"] * len(devices)
    details = map(tf.config.experimental.get_device_details, devices)
    return [detail.get("device_name", "GPU") for detail in details]


def describe(names: Sequence[str]) -> str:
    """Describes GPUs as in "2 NVIDIA L4"; without GPUs, describes the CPU."""
    if not names:
        return f"the CPU ({parallel.default_processes()} cores)"
    return " and ".join(f"{count} {name}" for name, count in collections.Counter(names).items())


def training_line(at_most: Optional[int] = None, does: str = "Training") -> str:
    """Returns a sentence about the devices, for the first line of a log.

    Args:
      at_most: the number of GPUs to use; None for all.
      does: the sentence's first word.
    """
    seen = gpus()
    used = seen[:at_most]
    line = f"{does} on {describe(used)}."
    if not seen:
        line += " TensorFlow found no GPU."
    if len(used) < len(seen) and does == "Training":
        line += f" To use all {len(seen)}, add --distribution_strategy=mirrored."
    return line
