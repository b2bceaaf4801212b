# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Importing TensorFlow without its notices, in a process that runs a script of ours.

TensorFlow 2.21 prints lines to file descriptor 2 while it is imported that heed no variable. What
the process writes there meanwhile is held back, and shown if the import fails. A program that
imports this package as a library imports TensorFlow itself, and its standard error is its own.
"""

import contextlib
import os
import sys
import tempfile
from typing import Iterator


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """While this lasts, standard error goes to a file; it is shown where the block raises."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    with tempfile.TemporaryFile() as held:
        sys.stderr.flush()
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(kept, held.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


def import_tensorflow(*, is_verbose: bool) -> None:
    """Imports TensorFlow, for the import statements that follow; `is_verbose`: with its notices.

    It raises nothing: what is wrong with the installation, those statements raise.
    """
    if is_verbose:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    held = contextlib.nullcontext() if is_verbose else held_back()
    with contextlib.suppress(Exception), held:
        # First: it crashes where TensorFlow 1.15 was loaded before it.
        import sentencepiece  # noqa: F401
        import tensorflow.compat.v1  # noqa: F401
