# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow computes on here, in words, and why it is not a GPU.

Listing devices takes no memory of a GPU. NVIDIA's driver is asked by the program that comes with
it, because TensorFlow tells no memory sizes, and 1.15 no names.
"""

import collections
import os
import platform
import re
import subprocess
import sys
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.runtimes import compat

_HIDES = "CUDA_VISIBLE_DEVICES"
DRIVER_SECONDS = 5.0  # a broken driver never answers
_TENSORFLOW_SECONDS = 60.0
# What TensorFlow's log says of GPUs that it could not use, and of a library that it does without.
_NOTICE = re.compile(r"failed call to cuInit|insufficient|Cannot dlopen|visible gpu device")
_MISSING = re.compile(r"Could not load dynamic library '((?!libnvinfer)[^']+)'")


class Gpu(NamedTuple):
    """A GPU.

    Attributes:
      name: such as "NVIDIA H100 80GB HBM3"; "GPU" where it is not known.
      memory_bytes, capability: None where they are not known; the compute capability is two
        numbers, such as (9, 0).
    """

    name: str
    memory_bytes: Optional[int]
    capability: Optional[Tuple[int, ...]] = None


class Driver(NamedTuple):
    """What NVIDIA's driver says of this machine.

    Attributes:
      gpus: those that it knows, hidden ones too.
      error: why it knows none, or "".
    """

    gpus: List[Gpu]
    error: str


class Absence(NamedTuple):
    """Why TensorFlow uses no GPU: a sentence; and one that says what to do, or ""."""

    reason: str
    remedy: str


class _Answer(NamedTuple):
    status: Optional[int]  # None: there is no such program, or no answer in time
    text: str


def _ask(command: Sequence[str], seconds: float, environment: Optional[Mapping] = None) -> _Answer:
    """What a program prints. One that hangs in the driver cannot be killed, nor waited for."""
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except FileNotFoundError:
        return _Answer(None, f"there is no {command[0]}")
    except OSError as error:
        return _Answer(None, f"{command[0]} cannot be run: {error.strerror}")
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return _Answer(None, f"{command[0]} did not answer within {seconds:g} seconds")
    return _Answer(process.returncode, output.decode("utf-8", "replace").strip())


def read_driver() -> Driver:
    """Asks NVIDIA's driver for the machine's GPUs."""
    answer = _Answer(None, "")
    for fields in ("name,memory.total,compute_cap", "name,memory.total"):
        query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        answer = _ask(query, DRIVER_SECONDS)
        if "not a valid field" not in answer.text:  # drivers from before 2021
            break
    if answer.status == 0 and answer.text:
        # A warning may stand below the table.
        return Driver([_gpu(line) for line in answer.text.splitlines() if "," in line], "")
    return Driver([], answer.text.replace("\n", " ") or "NVIDIA's driver knows none")


def _gpu(line: str) -> Gpu:
    """A line of nvidia-smi's table; it has [N/A] where something is not known."""
    name, memory, *more = [field.strip() for field in line.split(",")] + [""]
    capability = tuple(map(int, re.findall(r"\d+", more[0])))
    return Gpu(name, int(memory) << 20 if memory.isdigit() else None, capability or None)


def usable_gpus(driver: Driver) -> List[Gpu]:
    """Returns the GPUs that TensorFlow sees; their memory is what the driver says."""
    devices = tf.config.experimental.list_physical_devices("GPU")
    known = {gpu.name: gpu for gpu in driver.gpus}
    only = driver.gpus[0] if len(known) == 1 else Gpu("GPU", None)
    if not compat.is_tf2():  # it does not tell names
        return [only] * len(devices)
    gpus = []
    for device in devices:
        details = tf.config.experimental.get_device_details(device)
        name = details.get("device_name", "GPU")
        memory = known[name].memory_bytes if name in known else None
        gpus.append(Gpu(name, memory, details.get("compute_capability")))
    return gpus


def describe(gpus: Sequence[Gpu]) -> str:
    """Returns the devices of a training in words: "1 NVIDIA H100 (80 GB)"."""
    if not gpus:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return f"the CPU ({cores} {'core' if cores == 1 else 'cores'})"
    counts = collections.Counter(map(_label, gpus))
    return " and ".join(f"{count} {label}" for label, count in counts.items())


