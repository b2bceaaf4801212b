# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records the inputs and settings of an output, so that a later run can compare them with its own.

identity = {"text": [provenance.stamp(path) for path in paths], "max_seq_length": 128}
provenance.difference(recorded, identity)    # "max_seq_length was 128 and is 512"; "" if equal
"""

import hashlib
import json
import os
from typing import Any, Dict, Iterable, Iterator, Set

from albert.util import files

_SAMPLE_BYTES = 1 << 16
_LONGEST = 500  # characters of a message


def stamp(path: str) -> Dict[str, Any]:
    """Returns name, size, modification time (ns) and `sample` of a file. Fast for large files."""
    size, mtime = files.state_of(path)
    with files.open_to_read(path) as stream:
        content = sample(stream, size)
    return {"name": os.path.basename(path), "size": size, "mtime": mtime, "sample": content}


def sample(stream: Any, size: int) -> str:
    """Returns a hash of the first, middle and last 64 KB of a stream of `size` bytes.

    The hash detects a new text of the same size, even if the file's modification time is the same.
    """
    content = hashlib.sha256()
    for start in sorted({0, max(0, (size - _SAMPLE_BYTES) // 2), max(0, size - _SAMPLE_BYTES)}):
        stream.seek(start)
        content.update(stream.read(_SAMPLE_BYTES))
    return content.hexdigest()[:16]


def digest(value: Any) -> str:
    """Returns the SHA-256 of a JSON value, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()


def difference(old: Any, new: Any, ignored: Iterable[str] = ()) -> str:
    """Describes the changes between two JSON values, such as "seed was 1 and is 2"; "" if equal.

    `ignored`: keys of objects to ignore.
    """
    old, new = json.loads(json.dumps([old, new]))  # Tuples become lists.
    changes = "; ".join(_changes(old, new, set(ignored)))
    return changes if len(changes) <= _LONGEST else f"{changes[:_LONGEST]}..."


def _changes(old: Any, new: Any, ignored: Set[str], *, name: str = "") -> Iterator[str]:
    """Describes each change."""
    if old == new:
        return
    are_lists = isinstance(old, list) and isinstance(new, list) and len(old) == len(new)
    if are_lists and all(isinstance(item, dict) for item in old + new):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({**old, **new}.keys() - ignored):
            if key == "sample" and old.get(key) is None:  # An older version recorded no sample.
                continue
            yield from _changes(old.get(key), new.get(key), ignored, name=f"{name} {key}")
        return
    before, after = (json.dumps(value)[:80] for value in (old, new))
    yield f"{name.strip()} was {before} and is {after}"
