# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow computes on here, in words.

TensorFlow counts the GPUs and nvidia-smi names them: TensorFlow does not tell their memory, and
1.15 no names. Listing devices takes no memory of a GPU.
"""

import collections
import os
import re
import subprocess
from typing import List, Optional, Sequence

import tensorflow.compat.v1 as tf

_DRIVER_SECONDS = 5.0  # a broken driver never answers


def driver_gpus() -> List[str]:
    """Returns the GPUs that NVIDIA's driver lists, such as "Tesla T4 (15 GB)"; [] without one."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        table = subprocess.check_output(
            query, stderr=subprocess.DEVNULL, timeout=_DRIVER_SECONDS, universal_newlines=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    rows = re.findall(r"^(.+), (\d+)$", table, re.MULTILINE)
    return [f"{name} ({int(mebibytes) / 1024:.0f} GB)" for name, mebibytes in rows]


def gpus() -> List[str]:
    """Returns the GPUs that TensorFlow uses; "GPU" where it is not known which they are."""
    count = len(tf.config.experimental.list_physical_devices("GPU"))
    names = driver_gpus() if count else []
    if len(names) == count:
        return names
    return [names[0] if len(set(names)) == 1 else "GPU"] * count


def describe(names: Sequence[str]) -> str:
    """Returns devices in words: "2 NVIDIA L4 (22 GB)", or the CPU for no GPU."""
    if not names:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return f"the CPU ({cores} {'core' if cores == 1 else 'cores'})"
    return " and ".join(f"{count} {name}" for name, count in collections.Counter(names).items())


def training_line(at_most: Optional[int] = None, does: str = "Training") -> str:
    """Returns the end of a log's first line: the devices.

    Args:
      at_most: how many GPUs are used; None for all that TensorFlow sees.
      does: what is done there.
    """
    seen = gpus()
    used = seen[:at_most]
    line = f"{does} on {describe(used)}."
    if not seen:
        line += " TensorFlow found no GPU."
    if len(used) < len(seen) and does == "Training":
        line += f" --distribution_strategy=mirrored would use all {len(seen)}."
    return line
