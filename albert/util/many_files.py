# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many files at a time, and hashes of large ones, which are kept.

    for found in many_files.each(look_at, paths, "Looking at records"):
        ...
    known = many_files.fingerprints(paths, "out/.train.tf_record.hashes.json")

Remote storage answers each request late: ten thousand files one after another take most of an hour.
Threads wait at the same time, and hashing releases Python's lock.
"""

import collections
import itertools
import logging
import os
import threading
import time
from concurrent import futures
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.util import files, progress

_LOGGER = logging.getLogger("albert")

_THREADS = 32
_FORMAT_VERSION = 1
_WORTH_KEEPING_BYTES = 1 << 24  # hashing fewer again is as fast as looking up their hashes
_SECONDS_BETWEEN_WRITES = 10.0
# A file changed just now may change again within the resolution of its modification time.
_SETTLED_SECONDS = 2.0


def each(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    name: str = "",
    *,
    stopped: Optional[threading.Event] = None,
) -> Iterator[Any]:
    """Yields function(item) for each item, in their order, while threads work on the next ones.

    Few results wait to be taken, so that memory stays bounded. Of several errors the one of the
    first item is raised, as in a loop. `name` is what the log calls the work, if it takes long;
    `stopped` is set as soon as no more results are wanted, for a function that takes long.
    """
    bar = progress.Progress(name, len(items), unit="files", has_bar=False)
    count = bar.update if name else lambda *_: None
    with futures.ThreadPoolExecutor(max(1, min(_THREADS, len(items)))) as pool:
        tasks = (pool.submit(function, item) for item in items)
        waiting = collections.deque(itertools.islice(tasks, 2 * _THREADS))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(itertools.islice(tasks, 1))
                count(1, "")
                yield result
        finally:
            for task in waiting:
                task.cancel()
            if stopped is not None:
                stopped.set()


# ----------------------------------------------------------------------------------------- hashes


def fingerprints(
    paths: Sequence[str], kept_in: str, name: str = "Hashing the files"
) -> List[Dict[str, Any]]:
    """Returns `files.file_fingerprint` of each file; what an earlier call hashed is not read again.

    A file is taken for the same while its path, size and times are.

    Args:
      paths: of files.
      kept_in: a file for the hashes, written every few seconds, so that the work of a killed
        process is not lost; not for files that are read in a moment.
      name: what the log calls the work.

    Raises:
      ValueError: see `files.check_is_file`.
    """
    states = dict(zip(paths, each(state_of, paths)))
    if sum(state[0] for state in states.values() if state) < _WORTH_KEEPING_BYTES:
        return list(each(files.file_fingerprint, paths))
    hashing = _Hashing(states, kept_in, name)
    try:
        return list(each(hashing.fingerprint, paths, stopped=hashing.stopped))
    finally:
        hashing.write()


def state_of(path: str) -> Optional[List[int]]:
    """Returns size and times of a file, which change with it; None if it does not exist."""
    try:
        if "://" in path:
            found = tf.io.gfile.stat(path)
            return [found.length, found.mtime_nsec]
        local = os.stat(path)  # gfile knows whole seconds only
        return [local.st_size, local.st_mtime_ns, local.st_ctime_ns]
    except (OSError, tf.errors.OpError):
        return None


class _Hashing:
    """Hashes files in threads and keeps what is finished."""

    def __init__(self, states: Dict[str, Optional[List[int]]], kept_in: str, name: str):
        self.stopped = threading.Event()
        self._states: Dict[str, Any] = states
        self._kept_in = kept_in
        self._known = self._read()
        unread = sum(s[0] for path, s in states.items() if s and path not in self._known)
        self._bar = progress.Progress(name, unread / 1e6, unit="MB", has_bar=False)
        self._lock = threading.Lock()
        self._last_write = time.time()
        self._has_news = False

    def fingerprint(self, path: str) -> Dict[str, Any]:
        """Returns `files.file_fingerprint` of one file."""
        if path in self._known:
            (size, *_), sha256 = self._states[path], self._known[path]
            return {"name": os.path.basename(path), "size": size, "sha256": sha256}
        found = files.file_fingerprint(path, self._count)
        state = state_of(path)
        is_settled = state and 0 < state[1] < (time.time() - _SETTLED_SECONDS) * 1e9
        if is_settled and state == self._states[path]:
            with self._lock:
                self._known[path] = found["sha256"]
                self._has_news = True
                if time.time() - self._last_write > _SECONDS_BETWEEN_WRITES:
                    self.write()
        return found

    def write(self) -> None:
        """Keeps what is known now; the caller sees to it that nothing is added meanwhile."""
        if self._has_news:
            kept = {_key(path): [self._states[path], self._known[path]] for path in self._known}
            content = {"format_version": _FORMAT_VERSION, "files": kept}
            files.atomic_write_json(self._kept_in, content)
            self._last_write, self._has_news = time.time(), False

    def _count(self, read: int) -> None:
        """Called for each piece of a file."""
        if self.stopped.is_set():
            raise futures.CancelledError
        with self._lock:
            self._bar.update(read / 1e6, "")

    def _read(self) -> Dict[str, str]:
        """The hashes of files that have not changed since."""
        if not tf.io.gfile.exists(self._kept_in):
            return {}
        try:
            content = files.read_json_object(self._kept_in)
            if content["format_version"] != _FORMAT_VERSION:
                return {}
            kept = {path: content["files"].get(_key(path)) for path in self._states}
            return {
                path: one[1] for path, one in kept.items() if one and one[0] == self._states[path]
            }
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            _LOGGER.warning("%s holds no hashes (%r); files are read again.", self._kept_in, error)
            return {}


def _key(path: str) -> str:
    return path if "://" in path else os.path.abspath(path)
