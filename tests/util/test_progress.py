# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of long jobs."""

import logging

import pytest

from albert.util import progress


@pytest.fixture
def clock(monkeypatch, caplog):
    """A clock that the test turns, and no terminal."""
    caplog.set_level(logging.INFO, logger="albert")
    now = [1000.0]
    monkeypatch.setattr(progress.time, "time", lambda: now[0])
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: False, raising=False)
    return now


def test_progress_without_terminal_logs_the_time_left(caplog, clock):
    with progress.Progress("Making", 200, unit="MB") as bar:
        bar.skip(100)  # says nothing about the speed
        for _ in range(25):
            clock[0] += 1
            bar.update(2, "5 instances/s")
        bar.update(0, logs=True)
    assert [record.getMessage() for record in caplog.records] == [
        "Making: 120/200 MB (60%), 5 instances/s, 00:40 left",
        "Making: 140/200 MB (70%), 5 instances/s, 00:30 left",
        "Making: 150/200 MB (75%), 00:25 left",
    ]


def test_progress_on_a_terminal_is_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    with progress.Progress("Making", 3, unit="files") as bar:
        bar.skip(1)
        assert list(bar.counting("ab")) == ["a", "b"]
    assert "3/3" in capsys.readouterr().err
