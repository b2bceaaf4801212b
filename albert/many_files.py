# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many files at a time.

    for found in many_files.each(look_at, paths, "Looking at records"):
        ...

Storage far away lets one wait for each file, whatever is asked of it: ten thousand, one after
another, take most of an hour. Threads wait together.
"""

import collections
import itertools
import threading
from concurrent import futures
from typing import Any, Callable, Iterator, Optional, Sequence

from albert import progress

_THREADS = 32


def each(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    name: str,
    *,
    stopped: Optional[threading.Event] = None,
) -> Iterator[Any]:
    """Yields function(item) for each item, in their order, while others are worked on.

    Few results wait to be taken, so that memory stays bounded. Of several errors the one of the
    first item is raised, as in a loop.

    Args:
      function: called in threads; most of its time should be waiting.
      items: mostly paths of files.
      name: what the log calls the work, if it takes long.
      stopped: is set as soon as no more results are wanted, for a function that takes long.

    Raises:
      Exception: as raised by `function`.
    """
    bar = progress.Progress(name, len(items), unit="files", has_bar=False)
    with futures.ThreadPoolExecutor(max(1, min(_THREADS, len(items)))) as pool:
        tasks = (pool.submit(function, item) for item in items)
        waiting = collections.deque(itertools.islice(tasks, 2 * _THREADS))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(itertools.islice(tasks, 1))
                bar.update(1, "")
                yield result
        finally:
            for task in waiting:
                task.cancel()
            if stopped is not None:
                stopped.set()
