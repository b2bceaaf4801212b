# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The progress of a long job (a bar on a terminal or in a notebook, otherwise log lines)."""

import contextlib
import logging
import resource
import sys
import time
from typing import Any, Iterable, Iterator, Optional

from tqdm.auto import tqdm

_LOGGER = logging.getLogger(__name__)
# On a terminal, a note needs the place of the speed and of a wide bar.
_WITH_NOTE = "{l_bar}{bar:10}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"


def format_seconds(seconds: float) -> str:
    """Returns 00:07, 12:34 or 1:23:45."""
    return tqdm.format_interval(round(seconds))


def peak_memory() -> int:
    """Returns this process's peak resident memory in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class Progress(contextlib.AbstractContextManager):
    """Counts the units of a job, and shows the progress and the time left."""

    def __init__(
        self,
        name: str,
        total: Optional[float],
        *,
        unit: str,
        done: float = 0,
        has_bar: bool = True,
        log_seconds: float = 10.0,
    ):
        """Starts to count units such as "MB".

        Args:
          name: the job's name.
          total: None if it is unknown.
          unit: the unit's name.
          done: units of an earlier run; the speed ignores them.
          has_bar: on a terminal, show a bar. Otherwise, the log gets lines.
          log_seconds: seconds between log lines.
        """
        self._name, self._total, self._unit, self._log_seconds = name, total, unit, log_seconds
        self._done = self._skipped = done
        self._started = self._last_line = time.time()
        in_notebook = type(sys.stderr).__module__ == "ipykernel.iostream"
        self._format_with_note = None if in_notebook else _WITH_NOTE
        self._bar = tqdm(
            total=total,
            initial=done,
            desc=name,
            unit=unit,
            unit_scale=unit == "MB",
            dynamic_ncols=True,
            disable=not (has_bar and (in_notebook or (sys.stderr and sys.stderr.isatty()))),
        )

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()

    def update(self, units: float, note: str = "", *, logs: bool = False) -> None:
        """Counts finished units, and shows `note` in the bar or line.

        `logs`: write a log line now, even if there is a bar.
        """
        self._done += units
        if note:
            self._bar.bar_format = self._format_with_note
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(units)
        now = time.time()
        if logs or (self._bar.disable and now - self._last_line >= self._log_seconds):
            self._last_line = now
            _LOGGER.info("%s: %s", self._name, self._line(note, now - self._started))

    def counting(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yields the items, and counts each as one unit."""
        for item in items:
            yield item
            self.update(1)

    def _line(self, note: str, elapsed: float) -> str:
        done, total, fresh = self._done, self._total, self._done - self._skipped
        parts = [f"{done:,.0f} {self._unit}", note]
        if total:
            parts[0] = f"{done:,.0f}/{total:,.0f} {self._unit} ({done / total:.0%})"
            if fresh > 0:
                parts.append(f"{format_seconds((total - done) * elapsed / fresh)} left")
        return ", ".join(filter(None, parts))
