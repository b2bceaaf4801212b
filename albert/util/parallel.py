# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tasks on forked processes: a bounded number under way, results in order, nothing left behind.

What the workers need (a tokeniser, tables) is loaded once, before they are forked, and its memory
is shared. The standard pools read all tasks ahead, or wait forever for a worker that was killed, or
leave workers behind when the parent is; this one does not: a worker whose parent is gone finds its
pipe closed and ends.
"""

import contextlib
import gc
import multiprocessing
import os
import signal
import traceback
from multiprocessing import connection
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

# Tasks for each worker that may be under way or finished but not yet yielded: a slow one holds back
# the results of those after it.
_AHEAD = 4


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
      tasks: read as work goes on, at most 4 * num_processes further than what was yielded.
      num_processes: 1, or a system that cannot fork: all is done in this process.

    Raises:
      ValueError or OSError: as raised by `function` in a worker.
      ChildProcessError (an OSError): a worker was killed.
      RuntimeError: a worker failed otherwise; its traceback is shown.
    """
    if num_processes == 1 or "fork" not in multiprocessing.get_all_start_methods():
        for task in tasks:
            yield function(task)
        return
    with contextlib.ExitStack() as stack:
        workers = _start(function, num_processes, stack)
        yield from _run(workers, iter(tasks))


class _Worker:
    """A forked process, its pipe, and the number of the task it is working on."""

    def __init__(self, process: Any, pipe: connection.Connection):
        self.process = process
        self.pipe = pipe
        self.task: Optional[int] = None


class _Failure(NamedTuple):
    """What a worker sends in place of a result."""

    error: BaseException
    trace: str


def _start(
    function: Callable[[Any], Any], count: int, stack: contextlib.ExitStack
) -> List[_Worker]:
    """Forks the workers and sees to it that they end with `stack`."""
    context = multiprocessing.get_context("fork")
    workers: List[_Worker] = []
    stack.callback(_stop, workers)
    for _ in range(count):
        ours, theirs = context.Pipe()
        # A worker must not hold the parent's end of any pipe, or nobody would ever see it closed.
        inherited = [ours] + [worker.pipe for worker in workers]
        process = context.Process(target=_work, args=(function, theirs, inherited), daemon=True)
        process.start()
        theirs.close()
        workers.append(_Worker(process, ours))
    return workers


def _stop(workers: List[_Worker]) -> None:
    """Closes the pipes, which ends idle workers, and ends those still busy."""
    for worker in workers:
        worker.pipe.close()
    for worker in workers:
        worker.process.join(5 if worker.task is None else 0)
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join()


def _work(
    function: Callable[[Any], Any],
    pipe: connection.Connection,
    inherited: List[connection.Connection],
) -> None:
    """The life of a worker: until the parent closes the pipe or is no more."""
    # What was there before the fork is not garbage. Looking for some among it would write to every
    # object, and so copy memory that is shared with the parent.
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # and what a scheduler says to all
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            pipe.send(_result(function, pipe.recv()))


def _result(function: Callable[[Any], Any], task: Any) -> Any:
    """function(task), or the failure as something that can be sent."""
    try:
        return function(task)
    except (ValueError, OSError) as error:
        return _Failure(error, traceback.format_exc())
    except Exception as error:  # whatever it is, the parent must hear of it
        return _Failure(RuntimeError(repr(error)), traceback.format_exc())


def _run(workers: List[_Worker], tasks: Iterator[Any]) -> Iterator[Any]:
    """Keeps every worker busy and hands out results in order.

    Only a worker without a task is sent one: it is waiting to receive, so that neither side can
    block on a full pipe while the other does.
    """
    results: Dict[int, Any] = {}
    started = yielded = 0
    exhausted = False
    while True:
        idle = [worker for worker in workers if worker.task is None]
        while idle and not exhausted and started - yielded < _AHEAD * len(workers):
            try:
                task = next(tasks)
            except StopIteration:
                exhausted = True
                break
            _send(idle.pop(), started, task)
            started += 1
        if yielded == started:
            return
        if yielded not in results:
            _receive([worker for worker in workers if worker.task is not None], results)
        while yielded in results:
            yield _unwrapped(results.pop(yielded))
            yielded += 1


def _unwrapped(result: Any) -> Any:
    """The result; a failure is raised in its turn, so that the first one is always the same."""
    if isinstance(result, _Failure):
        raise result.error from RuntimeError(f"in a worker process:\n{result.trace}")
    return result


def _send(worker: _Worker, number: int, task: Any) -> None:
    """Gives a task to a worker."""
    worker.task = number
    try:
        worker.pipe.send(task)
    except (BrokenPipeError, ConnectionResetError):
        raise _died(worker) from None


def _receive(busy: List[_Worker], results: Dict[int, Any]) -> None:
    """Waits until at least one of the busy workers has a result."""
    by_pipe = {worker.pipe: worker for worker in busy}
    for pipe in connection.wait(list(by_pipe)):
        worker = by_pipe[pipe]
        try:
            result = pipe.recv()
        except (EOFError, ConnectionResetError):
            raise _died(worker) from None
        results[worker.task] = result
        worker.task = None


def _died(worker: _Worker) -> ChildProcessError:
    """The error for a worker that ended without a result."""
    worker.process.join(5)
    return ChildProcessError(
        f"A worker process ended unexpectedly (exit code {worker.process.exitcode}; -9 is what the "
        "system does when memory runs out). Finished work is kept: start again, if need be with "
        "fewer --num_processes."
    )
