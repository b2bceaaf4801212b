# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The vocabulary that belongs to a model or to records: kept beside them, and found again.

In a model's folder a JSON file says which file the vocabulary is and whether text is made lower
case: vocabulary.json of a pretrained model, the task's description (classifier.json and the like)
of a fine-tuned one. Beside records lies a hidden copy named by its own hash: it moves with the
folder, patterns do not match it, and jobs that share a folder do not overwrite each other's.
"""

import os
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert.util import files
from albert.util.errors import UserError

RECORD_NAME = "vocabulary.json"
# The flags that take a vocabulary, and what the names of their files end with.
KEYS = {"spm_model_file": ".model", "vocab_file": ".txt"}
# The task is known by which of them a folder has.
_DESCRIPTIONS = ("classifier.json", "squad.json", "race.json", "tagging.json", RECORD_NAME)
# See files.check_types.
_TYPES = dict.fromkeys(KEYS, ({"path": str, "sha256": str}, None))


class Vocabulary(NamedTuple):
    """A vocabulary's file."""

    key: str  # the flag that takes it, one of KEYS
    path: str
    do_lower_case: Optional[bool] = None  # of the text; None: unknown


# ---- in a model's folder ----


def read_description(folder: str) -> Tuple[Dict[str, Any], str]:
    """Returns what is recorded about the model in a folder, and where; ({}, "") if nothing is.

    Raises:
      UserError: the file cannot be read.
    """
    for name in _DESCRIPTIONS:
        path = os.path.join(folder, name)
        if tf.io.gfile.exists(path):
            return files.read_json_object(path, dict(_TYPES, do_lower_case=(bool, None))), name
    return {}, ""


def recorded_files(folder: str, description: Mapping[str, Any]) -> Dict[str, Optional[str]]:
    """Returns the path for each of KEYS: beside the model, or where it was; None without one.

    Raises:
      UserError: the file is gone or has changed.
    """
    found: Dict[str, Optional[str]] = dict.fromkeys(KEYS)
    for key in KEYS:
        record = description.get(key)
        if record:
            beside = os.path.join(folder, os.path.basename(record["path"]))
            found[key] = beside if tf.io.gfile.exists(beside) else record["path"]
            if not _has_hash(found[key], record["sha256"]):
                raise UserError(f"{found[key]} is gone or has changed since the model was trained.")
    return found


def recorded_lower_case(folder: str, path: Optional[str]) -> Optional[bool]:
    """Returns the lower-casing recorded for the vocabulary at `path`; None if none is."""
    description, _ = read_description(folder)
    return description.get("do_lower_case") if _is_recorded(description, path) else None


def _is_recorded(description: Mapping[str, Any], path: Optional[str]) -> bool:
    """Returns whether a description is of a model with the vocabulary at `path`."""
    records = [description[key] for key in KEYS if description.get(key)]
    return bool(path) and any(_has_hash(path, record["sha256"]) for record in records)


def _has_hash(path: str, sha256: str) -> bool:
    return tf.io.gfile.exists(path) and files.sha256(path) == sha256


def check_same(folder: str, vocabulary: Vocabulary) -> None:
    """Checks that a folder's pretrained model is new, or was made for this vocabulary.

    Raises:
      UserError: it has another one.
    """
    description, name = read_description(folder)
    lower = {description.get("do_lower_case"), vocabulary.do_lower_case} - {None}
    if name == RECORD_NAME and (not _is_recorded(description, vocabulary.path) or len(lower) > 1):
        raise UserError(
            f"{folder} holds a model of another vocabulary or do_lower_case than "
            f"{vocabulary.path}. Use the model's own vocabulary, or another folder; if the change "
            f"is meant, remove {os.path.join(folder, name)} first."
        )


def name_in(folder: str, path: str, name: Optional[str] = None) -> str:
    """Returns the name that a copy of the vocabulary at `path` gets in a model's folder.

    It is the file's, or the last part of `name`; where a file of that name has another content, one
    with the vocabulary's hash.
    """
    name, sha256 = os.path.basename(name or path), files.sha256(path)
    present = os.path.join(folder, name)
    if not tf.io.gfile.exists(present) or _has_hash(present, sha256):
        return name
    stem, ending = os.path.splitext(name)
    return f"{stem}-{sha256[:12]}{ending}"


def put(folder: str, vocabulary: Vocabulary, name: Optional[str] = None) -> str:
    """Copies a vocabulary into a model's folder under the name that `name_in` gives it, and
    records it there; returns its path.
    """
    name = name_in(folder, vocabulary.path, name)
    path = os.path.join(folder, name)
    _copy(vocabulary.path, path)
    record: Dict[str, Any] = {vocabulary.key: {"path": name, "sha256": files.sha256(path)}}
    if vocabulary.do_lower_case is not None:
        record["do_lower_case"] = vocabulary.do_lower_case
    files.atomic_write_json(os.path.join(folder, RECORD_NAME), record)
    return path


def _copy(source: str, path: str) -> None:
    with files.atomic_path(path) as temporary:
        tf.io.gfile.copy(source, temporary, overwrite=True)


# ---- beside records ----


def beside_records(folder: str, sha256: str, key: str) -> str:
    """Returns where the copy of a vocabulary lies in a folder of records."""
    return os.path.join(folder, f".vocabulary-{sha256[:16]}{KEYS[key]}")


def put_beside_records(folder: str, vocabulary: Vocabulary) -> None:
    """Copies a vocabulary into a folder of records."""
    sha256 = files.sha256(vocabulary.path)
    _copy(vocabulary.path, beside_records(folder, sha256, vocabulary.key))


def find_beside_records(folder: str, sha256: str) -> Optional[Vocabulary]:
    """Returns the copy with this hash in a folder of records, whole; None if there is none."""
    for key in KEYS:
        path = beside_records(folder, sha256, key)
        if _has_hash(path, sha256):
            return Vocabulary(key, path)
    return None
