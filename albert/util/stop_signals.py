# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stops a script cleanly on SIGTERM and SIGUSR1, which schedulers send.

    with stop_signals.handled():
        main()

A signal raises `Stopped` in the main thread, as Ctrl-C raises KeyboardInterrupt, and the process
exits with 143. A training run calls `postpone`. It then checks `is_requested` after each step, and
if a signal came, saves a checkpoint and ends by `resume`.

Python calls signal handlers in the main thread, but only after a running call of TensorFlow
returns. So another thread watches the signals, too. It ends the process at a second signal, or if
the main thread does not handle the first one within 10 seconds and signals are not postponed.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from typing import Any, Iterator, Optional

EXIT_CODE = 143

_SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
# A process may get one signal twice: from the scheduler, and from its parent. Two signals within
# this time count as one.
_ONE_SIGNAL_SECONDS = 0.5
ANSWER_SECONDS = 10.0


class Stopped(SystemExit):  # noqa: N818, no error
    """Ends the script. `message` tells the user how to resume."""

    def __init__(self, message: str):
        super().__init__(EXIT_CODE)
        self.message = message


_reason = ""  # why this process shall end, such as a signal's name; "" if it shall not
_is_handled = False  # Whether the main thread has handled a signal.
_is_postponed = False


def _handle(number: int, _: Any) -> None:
    """Handles a signal, in the main thread."""
    global _is_handled
    is_first, _is_handled = not _is_handled, True
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    request(signal.Signals(number).name)
    if is_first and not _is_postponed:
        raise Stopped(f"Stopped by {_reason}. Run the same command again.")


def _watch(pipe: int) -> None:
    """Ends the process if needed. The pipe sends the number of each signal, and 0 at the end."""
    first = _next_signal(pipe, None)
    start = time.monotonic()
    seconds: Optional[float] = ANSWER_SECONDS
    if first in _SIGNALS:
        request(signal.Signals(first).name)
    if first and _is_postponed:
        _say("Signal received. Waiting for this step to end. A second signal ends it at once.")
    number = first
    while number != 0:
        number = _next_signal(pipe, seconds)
        if number is None and (_is_handled or _is_postponed):
            seconds = None
        elif number is None or (number and time.monotonic() - start > _ONE_SIGNAL_SECONDS):
            _say(f"Stopped at once by {signal.Signals(number or first).name}.")
            os._exit(130 if first == signal.SIGINT else EXIT_CODE)


def _next_signal(pipe: int, seconds: Optional[float]) -> Optional[int]:
    """Returns the next SIGINT, SIGTERM or SIGUSR1, or 0; None if no signal comes in `seconds`."""
    while select.select([pipe], [], [], seconds)[0]:
        number = os.read(pipe, 1)[0]
        if number in (0, signal.SIGINT, *_SIGNALS):
            return number
    return None


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # Standard error may be closed.
        os.write(2, f"{line}\n".encode())


# A forked process must not write its signals into its parent's pipe.
os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """In this context, a signal ends the block with `Stopped` and prints its message.

    Only the main thread may set signal handlers. In other threads, this has no effect.
    """
    global _reason, _is_handled, _is_postponed
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # If training failed outside of a block, `_is_postponed` may still be True.
    _reason, _is_handled, _is_postponed = "", False, False
    pipe, end = os.pipe()
    os.set_blocking(end, False)
    watcher = threading.Thread(target=_watch, args=(pipe,), daemon=True)
    watcher.start()
    numbers = list(_SIGNALS)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        numbers.append(signal.SIGINT)
    handlers = {number: signal.signal(number, _handle) for number in numbers}
    old_pipe = signal.set_wakeup_fd(end, warn_on_full_buffer=False)
    try:
        yield
    except Stopped as stop:
        print(stop.message, file=sys.stderr, flush=True)
        raise
    finally:
        signal.set_wakeup_fd(old_pipe)
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)  # None: C code set it.
        os.write(end, b"\0")
        watcher.join()
        os.close(pipe)
        os.close(end)
        _reason, _is_postponed = "", False


def request(reason: str) -> None:
    """Requests the end of this process, as a signal does."""
    global _reason
    _reason = _reason or reason


def is_requested() -> bool:
    """Returns whether a signal or `request` has requested the end of this process."""
    return bool(_reason)


def postpone() -> None:
    """From now on, records signals without ending the block."""
    global _is_postponed
    _is_postponed = True


def resume(message: str = "") -> None:
    """From now on, a signal ends the block again. A recorded signal raises Stopped now.

    `message`: what was done and how to resume. If empty, a recorded signal does not raise.
    """
    global _is_postponed
    _is_postponed = False
    if message and _reason:
        raise Stopped(f"Stopped by {_reason}. {message}")
