# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""tools/environments.sh, run_glue.sh, run_clue.sh and demo_albert: the Python they take.

The interpreters are scripts that answer as Pythons of their version do, and write down what pip is
asked for.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

from tests.support import ROOT

ENVIRONMENTS = "tools/environments.sh"
TOOLS = "sh awk cat cksum cp dirname env kill mkdir mktemp pkill sed rm tail tee tr"

# An environment's interpreter is a copy of the one that made it.
PYTHON = """#!/bin/sh
case "$*" in
    "--version") echo "Python {version}.1" ;;
    *"import sys, venv"*) echo "{version}" ;;
    *"import ensurepip"*) exit {without_ensurepip} ;;
    *"-m venv"*) for place; do :; done; mkdir -p "$place/bin"; cp "$0" "$place/bin/python" ;;
    "-m albert "*) echo "taken: $0 $*" ;;
    *) echo "$*" >>"$HOME/asked" ;;
esac
"""
UV = """#!/bin/sh
echo "uv $*" >>"$HOME/asked"
[ "$2" = install ] || echo "$HOME/python3.13"
"""


@pytest.fixture
def machine(tmp_path):
    """A checkout, on a machine that has no Python."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    for pattern in ("run_*.sh", "demo_albert", "requirements*.txt"):
        for path in ROOT.glob(pattern):
            shutil.copy(path, tmp_path)
    (tmp_path / "bin").mkdir()
    for name in filter(shutil.which, TOOLS.split()):  # a small system has no pkill
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return tmp_path


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def install(machine, *versions, folder="bin", without_ensurepip=0):
    for version in versions:
        text = PYTHON.format(version=version, without_ensurepip=without_ensurepip)
        write_program(machine / folder / f"python{version}", text)


def run_shell(machine, script, *arguments, **variables):
    return subprocess.run(
        ["sh", f"{machine}/{script}", *arguments],
        env=dict(variables, PATH=f"{machine}/bin", HOME=str(machine)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def environments_made(machine, wanted, **variables):
    """The environments that were made, and the version of Python in each."""
    done = run_shell(machine, ENVIRONMENTS, wanted, **variables)
    assert done.returncode == 0, done.stderr
    found = []
    for python in done.stdout.split():
        said = subprocess.run([f"{machine}/{python}", "--version"], capture_output=True, text=True)
        found.append(f"{pathlib.Path(python).parts[1]} {said.stdout.split()[1][:-2]}")
    return ", ".join(found)


@pytest.mark.parametrize(
    "versions, first, every",
    [
        ("3.13", "latest 3.13", "latest 3.13"),
        ("3.11", "latest 3.11", "latest 3.11, tf2 3.11"),
        ("3.7", "tf1 3.7", "tf1 3.7"),
        ("3.7 3.8 3.9 3.10 3.12 3.14", "latest 3.12", "latest 3.12, tf2 3.10, tf1 3.7"),
    ],
)
def test_environments_choose_the_fastest_runtime_or_all(machine, versions, first, every):
    install(machine, *versions.split())
    assert [environments_made(machine, wanted) for wanted in ("first", "all")] == [first, every]


def test_environments_take_the_given_python_and_runtime(machine):
    install(machine, "3.13", "3.11", "3.7")
    eleven = f"{machine}/bin/python3.11"
    assert environments_made(machine, "first", PYTHON=eleven) == "latest 3.11"
    assert environments_made(machine, "first", PYTHON=eleven, RUNTIME="tf2") == "tf2 3.11"
    assert environments_made(machine, "first", RUNTIME="tf1") == "tf1 3.7"


@pytest.mark.parametrize(
    "variables, named",
    [
        ({"RUNTIME": "tf3"}, "RUNTIME=tf3"),
        ({"PYTHON": "python3.8"}, "PYTHON=python3.8"),
        ({"PYTHON": "python3.13", "RUNTIME": "tf2"}, "(RUNTIME=tf2)"),
        ({"RUNTIME": "tf1"}, "3.7"),
    ],
)
def test_environments_name_a_wrong_python_or_runtime(machine, variables, named):
    install(machine, "3.8", "3.13")
    done = run_shell(machine, ENVIRONMENTS, "first", **variables)
    assert done.returncode == 1 and not done.stdout
    assert named in done.stderr.splitlines()[-1]


def test_environments_are_installed_once(machine):
    install(machine, "3.12")
    environments_made(machine, "all")
    (machine / "asked").unlink()
    (machine / "bin" / "python3.12").unlink()
    assert (
        environments_made(machine, "first") == environments_made(machine, "ready") == "latest 3.12"
    )
    assert "/.venv/latest/bin/python -m albert sweep" in run_shell(machine, "run_glue.sh").stdout
    assert "install" not in (machine / "asked").read_text()
    (machine / "requirements.txt").write_text("six\n")
    assert environments_made(machine, "ready") == ""
    environments_made(machine, "first")
    assert "install" in (machine / "asked").read_text()


def test_pip_is_fetched_where_the_python_brings_none(machine):
    install(machine, "3.12", without_ensurepip=1)
    environments_made(machine, "first")
    assert (machine / "asked").read_text().splitlines()[0] == "tools/install_pip.py"


def test_uv_gets_a_python_where_there_is_none(machine):
    write_program(machine / "bin" / "uv", UV)
    install(machine, "3.13", folder=".")
    assert environments_made(machine, "first") == "latest 3.13"
    assert (machine / "asked").read_text().startswith("uv python install 3.13\n")


# ---- scripts ----


@pytest.mark.parametrize(
    "script, module",
    [
        ("run_glue.sh", "albert sweep --suite=glue"),
        ("run_clue.sh", "albert sweep --suite=clue"),
        ("demo_albert", "albert demo"),
    ],
)
def test_scripts_run_by_the_active_python(machine, script, module):
    install(machine, "3")
    taken = f"taken: {machine}/bin/python3 -m {module} --tasks=rte -d bf16\n"
    assert run_shell(machine, script, "--tasks=rte", "-d", "bf16").stdout == taken
    (machine / "bin" / "readlink").symlink_to(shutil.which("readlink"))
    (machine / "elsewhere").symlink_to(machine / script)
    assert run_shell(machine, "elsewhere", "--tasks=rte", "-d", "bf16").stdout == taken
    assert os.access(f"{ROOT}/demo_albert", os.X_OK)
