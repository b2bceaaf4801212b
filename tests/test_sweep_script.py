# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_glue.sh, run_clue.sh and demo_albert: the Python they take; --help, which takes none."""

import os
import pathlib
import shutil
import subprocess

import pytest
from absl import flags

from albert import sweep

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOLS = ("awk", "cat", "cksum", "dirname", "mktemp", "sh", "tail", "tee")
# Answers as a Python 3.11 does that can import the package, or cannot; then says that it was taken.
PYTHON = """#!/bin/sh
case "$*" in
    *"import sys, venv"*) echo 3.11 ;;
    *"import albert"*) exit {code} ;;
    "-m albert."*) echo "taken: $0 $*" ;;
    *) exit 1 ;;
esac
"""


def write_python(path, code):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PYTHON.format(code=code), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def checkout(tmp_path):
    """A clean checkout, on a machine without any Python."""
    folder = tmp_path / "checkout"
    shutil.copytree(str(ROOT / "tools"), str(folder / "tools"))
    for name in (
        "run_glue.sh",
        "run_clue.sh",
        "demo_albert",
        "requirements.txt",
        "requirements-dev.txt",
    ):
        shutil.copy(str(ROOT / name), str(folder / name))
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return folder


def run(checkout, *arguments, script="run_glue.sh", **variables):
    return subprocess.run(
        ["sh", str(checkout / script), *arguments],
        env=dict(variables, PATH=str(checkout.parent / "bin"), HOME=str(checkout)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def complete(checkout, runtime):
    """Marks an environment as complete."""
    content = (checkout / "requirements.txt").read_text().partition("# extra: parquet")[0]
    content += "tensorflow==2.15.1\ntensorflow-hub<0.16\n"
    done = subprocess.run(["cksum"], input=content, capture_output=True, text=True)
    (checkout / ".venv" / runtime / "complete").write_text(done.stdout)


@pytest.mark.parametrize("script", ["run_glue.sh", "run_clue.sh"])
def test_help_needs_no_python_and_has_every_flag(checkout, script):
    done = run(checkout, "--tasks=rte", "--help", script=script)
    assert done.returncode == 0, done.stderr
    values = flags.FlagValues()
    sweep.Flags(values)
    # The first line names the module.
    described = values.get_help(include_special_flags=False).split(":\n", 1)[1]
    expected = f"{sweep.__doc__}\n{described}".strip()
    assert done.stdout.split("\n", 1)[1].strip() == expected, (
        "tools/sweep_help.txt should hold:\n" + expected
    )


def test_the_active_python_is_taken_if_it_can_import_the_package(checkout):
    active = write_python(checkout.parent / "bin" / "python3", code=0)
    write_python(checkout / ".venv" / "tf2" / "bin" / "python", code=0)
    complete(checkout, "tf2")
    done = run(checkout, "--tasks=rte")
    assert done.stdout.split()[:4] == ["taken:", str(active), "-m", "albert.sweep"], done.stderr
    assert "--suite=glue --tasks=rte" in done.stdout
    named = write_python(checkout / "my python", code=0)
    assert str(named) in run(checkout, PYTHON=str(named)).stdout


def test_the_demo_has_a_name_of_its_own(checkout):
    active = write_python(checkout.parent / "bin" / "python3", code=0)
    arguments = ["finetuning", "-d", "bf16"]
    done = run(checkout, *arguments, script="demo_albert")
    assert done.stdout.split() == ["taken:", str(active), "-m", "albert.demo", *arguments]
    assert os.access(str(ROOT / "demo_albert"), os.X_OK)


@pytest.mark.parametrize("script", ["run_glue.sh", "run_clue.sh", "demo_albert"])
def test_a_link_to_a_script_runs_it(checkout, script):
    write_python(checkout.parent / "bin" / "python3", code=0)
    (checkout.parent / "bin" / "readlink").symlink_to(shutil.which("readlink"))
    (checkout.parent / "elsewhere").symlink_to(checkout / script)
    assert "taken: " in run(checkout.parent / "checkout", script="../elsewhere").stdout


def test_an_environment_is_taken_only_when_it_is_complete(checkout):
    write_python(checkout.parent / "bin" / "python3", code=1)
    made = write_python(checkout / ".venv" / "tf2" / "bin" / "python", code=0)
    half_made = run(checkout)
    assert half_made.returncode != 0 and "taken" not in half_made.stdout
    complete(checkout, "tf2")
    assert f"taken: {made} " in run(checkout).stdout
