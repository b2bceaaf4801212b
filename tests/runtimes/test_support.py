# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pythons, TensorFlows and other packages `albert` that an import meets; versions are made up."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest
from packaging import markers

import albert
from albert.runtimes import support

ROOT = pathlib.Path(albert.__file__).parents[1]


@pytest.mark.parametrize(
    "python, tensorflow",
    [
        ((3, 7), "1.15.5"),
        ((3, 8), "1.15.5+nv23.3"),
        ((3, 9), "2.15.1"),
        ((3, 11), "2.16.2"),
        ((3, 12), "2.20.0"),
        ((3, 13), "2.21.0"),
        ((3, 13), "2.22.0rc1"),  # newer than tested
        ((3, 14), "3.0.0"),
        ((3, 10), None),  # built from source: it does not say
    ],
)
def test_what_runs_is_not_refused(python, tensorflow):
    assert support.refusal(python, lambda: tensorflow) == ""


@pytest.mark.parametrize(
    "python, tensorflow, found, remedy",
    [
        ((2, 7), "1.15.5", "Python 2.7", "Python 3.10 to 3.13"),
        ((3, 6), "1.15.5", "Python 3.6", "Python 3.10 to 3.13"),
        ((3, 8), "2.13.1", "2.13.1", "Python 3.10 to 3.13"),
        ((3, 8), "", "Python 3.8", "Python 3.10 to 3.13"),
        ((3, 14), "", "Python 3.14", "Python 3.10 to 3.13"),
        ((3, 12), "", "Python 3.12", "-m pip install"),
        ((3, 11), "2.14.0", "2.14.0", "-m pip install"),
        ((3, 7), "1.14.0", "1.14.0", "-m pip install"),
        ((3, 7), "2.11.0", "2.11.0", "-m pip install"),
    ],
)
def test_a_refusal_says_what_was_found_and_what_to_install(python, tensorflow, found, remedy):
    sentence = support.refusal(python, lambda: tensorflow)
    assert found in sentence and remedy in sentence and "\n" not in sentence


@pytest.mark.parametrize("version", ["3.7", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_what_a_refusal_says_to_install_is_what_is_required(version, monkeypatch, tmp_path):
    monkeypatch.setattr(support, "PACKAGE", str(tmp_path / "site-packages" / "albert"))
    python = tuple(map(int, version.split(".")))
    wanted = support.refusal(python, lambda: "").split("'")[1]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (required,) = [
        line.split(";")[0]
        for line in lines
        if re.match("tensorflow[=>]", line)
        and markers.Marker(line.split(";")[1]).evaluate({"python_version": version})
    ]
    assert wanted == required


def run(arguments, *folders):
    """A process of this Python that finds the package and, before it, what lies in `folders`."""
    path = os.pathsep.join([*map(str, folders), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=str(folders[0]),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )


def test_a_script_on_another_tensorflow_ends_with_one_line(tmp_path):
    (tmp_path / "tensorflow-2.14.0.dist-info").mkdir()
    ended = run(["-m", "albert.plan", "--help"], tmp_path)
    assert ended.returncode == 1
    assert b"TensorFlow 2.14.0" in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_a_program_on_another_tensorflow_gets_an_import_error(tmp_path):
    (tmp_path / "tensorflow_cpu-2.14.0.dist-info").mkdir()
    program = "try:\n  import albert\nexcept ImportError as error:\n  print(error)"
    assert b"TensorFlow 2.14.0" in run(["-c", program], tmp_path).stdout


def warnings_of(*folders):
    return run(["-c", "import albert"], *folders).stderr.decode()


def test_another_package_of_this_name_is_named_once(tmp_path):
    other = tmp_path / "other" / "albert"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("client = 1\n", encoding="utf-8")
    # Ours is found first, as from a checkout; the other one is installed.
    assert warnings_of(tmp_path, ROOT, other.parent).count(str(other)) == 1


def test_files_of_another_package_in_one_folder_with_ours_are_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(support, "PACKAGE", str(tmp_path / "albert"))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    (tmp_path / "albert_tf-0.1.0.dist-info").mkdir()
    assert support.other_package() == ""
    (tmp_path / "albert-1.68.0.dist-info").mkdir()
    assert support.other_package() == str(tmp_path / "albert")


def test_a_checkout_is_not_another_package(tmp_path):
    copy = tmp_path / "copy" / "albert"
    copy.mkdir(parents=True)
    (copy / "__init__.py").write_bytes(pathlib.Path(albert.__file__).read_bytes())
    assert warnings_of(ROOT, ROOT, copy.parent) == ""


@pytest.mark.parametrize("name", ["__init__.py", "runtimes/__init__.py", "runtimes/support.py"])
def test_unsupported_pythons_can_read_what_refuses_them(name):
    """Down to 2.7; nothing newer than these is easily written without noticing."""
    tree = ast.parse((ROOT / "albert" / name).read_text(encoding="ascii"))
    for node in ast.walk(tree):
        assert not isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.Nonlocal)), node.lineno
        if isinstance(node, ast.FunctionDef):
            typed = [one.annotation for one in node.args.args] + [node.returns]
            assert not any(typed) and not node.args.kwonlyargs, node.name
