# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Devices and workers that train together: their flags, addresses, and TF_CONFIG."""

import contextlib
import json
import socket
import threading

from tests.support import processes

MIRRORED = ["--distribution_strategy=mirrored", "--num_devices=2"]
MULTI_WORKER = "--distribution_strategy=multi_worker"
_SECONDS = 240.0  # a test that hangs fails


def free_addresses(count):
    """Returns addresses of this host at which nothing listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for item in sockets:
            item.bind(("localhost", 0))
        return [f"localhost:{item.getsockname()[1]}" for item in sockets]


def tf_config(addresses, index):
    """Returns the TF_CONFIG of one of several workers."""
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": addresses}, "task": task})


@contextlib.contextmanager
def two_workers(arguments, of_second="", *, addresses=(), hosts=((), ())):
    """Starts run_pretraining twice; ends both at the latest when the block ends.

    Args:
      arguments: of both; `of_second` are further ones of the second.
      addresses: "host:port" of each; by default of this host.
      hosts: for each the command that starts a program on its host.
    """
    addresses = addresses or free_addresses(2)
    arguments += f" {MULTI_WORKER} --worker_patience_seconds=8"
    started = []
    for index, given in enumerate((arguments, f"{arguments} {of_second}")):
        program = ("-m", "albert.run_pretraining", *given.split())
        config = tf_config(addresses, index)
        started.append(processes.start(*program, through=hosts[index], TF_CONFIG=config))
    clock = threading.Timer(_SECONDS, lambda: [process.kill() for process in started])
    clock.start()
    try:
        yield started
    finally:
        clock.cancel()
        for process in started:
            process.kill()
            process.wait()
