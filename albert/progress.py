# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How far a long job is: a bar on a terminal, a line every so often in a log; and its memory."""

import logging
import multiprocessing
import os
import sys
import time
from typing import Any, Iterable, Iterator, List

from tqdm import tqdm

_LOGGER = logging.getLogger(__name__)

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_SAMPLES = 2.0
_ITEMS_BETWEEN_UPDATES = 1000


def format_seconds(seconds: float) -> str:
    """Returns 0:07, 12:34 or 1:23:45."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Progress:
    """Counts the units of a job and says how far it is, how fast, and how long it will take."""

    def __init__(self, name: str, total: float, *, unit: str):
        """`unit`: what `total` counts, for example "MB" or "instances"."""
        self._name, self._total, self._unit = name, max(total, 1e-9), unit
        self._digits = 0 if total >= 100 or total == int(total) else 1
        self._done = 0.0
        self._started = self._last_line = time.time()
        self._resumed = 0.0
        self._bar = None
        if sys.stderr.isatty():
            counts = f"{{n:.{self._digits}f}}/{{total:.{self._digits}f}} {unit}"
            self._bar = tqdm(
                total=self._total,
                desc=name,
                bar_format="{desc}: {percentage:3.0f}%|{bar}| "
                + counts
                + " [{elapsed}<{remaining}{postfix}]",
            )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        if self._bar is not None:
            self._bar.close()

    def skip(self, units: float) -> None:
        """Counts units that were done before: they say nothing about the speed."""
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
        left = (self._total - self._done) * elapsed / fresh if fresh > 0 else 0.0
        share = 100 * self._done / self._total
        done, total = f"{self._done:,.{self._digits}f}", f"{self._total:,.{self._digits}f}"
        details = [f"{done} of {total} {self._unit}", note, f"{format_seconds(left)} left"]
        return f"{self._name}: {share:.0f}%, {', '.join(filter(None, details))}"


class PeakMemory:
    """The largest sum of memory of this process and its children that was seen.

    On Linux a page that n processes share counts 1/n in each (proportional set size), so that the
    sum is what the processes take together. It is sampled, at most every two seconds, by whoever
    calls `sample`. Elsewhere it is the largest resident set of this process.
    """

    def __init__(self):
        self._peak = 0
        self._next_sample = 0.0

    def sample(self, *, now: bool = False) -> None:
        """Looks at the memory, if it is time to or `now`."""
        if now or time.time() >= self._next_sample:
            self._next_sample = time.time() + _SECONDS_BETWEEN_SAMPLES
            children = [child.pid for child in multiprocessing.active_children()]
            self._peak = max(self._peak, memory_in_use([os.getpid()] + children))

    def megabytes(self) -> float:
        """Returns the peak."""
        return self._peak / 1e6


def memory_in_use(process_ids: List[int]) -> int:
    """Returns the bytes that the processes take together; see PeakMemory."""
    if not os.path.exists("/proc/self/smaps_rollup"):
        import resource  # not on every system

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return sum(_proportional_set_size(process_id) for process_id in process_ids)


def _proportional_set_size(process_id: int) -> int:
    """Bytes; 0 for a process that has ended."""
    try:
        with open(f"/proc/{process_id}/smaps_rollup", encoding="ascii") as stream:
            fields = dict(line.split(":", 1) for line in stream if line.startswith("Pss:"))
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields["Pss"].split()[0]) * 1024 if fields else 0
