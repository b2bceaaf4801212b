# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the damaged record that a training or an evaluation stumbled over.

    with record_damage.explained(batches_done=lambda: reporter.step):
        estimator.train(...)

TensorFlow says at which byte a record is damaged, but not of which file. Whoever builds a dataset
notes its files here, and when the error comes, they are looked through outside of the graph: those
first that were being read, each as a stream and only as far as that byte.
"""

import contextlib
import re
from concurrent import futures
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.util import files

_PLACE = re.compile(r"(?:corrupted|truncated) record at (\d+)")
_FILES_AT_ONCE = 16  # remote ones answer slowly


class Reading(NamedTuple):
    """The files of a dataset."""

    paths: Sequence[str]
    order: Callable[[int], Sequence[str]]  # after how many batches -> all files, likely ones first


_noted: List[List[Reading]] = []  # a list for each block of `explained` that has begun


def note(paths: Sequence[str], order: Callable[[int], Sequence[str]]) -> None:
    """Notes the files that a dataset reads, for the block of `explained` around it.

    Args:
      paths: record files.
      order: number of batches that were served -> the same files, those first that are read then.
    """
    if _noted:
        _noted[-1].append(Reading(list(paths), order))


@contextlib.contextmanager
def explained(
    batches_done: Callable[[], int] = lambda: 0, *, readings: Optional[List[Reading]] = None
) -> Iterator[None]:
    """Makes the error of a damaged record say which record of which file it is.

    Args:
      batches_done: batches of each dataset that were used up when the error came; a file is found
        sooner with it, and found without it.
      readings: what earlier blocks have noted, where datasets live longer than a block; what this
        one notes is added.

    Raises:
      ValueError: a record that was read in the block is damaged.
    """
    readings = [] if readings is None else readings
    _noted.append(readings)
    try:
        yield
    except tf.errors.DataLossError as error:
        place = _PLACE.search(error.message)
        if not place or not readings:
            raise
        message = _message(readings, int(place.group(1)), batches_done())
        raise ValueError(message) from error
    finally:
        _noted.pop()


def _message(readings: Sequence[Reading], offset: int, batches: int) -> str:
    """Says which record is damaged."""
    likely = [path for reading in readings for path in reading.order(batches)]
    paths = list(dict.fromkeys(likely))
    found = _find(paths, offset)
    if found:
        return files.damaged_record(*found)
    return (
        f"A record at byte {offset} of one of {len(paths)} record files ({paths[0]} ...) could not "
        "be read, and can be now. Give the same command again; if it comes back, look at the disk."
    )


def _find(paths: Sequence[str], offset: int) -> Optional[Tuple[str, int]]:
    """The first file with a damaged record no further than a byte, and the record's number."""
    with futures.ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
        for first in range(0, len(paths), _FILES_AT_ONCE):
            some = paths[first : first + _FILES_AT_ONCE]
            numbers = pool.map(lambda path: files.find_damaged_record(path, offset=offset), some)
            damaged = [(path, number) for path, number in zip(some, numbers) if number is not None]
            if damaged:
                return damaged[0]
    return None
