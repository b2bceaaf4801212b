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

What a file is made from is part of its name, so that runs with other settings, vocabularies or data
can share a folder and never take or replace a file that another one is reading. A file that the
user names keeps the name it was given, and is replaced when it was made from something else. Either
appears whole or not at all, and a sidecar says what it was made from; see `albert.util.files`.
"""

import collections
import functools
import hashlib
import json
import logging
import multiprocessing
import os
import time
from typing import (
    Any,
    Callable,
    Counter,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Union,
)

import tensorflow.compat.v1 as tf

from albert.data import batches as input_pipeline
from albert.util import files, progress
from albert.util import parallel as worker_pool

_LOGGER = logging.getLogger(__name__)

_CHUNK_ITEMS = 128  # that a worker takes at a time
_DIGITS = 8  # of the fingerprint's hash in a file's name
_WORTH_FORKING = 1000  # fewer items are converted sooner than processes are started


class Conversion(NamedTuple):
    """What became of some items."""

    records: List[Mapping[str, Any]]  # feature name -> values, as the spec takes them
    notes: Mapping[str, int] = {}  # what is worth knowing -> how often


class RecordFile(NamedTuple):
    """A finished record file."""

    path: str
    count: int  # records
    was_current: bool  # nothing had to be done
    notes: Mapping[str, int]  # of the conversion; empty if the file was current


class _Encoded(NamedTuple):
    """A Conversion on its way from a worker."""

    records: List[bytes]
    notes: Mapping[str, int]


def build_records(
    path: str,
    *,
    fingerprint: Mapping[str, Any],
    spec: input_pipeline.FeatureSpec,
    items: Union[Sequence[Any], Callable[[], Sequence[Any]]],
    convert: Callable[[Sequence[Any]], Conversion],
    exact_path: bool = False,
    num_processes: Optional[int] = None,
    description: str = "features",
) -> RecordFile:
    """Returns the record file for `fingerprint`: the present one if it is whole, else a new one.

    That a file is made, and why, is said in one log line. The records are in the order of the items
    and the same bytes for any number of processes.

    Args:
      path: the record file, but for the digits that are put before its extension; with
        `exact_path` it is the file itself.
      fingerprint: JSON values that decide the records. The features' names, shapes and types are
        added.
      spec: declaration of the records.
      items: what the records are made from, or a function that returns it and is called only if
        the file has to be made.
      convert: some consecutive items -> their records. It is called in forked processes: it need
        not be picklable, and should not use TensorFlow.
      num_processes: by default as many as there are processors, and 1 for a few items.
      description: what the log calls the file's content.

    Raises:
      ValueError: num_processes is below 1, a file that is no record file is in the way, or as
        raised by `convert`.
      OSError: a worker process was killed, or the file cannot be written.
    """
    whole = dict(fingerprint, features=[_declaration(feature) for feature in spec.features])
    plain_path = str(path)
    path = plain_path if exact_path else fingerprinted_path(path, whole)
    reason = input_pipeline.why_stale(path, whole) or _why_damaged(path)
    if not reason:
        count = input_pipeline.read_sidecar(path).count
        _LOGGER.info("%s: %d records are there already: %s", description, count, path)
        return RecordFile(path, count, True, {})
    if exact_path:
        _refuse_to_replace_other_data(path)
    else:
        reason += _what_else_is_there(plain_path, path, whole)
    _LOGGER.info("%s: creating %s, because %s.", description, path, reason)
    items = items() if callable(items) else items

    started = time.time()
    processes = processes_for(num_processes, len(items))
    with input_pipeline.AtomicRecordWriter(path, whole) as writer:
        encode = functools.partial(_encode, spec, convert)
        encoded = worker_pool.ordered_map(encode, _chunks(items), processes)
        notes = _write(encoded, writer, description=description, count=len(items))
    _log_end(description, writer.count, seconds=time.time() - started, notes=notes)
    return RecordFile(path, writer.count, False, dict(notes))


def _why_damaged(path: str) -> str:
    """Says which record of a current file is damaged; "" if none is. It can be made again now."""
    number = files.find_damaged_record(path)
    return "" if number is None else f"its record {number} (counted from 0) is damaged"


def _refuse_to_replace_other_data(path: str) -> None:
    """A file that a user names may be replaced if it holds records, and not if it holds others.

    Raises:
      ValueError: it does not look like a record file, made here or elsewhere.
    """
    if not tf.io.gfile.exists(path) or input_pipeline.read_sidecar(path):
        return
    if not files.looks_like_records(path):
        raise ValueError(
            f"{path} exists and is no record file, so it is not replaced by features. Name another "
            "file for them, or remove this one."
        )


def _encode(
    spec: input_pipeline.FeatureSpec,
    convert: Callable[[Sequence[Any]], Conversion],
    chunk: Sequence[Any],
) -> _Encoded:
    """What a worker does with some items."""
    converted = convert(chunk)
    return _Encoded([spec.encode(record) for record in converted.records], converted.notes)


def _write(
    results: Iterable[_Encoded],
    writer: input_pipeline.AtomicRecordWriter,
    *,
    description: str,
    count: int,
) -> Counter[str]:
    """Writes the records of all chunks and adds up what is noted of them."""
    notes = collections.Counter()
    with progress.Progress(description, count, unit="examples") as bar:
        for done, encoded in enumerate(results):
            for record in encoded.records:
                writer.write(record)
            notes.update(encoded.notes)
            bar.update(min(_CHUNK_ITEMS, count - done * _CHUNK_ITEMS), "")
    return notes


def fingerprinted_path(path: str, fingerprint: Mapping[str, Any]) -> str:
    """Returns `path` with eight digits of the fingerprint's hash before its extension."""
    text = json.dumps(files.normalized_fingerprint(fingerprint), sort_keys=True)
    digits = hashlib.sha256(text.encode("utf-8")).hexdigest()[:_DIGITS]
    stem, extension = os.path.splitext(str(path))
    return f"{stem}.{digits}{extension}"


