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
from tests.support import processes


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
    assert "SIGTERM" in stop.value.message and "Saved." in stop.value.message


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


# The main thread waits in C, as in a call of TensorFlow: no handler of Python's runs.
WAITING = """
import ctypes, os, signal, sys, threading, time
from albert.util import stop_signals

def send(*numbers):
    for number in numbers:
        time.sleep(0.7)
        os.kill(os.getpid(), number)

stop_signals.ANSWER_SECONDS = float(sys.argv[1])
mutex, c = ctypes.create_string_buffer(64), ctypes.CDLL(None)
numbers = [getattr(signal, name) for name in sys.argv[3].split()]
with stop_signals.handled():
    if sys.argv[2] == "postponed":
        stop_signals.postpone()
        threading.Timer(2.0, c.pthread_mutex_unlock, [mutex]).start()
    threading.Thread(target=send, args=numbers, daemon=True).start()
    c.pthread_mutex_lock(mutex)
    c.pthread_mutex_lock(mutex)
    stop_signals.resume("saved")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "seconds, kind, signals, code, is_saved",
    [
        (0.3, "", "SIGTERM", 143, False),
        (60, "", "SIGTERM SIGUSR1", 143, False),
        (60, "", "SIGINT SIGINT", 130, False),
        (0.3, "postponed", "SIGTERM", 143, True),
        (60, "postponed", "SIGTERM SIGTERM", 143, False),
        (60, "postponed", "SIGINT SIGINT", 130, False),
    ],
)
def test_signal_ends_a_process_that_waits_in_c(seconds, kind, signals, code, is_saved):
    process = processes.start("-c", WAITING, str(seconds), kind, signals)
    said = process.communicate(timeout=30)[1]
    assert (process.returncode, "saved" in said) == (code, is_saved), said
    assert "Traceback" not in said and "SIG" in said
    assert len(said.splitlines()) == 1 + bool(kind)  # what it waits for, and how it ended


def test_signal_to_a_forked_process_is_not_its_parents():
    with stop_signals.handled():
        child = os.fork()
        if not child:
            signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(6)
        assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 5
        time.sleep(0.5)  # a thread may take it in
        assert not stop_signals.is_requested()
