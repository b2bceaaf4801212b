# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""tools/environments.sh: which Python and runtime it takes, and what it installs.

The interpreters are scripts that answer as Pythons of their version do, and write down what pip is
asked for.
"""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOLS = [
    "sh",
    "awk",
    "cat",
    "cksum",
    "cp",
    "dirname",
    "env",
    "kill",
    "mkdir",
    "mktemp",
    "pkill",
    "sed",
    "rm",
    "tail",
    "tee",
    "tr",
]

# An environment's interpreter is a copy of the one that made it.
PYTHON = """#!/bin/sh
case "$*" in
    "--version") echo "Python {version}.1" ;;
    *"import sys, venv"*) echo "{version}" ;;
    *"import ensurepip"*) exit {without_ensurepip} ;;
    *"-m venv"*) for place; do :; done; mkdir -p "$place/bin"; cp "$0" "$place/bin/python" ;;
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
    (tmp_path / "tools").mkdir()
    for name in ["tools/environments.sh", "tools/install_pip.py", "requirements.txt"]:
        shutil.copy(str(ROOT / name), str(tmp_path / name))
    for name in ["requirements-dev.txt", "requirements-huggingface.txt"]:
        shutil.copy(str(ROOT / name), str(tmp_path / name))
    (tmp_path / "bin").mkdir()
    for name in filter(shutil.which, TOOLS):  # a small system has no pkill
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


def run(machine, wanted, **variables):
    return subprocess.run(
        ["sh", str(machine / "tools" / "environments.sh"), wanted],
        env=dict(variables, PATH=str(machine / "bin"), HOME=str(machine)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def made(machine, wanted, **variables):
    """The environments that were made, and the version of Python in each."""
    done = run(machine, wanted, **variables)
    assert done.returncode == 0, done.stderr
    found = {}
    for python in done.stdout.split():
        said = subprocess.run([str(machine / python), "--version"], capture_output=True, text=True)
        found[pathlib.Path(python).parts[1]] = said.stdout.split()[1][:-2]
    return found


def requirements(machine, runtime):
    return (machine / ".venv" / runtime / "requirements.txt").read_text()


@pytest.mark.parametrize(
    "versions, first, every",
    [
        (["3.13"], {"latest": "3.13"}, {"latest": "3.13"}),
        (["3.12"], {"latest": "3.12"}, {"latest": "3.12"}),
        (["3.11"], {"latest": "3.11"}, {"latest": "3.11", "tf2": "3.11"}),
        (["3.9"], {"tf2": "3.9"}, {"tf2": "3.9"}),
        (["3.7"], {"tf1": "3.7"}, {"tf1": "3.7"}),
        (
            ["3.7", "3.8", "3.9", "3.10", "3.12", "3.14"],
            {"latest": "3.12"},
            {"latest": "3.12", "tf2": "3.10", "tf1": "3.7"},
        ),
    ],
)
def test_each_machine_gets_the_fastest_runtime_and_every_one(machine, versions, first, every):
    install(machine, *versions)
    assert made(machine, "first") == first
    assert made(machine, "all") == every


def test_the_interpreter_and_the_runtime_can_be_chosen(machine):
    install(machine, "3.13", "3.11", "3.7")
    eleven = str(machine / "bin" / "python3.11")
    assert made(machine, "first", PYTHON=eleven) == {"latest": "3.11"}
    assert made(machine, "first", PYTHON=eleven, RUNTIME="tf2") == {"tf2": "3.11"}
    assert made(machine, "first", RUNTIME="tf1") == {"tf1": "3.7"}


@pytest.mark.parametrize(
    "variables, named",
    [
        ({}, "PYTHON="),
        ({"RUNTIME": "tf3"}, "RUNTIME=tf3"),
        ({"PYTHON": "python3.8"}, "PYTHON=python3.8"),
        (
            {"PYTHON": "python3.13", "RUNTIME": "tf2"},
            "Needed: Python 3.11, 3.10, 3.9 (RUNTIME=tf2)",
        ),
        ({"RUNTIME": "tf1"}, "pyenv install 3.7"),
    ],
)
def test_what_cannot_be_used_is_named(machine, variables, named):
    install(machine, "3.8")
    if variables:
        install(machine, "3.13")
    done = run(machine, "first", **variables)
    assert done.returncode == 1 and not done.stdout
    assert named in done.stderr.splitlines()[-1]


def test_a_demo_needs_less_than_the_tests(machine):
    install(machine, "3.11")
    made(machine, "first")
    assert "matplotlib" in requirements(machine, "latest")
    assert "tensorflow>=2.16" in requirements(machine, "latest").splitlines()
    for name in ("apache-beam", "pytest", "and-cuda"):
        assert name not in requirements(machine, "latest")
    assert made(machine, "ready") == {"latest": "3.11"}
    made(machine, "all")
    assert "tensorflow==2.15.1" in requirements(machine, "tf2").splitlines()
    for runtime in ("latest", "tf2"):
        assert "apache-beam" in requirements(machine, runtime)
        assert "pytest" in requirements(machine, runtime)
        assert "and-cuda" not in requirements(machine, runtime)


def test_what_is_complete_is_not_installed_again(machine):
    install(machine, "3.12")
    made(machine, "all")
    (machine / "asked").unlink()
    (machine / "bin" / "python3.12").unlink()
    assert made(machine, "first") == made(machine, "ready") == {"latest": "3.12"}
    assert "install" not in (machine / "asked").read_text()
    (machine / "requirements.txt").write_text("six\n")
    assert run(machine, "ready").stdout == ""
    made(machine, "first")
    assert "install" in (machine / "asked").read_text()


def test_pip_is_fetched_where_the_python_brings_none(machine):
    install(machine, "3.12", without_ensurepip=1)
    made(machine, "first")
    assert (machine / "asked").read_text().splitlines()[0] == "tools/install_pip.py"


def test_uv_gets_a_python_where_there_is_none(machine):
    write_program(machine / "bin" / "uv", UV)
    install(machine, "3.13", folder=".")
    assert made(machine, "first") == {"latest": "3.13"}
    assert (machine / "asked").read_text().startswith("uv python install 3.13\n")
