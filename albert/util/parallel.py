# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs tasks in processes or threads, a limited number at a time; results come in order.

Processes are forked: load a tokenizer or tables before, and all processes share their memory.
Threads are for many files, because remote storage answers each request slowly.
"""

import collections
import contextlib
import gc
import itertools
import multiprocessing
import os
import signal
import threading
import time
from concurrent import futures
from typing import Any, Callable, Iterable, Iterator, Sequence

from albert.util import UserError, progress

# Tasks per worker that run, or that have finished and wait for an earlier task.
_AHEAD = 4
_THREADS = 32
_WORTH_FORKING = 0.4  # seconds of work; less is done sooner than processes start

_function: Callable[[Any], Any]  # A worker calls it.


def default_processes() -> int:
    """Returns the number of processors that this process may use; 1 in a worker."""
    if multiprocessing.current_process().daemon:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(
    function: Callable[[Any], Any], tasks: Iterable[Any], num_processes: int
) -> Iterator[Any]:
    """Yields function(task) for each task, in the order of the tasks.

    Args:
      function: runs in the workers. Tasks, results and errors must be picklable; the function need
        not be.
      tasks: read at most 4 * num_processes ahead of the results.
      num_processes: 1 runs all tasks in this process.

    Raises:
      UserError: a worker was killed.
    """
    if num_processes == 1:
        yield from map(function, tasks)
        return
    pool = futures.ProcessPoolExecutor(
        num_processes,
        multiprocessing.get_context("fork"),
        initializer=_begin,
        initargs=(function, os.getpid()),
    )
    try:
        with pool:
            yield from in_order(pool, _call, tasks, ahead=_AHEAD * num_processes)
    except futures.BrokenExecutor as error:
        raise UserError(
            "A worker process was killed, probably because memory ran out. Run the same command "
            "with fewer --num_processes; finished work is kept."
        ) from error


def adaptive_map(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
    """Yields function(task) for each task, in order; all take about the same time.

    The time of the first decides whether workers do the others; see ordered_map.
    """
    began = time.process_time()
    yield from map(function, tasks[:1])
    others = tasks[1:]
    is_long = (time.process_time() - began) * len(others) > _WORTH_FORKING
    yield from ordered_map(function, others, default_processes() if is_long else 1)


def in_order(
    pool: futures.Executor, function: Callable[[Any], Any], items: Iterable[Any], *, ahead: int
) -> Iterator[Any]:
    """Yields function(item) for each item, in order. At most `ahead` items wait in the pool."""
    tasks = (pool.submit(function, item) for item in items)
    waiting = collections.deque(itertools.islice(tasks, ahead))
    try:
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(itertools.islice(tasks, 1))
            yield result
    finally:
        if [task.cancel() for task in waiting]:
            # In Python 3.7, a pool never ends if its last task was cancelled.
            with contextlib.suppress(futures.BrokenExecutor):
                pool.submit(int).result()


def _begin(function: Callable[[Any], Any], parent: int) -> None:
    """Prepares a worker process."""
    global _function
    _function = function
    # Do not collect the parent's objects here: a TensorFlow session that is closed after a fork
    # ends the process.
    gc.freeze()
    multiprocessing.current_process().daemon = True  # It starts no workers.
    for number in (signal.SIGINT, signal.SIGUSR1):  # The parent handles these.
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this worker if its parent is killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _call(task: Any) -> Any:
    return _function(task)


def in_threads(
    function: Callable[[Any], Any], items: Sequence[Any], name: str = ""
) -> Iterator[Any]:
    """Yields function(item) for each item, in their order, while threads work on the next items.

    Memory holds only a few results at a time. If items fail, raises the error of the first, as a
    loop does. `name`: the title of the progress in the log.
    """
    bar = progress.Progress(name or "Files", len(items), unit="files", has_bar=False)
    with futures.ThreadPoolExecutor(_THREADS) as pool:
        for result in in_order(pool, function, items, ahead=2 * _THREADS):
            bar.update(1)
            yield result
