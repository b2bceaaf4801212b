# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How far a long job is: a bar on a terminal, a line every so often in a log; and its memory."""

import logging
import resource
import sys
import time
from typing import Any, Iterable, Iterator, Optional

from tqdm import tqdm

_LOGGER = logging.getLogger(__name__)


def format_seconds(seconds: float) -> str:
    """Returns 00:07, 12:34 or 1:23:45."""
    return tqdm.format_interval(round(seconds))


def peak_memory() -> int:
    """Returns the most bytes that this process has had resident at a time."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class Progress:
    """Counts the units of a job and says how far it is and how long it will take."""

    def __init__(
        self,
        name: str,
        total: Optional[float],
        *,
        unit: str,
        has_bar: bool = True,
        log_seconds: float = 10.0,
    ):
        """Begins to count units such as "MB"; `total` is None where it is unknown.

        With `has_bar` a terminal gets a bar. Otherwise the log gets a line every `log_seconds`.
        """
        self._name, self._total, self._unit, self._log_seconds = name, total, unit, log_seconds
        self._done = self._skipped = 0.0
        self._started = self._last_line = time.time()
        self._bar = tqdm(
            total=total,
            desc=name,
            unit=unit,
            unit_scale=unit == "MB",
            dynamic_ncols=True,
            disable=not (has_bar and sys.stderr.isatty()),
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()

    def skip(self, units: float) -> None:
        """Counts units that were done before, which are left out of the speed."""
        self._skipped += units
        self._done += units
        if not self._bar.disable:
            self._bar.initial += units
            self._bar.update(units)

    def update(self, units: float, note: str = "", *, logs: bool = False) -> None:
        """Counts units that were done now; `note` is shown with the bar or line.

        `logs`: write a line now, beside a bar too.
        """
        self._done += units
        if not self._bar.disable:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(units)
        if logs or (self._bar.disable and time.time() - self._last_line >= self._log_seconds):
            self._last_line = time.time()
            _LOGGER.info("%s: %s", self._name, ", ".join(filter(None, self._details(note))))

    def counting(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yields the items and counts each as a unit."""
        for item in items:
            yield item
            self.update(1)

    def _details(self, note: str) -> Iterator[str]:
        """The parts of a line."""
        fresh, elapsed = self._done - self._skipped, time.time() - self._started
        if self._total is None:
            yield f"{self._done:,.0f} {self._unit}"
            yield note
            return
        share = 100 * self._done / max(self._total, 1e-9)
        yield f"{self._done:,.0f}/{self._total:,.0f} {self._unit} ({share:.0f}%)"
        yield note
        if fresh > 0:
            yield f"{format_seconds((self._total - self._done) * elapsed / fresh)} left"
