# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pauses Python's search for garbage, which takes tenths of a second once TensorFlow is loaded."""

import contextlib
import gc
from typing import Iterator


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Lets a block, or a function as a decorator, create many objects that are no garbage."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
