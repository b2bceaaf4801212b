# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What an installation gets: requirements of each runtime, the version, package data."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest
from packaging import requirements as packaging_requirements
from packaging import specifiers

import albert
from albert import configs

ROOT = pathlib.Path(__file__).resolve().parents[1]
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


def lines_of(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def parsed(name):
    return [packaging_requirements.Requirement(line) for line in lines_of(name)]


def required_on(version):
    marked = {"python_version": version}
    return {
        item.name: str(item.specifier)
        for item in parsed("requirements.txt")
        if item.marker is None or item.marker.evaluate(marked)
    }


@pytest.mark.parametrize("version", sorted(RUNTIMES))
def test_each_python_gets_a_tensorflow_that_runs_there(version):
    taken, refused = RUNTIMES[version]
    bounds = specifiers.SpecifierSet(required_on(version)["tensorflow"])
    assert all(one in bounds for one in taken)
    assert not any(one in bounds for one in refused)


def test_setup_takes_the_pythons_that_have_a_runtime():
    text = (ROOT / "setup.py").read_text(encoding="utf-8")
    bounds = specifiers.SpecifierSet(re.search(r'python_requires="([^"]+)"', text).group(1))
    classified = set(re.findall(r"Python :: (3\.\d+)\"", text))
    for minor in range(5, 16):
        version = f"3.{minor}"
        assert (version in bounds) == (version in RUNTIMES) == (version in classified), version


def imported_packages(paths):
    """Returns the distributions outside the standard library that files import."""
    imported = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module.split(".")[0])
    known = {item.name for item in parsed("requirements.txt")}
    names = {MODULES.get(name, name.replace("_", "-")) for name in imported - {"albert"}}
    standard = getattr(sys, "stdlib_module_names", None)
    if standard is None:
        return names & known
    return {name for name in names if name.replace("-", "_") not in standard}


def test_what_is_imported_is_required_and_nothing_more():
    # tensorflow-hub imports a part of setuptools.
    known = {item.name for item in parsed("requirements.txt")} - {"setuptools"}
    assert imported_packages(set((ROOT / "albert").rglob("*.py"))) == known


def test_setup_takes_the_requirements_and_the_version_from_their_homes():
    command = [sys.executable, "setup.py", "--version"]
    version = subprocess.run(command, cwd=str(ROOT), check=True, stdout=subprocess.PIPE)
    assert version.stdout.decode().split()[-1] == albert.__version__
    assert re.match(r"\d+\.\d+\.\d+", albert.__version__)


def above(tmp_path, *arguments):
    """What Python prints in the folder above a clone that is called albert."""
    (tmp_path / "albert").symlink_to(ROOT, target_is_directory=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *arguments]
    return subprocess.check_output(command, cwd=str(tmp_path), env=environment, timeout=120)


def test_modules_run_from_the_folder_above_a_clone_called_albert(tmp_path):
    assert b"pretraining" in above(tmp_path, "-m", "albert.demo", "help")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the package as an installation would have it."""
    folder = tmp_path_factory.mktemp("build")
    options = ["--build-base", str(folder / "base"), "--build-lib", str(folder / "lib")]
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build", *options],
        cwd=str(ROOT),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return folder / "lib" / "albert"


def test_built_package_holds_every_module_and_preset(built):
    files = {path.stem for path in built.glob("configs/*.json")}
    assert files == {*configs.preset_names(), "published"}
    for name in ("page.html", "stories_en.txt", "stories_zh.txt"):
        assert (built / "demo" / name).exists(), name
    here = {str(path.relative_to(ROOT / "albert")) for path in (ROOT / "albert").rglob("*.py")}
    assert {str(path.relative_to(built)) for path in built.rglob("*.py")} == here


def test_built_package_works_outside_the_checkout(built, tmp_path):
    files = [path.relative_to(built.parent).with_suffix("") for path in built.rglob("*.py")]
    modules = ", ".join(sorted(".".join(path.parts) for path in files if path.stem[:2] != "__"))
    program = (
        f"import {modules}\n"
        "from albert import configs, modeling\n"
        f"assert configs.__file__.startswith({str(built)!r})\n"
        "for name in configs.preset_names():\n"
        "    modeling.AlbertConfig.from_json_file(configs.preset_path(name))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(built.parent)}
    subprocess.run([sys.executable, "-c", program], cwd=str(tmp_path), env=environment, check=True)
