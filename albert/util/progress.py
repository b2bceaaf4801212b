# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How far a long job is: a bar on a terminal, a line every so often in a log; and its memory."""

import logging
import multiprocessing
import os
import sys
import time
from typing import Any, Iterable, Iterator, Optional, Sequence, Union

from tqdm import tqdm

_LOGGER = logging.getLogger(__name__)

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_SAMPLES = 2.0
_ITEMS_BETWEEN_UPDATES = 1000


def format_seconds(seconds: float) -> str:
    """Returns 00:07, 12:34 or 1:23:45."""
    return tqdm.format_interval(round(seconds))


class Progress:
    """Counts the units of a job and says how far it is, how fast, and how long it will take."""

    def __init__(self, name: str, total: Optional[float], *, unit: str, has_bar: bool = True):
        """Begins to count units such as "MB"; `total` is None where it is unknown.

        With `has_bar` a terminal gets a bar; otherwise there are lines in the log, which a job of
        less than ten seconds has none of.
        """
        self._name, self._unit = name, unit
        self._total = None if total is None else max(total, 1e-9)
        self._digits = 0 if total is None or total >= 100 or total == int(total) else 1
        self._done = 0.0
        self._started = self._last_line = time.time()
        self._resumed = 0.0
        self._bar = None
        if has_bar and sys.stderr.isatty():
            counts = f"{{n:.{self._digits}f}}/{{total:.{self._digits}f}} {unit}"
            known = (
                "{desc}: {percentage:3.0f}%|{bar}| " + counts + " [{elapsed}<{remaining}{postfix}]"
            )
            self._bar = tqdm(
                total=self._total, desc=name, unit=unit, bar_format=known if self._total else None
            )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.close()

    def skip(self, units: float) -> None:
        """Counts units that were done before, which are left out of the speed."""
        self._resumed += units
        if self._bar is not None:
            self._bar.initial += units
        self.update(units, "")

    def update(self, units: float, note: str) -> None:
        """Counts units that were done now; `note` is shown with the bar or line."""
        self._done += units
        if self._bar is not None:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(units)
        elif time.time() - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = time.time()
            _LOGGER.info("%s", self._line(note))

    def counting(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yields the items and counts each as a unit."""
        uncounted = 0
        for item in items:
            yield item
            uncounted += 1
            if uncounted == _ITEMS_BETWEEN_UPDATES:
                self.update(uncounted, "")
                uncounted = 0
        self.update(uncounted, "")

    def _line(self, note: str) -> str:
        """One line for the log."""
        fresh = self._done - self._resumed
        elapsed = time.time() - self._started
        if self._total is None:
            speed = fresh / elapsed if elapsed > 0 else 0.0
            details = [f"{self._done:,.0f} {self._unit}", note, f"{speed:.1f} {self._unit}/s"]
            return f"{self._name}: {', '.join(filter(None, details))}"
        left = (self._total - self._done) * elapsed / fresh if fresh > 0 else 0.0
        share = 100 * self._done / self._total
        done, total = f"{self._done:,.{self._digits}f}", f"{self._total:,.{self._digits}f}"
        details = [f"{done} of {total} {self._unit}", note, f"{format_seconds(left)} left"]
        return f"{self._name}: {share:.0f}%, {', '.join(filter(None, details))}"


class PeakMemory:
    """The largest memory of this process and its children together, of some samples."""

    def __init__(self):
        self._peak = 0
        self._next_sample = 0.0

    def sample(self, *, now: bool = False) -> None:
        """Looks at the memory, at most every two seconds, or `now`."""
        if now or time.time() >= self._next_sample:
            self._next_sample = time.time() + _SECONDS_BETWEEN_SAMPLES
            children = [child.pid for child in multiprocessing.active_children() if child.pid]
            self._peak = max(self._peak, memory_in_use(os.getpid(), children))

    def megabytes(self) -> float:
        """Returns the peak."""
        return self._peak / 1e6


def peak_memory() -> int:
    """Returns the most bytes that this process has had resident at a time.

    On Linux from the kernel's account, since `getrusage` there begins with the size of the program
    that started this one.
    """
    peak = _memory_fields("self", ("VmHWM",), account="status")
    if peak:
        return peak
    import resource  # not on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def memory_in_use(parent: int, children: Sequence[int]) -> int:
    """Returns the bytes that a process and those forked from it take together, by process ids.

    On Linux: the resident set of the parent and what each child does not share. (The proportional
    set size would be too small where other programs use the same libraries.) Elsewhere: the largest
    resident set that this process has had.
    """
    if not os.path.exists("/proc/self/smaps_rollup"):
        return peak_memory()
    private = [_memory_fields(child, ("Private_Clean", "Private_Dirty")) for child in children]
    return _memory_fields(parent, ("Rss",)) + sum(private)


def _memory_fields(
    process: Union[int, str], names: Sequence[str], *, account: str = "smaps_rollup"
) -> int:
    """The sum of some fields of the kernel's account of a process, in bytes; 0 without one."""
    try:
        with open(f"/proc/{process}/{account}", encoding="ascii", errors="replace") as stream:
            fields = dict(line.split(":", 1) for line in stream if ":" in line)
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(fields[name].split()[0]) * 1024 for name in names if name in fields)
