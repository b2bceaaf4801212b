# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes of their own: start, wait, kill, and read their checkpoints."""

import contextlib
import os
import signal
import subprocess
import sys

from albert import commands
from albert.util import folder_lock
from tests.support import ROOT, one_weight


def start(*arguments, through=(), **variables):
    """Starts Python, in an environment with further variables; its stderr can be read.

    `through`: the words of a command that becomes the one that follows it.
    """
    return subprocess.Popen(
        [*through, sys.executable, *arguments],
        env=dict(os.environ, PYTHONPATH=str(ROOT), **variables),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        # What runs the tests in the background may have them ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


HOLDER = """
import sys
from albert.util import folder_lock
assert "tensorflow" not in sys.modules
with folder_lock.held(sys.argv[1], sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def holding(folder, purpose=folder_lock.TRAINING):
    """Yields a process that holds the lock of a folder until its input ends."""
    command = [sys.executable, "-c", HOLDER, str(folder), purpose]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=str(ROOT), **pipes) as process:
        assert process.stdout.readline() == b"held\n"
        yield process


def run_script(script, *arguments, prelude="pass"):
    """Runs albert.SCRIPT after the Python code `prelude`; returns the finished process."""
    code = (
        f"import sys; sys.argv = {[script, *arguments]!r}\n{prelude}\n"
        f"import runpy\nrunpy.run_module({commands.module_of(script)!r}, run_name='__main__')\n"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=str(ROOT), capture_output=True, timeout=300)


def finish(process):
    """Waits for a process; returns its stderr."""
    return process.communicate()[1]


def finish_all(started, code):
    """Waits for processes that end with this code; returns the stderr of each."""
    said = [finish(process) for process in started]
    assert {process.returncode for process in started} == {code}, said
    return said


def read_until(process, words):
    """Returns what a process says on stderr until a line holds `words`."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            break
    return "".join(lines)


def weights(checkpoint):
    """Returns the bytes of every variable, slots and step included."""
    return {name: value.tobytes() for name, value in one_weight.values_in(checkpoint).items()}
