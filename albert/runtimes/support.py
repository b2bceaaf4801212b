# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whether this Python and its TensorFlow run the package."""

import importlib.util
import re
import sys
from typing import Any, Sequence

_NEEDS = "albert needs Python 3.7 or later with TensorFlow 1.15, or 2.15 or later"


def check_python(version: Sequence[Any] = sys.version_info) -> None:
    """Raises ImportError if the Python is too old or has no TensorFlow, which is not imported."""
    has_tensorflow = "tensorflow" in sys.modules or importlib.util.find_spec("tensorflow")
    if tuple(version[:2]) < (3, 7) or not has_tensorflow:
        found = ".".join(map(str, version[:2])) + ("" if has_tensorflow else " without TensorFlow")
        raise ImportError(f"{_NEEDS}; {sys.executable} is Python {found}. See docs/install.md.")


def check_tensorflow(version: str) -> None:
    """Raises ImportError if the TensorFlow is too old."""
    release = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if release != (1, 15) and release < (2, 15):
        raise ImportError(f"{_NEEDS}; this is TensorFlow {version}. See docs/install.md.")
