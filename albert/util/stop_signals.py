# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stops a script cleanly on SIGTERM and SIGUSR1, which schedulers send.

    with stop_signals.handled():
        main()

A signal raises `Stopped` in the main thread, as Ctrl-C raises KeyboardInterrupt, and the process
exits with 143. A training calls `postpone` to be asked after each step (`is_requested`), saves, and
ends by `resume`. A second signal ends the process at once.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from typing import Any, Iterator

EXIT_CODE = 143

_SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
_ONE_SIGNAL_SECONDS = 0.5  # a scheduler's to all processes and a parent's to its child are one


class Stopped(SystemExit):  # noqa: N818, no error
    """Ends the script; `words` says what was done and how to resume."""

    def __init__(self, words: str):
        super().__init__(EXIT_CODE)
        self.words = words


_came = ""  # the name of the signal that came
_came_at = 0.0
_is_postponed = False


def _answer(number: int, _: Any) -> None:
    """The handler of the signals."""
    global _came, _came_at
    if _came:
        if time.monotonic() - _came_at > _ONE_SIGNAL_SECONDS:
            os._exit(EXIT_CODE)
        return
    _came, _came_at = signal.Signals(number).name, time.monotonic()
    if not _is_postponed:
        raise Stopped(f"Stopped by {_came}. Run the same command to resume.")
    with contextlib.suppress(OSError):  # nobody reads it any more
        os.write(2, b"Signal received. Finishing this step, then saving.\n")


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """In this context, a signal ends the block with `Stopped` and prints its words.

    Only in the main thread, which alone may set handlers; elsewhere this module has no effect.
    """
    global _came, _is_postponed
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _came, _is_postponed = "", False  # a training that failed outside of a block may leave it True
    before = {number: signal.signal(number, _answer) for number in _SIGNALS}
    try:
        yield
    except Stopped as stop:
        print(stop.words, file=sys.stderr, flush=True)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)  # None: set by C code
        _came, _is_postponed = "", False


def is_requested() -> bool:
    """Returns whether a signal asked this process to end."""
    return bool(_came)


def postpone() -> None:
    """From now on, a signal is only recorded."""
    global _is_postponed
    _is_postponed = True


def resume(words: str = "") -> None:
    """From now on, a signal ends the block again; a recorded one raises Stopped now.

    `words`: what was done and how to resume; without them, a signal stays recorded.
    """
    global _is_postponed
    _is_postponed = False
    if words and _came:
        raise Stopped(f"Stopped by {_came}. {words}")
