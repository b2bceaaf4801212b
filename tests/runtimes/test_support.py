# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pythons and TensorFlows that an import meets; versions are made up."""

import subprocess
import sys

import pytest

from albert.runtimes import support


@pytest.mark.parametrize("version", ["1.14.0", "2.14.1", "2.2.0"])
def test_old_tensorflow_or_python_is_refused(version):
    for newer in ("1.15.5", "1.15.5+nv23.3", "2.15.1", "2.22.0rc1", "3.0.0"):
        support.check_tensorflow(newer)
    with pytest.raises(ImportError, match=version):
        support.check_tensorflow(version)
    with pytest.raises(ImportError, match=r"3\.6"):
        support.check_python((3, 6))


def test_import_without_tensorflow_says_what_is_needed():
    code = "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]; import albert"
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 1 and b"without TensorFlow" in ended.stderr.splitlines()[-1]


def test_import_leaves_the_process_as_it_is():
    code = (
        "import gc, os, sys\n"
        "state = lambda: (dict(os.environ), gc.get_freeze_count(), list(sys.meta_path))\n"
        "before = state(); import albert; albert.load\n"
        "assert 'tensorflow' not in sys.modules and state() == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
