# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Progress of long jobs."""

import logging

from albert.util import progress


def test_progress_without_terminal(monkeypatch, caplog):
    caplog.set_level(logging.INFO, logger="albert")
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "time", lambda: clock[0])
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: False, raising=False)
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
