# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Devices and workers that train together: their flags, addresses, and TF_CONFIG."""

import contextlib
import json
import socket

MIRRORED = ["--distribution_strategy=mirrored", "--num_devices=2"]
MULTI_WORKER = "--distribution_strategy=multi_worker"


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
