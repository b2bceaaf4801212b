# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares the flags of all workers at the start, and stops a worker when another one dies.

TensorFlow's workers wait for each other in every step. They wait forever if they start at
different steps. If a worker is killed, the others wait for minutes on TensorFlow 2.21, forever on
1.15, and sometimes forever on 2.15.
"""

import contextlib
import json
import logging
import os
import selectors
import socket
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

from albert.util import json_files, stop_signals
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

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
            _LOGGER.info("Waiting for the workers at %s.", ", ".join(missing))
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
            _LOGGER.warning("Waiting for the worker at %s.", address)
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
