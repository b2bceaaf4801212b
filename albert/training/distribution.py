# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training on several devices: finds the processes and devices that share each batch.

`mirrored` uses the GPUs of this host, or parts of its CPU, which is useful for tests.
`multi_worker` uses one process on each host. The environment variable TF_CONFIG names them:

    {"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}

The first worker, or the one of the job `chief`, writes checkpoints and results.
"""

import contextlib
import json
import os
import re
import selectors
import socket
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.configs.shared_flags import TrainingFlags
from albert.runtimes import compat
from albert.util import UserError, json_files, log, stop_signals

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
    log.info(
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
    config = compat.base_session_config()
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


# ---------------------------------------------------------------------------------------------
# A watch on the other workers: compares the flags of all at the start, and stops a worker when
# another one dies.
#
# TensorFlow's workers wait for each other in every step. They wait forever if they start at
# different steps. If a worker is killed, the others wait for minutes on TensorFlow 2.21, forever on
# 1.15, and sometimes forever on 2.15.

_SECONDS_BETWEEN_CHECKS = 2.0
_MIN_PATIENCE_SECONDS = 5.0  # one missed answer proves nothing
_CALL_SECONDS = 5.0
_SECONDS_BETWEEN_CALLS = 0.5
_CALLS_BETWEEN_WARNINGS = 120
_MAX_MESSAGE_BYTES = 1 << 24


@contextlib.contextmanager
def heartbeat(
    addresses: Sequence[str], *, is_over: Callable[[], bool], patience_seconds: float
) -> Iterator[None]:
    """Stops this process when a peer dies, even if the main thread waits in TensorFlow.

    Args:
      addresses: "host:port" of the peers.
      is_over: returns whether the last step is done, so that peers may exit.
      patience_seconds: how long a peer may be silent, for example while the network is down.
    """
    stopped = threading.Event()
    last_seen: Dict[str, float] = {}  # peer that has answered -> time of its last answer

    def watch() -> None:
        while not stopped.wait(_SECONDS_BETWEEN_CHECKS):
            last_seen.update({peer: time.monotonic() for peer in addresses if is_reachable(peer)})
            # If all processes are asked to stop, peers may exit first.
            is_stopping = stop_signals.is_requested()
            patience = max(0.0 if is_stopping else patience_seconds, _MIN_PATIENCE_SECONDS)
            lost = [peer for peer, at in last_seen.items() if time.monotonic() - at > patience]
            if lost and not is_over() and not stopped.is_set():
                words = f"Lost worker {lost[0]}. Run the same command in every process to resume."
                with contextlib.suppress(OSError):  # stderr may be closed
                    print(f"ERROR: {words}", file=sys.stderr, flush=True)
                os._exit(stop_signals.EXIT_CODE if is_stopping else 1)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def is_reachable(address: str) -> bool:
    """Returns whether something listens at "host:port"."""
    try:
        socket.create_connection(_host_and_port(address), timeout=_CALL_SECONDS).close()
    except OSError:
        return False
    return True


def _host_and_port(address: str) -> Tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def roll_call(addresses: Sequence[str], index: int, content: Any) -> List[Any]:
    """Waits for all processes, and returns the JSON value that each of them sends.

    Call it before TensorFlow's server starts, because the first process listens at its own address.

    Args:
      addresses: "host:port" of all processes.
      index: index of this process's address.
      content: the JSON value to send.

    Raises:
      UserError: the port of the first process is taken.
    """
    if index:
        return _report(addresses[0], [index, content])
    contents = {0: content}  # by index, like callers
    callers: Dict[int, socket.socket] = {}
    schema = [range(1, len(addresses)), type(content)]
    with _listener(addresses[0]) as listener:
        while len(callers) < len(addresses) - 1:
            missing = [peer for at, peer in enumerate(addresses) if at and at not in callers]
            log.info("Waiting for the workers at %s.", ", ".join(missing))
            with contextlib.suppress(OSError, ValueError):  # the caller may be another program
                caller, _ = listener.accept()
                caller.settimeout(_CALL_SECONDS)  # it may never finish its message
                number, theirs = json_files.parse(_read_line(caller), "The message", schema)
                contents[number], callers[number] = theirs, caller
            _drop_gone(callers)
        everyone = [contents[at] for at in range(len(addresses))]
        for caller in callers.values():
            with caller:
                caller.sendall(_line(everyone))
    return everyone


def _drop_gone(callers: Dict[int, socket.socket]) -> None:
    """Removes closed connections.

    A waiting worker sends nothing, so a readable connection is a closed one. select.select does not
    support file descriptors above 1,023, which a training has.
    """
    with selectors.DefaultSelector() as selector:
        for number, caller in callers.items():
            selector.register(caller, selectors.EVENT_READ, number)
        for key, _ in selector.select(0):
            del callers[key.data]


def _line(value: Any) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"


def _read_line(call: socket.socket) -> bytes:
    with call.makefile("rb") as stream:
        return stream.readline(_MAX_MESSAGE_BYTES)


def _report(address: str, message: List[Any]) -> List[Any]:
    """Sends a message to the first process until it answers, and returns the answer."""
    calls = 0
    while True:
        calls += 1
        with contextlib.suppress(OSError, ValueError):  # the first process does not listen yet
            with socket.create_connection(_host_and_port(address), timeout=_CALL_SECONDS) as first:
                first.sendall(_line(message))
                first.settimeout(None)  # it answers only when all workers have called
                answer = json_files.parse(_read_line(first), "The answer", [type(message[1])])
            if answer != message:
                return answer
        if calls % _CALLS_BETWEEN_WARNINGS == 0:
            log.warning("Waiting for the worker at %s.", address)
        time.sleep(_SECONDS_BETWEEN_CALLS)


def _listener(address: str) -> socket.socket:
    """Listens on every interface, with IPv6 if the host has it."""
    for family, host in ((socket.AF_INET6, "::"), (socket.AF_INET, "")):
        try:
            listener = socket.socket(family)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, _host_and_port(address)[1]))
            listener.listen(64)
            return listener
        except OSError as error:
            fault = error
    raise UserError(
        f"TF_CONFIG: this process cannot listen at {address} ({fault}). Choose a free port."
    )