def _label(gpu: Gpu) -> str:
    """Name and memory, which is a part of some names."""
    name = re.sub(r"[ -]\d+ ?GB\b( HBM\w*)?", "", gpu.name)
    return f"{name} ({gpu.memory_bytes / 2**30:.0f} GB)" if gpu.memory_bytes else name


def why_no_gpu(driver: Driver) -> Absence:
    """Returns why TensorFlow uses no GPU and what to do; asks TensorFlow if nothing else tells."""
    reason, remedy = _why_no_gpu(driver)
    return Absence(f"TensorFlow found no GPU ({reason.rstrip('.')}).", remedy)


def _why_no_gpu(driver: Driver) -> Absence:
    version, visible = tf.__version__, os.environ.get(_HIDES)
    page = "See docs/gpu.md."
    install = f"Remedy: pip install 'tensorflow[and-cuda]=={version}'"
    if tf.test.is_built_with_rocm():
        return Absence("this build is for AMD's", "Does rocminfo list one?")
    if not driver.gpus:
        # Without nvidia-smi there hardly is a GPU, so that nothing is amiss.
        if driver.error.startswith("there is no"):
            return Absence(f"{driver.error}, which NVIDIA's driver brings", "")
        return Absence(driver.error, page)
    if visible is not None and not _shows(visible, len(driver.gpus)):
        return Absence(f"{_HIDES}={visible} hides {_names(driver)}", f"Remedy: unset {_HIDES}")
    if not tf.test.is_built_with_cuda():
        has_wheel = not version.startswith("1.") and platform.machine() == "x86_64"
        reason = f"TensorFlow {version} is built without CUDA, which {_names(driver)} needs"
        return Absence(reason, install if has_wheel else page)
    missing, notice = _tensorflows_reason()
    if missing:
        # The driver's own library comes with it, not with CUDA.
        has_wheel = not version.startswith("1.") and "libcuda.so.1" not in missing
        reason = f"it could not load {', '.join(missing)} for {_names(driver)}"
        return Absence(reason, install if has_wheel else page)
    reason = f"the driver knows {_names(driver)}, but TensorFlow does not use it"
    return Absence(f"{reason}: {notice}" if notice else reason, page)


def _names(driver: Driver) -> str:
    """The machine's GPUs without their memory."""
    return describe([gpu._replace(memory_bytes=None) for gpu in driver.gpus])


def _shows(visible: str, count: int) -> bool:
    """Whether CUDA_VISIBLE_DEVICES leaves a GPU: the list ends at the first that does not exist."""
    first = visible.split(",")[0].strip()
    return first.startswith(("GPU-", "MIG-")) or (first.isdigit() and int(first) < count)


def _tensorflows_reason() -> Tuple[List[str], str]:
    """The libraries that TensorFlow misses, and what else it says.

    It says so where it is loaded, in its log, which this process was told to keep silent.
    """
    program = (
        "import tensorflow.compat.v1 as tf; tf.config.experimental.list_physical_devices('GPU')"
    )
    loud = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "dso_loader=1"}
    lines = _ask([sys.executable, "-c", program], _TENSORFLOW_SECONDS, loud).text.splitlines()
    missing = dict.fromkeys(name for line in lines for name in _MISSING.findall(line))
    notices = [line.partition("] ")[2] for line in lines if _NOTICE.search(line)]
    return list(missing), notices[-1] if notices else ""


def training_line(at_most: Optional[int] = None, does: str = "Training") -> str:
    """Returns the end of a log's first line: the device, and why it is no GPU.

    Args:
      at_most: how many GPUs are used; None for all that TensorFlow sees.
      does: what is done there.
    """
    driver = read_driver()
    gpus = usable_gpus(driver)
    if not gpus:
        absence = why_no_gpu(driver)
        return f"{does} on {describe([])}: {absence.reason} {absence.remedy}".rstrip()
    used = gpus[:at_most]
    line = f"{does} on {describe(used)}."
    if len(used) < len(gpus) and does == "Training":
        line += f" --distribution_strategy=mirrored would use all {len(gpus)}."
    return line
