# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Forked workers: order, bounds, failures, and nothing left behind."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest

from albert.util import UserError, parallel


def test_ordered_map_reads_few_tasks_ahead():
    read = []

    def tasks():
        for task in range(1000):
            read.append(task)
            yield task

    results = parallel.ordered_map(lambda task: task, tasks(), 2)
    assert next(results) == 0
    assert len(read) <= 1 + 2 * 4
    results.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("worth", [0, 1000])
def test_adaptive_map_starts_workers_for_long_work(worth, monkeypatch):
    monkeypatch.setattr(parallel, "_WORTH_FORKING", worth)
    monkeypatch.setattr(parallel, "default_processes", lambda: 2)
    here = os.getpid()
    found = parallel.adaptive_map(lambda task: (task, os.getpid() == here), range(5))
    assert list(found) == [(task, task == 0 or worth > 0) for task in range(5)]
    assert list(parallel.adaptive_map(len, [])) == []


def test_worker_starts_no_workers():
    def processors(_):
        return parallel.default_processes()

    assert list(parallel.ordered_map(processors, range(2), 2)) == [1, 1]


ERRORS = """
from albert.util import parallel
def refuse(task):
    raise ValueError
for _ in range(200):
    try:
        list(parallel.ordered_map(refuse, range(3), 2))
    except ValueError:
        pass
"""


@pytest.mark.slow
def test_ordered_map_ends_after_many_errors():
    """On Python 3.7 one in some hundred pools waited for ever."""
    subprocess.run([sys.executable, "-c", ERRORS], check=True, timeout=120)


def refuse(task):
    raise UserError(f"line {task} is wrong")


def die(task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("work, named", [(refuse, "line 0 is wrong"), (die, "--num_processes")])
def test_ordered_map_of_failing_worker(work, named):
    with pytest.raises(UserError, match=named):
        list(parallel.ordered_map(work, range(3), 2))
    assert not multiprocessing.active_children()


PARENT = """
import os, sys, time
from albert.util import parallel
def work(task):
    os.write(1, b"%d\\n" % os.getpid())  # in one piece
    return task
results = parallel.ordered_map(work, range(8), 2)
for _ in range(8):
    next(results)
os.kill(os.getpid(), 9)
"""


def test_ordered_map_of_killed_parent():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    # The pipe is at its end only when the parent and all workers have closed it.
    output, _ = parent.communicate(timeout=30)
    assert parent.returncode == -signal.SIGKILL
    assert 1 <= len(set(output.split())) <= 2


class Closing:
    """A part of a cycle, which says in which process it ends."""

    def __init__(self, path):
        self.cycle, self.path = self, path

    def __del__(self):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")


def test_workers_do_not_collect_what_the_parent_made(tmp_path):
    path = tmp_path / "ended"
    gc.collect()
    gc.disable()
    try:
        Closing(path)
        assert len(list(parallel.ordered_map(lambda task: gc.collect(), range(4), 2))) == 4
        gc.collect()
    finally:
        gc.enable()
    assert path.read_text().split() == [str(os.getpid())]


def test_in_threads_works_in_parallel_and_in_order():
    meeting = threading.Barrier(4)

    def met(number):
        meeting.wait(timeout=60)
        return -number

    assert list(parallel.in_threads(met, range(8))) == [0, -1, -2, -3, -4, -5, -6, -7]
    assert list(parallel.in_threads(met, [])) == []


def test_in_threads_raises_first_error():
    later = threading.Event()

    def fail(number):
        if number == 30:
            later.set()
            raise ValueError(30)
        if number == 3:
            later.wait(timeout=60)
            raise ValueError(3)

    with pytest.raises(ValueError, match="^3$"):
        list(parallel.in_threads(fail, range(100)))


def test_in_threads_starts_few_items_ahead():
    started = []
    results = parallel.in_threads(started.append, range(10000))
    next(results)
    results.close()
    assert len(started) < 200
