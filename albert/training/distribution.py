# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training on several devices: finds the processes and devices that share each batch.

`mirrored` uses the GPUs of this host, or parts of its CPU, which is useful for tests.
`multi_worker` uses one process on each host. The environment variable TF_CONFIG names them:

    {"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}

The first worker, or the one of the job `chief`, writes checkpoints and results.
"""

import logging
import os
import re
from typing import List, NamedTuple, Optional

import tensorflow.compat.v1 as tf

from albert.configs.flags import TrainingFlags
from albert.runtimes import compat
from albert.util import json_files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

NONE, MIRRORED, MULTI_WORKER = "none", "mirrored", "multi_worker"

_TF_CONFIG = {
    "cluster": {str: [re.compile("(?#host:port).+:[0-9]+")]},
    "task": {"type": str, "index": (json_files.COUNT, re.compile("(?#digits)[0-9]+"))},
}
_EXAMPLE = (
    'It looks like {"cluster": {"worker": ["host1:2222", "host2:2222"]}, '
    '"task": {"type": "worker", "index": 0}}, with another index in each process.'
)


# ---------------------------------------------------------------------------------------------
# Processes.


class Cluster(NamedTuple):
    """The processes that train together."""

    addresses: List[str]  # "host:port"; the chief first
    rank: int  # index of this process


def read_cluster() -> Cluster:
    """Returns the cluster in TF_CONFIG; UserError if TensorFlow cannot use it."""
    text = os.environ.get("TF_CONFIG", "")
    try:
        content = json_files.parse(text, "Its value", _TF_CONFIG)
        jobs, task = content["cluster"], content["task"]
        addresses = jobs.get("chief", []) + jobs.get("worker", [])
        ours = jobs[task["type"]][int(task["index"])]  # some schedulers write a string
        return Cluster(addresses, addresses.index(ours))
    except (ValueError, LookupError) as error:
        raise UserError(
            f"--distribution_strategy={MULTI_WORKER} needs the environment variable TF_CONFIG, "
            f"which is {text and f'{text[:200]} ({error})' or 'not set'}. {_EXAMPLE}"
        ) from None


def count_processes() -> int:
    """Returns the number of processes in TF_CONFIG; 1 if it is unset or not valid."""
    try:
        return len(read_cluster().addresses)
    except UserError:
        return 1


def is_chief(flags: TrainingFlags) -> bool:
    """Returns whether this process writes the run's checkpoints and results."""
    return flags.distribution_strategy != MULTI_WORKER or read_cluster().rank == 0


def peers(flags: TrainingFlags) -> List[str]:
    """Returns the addresses of the other processes in the cluster."""
    if flags.distribution_strategy != MULTI_WORKER:
        return []
    addresses, rank = read_cluster()
    return addresses[:rank] + addresses[rank + 1 :]


# ---------------------------------------------------------------------------------------------
# Devices.


def local_devices(flags: TrainingFlags) -> List[str]:
    """Returns the names of this process's GPUs or, without GPUs, of its CPU or parts of it.

    Raises UserError if the host has fewer GPUs than --num_devices.
    """
    if flags.distribution_strategy == NONE:
        return [""]  # TensorFlow chooses the device
    count = flags.num_devices
    gpus = len(tf.config.experimental.list_physical_devices("GPU"))
    if gpus and (count or 0) > gpus:
        raise UserError(f"--num_devices={count} is more than the {gpus} GPUs of this host.")
    kind = "gpu" if gpus else "cpu"
    return [f"/{kind}:{number}" for number in range(count or gpus or 1)]


def num_replicas(flags: TrainingFlags) -> int:
    """Returns the number of devices, on all hosts, that share each training batch."""
    is_single = flags.distribution_strategy != MULTI_WORKER
    return len(local_devices(flags)) * (1 if is_single else len(read_cluster().addresses))


def build_strategy(flags: TrainingFlags) -> Optional[tf.distribute.Strategy]:
    """Returns TensorFlow's strategy for training, and logs the devices; None for one device."""
    if flags.distribution_strategy == NONE:
        return None
    devices, replicas = local_devices(flags), num_replicas(flags)
    is_multi_worker = flags.distribution_strategy == MULTI_WORKER
    size = flags.train_batch_size
    _LOGGER.info(
        "Training on %d replicas (%s), each with %d of the %d examples of a batch.",
        replicas,
        ", ".join(devices),
        size // replicas,
        size,
    )
    # Use a graph, because TensorFlow 2 would start servers in eager mode.
    with tf.Graph().as_default():
        if is_multi_worker:
            return tf.distribute.experimental.MultiWorkerMirroredStrategy()
        has_gpus = devices[0].startswith("/gpu")
        reduction = None if has_gpus else tf.distribute.ReductionToOneDevice()
        return tf.distribute.MirroredStrategy(devices, cross_device_ops=reduction)


def session_config(flags: TrainingFlags) -> tf.ConfigProto:
    """Returns the session's configuration. CPU devices are parts of the CPU."""
    config = compat.session_config()
    devices = local_devices(flags)
    if devices[0].startswith("/cpu"):
        config.device_count["CPU"] = len(devices)
    return config


# ---------------------------------------------------------------------------------------------
# Inside a model function.


def replica_number() -> tf.Tensor:
    """Returns the index of the current replica among all replicas, int32 [].

    TensorFlow 1.15 counts each worker's replicas from 0, so this adds the worker's offset.
    """
    context = tf.distribute.get_replica_context()
    number = tf.cast(context.replica_id_in_sync_group, tf.int32)
    if context.num_replicas_in_sync == 1:
        return number
    local = len(context.strategy.extended.worker_devices)
    if context.num_replicas_in_sync == local:
        return number
    return tf.math.floormod(number, local) + local * read_cluster().rank
