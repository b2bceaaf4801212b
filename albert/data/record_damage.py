# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads records with their checksums, and finds the one that stopped a training.

    with record_damage.explained(batches_done=lambda: reporter.step):
        estimator.train(...)

TensorFlow says at which byte a record is damaged, but not of which file. Code that builds a dataset
notes its files here. When the error comes, they are searched outside of the graph: those first that
were being read, each as a stream and only as far as that byte.
"""

import contextlib
import re
from concurrent import futures
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.util.errors import UserError

_PLACE = re.compile(r"(?:corrupted|truncated) record at (\d+)")
_FILES_AT_ONCE = 16  # remote ones answer slowly


def records(path: str) -> Iterator[bytes]:
    """Yields the records of a TFRecord file, whose checksums are verified.

    Raises:
      ValueError: a record is damaged; the message has the file and the record's number.
    """
    count = 0
    try:
        for record in tf.python_io.tf_record_iterator(str(path)):
            yield record
            count += 1
    except tf.errors.DataLossError:
        raise UserError(record_files.damaged_record(str(path), count)) from None


def find_damaged_record(path: str, *, offset: Optional[int] = None) -> Optional[int]:
    """Returns the number, from 0, of the first damaged record of a TFRecord file; None without one.

    The file is read as a stream, to its end or to the record that is at the byte `offset`.
    """
    count = position = 0
    try:
        for record in tf.python_io.tf_record_iterator(str(path)):
            count += 1
            position += record_files.HEADER_BYTES + len(record) + record_files.FOOTER_BYTES
            if offset is not None and position > offset:
                return None
    except tf.errors.DataLossError:
        return count
    return None


class Reading(NamedTuple):
    """The files of a dataset."""

    paths: Sequence[str]
    order: Callable[[int], Sequence[str]]  # after how many batches -> all files, likely ones first


_noted: List[List[Reading]] = []  # a list for each block of `explained` that has begun


def note(paths: Sequence[str], order: Callable[[int], Sequence[str]]) -> None:
    """Notes the record files that a dataset reads, for the block of `explained` around it.

    `order` takes the number of batches that were served and returns the same files, those first
    that are read then.
    """
    if _noted:
        _noted[-1].append(Reading(list(paths), order))


@contextlib.contextmanager
def explained(
    batches_done: Callable[[], int] = lambda: 0, *, readings: Optional[List[Reading]] = None
) -> Iterator[None]:
    """Makes the error of a damaged record say which record of which file it is.

    Args:
      batches_done: batches of each dataset that were used up when the error came: the file is
        found sooner.
      readings: what earlier blocks have noted, for datasets that live longer than a block; what
        this block notes is added.

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
        raise UserError(message) from error
    finally:
        _noted.pop()


def _message(readings: Sequence[Reading], offset: int, batches: int) -> str:
    paths = list(dict.fromkeys(path for one in readings for path in one.order(batches)))
    found = _find(paths, offset)
    if found:
        return record_files.damaged_record(*found)
    return (
        f"A record at byte {offset} of one of {len(paths)} record files ({paths[0]} ...) could not "
        "be read, and can be now. Give the same command again; if it comes back, look at the disk."
    )


def _find(paths: Sequence[str], offset: int) -> Optional[Tuple[str, int]]:
    """The first file with a damaged record no further than a byte, and the record's number."""
    with futures.ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
        for first in range(0, len(paths), _FILES_AT_ONCE):
            some = paths[first : first + _FILES_AT_ONCE]
            numbers = pool.map(lambda path: find_damaged_record(path, offset=offset), some)
            damaged = [(path, number) for path, number in zip(some, numbers) if number is not None]
            if damaged:
                return damaged[0]
    return None
