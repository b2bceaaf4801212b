# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes record files of features in parallel, and reuses them until an input changes.

    record_file = build_records(
        "cache/mrpc_train.128.tf_record",
        fingerprint={"tokenizer": ..., "max_seq_length": 128},
        spec=spec,
        items=examples,
        convert=convert_chunk,
        description="mrpc train",
    )
    record_file.path            # "cache/mrpc_train.128.5e0b6a1f.tf_record"

The file's name has a hash of the fingerprint, so that runs with different settings, vocabularies or
data can share a folder. A file that the user names gets no hash. It is replaced only if its
metadata says that it has features.
"""

import collections
import hashlib
import os
import sys
from typing import Any, Callable, Counter, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from albert.data import record_files
from albert.data.record_format import FeatureSpec
from albert.util import UserError, files, log, parallel, progress, provenance

_CHUNK_ITEMS = 128  # items per task of a worker
_DIGITS = 8  # digits of the fingerprint's hash in a file's name


class Conversion(NamedTuple):
    """The records of a chunk of items.

    Attributes:
      records: values [R, ...] by feature name, R records.
      notes: counts for the log, such as {"empty": 2}.
    """

    records: Any
    notes: Mapping[str, int] = {}


Converter = Callable[[Sequence[Any]], Conversion]


def build_records(
    path: str,
    *,
    fingerprint: Mapping[str, Any],
    spec: FeatureSpec,
    items: Callable[[], Sequence[Any]],
    convert: Converter,
    description: str,
    exact_path: bool = False,
) -> record_files.RecordFile:
    """Returns the record file for `fingerprint`. Makes it unless it exists and is complete.

    Args:
      path: the record file. Unless `exact_path`, a hash goes before its extension.
      fingerprint: JSON values that determine the records. This function adds the spec.
      spec: the declaration of the records.
      items: returns the items to convert. Called only if the file must be made.
      convert: consecutive items -> their records. It runs in forked processes, which inherit the
        items. So it and the items need not be picklable, but it must not use TensorFlow.
      description: the name of the content in the log.
      exact_path: use `path` as it is.

    Raises:
      UserError: `exact_path`, and the file at `path` was not made by this function.
    """
    declared = [
        f"{feature.name} {feature.dtype.name} {list(feature.shape)}" for feature in spec.features
    ]
    identity = dict(fingerprint, features=declared)
    if not exact_path:
        stem, extension = os.path.splitext(path)
        path = f"{stem}.{provenance.digest(identity)[:_DIGITS]}{extension}"
    reason, cached = record_files.why_stale(path, identity), record_files.read_sidecar(path)
    if cached and not reason:
        log.info("%s: using %s, %d records.", description, path, cached.count)
        return cached
    if exact_path:
        check_replaceable(path)
    log.info("%s: creating %s, because %s.", description, path, reason)
    converted = items()
    notes: Counter[str] = collections.Counter()
    with record_files.create(path, identity) as file, progress.Progress(
        description, len(converted), unit="examples"
    ) as bar:
        for count, records, counts in _encode(spec, converted, convert):
            for record in records:
                file.write(record)
            notes.update(counts)
            bar.update(count)
    summary = filter(None, [f"{file.count} records", in_words(notes)])
    log.info("%s: %s.", description, ", ".join(summary))
    return file


def write_records(
    path: str,
    spec: FeatureSpec,
    items: Sequence[Any],
    *,
    convert: Converter,
) -> None:
    """Writes the records of items to a file, for programs that name it. See build_records."""
    with record_files.create(path) as file:
        for _, records, _ in _encode(spec, items, convert):
            for record in records:
                file.write(record)


def _encode(spec: FeatureSpec, items: Sequence[Any], convert: Converter) -> Iterator[Any]:
    """Yields the number of items in each chunk, their serialised records, and notes."""

    def encode(first: int) -> Any:
        chunk = items[first : first + _CHUNK_ITEMS]
        records, counts = convert(chunk)
        return len(chunk), spec.encode_all(records), counts

    return parallel.adaptive_map(encode, range(0, len(items), _CHUNK_ITEMS))


def in_words(notes: Mapping[str, int]) -> str:
    """Formats notes as in "3 x cut to 128 tokens, 1 x empty"; "" if all are 0."""
    return ", ".join(f"{count} x {what}" for what, count in notes.items() if count)


def check_replaceable(path: str) -> None:
    """Raises UserError if the file exists, but its metadata does not say that it has features."""
    if not files.exists(path):
        return
    (size, _), sidecar = files.state_of(path), record_files.read_sidecar(path)
    if not sidecar or sidecar.bytes != size or "features" not in sidecar.fingerprint:
        raise UserError(
            f"'{path}' is no file of features, or has changed since it was made. Choose another "
            "name, or remove this file."
        )


def digest(examples: Iterable[Any]) -> str:
    """Returns a hash of examples, in order. An example is an object with fields, or a value."""
    sha256 = hashlib.sha256()
    with np.printoptions(threshold=sys.maxsize):  # Otherwise `repr` abbreviates long arrays.
        for example in examples:
            content = repr(getattr(example, "__dict__", example))
            sha256.update(content.encode("utf-8", "backslashreplace"))
    return sha256.hexdigest()


def tokenizer_fingerprint(tokenizer: Any) -> Mapping[str, Any]:
    """Returns JSON values that identify a tokenizer by its settings and vocabulary."""
    kind, content = "wordpiece", "\n".join(tokenizer.vocab).encode()
    if tokenizer.sp_model is not None:
        kind, content = "sentencepiece", tokenizer.sp_model.serialized_model_proto()
    return {
        "kind": kind,
        "sha256": hashlib.sha256(content).hexdigest(),
        "do_lower_case": tokenizer.do_lower_case,
    }
