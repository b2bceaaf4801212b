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
import logging
import multiprocessing
import os
import sys
from typing import Any, Callable, Counter, Iterable, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from albert.data import batches, record_files
from albert.util import files, parallel, progress, provenance

_LOGGER = logging.getLogger("albert")

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
    items: Any,
    convert: Callable[[Sequence[Any]], Conversion],
    exact_path: bool = False,
    num_processes: Optional[int] = None,
    description: str = "features",
) -> RecordFile:
    """Returns the record file for `fingerprint`: the present one if it is whole, else a new one.

    Args:
      path: the record file; eight digits go before its extension unless `exact_path`.
      fingerprint: JSON values that decide the records; those of `spec` are added.
      items: a sequence, or a function that returns it and is called only if needed.
      convert: some consecutive items -> their records. It is called in forked processes, which have
        the items already: neither need be picklable, and it should not use TensorFlow.
      num_processes: by default as many as there are processors, and 1 for a few items.
      description: what the log calls the file's content.

    Raises:
      UserError: a file that is no record file is in the way.
    """
    declared = [f"{one.name} {one.dtype.name} {list(one.shape)}" for one in spec.features]
    made_from = dict(fingerprint, features=declared)
    if not exact_path:
        stem, extension = os.path.splitext(path)
        name = provenance.digest(made_from)[:_DIGITS]
        path = f"{stem}.{name}{extension}"
    reason, sidecar = record_files.why_stale(path, made_from), record_files.read_sidecar(path)
    if sidecar and not reason:
        _LOGGER.info("%s: using %s, %d records.", description, path, sidecar.count)
        return RecordFile(path, sidecar.count, True, {})
    if not sidecar and files.gfile().exists(path):
        record_files.read_first_record(path)  # raises where another file would be lost
    _LOGGER.info("%s: creating %s, because %s.", description, path, reason)
    items = items() if callable(items) else items
    processes = processes_for(num_processes, len(items))

    def encode(first: int) -> Conversion:
        converted = convert(items[first : first + _CHUNK_ITEMS])
        return Conversion(spec.encode_all(converted.records), converted.notes)

    notes: Counter[str] = collections.Counter()
    starts = range(0, len(items), _CHUNK_ITEMS)
    with batches.AtomicRecordWriter(path, made_from) as writer, progress.Progress(
        description, len(items), unit="examples"
    ) as bar:
        for first, chunk in zip(starts, parallel.ordered_map(encode, starts, processes)):
            for record in chunk.records:
                writer.write(record)
            notes.update(chunk.notes)
            bar.update(min(_CHUNK_ITEMS, len(items) - first))
    counts = "".join(f", {count} x {what}" for what, count in sorted(notes.items()) if count)
    _LOGGER.info("%s: %d records%s.", description, writer.count, counts)
    return RecordFile(path, writer.count, False, dict(notes))


def digest(examples: Iterable[Any]) -> str:
    """Returns a hash of what records are made from, in order: objects with fields, or values."""
    with np.printoptions(threshold=sys.maxsize):  # an array is written in full
        contents = (repr(getattr(example, "__dict__", example)) for example in examples)
        return _digest(content.encode("utf-8", "backslashreplace") for content in contents)


def tokenizer_fingerprint(tokenizer: Any) -> Mapping[str, Any]:
    """Returns JSON values, of the vocabulary's content, that are equal for equal tokenizers."""
    kind, content = "wordpiece", "\n".join(tokenizer.vocab).encode()
    if tokenizer.sp_model is not None:
        kind, content = "sentencepiece", tokenizer.sp_model.serialized_model_proto()
    lower = tokenizer.do_lower_case
    return {"kind": kind, "sha256": _digest([content]), "do_lower_case": lower}


def _digest(contents: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for content in contents:
        found.update(content)
    return found.hexdigest()


def processes_for(asked: Optional[int], count: int) -> int:
    """Returns how many processes convert `count` items; `asked` or else a number that fits."""
    if multiprocessing.current_process().daemon:
        return 1  # a worker may not start workers
    return asked or (parallel.default_processes() if count >= _WORTH_FORKING else 1)
