# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks that Python and TensorFlow are new enough for the package."""

import importlib.util
import re
import sys
from typing import Tuple

_NEEDS = "albert needs Python 3.7 or later with TensorFlow 1.15, or 2.15 or later"


def check_python(version: Tuple[int, ...] = sys.version_info[:2]) -> None:
    """Raises ImportError if Python is too old or has no TensorFlow. Does not import TensorFlow."""
    has_tensorflow = "tensorflow" in sys.modules or importlib.util.find_spec("tensorflow")
    if version < (3, 7) or not has_tensorflow:
        description = ".".join(map(str, version)) + (
            "" if has_tensorflow else " without TensorFlow"
        )
        raise ImportError(
            f"{_NEEDS}; {sys.executable} is Python {description}. See docs/install.md."
        )


def check_tensorflow(version: str) -> None:
    """Raises ImportError if this version of TensorFlow is too old."""
    release = tuple(map(int, re.findall(r"\d+", version)[:2]))
    if release != (1, 15) and release < (2, 15):
        raise ImportError(f"{_NEEDS}; this is TensorFlow {version}. See docs/install.md.")
