# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log on standard error: this package's messages from level INFO on."""

import importlib.util
import logging
import os
import sys
import time


class _Handler(logging.Handler):
    """Writes the time and the message above a progress bar; the level only from warnings on."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        level = f"{record.levelname}: " if record.levelno >= logging.WARNING else ""
        try:
            line = f"{time.strftime('%H:%M:%S')} {level}{self.format(record)}"
            tqdm.write(line, file=sys.stderr)
        except OSError:  # a log that nobody reads ends no training
            self.handleError(record)


def configure(*, is_verbose: bool) -> None:
    """Shows this package's lines and, if verbose, TensorFlow's; called before that is imported."""
    if "tensorflow" not in sys.modules and importlib.util.find_spec("tf_keras"):
        # It comes with tensorflow-hub, and loads faster than Keras 3.
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    show(logging.DEBUG if is_verbose else logging.INFO)
    logging.raiseExceptions = is_verbose
    # TensorFlow's C++ code prints dozens of lines about devices and libraries it did not find.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "0" if is_verbose else "3")
    logging.getLogger("tensorflow").setLevel(logging.INFO if is_verbose else logging.CRITICAL)
    logging.getLogger("absl").setLevel(logging.INFO if is_verbose else logging.WARNING)


def show(level: int = logging.INFO) -> None:
    """Shows this package's lines from a level on."""
    logger = logging.getLogger("albert")
    logger.handlers = [_Handler()]
    logger.propagate = False
    logger.setLevel(level)
