# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files of features that are made once, in parallel, and used again while nothing has changed.

    record_file = build_records(
        "cache/mrpc_train.128.tf_record",
        fingerprint={"tokenizer": ..., "max_seq_length": 128},
        spec=spec,
        items=examples,
        convert=convert_chunk,
        description="mrpc train",
    )
    record_file.path            # "cache/mrpc_train.128.5e0b6a1f.tf_record"

A hash of what a file is made from is part of its name, so that runs with other settings,
vocabularies or data can share a folder. A file that the user names keeps its name, and is replaced
when it was made from something else.
"""

import collections
import hashlib
import json
import logging
import multiprocessing
import os
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Union,
)

import tensorflow.compat.v1 as tf

from albert.data import batches, record_damage, record_files
from albert.util import files, parallel, progress, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger(__name__)

_CHUNK_ITEMS = 128  # that a worker takes at a time
_DIGITS = 8  # of the fingerprint's hash in a file's name
_WORTH_FORKING = 1000  # for fewer items starting processes takes longer than converting


class Conversion(NamedTuple):
    """The result of converting some items."""

    records: List[Any]  # feature name -> values, as the spec takes them; then as bytes
    notes: Mapping[str, int] = {}  # what is worth counting -> how often


class RecordFile(NamedTuple):
    """A finished record file."""

    path: str
    count: int  # type: ignore[assignment]  # of records; a tuple's method
    was_current: bool  # nothing had to be done
    notes: Mapping[str, int]  # of the conversion; empty if the file was current


def build_records(
    path: str,
    *,
    fingerprint: Mapping[str, Any],
    spec: batches.FeatureSpec,
    items: Union[Sequence[Any], Callable[[], Sequence[Any]]],
    convert: Callable[[Sequence[Any]], Conversion],
    exact_path: bool = False,
    num_processes: Optional[int] = None,
    description: str = "features",
) -> RecordFile:
    """Returns the record file for `fingerprint`: the present one if it is whole, else a new one.

    The records are in the order of the items and the same bytes for any number of processes.

    Args:
      path: the record file, without the digits that are put before its extension unless
        `exact_path`.
      fingerprint: JSON values that decide the records. The features' names, shapes and types are
        added.
      spec: declaration of the records.
      items: what the records are made from, or a function that returns it and is called only if
        the file has to be made.
      convert: some consecutive items -> their records. It is called in forked processes, which have
        the items already: neither need be picklable, and it should not use TensorFlow.
      num_processes: by default as many as there are processors, and 1 for a few items.
      description: what the log calls the file's content.

    Raises:
      ValueError: num_processes is below 1, a file that is no record file is in the way, or as
        raised by `convert`.
    """
    declared = [f"{one.name} {one.dtype.name} {list(one.shape)}" for one in spec.features]
    whole = dict(fingerprint, features=declared)
    path = str(path) if exact_path else fingerprinted_path(path, whole)
    reason = record_files.why_stale(path, whole)
    damaged = None if reason else record_damage.find_damaged_record(path)
    if damaged is not None:
        reason = f"its record {damaged} (counted from 0) is damaged"
    if not reason:
        count = record_files.read_sidecar(path).count
        _LOGGER.info(
            "%s: %s already there: %s", description, wording.counted(count, "record"), path
        )
        return RecordFile(path, count, True, {})
    if exact_path:
        _refuse_to_replace_other_data(path)
    _LOGGER.info("%s: creating %s, because %s.", description, path, reason)
    items = items() if callable(items) else items

    def encode(first: int) -> Conversion:
        converted = convert(items[first : first + _CHUNK_ITEMS])
        return Conversion([spec.encode(record) for record in converted.records], converted.notes)

    chunks = range(0, len(items), _CHUNK_ITEMS)
    encoded = parallel.ordered_map(encode, chunks, processes_for(num_processes, len(items)))
    with batches.AtomicRecordWriter(path, whole) as writer:
        notes = _write(encoded, writer, len(items), description=description)
    return RecordFile(path, writer.count, False, notes)


def _write(
    encoded: Iterable[Conversion],
    writer: batches.AtomicRecordWriter,
    count: int,
    *,
    description: str,
) -> Dict[str, int]:
    """Writes the records of all chunks, adds up their notes, and logs one line on them."""
    started = time.time()
    notes: Dict[str, int] = collections.Counter()
    with progress.Progress(description, count, unit="examples") as bar:
        for number, conversion in enumerate(encoded):
            for record in conversion.records:
                writer.write(record)
            notes.update(conversion.notes)
            bar.update(min(_CHUNK_ITEMS, count - number * _CHUNK_ITEMS), "")
    seconds = max(time.time() - started, 1e-6)
    details = "".join(f"; {number} x {what}" for what, number in sorted(notes.items()) if number)
    made = wording.counted(writer.count, "record")
    written = description, made, seconds, writer.count / seconds, details
    _LOGGER.info("%s: %s in %.1f s (%.0f/s)%s.", *written)
    return dict(notes)


def _refuse_to_replace_other_data(path: str) -> None:
    """Raises a ValueError for a file that does not look like a record file."""
    if not tf.io.gfile.exists(path) or record_files.read_sidecar(path):
        return
    if not record_files.looks_like_records(path):
        raise UserError(
            f"{path} exists and is no record file, so it is not replaced by features. Name another "
            "file for them, or remove this one."
        )


def fingerprinted_path(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns `path` with eight digits of the fingerprint's hash before its extension."""
    text = json.dumps(files.normalized_fingerprint(fingerprint), sort_keys=True)
    digits = hashlib.sha256(text.encode("utf-8")).hexdigest()[:_DIGITS]
    stem, extension = os.path.splitext(str(path))
    return f"{stem}.{digits}{extension}"


def digest(examples: Iterable[Any]) -> str:
    """Returns a hash of what records are made from, in order: objects with fields, or values."""
    found = hashlib.sha256()
    for example in examples:
        content = repr(getattr(example, "__dict__", example))
        found.update(content.encode("utf-8", "backslashreplace"))
    return found.hexdigest()[:16]


def tokenizer_fingerprint(tokenizer: Any) -> Mapping[str, Any]:
    """Returns JSON values, of the vocabulary's content, that are equal for equal tokenizers."""
    if tokenizer.sp_model is not None:
        kind, content = "sentencepiece", tokenizer.sp_model.serialized_model_proto()
    else:
        kind, content = "wordpiece", "\n".join(tokenizer.vocab).encode("utf-8")
    digest = hashlib.sha256(content).hexdigest()
    return {"kind": kind, "sha256": digest, "do_lower_case": tokenizer.do_lower_case}


def processes_for(asked: Optional[int], count: int) -> int:
    """Returns how many processes convert `count` items; ValueError if `asked` is below 1."""
    if asked is not None and asked < 1:
        raise UserError(f"num_processes is {asked}; it must be at least 1.")
    if multiprocessing.current_process().daemon:
        return 1  # a worker may not start workers
    if asked is None:
        return parallel.default_processes() if count >= _WORTH_FORKING else 1
    return asked
