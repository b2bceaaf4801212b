# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""run_glue.sh, run_clue.sh and demo_albert: the Python they take, and what they start with it."""

import os
import pathlib
import shutil
import subprocess

import pytest

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


def write_python(path, code=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PYTHON.format(code=code), encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def checkout(tmp_path):
    """A clean checkout, on a machine without any Python."""
    folder = tmp_path / "checkout"
    shutil.copytree(str(ROOT / "tools"), str(folder / "tools"))
    for pattern in ("run_*.sh", "demo_albert", "requirements*.txt"):
        for path in ROOT.glob(pattern):
            shutil.copy(str(path), str(folder))
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return folder


def run(checkout, *arguments, script="run_glue.sh", **variables):
    """What a script prints."""
    done = subprocess.run(
        ["sh", str(checkout / script), *arguments],
        env=dict(variables, PATH=str(checkout.parent / "bin"), HOME=str(checkout)),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "script, module",
    [
        ("run_glue.sh", "albert.sweep --suite=glue"),
        ("run_clue.sh", "albert.sweep --suite=clue"),
        ("demo_albert", "albert.demo"),
    ],
)
def test_the_active_python_runs_a_script_that_may_be_a_link(checkout, script, module):
    active = write_python(checkout.parent / "bin" / "python3")
    started = f"-m {module} --tasks=rte -d bf16"
    arguments = ["--tasks=rte", "-d", "bf16"]
    assert run(checkout, *arguments, script=script) == f"taken: {active} {started}"
    (checkout.parent / "bin" / "readlink").symlink_to(shutil.which("readlink"))
    (checkout.parent / "elsewhere").symlink_to(checkout / script)
    assert run(checkout, *arguments, script="../elsewhere") == f"taken: {active} {started}"
    named = write_python(checkout / "my python")
    assert str(named) in run(checkout, script=script, PYTHON=str(named))
    assert os.access(str(ROOT / "demo_albert"), os.X_OK)


def test_an_environment_is_taken_only_when_it_is_complete(checkout):
    write_python(checkout.parent / "bin" / "python3", code=1)
    made = write_python(checkout / ".venv" / "tf2" / "bin" / "python")
    assert "taken" not in run(checkout)
    content = (checkout / "requirements.txt").read_text().partition("# extra: parquet")[0]
    content += "tensorflow==2.15.1\ntensorflow-hub<0.16\n"
    done = subprocess.run(["cksum"], input=content.encode(), stdout=subprocess.PIPE)
    (checkout / ".venv" / "tf2" / "complete").write_bytes(done.stdout)
    assert f"taken: {made} " in run(checkout)
