# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a script starts, ends and fails."""

import subprocess
import sys

import pytest

from tests.support import ROOT

SCRIPT = '''"""Says what the script is for."""

import logging
import sys
from albert.util import UserError, cli
from albert.configs.shared_flags import TrainingFlags


def main(settings):
    logging.getLogger("albert.module").info("a notice")
    logging.getLogger("albert.module").warning("a warning")
    logging.getLogger("albert.module").debug("a detail")
    if settings.seed == 13:
        raise UserError("13 brings bad luck")
    if settings.seed == 14:
        raise KeyboardInterrupt
    if settings.seed == 15:
        return 3
    if settings.seed == 16:
        raise ValueError("a bug")
    if settings.seed == 17:
        print("line\\n" * 100000)
    if settings.seed == 18:
        import tensorflow
    if settings.seed == 19:
        with open("/dev/full", "w") as file:
            file.write("text")
    sys.stdout.write(f"{settings.output_dir} {settings.explicit == {'output_dir'}}\\n")


if __name__ == "__main__":
    cli.run(TrainingFlags, main, __doc__)
'''


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    unset = "env -u PYTHONUNBUFFERED -u TF_CPP_MIN_LOG_LEVEL"
    return f"{unset} PYTHONPATH={ROOT} PYTHONIOENCODING=ascii {sys.executable} {path} "


@pytest.fixture(scope="module")
def run_script(command):
    def start(arguments):
        """Exit code, standard output and standard error."""
        done = subprocess.run(["bash", "-c", command + arguments], capture_output=True, check=False)
        return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")

    return start


@pytest.mark.parametrize(
    "arguments, code, told",
    [
        ("--output_dir=x --seed=13", 1, "ERROR: 13 brings bad luck"),
        ("--output_dir=x --seed=14", 130, "Interrupted."),
        ("--output_dir=x --seed=15", 3, "WARNING: a warning"),
        ("--output_dir=x --seed=16", 1, "ValueError: a bug"),
        ("--output_dir=x --seed=19", 1, "No space left on device"),
        ("--seed=4", 2, "ERROR: --output_dir must be given"),
        ("--output_dir=x 2>/dev/full", 0, ""),
        ("--output_dir=x 2>&-", 0, ""),
        ("--output_dir=x --use_horovod", 0, "--use_horovod"),
        ("--output_dir=x --seed=17 | head -1", 0, ""),
    ],
)
def test_run_ends_with_code_and_line(run_script, arguments, code, told):
    ended, _, said = run_script(arguments)
    assert (ended, told in said) == (code, True), said
    assert ("Traceback" in said) == ("ValueError" in told), said


def test_run_logs(run_script):
    code, printed, said = run_script("--output_dir=\u706b")
    assert (code, printed) == (0, "\u706b True\n")
    first, second = said.splitlines()
    assert first.endswith(" a notice") and second.endswith(" WARNING: a warning")
    said = run_script("--output_dir=x --verbose --seed=13")[2]
    assert "a detail" in said and "Traceback" in said


@pytest.mark.parametrize("closed", ["2>&-", "<&- 2>&-", "2>/dev/null"])
def test_log_stays_out_of_standard_output(run_script, closed):
    assert run_script(f"--output_dir=x {closed}")[:2] == (0, "x True\n")


def test_closed_standard_output_is_no_error(run_script):
    code, _, said = run_script("--output_dir=x <&- >&-")
    assert code == 0 and "a warning" in said


# Stands in for TensorFlow, whose C++ code prints while it is imported.
TENSORFLOW = """
import os
os.write(2, b"a native notice\\n")
exec(os.environ["THEN"])
"""


# A sweep starts its runs with level 3.
@pytest.mark.parametrize(
    "then, before, arguments, is_shown",
    [
        ("", "", "", False),
        ("", "", "--verbose", True),
        ("", "TF_CPP_MIN_LOG_LEVEL=1", "", True),
        ("", "TF_CPP_MIN_LOG_LEVEL=3", "", False),
        ("import no_such_module", "", "", True),
        ("os.abort()", "", "", True),
        ("os._exit(3)", "", "", True),
    ],
)
def test_native_lines_of_an_import_are_shown_where_it_fails(
    command, tmp_path, then, before, arguments, is_shown
):
    (tmp_path / "tensorflow.py").write_text(TENSORFLOW)
    line = command.replace("PYTHONPATH=", f"THEN='{then}' {before} PYTHONPATH={tmp_path}:")
    shell = ["bash", "-c", f"{line} --output_dir=x --seed=18 {arguments}"]
    done = subprocess.run(shell, capture_output=True, check=False, encoding="utf-8")
    assert ("a native notice" in done.stderr) == is_shown
    assert "a warning" in done.stderr
    assert bool(done.returncode) == bool(then)
    assert done.stdout == ("" if then else "x False\n")


def test_run_help(run_script):
    code, printed, _ = run_script("--help")
    assert code == 0
    for expected in ("Says what the script is for.", "--output_dir", "--[no]do_train", "12345"):
        assert expected in printed
    assert "--alsologtostderr" not in printed


@pytest.mark.slow
def test_keras_loads_on_its_first_use():
    code = """
import gc, sys
from albert.util import cli
cli.import_tensorflow()
assert gc.isenabled() and not gc.get_freeze_count()
assert not {"keras", "tf_keras"} & set(sys.modules)
sys.modules["tensorflow"].keras.layers.Dense(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_threads_may_import_tensorflow_at_once():
    code = """
from concurrent import futures
from albert.util import cli
def load(_):
    cli.import_tensorflow()
    import tensorflow.compat.v1 as tf
    return tf.constant
with futures.ThreadPoolExecutor() as pool:
    list(pool.map(load, range(4)))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
