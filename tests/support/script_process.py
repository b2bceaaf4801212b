# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A script in a process of its own, for tests."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_process(script, *arguments, prelude="pass"):
    """Runs albert.SCRIPT after the Python code `prelude`; returns the finished process."""
    code = (
        f"import sys; sys.argv = {[script, *arguments]!r}\n{prelude}\n"
        f"import runpy\nrunpy.run_module({f'albert.{script}'!r}, run_name='__main__')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=str(ROOT),
        capture_output=True,
        timeout=300,
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"),
    )
