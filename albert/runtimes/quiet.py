# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Importing TensorFlow without its notices, and fast, in a process that runs a script of ours.

TensorFlow 2.21 prints lines to file descriptor 2 while it is imported that heed no variable. What
the process writes there meanwhile is held back, and shown if the import fails or ends the process.
Never in a program that imports this package as a library.
"""

import contextlib
import gc
import os
import signal
import sys
from typing import Iterator, Tuple


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """While this lasts, another process holds standard error; it is shown unless all goes well.

    So it is also where this process dies, as TensorFlow does on a processor that is too old.
    """
    try:
        kept = os.dup(2)
        sys.stderr.flush()
        holder, pipe = _start_holder()
    except (OSError, AttributeError):  # it is closed, or this system has no fork
        yield
        return
    os.dup2(pipe, 2)
    os.close(pipe)
    is_well = False
    try:
        yield
        is_well = True
    finally:
        sys.stderr.flush()
        # Without the signal, what is held is shown when the last copy of the pipe is closed.
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            if is_well:
                os.kill(holder, signal.SIGKILL)
            os.dup2(kept, 2)
            os.close(kept)
            os.waitpid(holder, 0)


def _start_holder() -> Tuple[int, int]:
    """Starts a process that writes what comes through a pipe to standard error when that ends.

    Returns its number and the pipe's end. A fork costs a millisecond, before anything is imported.
    """
    read_end, write_end = os.pipe()
    process = os.fork()
    if process:
        os.close(read_end)
        return process, write_end
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both
        for descriptor in (0, 1, write_end):  # others wait for these to be closed
            with contextlib.suppress(OSError):
                os.close(descriptor)
        held = b"".join(iter(lambda: os.read(read_end, 1 << 16), b""))
        while held:
            held = held[os.write(2, held) :]
    finally:
        os._exit(0)


@contextlib.contextmanager
def _fast_import() -> Iterator[None]:
    """While this lasts, what TensorFlow imports for the sake of other programs is left out.

    TensorFlow 2.16 and newer import Keras 3, and with it scikit-learn, Matplotlib and IPython: 40%
    of the time. No script needs it; a module that does imports it later. Nothing that is imported
    becomes garbage, so that looking for it is a waste too, now and later.
    """
    before = {name for name in sys.modules if name.split(".")[0] == "keras"}
    if not before:
        # Not Keras itself, whose place TensorFlow looks up for those who import it later.
        sys.modules["keras.src"] = None  # type: ignore[assignment]
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "keras"]:
            if name not in before:
                del sys.modules[name]
        if was_collecting:
            gc.enable()
        gc.freeze()


def import_tensorflow(*, is_verbose: bool) -> None:
    """Imports TensorFlow, for the import statements that follow; `is_verbose`: with its notices.

    It raises nothing: what is wrong with the installation, those statements raise.
    """
    if is_verbose:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    held = contextlib.nullcontext() if is_verbose else held_back()
    with contextlib.suppress(Exception), held, _fast_import():
        # First: it crashes where TensorFlow 1.15 was loaded before it.
        import sentencepiece  # noqa: F401
        import tensorflow.compat.v1  # noqa: F401
