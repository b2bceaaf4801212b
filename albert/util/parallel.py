# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tasks on forked processes: a bounded number under way, results in order, nothing left behind.

What the workers need (a tokenizer, tables) is loaded once, before they are forked, and its memory
is shared.
"""

import collections
import contextlib
import gc
import multiprocessing
import os
import signal
import threading
import time
from concurrent import futures
from concurrent.futures import process
from typing import Any, Callable, Deque, Iterable, Iterator

# Tasks for each worker that may be under way or finished but not yet yielded: a slow one holds back
# the results of those after it.
_AHEAD = 4
_SECONDS_BETWEEN_LOOKS = 1.0

_function: Callable[[Any], Any]  # of a worker


def default_processes() -> int:
    """Returns the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(
    function: Callable[[Any], Any], tasks: Iterable[Any], num_processes: int
) -> Iterator[Any]:
    """Yields function(task) for each task, in the order of the tasks.

    Args:
      function: called in the workers; it need not be picklable, tasks and results must be.
      tasks: read at most 4 * num_processes further than what was yielded.
      num_processes: with 1, or on a system that cannot fork, all is done in this process.

    Raises:
      ValueError or OSError: as raised by `function` in a worker.
      ChildProcessError (an OSError): a worker was killed.
      RuntimeError: a worker failed otherwise; its traceback is shown.
    """
    if num_processes == 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(function, tasks)
        return
    waiting: Deque[futures.Future] = collections.deque()
    pool = futures.ProcessPoolExecutor(
        num_processes,
        multiprocessing.get_context("fork"),
        initializer=_begin,
        initargs=(function, os.getpid()),
    )
    with _naming_killed_workers(), pool, contextlib.ExitStack() as stack:
        stack.callback(_cancel, waiting, pool)
        for task in tasks:
            waiting.append(pool.submit(_call, task))
            if len(waiting) == _AHEAD * num_processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _cancel(waiting: Iterable[futures.Future], pool: futures.Executor) -> None:
    """Leaves out what has not begun."""
    if [future.cancel() for future in waiting]:
        # Python 3.7 waits for ever at the end of a pool whose last work was cancelled.
        with contextlib.suppress(process.BrokenProcessPool):
            pool.submit(int).result()


@contextlib.contextmanager
def _naming_killed_workers() -> Iterator[None]:
    try:
        yield
    except process.BrokenProcessPool as error:
        raise ChildProcessError(
            "A worker process ended unexpectedly, mostly because memory ran out. Finished work is "
            "kept: start again, if need be with fewer --num_processes."
        ) from error


def _begin(function: Callable[[Any], Any], parent: int) -> None:
    """Prepares a worker."""
    global _function
    _function = function
    multiprocessing.current_process().daemon = True  # tells `feature_cache` that it is a worker
    gc.freeze()  # garbage collection would write to, and so copy, memory shared with the parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # and what a scheduler sends to all
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this worker when its parent has been killed."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _call(task: Any) -> Any:
    """function(task); errors that may not be picklable arrive as text."""
    try:
        return _function(task)
    except (ValueError, OSError):
        raise
    except Exception as error:
        raise RuntimeError(repr(error)) from error
