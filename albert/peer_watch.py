# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Looks after the other processes of a training.

TensorFlow's workers wait for each other in every step, and for one that is gone they wait for ever.
"""

import logging
import os
import shutil
import socket
import sys
import threading
import time
from typing import Callable, Dict, Sequence

from albert import stop_signals

_LOGGER = logging.getLogger("albert")

_SECONDS_BETWEEN_LOOKS = 2.0
_PATIENCE_SECONDS = 10.0
_FEWEST_MISSES = 3
_SECONDS_BETWEEN_REMINDERS = 60.0


class PeerWatch:
    """Ends this process when one of its peers has gone; says which it waits for at the start.

    with PeerWatch(["host2:2222"], is_over=lambda: step >= last_step, leftovers=[]):
        train()
    """

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        is_over: Callable[[], bool],
        is_stopping: Callable[[], bool] = lambda: False,
        leftovers: Sequence[str],
    ):
        """Takes what to watch.

        Args:
          addresses: "host:port" of each peer.
          is_over: whether the last step is done, so that peers may leave.
          is_stopping: whether all are to end, and a peer that has gone is no fault.
          leftovers: folders to remove where this process has to be ended.
        """
        self._addresses = list(addresses)
        self._is_over = is_over
        self._is_stopping = is_stopping
        self._leftovers = list(leftovers)
        self._seen: Dict[str, float] = {}
        self._misses: Dict[str, int] = {}  # since a peer was seen last
        self._stopped = threading.Event()
        self._reminder = time.monotonic() + _SECONDS_BETWEEN_REMINDERS
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
            # They may have left since, because it is over.
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
            # A look may have been late because of the others: one miss proves nothing.
            if self._misses[address] < _FEWEST_MISSES:
                continue
            patience = 0.0 if self._is_stopping() else _PATIENCE_SECONDS
            if now - self._seen.get(address, now) > patience:
                lost = address
        missing = [address for address in self._addresses if address not in self._seen]
        if missing and time.monotonic() > self._reminder:
            self._reminder = time.monotonic() + _SECONDS_BETWEEN_REMINDERS
            _LOGGER.warning("Waiting for the workers at %s.", ", ".join(missing))
        return lost

    def _end(self, lost: str) -> None:
        """Nothing less ends a process whose main thread waits in TensorFlow."""
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
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
    except OSError:
        return False
    return True
