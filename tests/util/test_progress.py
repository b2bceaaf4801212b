# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of long jobs and their memory."""

import io
import logging
import multiprocessing
import os
import sys

import pytest

from albert import show_changes
from albert.command_line import script
from albert.demo import __main__ as demo
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


@pytest.mark.parametrize("start", ["demo", "show_changes"])
def test_what_an_encoding_lacks_is_printed_as_question_marks(monkeypatch, start):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    if start == "demo":
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
        monkeypatch.setattr(demo, "main", lambda: print("a\u706b"))
        with pytest.raises(SystemExit):
            demo.cli()
    else:
        monkeypatch.setattr(script, "run", lambda *_, **__: print("a\u706b"))
        show_changes.cli()
    stream.flush()
    assert stream.buffer.getvalue() == b"a?\n"


def test_a_notebooks_output_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    progress.print_any_text()


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
