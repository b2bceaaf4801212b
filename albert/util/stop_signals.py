# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM and SIGUSR1, by which schedulers ask a process to end, end a script in order.

    with stop_signals.handled():
        main()

A signal raises `Stopped` in the main thread, as Ctrl-C raises KeyboardInterrupt: half-made files
are tidied up, and the process ends with 143. A training postpones that to the end of its step:

    stop_signals.postpone()
    ...  # after each step: save and end if stop_signals.is_requested()
    stop_signals.resume("Saved after step 7.")  # raises Stopped if there was a signal

training/hooks.py does this and saves the checkpoint. A second signal ends the process at once, and
so does a first one that is not answered within 15 seconds, unless a checkpoint is to come. Outside
of `handled` nothing of this has an effect.

Ctrl-C (SIGINT) raises KeyboardInterrupt here and saves no checkpoint: command_line.script prints
"Interrupted." and exits with 130.
"""

import contextlib
import os
import select
import shutil
import signal
import sys
import threading
import time
from typing import Any, Iterator, Optional, Sequence

from albert.runtimes import support

EXIT_CODE = 143

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGUSR1") if hasattr(signal, name)]
# A signal to all processes, and that of a parent to its child, count as one.
_ONE_SIGNAL_SECONDS = 0.5


class Stopped(SystemExit):  # noqa: N818, no error
    """Ends the script; `words` says what was done and how to go on."""

    def __init__(self, words: str):
        super().__init__(EXIT_CODE)
        self.words = words


class _Requests:
    """The signal that came, and whether the process can be ended without loss."""

    def __init__(self, patience_seconds: float):
        self._patience_seconds = patience_seconds
        self.name = ""  # of the signal that came
        self.is_postponed = False
        self.has_news = False  # which a checkpoint will hold
        self.leftovers: Sequence[str] = ()

    def answer(self, number: int, frame: Any) -> None:
        """The handler of the signals; runs in the main thread."""
        del frame
        if self.name:
            return
        self.name = signal.Signals(number).name
        if not self.is_postponed:
            raise Stopped(
                f"Stopped by {self.name}. Nothing is left half-written; the same command goes on."
            )

    def watch(self, pipe: int) -> None:
        """Sees to it that signals are answered even while the main thread is in TensorFlow."""
        first: Optional[float] = None
        deadline: Optional[float] = None
        while True:
            ready, _, _ = select.select([pipe], [], [], None if first is None else 1.0)
            numbers = os.read(pipe, 64) if ready else b""
            if 0 in numbers:
                return
            now = time.monotonic()
            is_asked = any(number in numbers for number in _SIGNALS)
            if is_asked and first is None:
                first, deadline = now, now + self._patience_seconds
                self._acknowledge()
                continue
            if is_asked and now - first > _ONE_SIGNAL_SECONDS:
                self._end("a second signal")
            if first is not None and self.has_news:
                deadline = now + self._patience_seconds
            elif deadline is not None and now >= deadline:
                self._end("a signal: what was going on took too long to end")

    def _acknowledge(self) -> None:
        if self.is_postponed:
            print("A signal: this step is finished first.", file=sys.stderr, flush=True)

    def _end(self, reason: str) -> None:
        print(
            f"Ended at once by {reason}. The same command goes on from the last checkpoint.",
            file=sys.stderr,
            flush=True,
        )
        for folder in self.leftovers:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(EXIT_CODE)


_requests: Optional[_Requests] = None


def _leave_to_parent() -> None:
    """In a forked child: the parent's handlers do not apply to it."""
    if _requests is not None:
        with contextlib.suppress(ValueError):  # a thread has forked
            signal.set_wakeup_fd(-1)
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


@contextlib.contextmanager
def handled(patience_seconds: float = 15.0) -> Iterator[None]:
    """While this lasts, a signal ends the block by `Stopped`, whose words are shown.

    `patience_seconds`: how long the answer may take. Only in the main thread, which alone may set
    handlers.
    """
    global _requests
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    outer, _requests = _requests, _Requests(patience_seconds)
    watcher = threading.Thread(target=_requests.watch, args=(reading,), daemon=True)
    watcher.start()
    before = {number: signal.signal(number, _requests.answer) for number in _SIGNALS}
    if signal.getsignal(signal.SIGINT) is support.interrupted:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    descriptor = signal.set_wakeup_fd(writing)
    try:
        yield
    except Stopped as stop:
        print(stop.words, file=sys.stderr, flush=True)
        raise
    finally:
        signal.set_wakeup_fd(descriptor)
        for number, handler in before.items():
            # None: the handler was set by C code.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.write(writing, b"\0")
        watcher.join()
        os.close(writing)
        os.close(reading)
        _requests = outer


def is_requested() -> bool:
    """Returns whether a signal asked this process to end."""
    return _requests is not None and bool(_requests.name)


def postpone(leftovers: Sequence[str] = ()) -> None:
    """From now on a signal is only noted; `leftovers`: folders to remove if it ends here."""
    if _requests is not None:
        _requests.is_postponed, _requests.leftovers = True, leftovers


def has_news() -> None:
    """Says that ending at once would lose something, which a checkpoint will hold."""
    if _requests is not None:
        _requests.has_news = True


def resume(words: str = "") -> None:
    """From now on a signal ends the block again; one that was noted raises Stopped now.

    `words`: what was done and how to go on; without them a signal stays noted.
    """
    if _requests is None:
        return
    _requests.is_postponed, _requests.has_news, _requests.leftovers = False, False, ()
    if words and _requests.name:
        raise Stopped(f"Stopped by {_requests.name}. {words}")
