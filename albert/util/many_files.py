# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads many files in threads, because remote storage answers each request slowly."""

from concurrent import futures
from typing import Any, Callable, Iterator, Sequence

from albert.util import parallel, progress

_THREADS = 32


def each(function: Callable[[Any], Any], items: Sequence[Any], name: str = "") -> Iterator[Any]:
    """Yields function(item) for each item, in their order, while threads work on the next ones.

    Memory holds only a few results at a time. If several items fail, the error of the first one is
    raised, as in a loop. `name` is for the progress in the log.
    """
    bar = progress.Progress(name or "Files", len(items), unit="files", has_bar=False)
    with futures.ThreadPoolExecutor(_THREADS) as pool:
        for result in parallel.in_order(pool, function, items, ahead=2 * _THREADS):
            bar.update(1)
            yield result
