# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log that a script shows on standard error.

Library modules report through `logging.getLogger(__name__)`. A script shows the lines of this
package from the level INFO on, and TensorFlow's own notices only with `--verbose`.
"""

import contextlib
import logging
import os
import sys
from typing import Any


class _Stderr:
    """Standard error of a script. It drops what cannot be written: a log never ends a training."""

    def __init__(self, stream: Any):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Writes `text` if it can."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Writes what is left if it can."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def guard_stderr() -> None:
    """Keeps the process going where standard error is full, closed, or a pipe without a reader."""
    if isinstance(sys.stderr, _Stderr):
        return
    if sys.stderr is None:  # closed: else the next file that is opened would get its number
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")
    sys.stderr = _Stderr(sys.stderr)  # type: ignore[assignment]


class _BarFriendlyHandler(logging.Handler):
    """Writes log lines above a progress bar instead of through it."""

    def emit(self, record: logging.LogRecord):
        from tqdm import tqdm

        tqdm.write(self.format(record), file=sys.stderr)


class _LineFormatter(logging.Formatter):
    """The time and the message; the level only from warnings on."""

    def __init__(self):
        super().__init__("%(asctime)s %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if record.levelno < logging.WARNING:
            return line
        clock, message = line[:8], line[8:]
        return f"{clock} {record.levelname}:{message}"


def _is_news(record: logging.LogRecord) -> bool:
    """TPUEstimator logs, with a long stack, the error that it raises and that we report."""
    is_repeated = str(record.msg).startswith("Error recorded from")
    return not is_repeated or logging.getLogger("albert").level <= logging.DEBUG


def configure(verbosity: int):
    """Shows this package's log lines on standard error, and TensorFlow's own from verbosity 1."""
    import tensorflow.compat.v1 as tf

    show_own(verbosity)
    tf.logging.set_verbosity(tf.logging.INFO if verbosity >= 1 else tf.logging.ERROR)
    # Parts of TensorFlow and tensorflow-hub log there.
    logging.getLogger("absl").setLevel(logging.INFO if verbosity >= 1 else logging.WARNING)
    logging.getLogger("tensorflow").addFilter(_is_news)


def show_own(verbosity: int):
    """Shows this package's log lines, with its details from verbosity 1."""
    logger = logging.getLogger("albert")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    handler = _BarFriendlyHandler()
    handler.setFormatter(_LineFormatter())
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.DEBUG if verbosity >= 1 else logging.INFO)
