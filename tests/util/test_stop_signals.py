# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What SIGTERM and SIGUSR1 do to a script, and to one that does not answer."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from albert.util import stop_signals

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import os, signal, sys, time
from albert.util import stop_signals
assert "tensorflow" not in sys.modules
with stop_signals.handled(patience_seconds=0.2):
    stop_signals.postpone([sys.argv[1]])
    {before}
    os.kill(os.getpid(), signal.SIGTERM)
    assert stop_signals.is_requested()
    {after}
    time.sleep(60)
"""


def run(folder, before, after):
    """Runs a script that is in the middle of a step when the signal comes."""
    folder.mkdir()
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.format(before=before, after=after), str(folder)],
        cwd=str(ROOT),
        capture_output=True,
        timeout=30,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_ends_the_block_and_the_handlers_are_as_before(number, capsys):
    before = signal.getsignal(number)
    tidied = []
    with pytest.raises(SystemExit) as stop, stop_signals.handled():
        try:
            os.kill(os.getpid(), number)
        finally:
            tidied.append(number)
    assert stop.value.code == 143 and tidied
    assert signal.Signals(number).name in capsys.readouterr().err
    assert signal.getsignal(number) is before and not stop_signals.is_requested()


def test_a_forked_child_leaves_the_parents_handlers_alone():
    with stop_signals.handled():
        child = os.fork()
        if child == 0:
            os._exit(0 if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL


def test_a_postponed_signal_waits_for_the_end_of_the_step():
    with pytest.raises(stop_signals.Stopped) as stop, stop_signals.handled():
        stop_signals.postpone()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop_signals.is_requested()
        stop_signals.resume("Saved.")
    assert "SIGTERM" in stop.value.words and "Saved." in stop.value.words


def test_a_step_that_does_not_end_is_ended(tmp_path):
    done = run(tmp_path / "leftover", "pass", "pass")
    # That it is waited for, and that it was not waited for any longer.
    assert done.returncode == 143 and done.stderr.count(b"\n") == 2
    assert list(tmp_path.iterdir()) == []


def test_a_second_signal_ends_a_process_that_saves(tmp_path):
    again = "time.sleep(1.5); print('saving', flush=True); os.kill(os.getpid(), signal.SIGUSR1)"
    done = run(tmp_path / "leftover", "stop_signals.has_news()", again)
    assert done.returncode == 143 and done.stdout == b"saving\n"


def test_two_signals_at_the_same_time_are_one():
    with pytest.raises(stop_signals.Stopped), stop_signals.handled():
        stop_signals.postpone()
        stop_signals.has_news()
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        stop_signals.resume("Saved.")
