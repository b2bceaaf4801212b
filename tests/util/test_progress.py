# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of long jobs and their memory."""

import logging
import multiprocessing
import os

import pytest

from albert.util import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test turns."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "time", lambda: now[0])
    return now


@pytest.fixture
def no_terminal(monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: False, raising=False)


def test_seconds_are_written_as_clocks_write_them():
    assert [progress.format_seconds(s) for s in (7.4, 59.6, 5025)] == ["00:07", "01:00", "1:23:45"]


def test_a_log_gets_a_line_every_so_often_with_the_time_left(caplog, clock, no_terminal):
    caplog.set_level(logging.INFO, logger="albert")
    with progress.Progress("Making", 200, unit="MB") as bar:
        for _ in range(25):
            clock[0] += 1
            bar.update(2, "5 instances/s")
    assert [record.getMessage() for record in caplog.records] == [
        "Making: 10%, 20 of 200 MB, 5 instances/s, 01:30 left",
        "Making: 20%, 40 of 200 MB, 5 instances/s, 01:20 left",
    ]


def test_work_done_before_says_nothing_about_the_speed(caplog, clock, no_terminal):
    caplog.set_level(logging.INFO, logger="albert")
    with progress.Progress("Making", 200, unit="MB") as bar:
        bar.skip(100)
        clock[0] += 10
        bar.update(10, "")
    assert caplog.records[0].getMessage() == "Making: 55%, 110 of 200 MB, 01:30 left"


def test_a_terminal_gets_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    with progress.Progress("Making", 2.5, unit="MB") as bar:
        bar.skip(0.5)
        bar.update(2.0, "7 instances/s")
    shown = capsys.readouterr().err
    assert "Making: 100%" in shown
    assert "2.5/2.5 MB" in shown
    assert "7 instances/s" in shown


def test_counted_items_pass_through(clock, no_terminal):
    with progress.Progress("Writing", 2500, unit="instances") as bar:
        assert list(bar.counting(range(2500))) == list(range(2500))
        assert bar._done == 2500


def test_memory_of_children_is_added_and_the_peak_is_kept():
    memory = progress.PeakMemory()
    memory.sample(now=True)
    alone = memory.megabytes()
    assert alone > 1
    ours, theirs = multiprocessing.get_context("fork").Pipe()

    def hold():
        block = bytearray(os.urandom(1)) * (64 << 20)
        theirs.send(len(block))
        theirs.recv()

    child = multiprocessing.get_context("fork").Process(target=hold)
    child.start()
    assert ours.recv() == 64 << 20
    memory.sample(now=True)
    ours.send(None)
    child.join()
    memory.sample(now=True)
    if os.path.exists("/proc/self/smaps_rollup"):
        assert memory.megabytes() > alone + 50


def test_memory_is_sampled_only_now_and_then(clock, monkeypatch):
    calls = []
    monkeypatch.setattr(progress, "memory_in_use", lambda *ids: calls.append(ids) or 1000000)
    memory = progress.PeakMemory()
    for _ in range(50):
        memory.sample()
        clock[0] += 0.1
    assert len(calls) == 3
    assert memory.megabytes() == 1.0
