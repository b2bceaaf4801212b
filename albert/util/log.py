# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log on standard error: this package's messages from level INFO on."""

import contextlib
import importlib.util
import logging
import os
import subprocess
import sys
import time
from typing import Any, Iterator


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


def open_closed_streams() -> None:
    """Opens the null device for closed standard streams, before a file gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def discard(descriptor: int) -> None:
    """Drops what is still written to a descriptor."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


# Shows what it was sent when that ends.
_HOLDER = "import sys; sys.stderr.buffer.write(sys.stdin.buffer.read())"


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """While TensorFlow is imported in this context, another process holds standard error back.

    It shows what it holds if the import fails, or if this process dies.
    """
    holder = subprocess.Popen(
        [sys.executable, "-ISc", _HOLDER], stdin=subprocess.PIPE, start_new_session=True
    )
    sys.stderr.flush()
    shown = os.dup(2)
    os.dup2(holder.stdin.fileno(), 2)
    holder.stdin.close()
    try:
        yield
        with contextlib.suppress(Exception):
            # Without a GPU, the first look for one prints an error.
            sys.modules["tensorflow"].config.experimental.list_physical_devices("GPU")
        holder.kill()
    finally:
        os.dup2(shown, 2)
        os.close(shown)
        holder.wait()


class _QuietImport:
    """Hides what TensorFlow's C++ code prints, whatever TF_CPP_MIN_LOG_LEVEL is, on its import."""

    def find_spec(self, name: str, *_: Any) -> Any:
        """Returns how to import TensorFlow, None for other modules."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        spec.loader.exec_module = _held_back()(spec.loader.exec_module)  # type: ignore
        return spec


def configure(*, is_verbose: bool) -> None:
    """Shows this package's lines and, if verbose, TensorFlow's; called before that is imported."""
    # TensorFlow's C++ code prints dozens of lines about devices and libraries it did not find.
    level = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "0" if is_verbose else "3")
    if "tensorflow" not in sys.modules:
        if importlib.util.find_spec("tf_keras"):
            # It comes with tensorflow-hub, and loads faster than Keras 3.
            os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
        if level == "3" and not is_verbose:
            sys.meta_path.insert(0, _QuietImport())
    show(logging.DEBUG if is_verbose else logging.INFO)
    logging.raiseExceptions = is_verbose
    logging.getLogger("tensorflow").setLevel(logging.INFO if is_verbose else logging.CRITICAL)
    logging.getLogger("absl").setLevel(logging.INFO if is_verbose else logging.WARNING)


def show(level: int = logging.INFO) -> None:
    """Shows this package's lines from a level on."""
    logger = logging.getLogger("albert")
    logger.handlers = [_Handler()]
    logger.propagate = False
    logger.setLevel(level)
