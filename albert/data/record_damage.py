# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads records with their checksums, and finds the one that stopped a training.

    with record_damage.explained():
        estimator.train(...)

TensorFlow says at which byte a record is damaged, but not of which file. Code that builds a dataset
notes its files here; when the error comes, each is looked at near that byte.
"""

import bisect
import contextlib
import functools
import re
from typing import Iterator, List, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.data.record_files import BlockOffsets
from albert.util import files, many_files
from albert.util.errors import UserError

_PLACE = re.compile(r"(?:corrupted|truncated) record at (\d+)")


def records(path: str) -> Iterator[bytes]:
    """Yields the records of a TFRecord file, whose checksums are verified.

    Raises:
      UserError: a record is damaged; the message has the file and the record's number.
    """
    count = 0
    try:
        for record in tf.python_io.tf_record_iterator(str(path)):
            yield record
            count += 1
    except tf.errors.DataLossError:
        raise UserError(record_files.damaged_record(str(path), count)) from None


_noted: List[List[BlockOffsets]] = []  # a list for each block of `explained` that has begun


def note(found: Sequence[BlockOffsets]) -> None:
    """Notes the record files that a dataset reads, for the block of `explained` around it."""
    if _noted:
        _noted[-1].extend(found)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Makes the error of a damaged record say which record of which file it is.

    Raises:
      UserError: a record that was read in the block is damaged.
    """
    noted: List[BlockOffsets] = []
    _noted.append(noted)
    try:
        yield
    except tf.errors.DataLossError as error:
        place = _PLACE.search(error.message)
        damaged = _find(noted, int(place.group(1))) if place else None
        if not damaged:
            raise
        raise UserError(record_files.damaged_record(*damaged)) from error
    finally:
        _noted[:] = [one for one in _noted if one is not noted]


def _find(noted: Sequence[BlockOffsets], offset: int) -> Optional[Tuple[str, int]]:
    """The first file with a damaged record at a byte, and the record's number."""
    numbers = many_files.each(functools.partial(_damaged_at, offset=offset), noted)
    found = ((one.path, number) for one, number in zip(noted, numbers) if number is not None)
    return next(found, None)


def _damaged_at(blocks: BlockOffsets, *, offset: int) -> Optional[int]:
    """The number of the damaged record at a byte of a file; None if there is none."""
    if offset >= blocks.size:
        return None
    block = bisect.bisect_right(blocks.offsets, offset) - 1
    position, number = blocks.offsets[block], block * blocks.block_records
    # TensorFlow names the first byte of the record, or of its data.
    starts = (offset, offset - record_files.HEADER_BYTES)
    with files.open_to_read(blocks.path) as stream:
        while position < starts[1]:
            position = record_files.end_of_record(stream, position)
            number += 1
        is_damaged = position in starts and record_files.read_record(stream, position) is None
    return number if is_damaged else None
