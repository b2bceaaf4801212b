# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training on several devices: which there are, which of them are ours, and means over all of them.

`mirrored` uses the GPUs of this host (or parts of its CPU, to try it), `multi_worker` a process on
each of several hosts, which the environment variable TF_CONFIG names:

    {"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}

The first worker, or the one of the job `chief`, writes checkpoints and results.
"""

import contextlib
import dataclasses
import logging
import os
import re
from typing import Any, Iterator, List, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert.configs.flags import TrainingFlags
from albert.runtimes import compat
from albert.util import files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

NONE, MIRRORED, MULTI_WORKER = "none", "mirrored", "multi_worker"
# How the names of the temporary folders begin in which all but the chief train.
WORKERS_FOLDER = "albert_worker_"

_VARIABLE = "TF_CONFIG"
_EXAMPLE = (
    'It looks like {"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
    '"task": {"type": "worker", "index": 0}}, with another index in each process.'
)
_TYPES = {"cluster": {str: [str]}, "task": {"type": str, "index": (int, str)}}


# ---------------------------------------------------------------------------------------------
# The processes that take part.


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The processes that train together: "host:port" of each, the chief first; which is ours."""

    addresses: Tuple[str, ...]
    index: int

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's checkpoints and results."""
        return self.index == 0

    @property
    def peers(self) -> List[str]:
        """The addresses of the others."""
        return [address for at, address in enumerate(self.addresses) if at != self.index]


def read_cluster() -> Cluster:
    """Returns what TF_CONFIG says; raises UserError if TensorFlow's workers cannot use it."""
    text = os.environ.get(_VARIABLE, "")
    try:
        content = files.parse_json(text or "null", _VARIABLE)
        files.check_types(content, _TYPES, _VARIABLE)
        cluster, task = content["cluster"], content["task"]
        chief, workers = (cluster.get(job, []) for job in ("chief", "worker"))
        index = int(task["index"])  # some schedulers write a string
        addresses = [*chief, *workers]
        is_right = (
            {task["type"], *cluster} <= {"chief", "worker"}
            and len(chief) <= 1
            and len(set(addresses)) == len(addresses)
            and all(re.search(r"[^:/]:\d{1,5}$", address) for address in addresses)
            and 0 <= index < len(cluster.get(task["type"], []))
        )
        if not is_right:
            raise UserError(
                "each worker, and a chief if there is one, has its own host:port; type and index "
                "of the task say which of them is this process"
            )
    except ValueError as error:
        raise UserError(
            f"--distribution_strategy={MULTI_WORKER} needs the environment variable {_VARIABLE}, "
            f"which is {text or 'not set'} ({error}). {_EXAMPLE}"
        ) from None
    return Cluster(tuple(addresses), index + len(chief) * (task["type"] == "worker"))


def check_unused_cluster(settings: TrainingFlags) -> None:
    """Raises UserError if several processes would each train alone into one folder."""
    if settings.distribution_strategy == MULTI_WORKER or not settings.do_train:
        return
    try:
        processes = len(read_cluster().addresses)
    except UserError:
        return  # something that is not ours
    if processes > 1:
        raise UserError(
            f"{_VARIABLE} names {processes} processes, but each would train alone and write into "
            f"the same --output_dir. Give --distribution_strategy={MULTI_WORKER}, or unset "
            f"{_VARIABLE}."
        )


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """While this lasts TensorFlow does not see TF_CONFIG, and runs in this process only."""
    hidden = os.environ.pop(_VARIABLE, None)
    try:
        yield
    finally:
        if hidden is not None:
            os.environ[_VARIABLE] = hidden


@contextlib.contextmanager
def server_of_this_process() -> Iterator[None]:
    """Releases TensorFlow 1.15's server at the end; it complains where the interpreter does so."""
    try:
        yield
    finally:
        if not compat.is_tf2():
            from tensorflow.python.distribute import distribute_coordinator

            distribute_coordinator._thread_local.server = None


# ---------------------------------------------------------------------------------------------
# Devices.


def local_devices(settings: TrainingFlags) -> List[str]:
    """Returns this process's GPUs, or else its CPU or parts of it; raises ValueError."""
    strategy, wanted = settings.distribution_strategy, settings.num_devices
    if wanted is not None and strategy != MIRRORED:
        raise UserError(
            f"--num_devices={wanted} is for --distribution_strategy={MIRRORED}. With "
            f"{MULTI_WORKER} each worker uses every GPU it sees, which CUDA_VISIBLE_DEVICES can "
            f"limit; with {NONE} there is one device."
        )
    if strategy == NONE:
        return [""]  # the one TensorFlow chooses
    gpus = len(tf.config.experimental.list_physical_devices("GPU"))
    if gpus and (wanted or 0) > gpus:
        raise UserError(f"--num_devices={wanted} is more than the {gpus} GPUs of this host.")
    kind = "gpu" if gpus else "cpu"
    return [f"/{kind}:{number}" for number in range(wanted or gpus or 1)]


def num_replicas(settings: TrainingFlags) -> int:
    """Returns how many devices, of all hosts, share each batch of training."""
    workers = 1
    if settings.distribution_strategy == MULTI_WORKER:
        workers = len(read_cluster().addresses)
    return workers * len(local_devices(settings))


def is_chief(settings: TrainingFlags) -> bool:
    """Returns whether this process writes the run's checkpoints and results."""
    return settings.distribution_strategy != MULTI_WORKER or read_cluster().is_chief


def build_strategy(settings: TrainingFlags) -> Optional[tf.distribute.Strategy]:
    """Returns TensorFlow's strategy for training, and logs the devices; None for one device."""
    if settings.distribution_strategy == NONE:
        return None
    devices = local_devices(settings)
    replicas = num_replicas(settings)
    where = ", ".join(devices)
    if settings.distribution_strategy == MULTI_WORKER:
        where += f" of each of the workers {', '.join(read_cluster().addresses)}"
    _LOGGER.info(
        "Training on %d replicas (%s): %d examples of each batch of %d on each.",
        *(replicas, where, settings.train_batch_size // replicas, settings.train_batch_size),
    )
    # In a graph: outside of one TensorFlow 2 would start servers for its eager mode.
    with tf.Graph().as_default():
        if settings.distribution_strategy == MULTI_WORKER:
            return tf.distribute.experimental.MultiWorkerMirroredStrategy()
        if devices[0].startswith("/cpu"):
            _LOGGER.info("There is no GPU: parts of the CPU stand for devices.")
            reduction = tf.distribute.ReductionToOneDevice()
            return tf.distribute.MirroredStrategy(devices, cross_device_ops=reduction)
        return tf.distribute.MirroredStrategy(devices)


def session_config(settings: TrainingFlags) -> tf.ConfigProto:
    """Returns the session settings, with as many parts of the CPU as stand for devices."""
    config = compat.session_config()
    devices = local_devices(settings)
    if len(devices) > 1 and devices[0].startswith("/cpu"):
        config.device_count["CPU"] = len(devices)
    return config


# ---------------------------------------------------------------------------------------------
# Inside a model function.


def replica_number() -> tf.Tensor:
    """Returns which of all replicas the graph is being built for, int32 [].

    TensorFlow 1.15 counts those of each worker from 0 on.
    """
    context = tf.distribute.get_replica_context()
    number = tf.cast(context.replica_id_in_sync_group, tf.int32)
    if context.num_replicas_in_sync == 1:
        return number
    local = len(context.strategy.extended.worker_devices)
    if context.num_replicas_in_sync == local:
        return number
    return tf.math.floormod(number, local) + local * read_cluster().index


def mean_over_replicas(values: tf.Tensor, *, use_tpu: bool) -> tf.Tensor:
    """Returns the mean of each element over all replicas or TPU cores; the same on each of them.

    Every replica has to run it, or the others wait for it. `values` are float32, of the same shape
    on each replica.
    """
    if use_tpu:
        total = tf.tpu.cross_replica_sum
        return total(values) / total(tf.ones([]))
    context = tf.distribute.get_replica_context()
    if not context or context.num_replicas_in_sync == 1:
        return values

    def average(strategy: tf.distribute.Strategy, value: Any) -> Any:
        return strategy.extended.reduce_to(tf.distribute.ReduceOp.MEAN, value, destinations=value)

    return context.merge_call(average, args=(values,))
