# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processes of this runtime and of the other one, which evaluate an expression."""

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from albert.runtimes import compat

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / ("tf1" if compat.is_tf2() else "tf2") / "bin" / "python"

needs_other_runtime = pytest.mark.skipif(
    not PYTHON.exists(), reason=f"the other runtime is not at {PYTHON}"
)


def evaluate(expression: str, *arguments: str) -> Any:
    """Returns the JSON value of a Python expression in the other runtime.

    Args:
      expression: such as "test.call(sys.argv[2])"; `test` is the module tests.<first argument>.
      *arguments: sys.argv[1:].
    """
    return _evaluate(str(PYTHON), expression, *arguments)


def evaluate_here(expression: str, *arguments: str) -> Any:
    """Returns the same for a new process of this runtime."""
    return _evaluate(sys.executable, expression, *arguments)


def _evaluate(python: str, expression: str, *arguments: str) -> Any:
    script = (
        "import importlib, json, sys; "
        f"sys.path.insert(0, {str(ROOT)!r}); "
        "test = importlib.import_module('tests.' + sys.argv[1]); "
        f"print(json.dumps({expression}))"
    )
    text = subprocess.run(
        [python, "-c", script, *arguments],
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    return json.loads(text.decode().splitlines()[-1])