def tokenizer_fingerprint(tokenizer: Any) -> Mapping[str, Any]:
    """Returns JSON values that are equal for tokenizers that do the same.

    It is made from the content of the model or vocabulary, wherever that was loaded from.
    """
    if tokenizer.sp_model is not None:
        kind, content = "sentencepiece", tokenizer.sp_model.serialized_model_proto()
    else:
        kind, content = "wordpiece", "\n".join(tokenizer.vocab).encode("utf-8")
    digest = hashlib.sha256(content).hexdigest()
    return {"kind": kind, "sha256": digest, "do_lower_case": tokenizer.do_lower_case}


def _what_else_is_there(plain_path: str, path: str, fingerprint: Mapping[str, Any]) -> str:
    """What tells the newest file of the same use from the one to come; "" if there is none."""
    folder = os.path.dirname(path) or "."
    if tf.io.gfile.exists(path) or not tf.io.gfile.isdir(folder):
        return ""
    start, extension = os.path.splitext(os.path.basename(plain_path))
    length = len(os.path.basename(path))
    others = [
        os.path.join(folder, name)
        for name in tf.io.gfile.listdir(folder)
        if name.startswith(f"{start}.") and name.endswith(extension) and len(name) == length
    ]
    newest = max(others, key=lambda other: tf.io.gfile.stat(other).mtime_nsec, default="")
    difference = newest and input_pipeline.why_stale(newest, fingerprint)
    return f" (of {os.path.basename(newest)}: {difference})" if difference else ""


def _declaration(feature: input_pipeline.Feature) -> str:
    """A feature in words."""
    return f"{feature.name} {feature.dtype.name} {list(feature.shape)}"


def _chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Consecutive items, as many as a worker takes at a time."""
    for first in range(0, len(items), _CHUNK_ITEMS):
        yield items[first : first + _CHUNK_ITEMS]


def processes_for(asked: Optional[int], count: int) -> int:
    """Returns how many processes to use for a job.

    Args:
      asked: what the caller wants; None leaves the choice.
      count: items to convert; for a few it is sooner done than processes are started.

    Raises:
      ValueError: `asked` is below 1.
    """
    if asked is not None and asked < 1:
        raise ValueError(f"num_processes is {asked}; it must be at least 1.")
    if multiprocessing.current_process().daemon:
        return 1  # a worker may not start workers
    if asked is None:
        return worker_pool.default_processes() if count >= _WORTH_FORKING else 1
    return asked


def _log_end(description: str, count: int, *, seconds: float, notes: Mapping[str, int]) -> None:
    """One line on what was made."""
    details = "".join(f"; {number} x {what}" for what, number in sorted(notes.items()) if number)
    rate = count / max(seconds, 1e-6)
    _LOGGER.info("%s: %d records in %.1f s (%.0f/s)%s.", description, count, seconds, rate, details)
