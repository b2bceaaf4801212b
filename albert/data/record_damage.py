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
from typing import Iterator, List, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.data.record_index import FileBlocks
from albert.util import many_files
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


_noted: List[List[FileBlocks]] = []  # a list for each block of `explained` that has begun


def note(found: Sequence[FileBlocks]) -> None:
    """Notes the record files that a dataset reads, for the block of `explained` around it."""
    if _noted:
        _noted[-1].extend(found)


@contextlib.contextmanager
def explained(noted: Optional[List[FileBlocks]] = None) -> Iterator[None]:
    """Makes the error of a damaged record say which record of which file it is.

    Args:
      noted: the files that earlier blocks have noted, for datasets that live longer than a block;
        what this block notes is added.

    Raises:
      UserError: a record that was read in the block is damaged.
    """
    _noted.append([] if noted is None else noted)
    try:
        yield
    except tf.errors.DataLossError as error:
        place = _PLACE.search(error.message)
        if not place or not _noted[-1]:
            raise
        raise UserError(_message(_noted[-1], int(place.group(1)))) from error
    finally:
        _noted.pop()


def _message(found: Sequence[FileBlocks], offset: int) -> str:
    numbers = many_files.each(functools.partial(_damaged_at, offset=offset), found)
    for blocks, number in zip(found, numbers):
        if number is not None:
            return record_files.damaged_record(blocks.path, number)
    return (
        f"A record at byte {offset} of one of {len(found)} record files ({found[0].path} ...) "
        "could not be read, and can be now. Give the same command again; if it comes back, look "
        "at the disk."
    )


def _damaged_at(blocks: FileBlocks, *, offset: int) -> Optional[int]:
    """The number of the damaged record at a byte of a file; None if there is none."""
    if offset >= blocks.size:
        return None
    block = bisect.bisect_right(blocks.offsets, offset) - 1
    position, number = blocks.offsets[block], block * blocks.block_records
    # TensorFlow names the first byte of the record, or of its data.
    starts = (offset, offset - record_files.HEADER_BYTES)
    with record_files.open_records(blocks.path) as stream:
        while position < starts[1]:
            length = record_files.read_length(stream, position)
            position += record_files.HEADER_BYTES + length + record_files.FOOTER_BYTES
            number += 1
        is_damaged = position in starts and record_files.read_record(stream, position) is None
    return number if is_damaged else None
