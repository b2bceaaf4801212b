# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What an installation gets: requirements of each runtime, the version, package data."""

import ast
import os
import re
import subprocess
import sys

import pytest
from packaging import requirements as packaging_requirements
from packaging import specifiers

import albert
from tests.support import ROOT

# TensorFlow's versions that an installation takes, and does not.
RUNTIMES = {
    "3.7": (["1.15.5"], ["2.11.0"]),
    "3.9": (["2.15.1"], ["1.15.5", "2.16.1"]),
    "3.10": (["2.15.1", "2.16.1", "2.21.0"], ["1.15.5", "2.14.0"]),
    "3.11": (["2.15.1", "2.16.1", "2.21.0"], ["1.15.5", "2.14.0"]),
    "3.12": (["2.16.1", "2.21.0"], ["2.14.0"]),
    "3.13": (["2.20.0", "2.21.0"], ["2.14.0"]),
}
MODULES = {"absl": "absl-py", "google": "protobuf", "sklearn": "scikit-learn"}
MODULES.update(py4j="pyspark")  # it comes with it


def required():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    named = [line for line in lines if line and not line.startswith("#")]
    return [packaging_requirements.Requirement(line) for line in named]


@pytest.mark.parametrize("version", sorted(RUNTIMES))
def test_requirements_give_tensorflow_by_python(version):
    taken, refused = RUNTIMES[version]
    items = [item for item in required() if item.name == "tensorflow"]
    (item,) = [item for item in items if item.marker.evaluate({"python_version": version})]
    assert [one for one in [*taken, *refused] if one in item.specifier] == taken


def test_python_requires_has_every_runtime():
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    bounds = specifiers.SpecifierSet(re.search(r'python_requires="([^"]+)"', text).group(1))
    classified = set(re.findall(r"Python :: (3\.\d+)\"", text))
    for minor in range(5, 16):
        version = f"3.{minor}"
        assert (version in bounds) == (version in RUNTIMES) == (version in classified), version


@pytest.mark.skipif(sys.version_info < (3, 10), reason="no list of the standard library")
def test_requirements_are_what_is_imported():
    imported = set()
    for path in (ROOT / "albert").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module.split(".")[0])
    others = imported - {"albert", *sys.stdlib_module_names}
    # tensorflow-hub imports a part of setuptools; TensorBoard is a program.
    known = {item.name for item in required()} - {"setuptools", "tensorboard"}
    assert {MODULES.get(name, name.replace("_", "-")) for name in others} == known


def test_setup_has_the_packages_version():
    command = [sys.executable, "setup.py", "--version"]
    version = subprocess.check_output(command, cwd=str(ROOT))
    assert version.decode().split()[-1] == albert.__version__
    assert re.match(r"\d+\.\d+\.\d+", albert.__version__)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {albert.__version__}\n" in citation


def test_modules_run_from_above_a_clone(tmp_path):
    (tmp_path / "albert").symlink_to(ROOT, target_is_directory=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "albert", "demo", "help"]
    printed = subprocess.check_output(command, cwd=str(tmp_path), env=environment, timeout=120)
    assert b"pretraining" in printed


def test_build_has_every_module_and_data_file(tmp_path):
    def files_of(package):
        found = (path for path in package.rglob("*.*") if path.suffix != ".pyc")
        return {str(path.relative_to(package)) for path in found}

    options = [f"--build-base={tmp_path}/base", f"--build-lib={tmp_path}/lib"]
    command = [sys.executable, "setup.py", "--quiet", "build", *options]
    subprocess.run(command, cwd=str(ROOT), check=True, capture_output=True)
    assert files_of(tmp_path / "lib" / "albert") == files_of(ROOT / "albert")
