# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM and SIGUSR1 end a script; a training is asked after its step."""

import os
import signal
import subprocess
import sys
import time

import pytest

from albert.util import stop_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_stop_signal_ends_block(number, capsys):
    before = signal.getsignal(number)
    tidied = []
    with pytest.raises(SystemExit) as stop, stop_signals.handled():
        try:
            os.kill(os.getpid(), number)
            time.sleep(60)  # another thread may take the signal in
        finally:
            tidied.append(number)
    assert stop.value.code == 143 and tidied
    assert number.name in capsys.readouterr().err
    assert signal.getsignal(number) is before and not stop_signals.is_requested()


def test_stop_signal_waits_for_step():
    with pytest.raises(stop_signals.Stopped) as stop, stop_signals.handled():
        stop_signals.postpone()
        for _ in range(2):  # of a scheduler and a parent: at the same time they are one
            os.kill(os.getpid(), signal.SIGTERM)
        assert stop_signals.is_requested()
        stop_signals.resume()
        stop_signals.resume("Saved.")
    assert "SIGTERM" in stop.value.words and "Saved." in stop.value.words


def test_second_stop_signal_ends_process():
    code = (
        "import os, signal, time\n"
        "from albert.util import stop_signals\n"
        "with stop_signals.handled():\n"
        "    stop_signals.postpone()\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(0.6)\n"
        "    print('saving', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGUSR1)\n"
        "    time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, timeout=30)
    assert done.returncode == 143 and done.stdout == b"saving\n"
