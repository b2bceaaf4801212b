# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a script starts, ends and fails."""

import io
import os
import pathlib
import signal
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf
from absl import flags

from albert.command_line import commands, script
from albert.demo import __main__ as demo
from albert.util import flags as flags_lib

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCRIPT = '''"""Says what the script is for."""

from albert.command_line import script
from albert.util import flags as flags_lib


def define_flags(flag_values):
    flags_lib.define_training_flags(flag_values, do_train=False, train_batch_size=32)


def main(settings):
    if settings.train_batch_size == 13:
        raise ValueError("13 brings bad luck")
    if settings.train_batch_size == 14:
        raise KeyboardInterrupt
    if settings.train_batch_size == 15:
        return 3
    print(settings)


if __name__ == "__main__":
    script.run(main, define_flags, usage=__doc__)
'''


def test_an_argument_wins_over_the_file_that_names_its_flag(tmp_path, monkeypatch, capsys):
    class Named(flags_lib.Settings):
        def __init__(self, **values):
            super().__init__(**values)
            raise ValueError(f"named {self.name}")  # what is wrong is told before TensorFlow

    def define(flag_values):
        flags_lib.string(flag_values, "name", None, help="x")
        return Named

    # Neither the flags of other tests nor Ctrl-C are touched.
    monkeypatch.setattr(script.process_flags, "of_script", flags.FlagValues)
    monkeypatch.setattr(script.support, "end_on_interrupt", lambda: None)

    def said(*arguments):
        monkeypatch.setattr(sys, "argv", ["script", *arguments])
        with pytest.raises(SystemExit):
            script.answer_early(define, usage="x", positional="name")
        return capsys.readouterr().err

    config = tmp_path / "run.toml"
    config.write_text('name = "b"', encoding="utf-8")
    assert said("a", f"--config={config}") == "ERROR: named a\n"
    assert said(f"--config={config}") == said("b") == said("--name=b") == "ERROR: named b\n"


@pytest.mark.parametrize("is_terminal,printed", [(True, b"a?\n"), (False, b"a\xe7\x81\xab\n")])
def test_a_terminal_shows_question_marks_and_a_file_gets_utf_8(monkeypatch, is_terminal, printed):
    class Stream(io.BytesIO):
        def isatty(self):
            return is_terminal

    stream = io.TextIOWrapper(Stream(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setattr(demo, "main", lambda: print("a\u706b"))
    answer = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit):
            demo.cli()
    finally:
        signal.signal(signal.SIGINT, answer)
    stream.flush()
    assert stream.buffer.getvalue() == printed


def test_a_notebooks_output_is_left_as_it_is(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    commands.print_any_text()
    print("a\u706b")
    assert stream.getvalue() == "a\u706b\n"


def test_an_error_of_tensorflow_loses_its_graph_and_stack():
    error = tf.errors.InvalidArgumentError(
        None, None, "words of sense\n\t [[{{node x}}]]\n\nOriginal stack trace for x"
    )
    assert script.error_text(error) == "words of sense"
    lines = "Detected at node 'x' defined at (most recent call last):\n  File \"a.py\", line 1"
    for origin in ("", f"{lines}\nNode: 'x'\n"):
        text = f"Graph execution error:\n\n{origin}{error.message}"
        assert script.error_text(tf.errors.DataLossError(None, None, text)) == "words of sense"
    assert script.error_text(ValueError()) == "ValueError"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    environment = dict(
        os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3", PYTHONIOENCODING="ascii"
    )

    def start(*arguments):
        """Exit code, standard output, and the last line and the whole of standard error."""
        done = subprocess.run(
            [sys.executable, str(path), *arguments],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return done.returncode, done.stdout, last, done.stderr

    return start


@pytest.mark.slow
def test_a_script_gets_its_settings_and_exits_with_what_main_returns(run):
    code, printed, _, _ = run("--output_dir=\u706b")
    assert code == 0
    assert printed == "Settings(do_train=False, output_dir='\u706b', train_batch_size=32)\n"
    assert run("--output_dir=x", "--train_batch_size=15")[0] == 3
    assert run("--output_dir=x", "--train_batch_size=14")[0] == 130


@pytest.mark.slow
def test_a_mistake_is_one_line_and_exit_code_one(run):
    code, _, last, whole = run("--output_dir=x", "--train_batch_size=13")
    assert (code, last) == (1, "ERROR: 13 brings bad luck") and "Traceback" not in whole
    code, _, last, whole = run("--output_dir=x", "--train_batch_size=13", "--verbosity=1")
    assert (code, last) == (1, "ERROR: 13 brings bad luck") and "Traceback" in whole
    code, _, _, whole = run("--train_batch_size=4")
    assert code == 1 and "--output_dir" in whole
    code, _, last, _ = run("--output_dir=x", "--do_train", "True")
    assert code == 1 and "--noflag" in last


@pytest.mark.slow
def test_help_shows_the_purpose_and_the_flags_of_the_script(run):
    code, printed, _, _ = run("--help")
    assert code == 0
    for text in ("Says what the script is for.", "--output_dir: (required)", "--[no]do_train"):
        assert text in printed
    assert "--[no]verbose" in printed and "--alsologtostderr" not in printed
