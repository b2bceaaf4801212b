# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records what an output was made from, so that a later run can compare.

made_from = {"text": [provenance.stamp(path) for path in paths], "max_seq_length": 128}
provenance.difference(kept, made_from)    # "max_seq_length was 128 and is 512"; "" if equal
"""

import hashlib
import json
import os
from typing import Any, Dict

from albert.util import files


def stamp(path: str) -> Dict[str, Any]:
    """Returns name, size and time (ns) of a file, which identify it without reading it."""
    size, mtime = files.state_of(path)
    return {"name": os.path.basename(path), "size": size, "mtime": mtime}


def digest(value: Any) -> str:
    """Returns the SHA-256 of a JSON value, hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()


def difference(old: Any, new: Any, name: str = "") -> str:
    """Returns what changed between two JSON values in words; "" if nothing did."""
    old, new = json.loads(json.dumps([old, new]))  # tuples become lists
    if old == new:
        return ""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted({**old, **new})
        changes = (difference(old.get(key), new.get(key), f"{name} {key}") for key in keys)
        return "; ".join(filter(None, changes))
    before, after = (json.dumps(value)[:80] for value in (old, new))
    return f"{name.strip()} was {before} and is {after}"
