# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Looks after the other processes of a training.

TensorFlow's workers wait for each other in every step, and for one that is gone they wait for ever;
so they do where they begin at different steps. Workers with different flags train wrong weights.
"""

import contextlib
import json
import logging
import os
import shutil
import socket
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from albert.util import stop_signals
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_WITHOUT_SIGN = 60.0  # of life from the process that was called
_CALL_SECONDS = 5.0
_SECONDS_BETWEEN_CALLS = 0.5
_FEWEST_MISSES = 3
_SECONDS_BETWEEN_REMINDERS = 60.0
_LONGEST_LINE = 1 << 24


class _Reminder:
    """Logs every minute which workers this process waits for."""

    def __init__(self):
        self._due = time.monotonic() + _SECONDS_BETWEEN_REMINDERS

    def say(self, missing: Sequence[str]) -> None:
        if missing and time.monotonic() > self._due:
            self._due = time.monotonic() + _SECONDS_BETWEEN_REMINDERS
            _LOGGER.warning("Waiting for the workers at %s.", ", ".join(missing))


class PeerWatch:
    """Context that ends this process when a peer has gone, and logs which it waits for."""

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        is_over: Callable[[], bool],
        is_stopping: Callable[[], bool] = lambda: False,
        patience_seconds: float,
        leftovers: Sequence[str],
    ):
        """Takes what to watch.

        Args:
          is_over: whether the last step is done, so that peers may leave.
          is_stopping: whether all are to end, and a peer that has gone is no fault.
          patience_seconds: how long a peer may be silent, as when the network is down for a while.
          leftovers: folders to remove where this process has to be ended.
        """
        self._addresses = list(addresses)
        self._is_over = is_over
        self._is_stopping = is_stopping
        self._patience_seconds = patience_seconds
        self._leftovers = list(leftovers)
        self._seen: Dict[str, float] = {}
        self._misses: Dict[str, int] = {}  # since a peer was seen last
        self._stopped = threading.Event()
        self._reminder = _Reminder()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "PeerWatch":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(_SECONDS_BETWEEN_LOOKS) and not self._is_over():
            lost = self.look()
            # They may have left because the training is over.
            if lost and not self._is_over() and not self._stopped.is_set():
                self._end(lost)

    def look(self) -> str:
        """Looks at every peer; returns the address of one that was there and is gone, or ""."""
        lost = ""
        for address in self._addresses:
            now = time.monotonic()
            if is_reachable(address):
                self._seen[address] = now
                self._misses[address] = 0
                continue
            self._misses[address] = self._misses.get(address, 0) + 1
            # Waiting for other peers may have delayed a poll: one late poll is not a failure.
            if self._misses[address] < _FEWEST_MISSES:
                continue
            patience = 0.0 if self._is_stopping() else self._patience_seconds
            if now - self._seen.get(address, now) > patience:
                lost = address
        self._reminder.say([address for address in self._addresses if address not in self._seen])
        return lost

    def _end(self, lost: str) -> None:
        """Ends the process, whose main thread may wait in TensorFlow for ever."""
        is_stopping = self._is_stopping()
        reason = "has ended the training" if is_stopping else "has gone; there is no next step"
        print(
            f"{'' if is_stopping else 'ERROR: '}The worker at {lost} {reason}. Start the same "
            "command in every process again: training goes on from the last checkpoint.",
            file=sys.stderr,
            flush=True,
        )
        for folder in self._leftovers:
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
    raises ValueError if its port is taken. `index` is which of the addresses is ours.
    """
    if index == 0:
        return _ask(addresses, content)
    return _answer(addresses[0], {"index": index, "content": content})


def _ask(addresses: Sequence[str], content: Any) -> List[Any]:
    """The first process's part."""
    contents, callers, reminder = {0: content}, {}, _Reminder()
    with contextlib.closing(_listener(addresses[0], len(addresses))) as server:
        while len(contents) < len(addresses):
            caller, said = _next_caller(server)
            if isinstance(said, dict) and said.get("index") in range(1, len(addresses)):
                contents[said["index"]], callers[said["index"]] = said["content"], caller
            for index in [index for index, caller in callers.items() if not _is_there(caller)]:
                del contents[index], callers[index]  # it has gone
            reminder.say([address for at, address in enumerate(addresses) if at not in contents])
    everything = [contents[index] for index in range(len(addresses))]
    for caller in callers.values():
        with caller, contextlib.suppress(OSError):
            caller.sendall(json.dumps(everything).encode("ascii") + b"\n")
    return everything


def _next_caller(server: socket.socket) -> Tuple[Optional[socket.socket], Any]:
    """Returns a caller and its message; None where it is none of ours."""
    try:
        caller = server.accept()[0]
    except OSError:  # a timeout
        return None, None
    caller.settimeout(_CALL_SECONDS)
    try:
        return caller, _read_json(caller)
    except OSError:
        return caller, None


def _answer(address: str, content: Dict[str, Any]) -> List[Any]:
    """The part of every other process."""
    reminder = _Reminder()
    while True:
        said = _call(address, content)
        if isinstance(said, list):
            return said
        reminder.say([address])
        time.sleep(_SECONDS_BETWEEN_CALLS)


def _call(address: str, content: Dict[str, Any]) -> Any:
    """Returns the first process's answer; None if it is not there, or not waiting."""
    try:
        with socket.create_connection(_host_and_port(address), timeout=_CALL_SECONDS) as connection:
            connection.sendall(json.dumps(content).encode("ascii") + b"\n")
            connection.settimeout(_SECONDS_WITHOUT_SIGN)
            return _read_json(connection)
    except OSError:
        return None


def _listener(address: str, count: int) -> socket.socket:
    """Listens where TensorFlow's server will, which is everywhere unless the address is local."""
    try:
        family, place = _place_to_listen(*_host_and_port(address))
        server = socket.socket(family)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:  # IPv4 too
                server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            server.bind(place)
            server.listen(count)
        except OSError:
            server.close()
            raise
    except OSError as error:
        raise UserError(
            f"TF_CONFIG: this process cannot listen at {address} ({error}). Choose a free port, or "
            "end what uses this one."
        ) from error
    server.settimeout(_SECONDS_BETWEEN_LOOKS)
    return server


def _place_to_listen(host: str, port: int) -> Tuple[int, Tuple]:
    """Returns family and address; a caller tries all that its host's name stands for."""
    if host not in ("localhost", "::1") and not host.startswith("127."):
        # What a machine calls itself may stand for 127.0.1.1 there, and for IPv6 elsewhere.
        return (socket.AF_INET6, ("::", port)) if _has_ipv6() else (socket.AF_INET, ("", port))
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, _, _, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    return family, place


def _has_ipv6() -> bool:
    """Asks the kernel, which may have none whatever Python was built with."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def _is_there(caller: socket.socket) -> bool:
    """Sends a caller a sign of life; returns whether the caller is there."""
    try:
        caller.sendall(b" ")
        caller.settimeout(0.0)
        return bool(caller.recv(1))
    except BlockingIOError:  # it waits in silence
        return True
    except OSError:
        return False
    finally:
        caller.settimeout(_CALL_SECONDS)


def _read_json(connection: socket.socket) -> Any:
    """Returns the content of a line, None if it is not JSON."""
    with connection.makefile("rb") as stream:
        line = stream.readline(_LONGEST_LINE)
    try:
        return json.loads(line.decode("ascii"))
    except ValueError:
        return None
