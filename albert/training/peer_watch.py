# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares the settings of all workers at the start, and stops a worker when another one dies.

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

_SECONDS_BETWEEN_LOOKS = 2.0
_LEAST_PATIENCE_SECONDS = 5.0  # one missed answer proves nothing
_CALL_SECONDS = 5.0
_SECONDS_BETWEEN_CALLS = 0.5
_CALLS_BETWEEN_WARNINGS = 120
_LONGEST_MESSAGE = 1 << 24


@contextlib.contextmanager
def heartbeat(
    addresses: Sequence[str], *, is_over: Callable[[], bool], patience_seconds: float
) -> Iterator[None]:
    """Stops this process when a peer dies, even if the main thread waits in TensorFlow.

    Args:
      addresses: "host:port" of the peers.
      is_over: whether the last step is done, so that peers may leave.
      patience_seconds: how long a peer may be silent, as when the network is down for a while.
    """
    stopped = threading.Event()
    last_seen: Dict[str, float] = {}  # of peers that have answered

    def watch() -> None:
        while not stopped.wait(_SECONDS_BETWEEN_LOOKS):
            last_seen.update({peer: time.monotonic() for peer in addresses if is_reachable(peer)})
            # Peers may go where all are told to stop.
            is_stopping = stop_signals.is_requested()
            patience = max(0.0 if is_stopping else patience_seconds, _LEAST_PATIENCE_SECONDS)
            lost = [peer for peer, at in last_seen.items() if time.monotonic() - at > patience]
            if lost and not is_over() and not stopped.is_set():
                words = f"Lost worker {lost[0]}. Run the same command in every process to resume."
                with contextlib.suppress(OSError):  # nobody may read stderr
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
    """Waits for all processes, and returns the JSON value that each of them sent.

    They meet at the address of the first one, whose server of TensorFlow must not have begun;
    raises UserError if its port is taken. `index` is which of the addresses is ours.
    """
    if index:
        return _report(addresses[0], [index, content])
    contents = {0: content}  # by index, as are the callers
    callers: Dict[int, socket.socket] = {}
    schema = [range(1, len(addresses)), type(content)]
    with _listener(addresses[0]) as listener:
        while len(callers) < len(addresses) - 1:
            missing = [peer for at, peer in enumerate(addresses) if at and at not in callers]
            _LOGGER.info("Waiting for the workers at %s.", ", ".join(missing))
            with contextlib.suppress(OSError, ValueError):  # a stranger
                caller, _ = listener.accept()
                caller.settimeout(_CALL_SECONDS)  # it may send a part of a message and wait
                number, theirs = json_files.parse(_read_line(caller), "The message", schema)
                contents[number], callers[number] = theirs, caller
            _drop_gone(callers)
        everyone = [contents[at] for at in range(len(addresses))]
        for caller in callers.values():
            with caller:
                caller.sendall(_line(everyone))
    return everyone


def _drop_gone(callers: Dict[int, socket.socket]) -> None:
    """Removes callers that have gone: a waiting worker sends nothing, so a readable one is closed.

    select.select takes no file descriptor above 1,023, and a training has more.
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
        return stream.readline(_LONGEST_MESSAGE)


def _report(address: str, message: List[Any]) -> List[Any]:
    """The part of every process but the first."""
    calls = 0
    while True:
        calls += 1
        with contextlib.suppress(OSError, ValueError):  # it is not there yet
            with socket.create_connection(_host_and_port(address), timeout=_CALL_SECONDS) as first:
                first.sendall(_line(message))
                first.settimeout(None)  # it waits for the others, too
                answer = json_files.parse(_read_line(first), "The answer", [type(message[1])])
            if answer != message:
                return answer
        if calls % _CALLS_BETWEEN_WARNINGS == 0:
            _LOGGER.warning("Waiting for the worker at %s.", address)
        time.sleep(_SECONDS_BETWEEN_CALLS)


def _listener(address: str) -> socket.socket:
    """Listens on every interface, by IPv6 too if there is any."""
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
