# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is written to standard error while TensorFlow is imported."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os
from albert.runtimes import quiet
with quiet.held_back():
    os.write(2, b"noise")
    {}
os.write(2, b"a line of ours")
"""


def run(end):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(end)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    shown = process.communicate(timeout=60)[1]
    return process.returncode, shown


def test_what_is_written_meanwhile_is_held_back_and_later_lines_are_not():
    assert run("os.write(2, b'x' * 100000)") == (0, b"a line of ours")


def test_it_is_shown_where_the_import_fails():
    code, shown = run("raise ImportError('of TensorFlow')")
    assert code == 1 and shown.startswith(b"noise") and b"of TensorFlow" in shown


@pytest.mark.parametrize("death", [signal.SIGABRT, signal.SIGILL, signal.SIGKILL])
def test_it_is_shown_where_the_import_ends_the_process(death):
    assert run(f"os.kill(os.getpid(), {int(death)})") == (-death, b"noise")


def test_a_closed_standard_error_is_left_closed():
    program = "import os; os.close(2); from albert.runtimes import quiet\n"
    program += "with quiet.held_back(): print('done')"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"done\n"


def test_ctrl_c_is_one_line_until_a_command_handles_it():
    program = (
        "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from albert.runtimes import quiet, support\n"
        "from albert.util import stop_signals\n"
        "support.end_on_interrupt()\n"
        "try:\n"
        "    with stop_signals.handled(): os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt: os.write(2, b'Handled. ')\n"
        "with quiet.held_back():\n"
        "    os.write(2, b'noise')\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"Handled. noiseInterrupted.\n")


def test_tensorflow_is_imported_without_keras_which_a_program_may_import_later(tmp_path):
    places = {
        "keras/__init__.py": "import keras.src\n",
        "keras/src/__init__.py": "",
        "tensorflow/__init__.py": "import importlib.util\n"
        "place = importlib.util.find_spec('keras').name\n"
        "try:\n import keras\nexcept ImportError:\n keras = None\n",
        "tensorflow/compat/__init__.py": "",
        "tensorflow/compat/v1.py": "",
    }
    for place, text in places.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    program = (
        "import sys, gc\n"
        "from albert.runtimes import quiet\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "quiet.import_tensorflow(is_verbose=False)\n"
        "import tensorflow, keras\n"
        "print(tensorflow.keras, tensorflow.place, keras.src.__name__, gc.isenabled())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert ended.stdout.split() == [b"None", b"keras", b"keras.src", b"True"]


@pytest.mark.slow
def test_answers_wait_for_nothing_that_only_trainings_and_measurements_need():
    program = (
        "import sys\n"
        "from albert.runtimes import quiet\n"
        "quiet.import_tensorflow(is_verbose=False)\n"
        "before = set(sys.modules)\n"
        "import albert.predict\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    late = {b"keras", b"sklearn", b"scipy", b"tensorflow_estimator", b"tensorflow_hub"}
    assert b"albert" in ended.stdout and not late & set(ended.stdout.split())
