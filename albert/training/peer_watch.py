# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lets the processes of a training compare how they start, and ends them when one has gone.

TensorFlow's workers wait for each other in every step. They would wait for ever if they began at
different steps. For a killed worker they wait for minutes on TensorFlow 2.21, for ever on 1.15, and
on 2.15 for ever if it is killed at the wrong moment.
"""

import contextlib
import json
import logging
import os
import shutil
import socket
import socketserver
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple, Type

from albert.util import stop_signals
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_SECONDS_BETWEEN_LOOKS = 2.0
_FEWEST_MISSES = 3  # one proves nothing
_CALL_SECONDS = 5.0
_SECONDS_BETWEEN_CALLS = 0.5
_FRESH_SECONDS = 10.0  # without a call a worker counts as gone
_CALLS_BETWEEN_WARNINGS = 120
_LONGEST_LINE = 1 << 24


@contextlib.contextmanager
def heartbeat(
    addresses: Sequence[str],
    *,
    is_over: Callable[[], bool],
    patience_seconds: float,
    leftovers: Sequence[str],
) -> Iterator[None]:
    """Ends this process, whose main thread may wait in TensorFlow for ever, when a peer has gone.

    Args:
      addresses: "host:port" of the peers.
      is_over: whether the last step is done, so that peers may leave.
      patience_seconds: how long a peer may be silent, as when the network is down for a while.
      leftovers: folders to remove where this process has to be ended.
    """
    stopped = threading.Event()
    misses: Dict[str, int] = {}  # of peers that were there, since they were seen last

    def look(address: str) -> None:
        if is_reachable(address):
            misses[address] = 0
        elif address in misses:
            misses[address] += 1
        is_stopping = stop_signals.is_requested()
        patience = 0.0 if is_stopping else patience_seconds / _SECONDS_BETWEEN_LOOKS
        is_lost = misses.get(address, 0) >= max(_FEWEST_MISSES, patience)
        if is_lost and not is_over() and not stopped.is_set():
            _end(address, is_stopping, leftovers)

    def run() -> None:
        while not stopped.wait(_SECONDS_BETWEEN_LOOKS):
            for address in addresses:
                look(address)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _end(lost: str, is_stopping: bool, leftovers: Sequence[str]) -> None:
    """Ends the process; a peer may go where all are told to stop."""
    print(
        f"{'' if is_stopping else 'ERROR: '}Lost worker {lost}. Start the same command in every "
        "process again: it resumes from the last checkpoint.",
        file=sys.stderr,
        flush=True,
    )
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(stop_signals.EXIT_CODE if is_stopping else 1)


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


# ---------------------------------------------------------------------------------------------
# Lets all workers compare how they start.


def roll_call(addresses: Sequence[str], index: int, content: Any) -> List[Any]:
    """Returns the content of each process, a JSON value, once all are there; waits for them.

    They meet at the address of the first one, whose server of TensorFlow must not have begun;
    raises UserError if its port is taken. `index` is which of the addresses is ours.
    """
    if index:
        return _report(addresses[0], {"index": index, "content": content})
    others = range(1, len(addresses))
    calls: Dict[int, Tuple[float, Any]] = {}  # when each was here last, and its content
    answer: List[Any] = []  # of all, as soon as they are there; the same for everyone
    told = set()

    class Handler(socketserver.StreamRequestHandler):
        """Takes the content of a worker; answers with all, or [] while some are missing."""

        timeout = _CALL_SECONDS

        def handle(self):
            with contextlib.suppress(ValueError, LookupError, TypeError, OSError):  # a stranger
                said = json.loads(self.rfile.readline(_LONGEST_LINE).decode("ascii"))
                now = time.monotonic()
                calls[said["index"]] = now, said["content"]
                here = [at for at in others if at in calls and now - calls[at][0] < _FRESH_SECONDS]
                if not answer and len(here) == len(others):
                    answer.extend([content, *(calls[at][1] for at in others)])
                self.wfile.write(json.dumps(answer).encode("ascii") + b"\n")
                if answer:
                    told.add(said["index"])

    waited_for: List[str] = []
    with _listening(addresses[0], Handler) as server:
        while not told >= set(others):
            missing = [addresses[at] for at in others if at not in calls]
            if missing and missing != waited_for:
                _LOGGER.info("Waiting for the workers at %s.", ", ".join(missing))
            waited_for = missing
            server.handle_request()
    return answer or [content]


def _report(address: str, message: Dict[str, Any]) -> List[Any]:
    """The part of every process but the first: asks it until all are there."""
    calls = 0
    while True:
        answer = _call(address, message)
        if answer:
            return answer
        calls += 1
        if calls % _CALLS_BETWEEN_WARNINGS == 0:
            _LOGGER.warning("Waiting for the worker at %s.", address)
        time.sleep(_SECONDS_BETWEEN_CALLS)


def _call(address: str, message: Dict[str, Any]) -> Any:
    """Returns the first process's answer; None if it is not there, or not waiting any more."""
    try:
        connection = socket.create_connection(_host_and_port(address), timeout=_CALL_SECONDS)
        with connection, connection.makefile("rb") as stream:
            connection.sendall(json.dumps(message).encode("ascii") + b"\n")
            return json.loads(stream.readline(_LONGEST_LINE).decode("ascii"))
    except (OSError, ValueError):
        return None


def _listening(
    address: str, handler: Type[socketserver.BaseRequestHandler]
) -> socketserver.TCPServer:
    """Listens where TensorFlow's server will: on every interface, by IPv6 too if there is any."""
    for family, host in ((socket.AF_INET6, "::"), (socket.AF_INET, "")):
        members = {"address_family": family, "allow_reuse_address": True}
        server = type("Server", (socketserver.TCPServer,), members)
        try:
            return server((host, _host_and_port(address)[1]), handler)
        except OSError as error:
            fault = error
    raise UserError(
        f"TF_CONFIG: this process cannot listen at {address} ({fault}). Choose a free port, or "
        "stop what uses this one."
    )
