# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stores the vocabulary beside a model or beside records, and finds it again.

In a model's folder a JSON file says which file the vocabulary is and whether text is made lower
case: vocabulary.json of a pretrained model, the task's description (classifier.json and the like)
of a fine-tuned one. Beside records lies a hidden copy named by its own hash: it moves with the
folder, patterns do not match it, and jobs that share a folder do not overwrite each other's.
"""

import os
import re
from typing import Any, Dict, Mapping, Optional, Tuple

import tensorflow.compat.v1 as tf

from albert.fine_tuning_utils import Vocabulary
from albert.util import files, json_files
from albert.util.errors import UserError

RECORD_NAME = "vocabulary.json"
# The flags that take a vocabulary, and what the names of their files end with.
KEYS = {"spm_model_file": ".model", "vocab_file": ".txt"}
# The task is known by which of them a folder has.
_DESCRIPTIONS = ("classifier.json", "squad.json", "race.json", "tagging.json", RECORD_NAME)
_FILE = {
    "path": re.compile(r"(?#the path of a file on this machine)(?!.*://)[^\0]+"),
    "sha256": json_files.SHA256,
}
# Keys that each of them may have.
DESCRIPTION: Dict[str, Any] = {
    **dict.fromkeys(KEYS, (_FILE, None)),
    "task": (str, None),
    "labels": ([str], None),
    "is_regression": (bool, None),
    "do_lower_case": (bool, None),
    "max_seq_length": (range(1, 1 << 31), None),
}


# ---- in a model's folder ----


def read_description(folder: str) -> Tuple[Dict[str, Any], str]:
    """Returns the description of the model in a folder, and its file's name; ({}, "") if none.

    Raises:
      UserError: the file cannot be read.
    """
    for name in _DESCRIPTIONS:
        path = os.path.join(folder, name)
        if tf.io.gfile.exists(path):
            return json_files.read(path, DESCRIPTION), name
    return {}, ""


def recorded(
    folder: str, path: Optional[str] = None, description: Optional[Dict[str, Any]] = None
) -> Optional[Vocabulary]:
    """Returns the vocabulary that a folder records; None without one.

    Args:
      folder: has the vocabulary too, or its record says where it was.
      path: where it is; if another vocabulary is there, the result is None.
      description: the record; default: that of the folder.

    Raises:
      UserError: the file is gone or has changed.
    """
    description = description or read_description(folder)[0]
    key = next((key for key in KEYS if description.get(key)), None)
    if not key:
        return None
    record = description[key]
    beside = os.path.join(folder, os.path.basename(record["path"]))
    for candidate in [path] if path else [beside, record["path"]]:
        if _has_hash(candidate, record["sha256"]):
            return Vocabulary(key, candidate, description.get("do_lower_case"))
    if path:
        return None
    raise UserError(f"{beside} is missing or has changed since the model was trained.")


def _has_hash(path: str, sha256: str) -> bool:
    return tf.io.gfile.exists(path) and files.sha256(path) == sha256


def check_same(folder: str, vocabulary: Vocabulary) -> None:
    """Checks that a folder has no pretrained model yet, or one with this vocabulary.

    Raises:
      UserError: it has another one.
    """
    _, name = read_description(folder)
    same = recorded(folder, vocabulary.path)
    lower = {same and same.do_lower_case, vocabulary.do_lower_case} - {None}
    if name == RECORD_NAME and (not same or len(lower) > 1):
        raise UserError(
            f"The model in {folder} has another vocabulary than {vocabulary.path}, or another "
            "do_lower_case. Use the model's own vocabulary, or another folder. If you want the "
            f"change, first remove {os.path.join(folder, name)}."
        )


def path_in(folder: str, vocabulary: Vocabulary) -> str:
    """Returns the path of a vocabulary's copy in a model's folder.

    Raises:
      UserError: another file has that name.
    """
    path = os.path.join(folder, vocabulary.base_name)
    if tf.io.gfile.exists(path) and not _has_hash(path, files.sha256(vocabulary.path)):
        raise UserError(
            f"{path} is another vocabulary. Choose another folder, or remove this file."
        )
    return path


def documents(
    vocabulary: Vocabulary, name: str = RECORD_NAME, description: Mapping[str, Any] = {}
) -> Dict[str, bytes]:
    """Returns the files of a vocabulary in a model's folder by name: its copy and the description.

    `name` and `description` are those of a fine-tuned model's, without the vocabulary.
    """
    content = files.json_text({**description, **vocabulary.record()})
    return {
        vocabulary.base_name: files.read_bytes(vocabulary.path),
        name: content.encode("utf-8"),
    }


def put(folder: str, vocabulary: Vocabulary) -> str:
    """Copies a vocabulary into a model's folder, and records it there. Returns its path."""
    path = path_in(folder, vocabulary)
    files.atomic_write_all(folder, documents(vocabulary))
    return path


# ---- beside records ----


def beside_records(folder: str, vocabulary: Vocabulary) -> str:
    """Returns the path of a vocabulary's copy in a folder of records."""
    return _copy(folder, files.sha256(vocabulary.path), vocabulary.key)


def find_beside_records(folder: str, sha256: str) -> Optional[Vocabulary]:
    """Returns the copy with this hash in a folder of records, whole; None if there is none."""
    for key in KEYS:
        path = _copy(folder, sha256, key)
        if _has_hash(path, sha256):
            return Vocabulary(key, path)
    return None


def _copy(folder: str, sha256: str, key: str) -> str:
    return os.path.join(folder, f".vocabulary-{sha256[:16]}{KEYS[key]}")
