# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processes of this runtime and of the others, which evaluate an expression."""

import json
import os
import subprocess

import pytest

from albert.runtimes import compat, estimator
from tests.support import ROOT

NEWEST = "latest"
HERE = (NEWEST if not estimator.HAS_TF_ESTIMATOR else "tf2") if compat.is_tf2() else "tf1"


def _python(runtime):
    return ROOT / ".venv" / runtime / "bin" / "python"


# The names of the other runtimes, as parameters of a test or fixture.
OTHERS = [
    pytest.param(
        name, marks=pytest.mark.skipif(not _python(name).exists(), reason=f"no {_python(name)}")
    )
    for name in (NEWEST, "tf2", "tf1")
    if name != HERE
]


def evaluate(runtime, expression, *arguments):
    """Returns the JSON value of a Python expression in another runtime.

    Args:
      runtime: one of OTHERS.
      expression: such as "test.call(sys.argv[2])"; `test` is the module tests.<first argument>.
      *arguments: sys.argv[1:].
    """
    script = (
        "import importlib, json, sys; test = importlib.import_module('tests.' + sys.argv[1]); "
        f"print(json.dumps({expression}))"
    )
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    for name in ("TF2_BEHAVIOR", "TF_USE_LEGACY_KERAS"):  # of this runtime alone
        environment.pop(name, None)
    command = [str(_python(runtime)), "-c", script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode().split("Traceback")[-1][:3000]
    return json.loads(done.stdout.decode().splitlines()[-1])
