# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stores the vocabulary with a model or with records, and finds it again.

In a model's folder, a JSON file names the vocabulary and says whether the text is lower-cased. A
pretrained model has vocabulary.json. A fine-tuned model has the description of its task, such as
classifier.json. In a folder of records, the vocabulary is a hidden copy whose name is its hash. The
copy moves with the folder, no file pattern matches it, and jobs that share the folder do not
overwrite each other's copies.
"""

import os
import re
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

from albert import tokenization
from albert.configs.model_config import AlbertConfig
from albert.configs.shared_flags import TokenizerFlags
from albert.util import UserError, files, json_files, log

RECORD_NAME = "vocabulary.json"
# Flag of a vocabulary -> ending of its file name.
KEYS = {"spm_model_file": ".model", "vocab_file": ".txt"}
_LOOKS_LIKE_VOCABULARY = re.compile(r"\.model$|vocab.*\.txt$")
# A folder has one of these files. Its name shows the task.
_DESCRIPTIONS = ("classifier.json", "squad.json", "race.json", "tagging.json", RECORD_NAME)
_FILE = {
    "path": re.compile(r"(?#the path of a file on this machine)(?!.*://)[^\0]+"),
    "sha256": json_files.SHA256,
}
# Keys that each of these files can have.
DESCRIPTION: Dict[str, Any] = {
    **dict.fromkeys(KEYS, (_FILE, None)),
    "task": (str, None),
    "labels": ([str], None),
    "is_regression": (bool, None),
    "label_separator": (str, None),
    "do_lower_case": (bool, None),
    "max_seq_length": (range(1, 1 << 31), None),
}


class Vocabulary(NamedTuple):
    """A vocabulary's file."""

    key: str  # the flag that names the file: spm_model_file or vocab_file
    path: str
    do_lower_case: Optional[bool] = None  # whether to lower-case the text; None: unknown
    name: str = ""  # the name for a copy in a model's folder; "": the file's name

    @property
    def base_name(self) -> str:
        """The name for a copy in a model's folder, without folders."""
        return os.path.basename(self.name or self.path)

    def record(self) -> Dict[str, Any]:
        """Returns JSON values, from which another process can find the vocabulary."""
        file = {"path": self.base_name, "sha256": files.sha256(self.path)}
        values: Dict[str, Any] = {self.key: file}
        if self.do_lower_case is not None:
            values["do_lower_case"] = self.do_lower_case
        return values


def load_vocabulary(
    flags: TokenizerFlags, config: Optional[AlbertConfig] = None
) -> Tuple[tokenization.FullTokenizer, Vocabulary]:
    """Returns the tokenizer and the vocabulary that the flags name.

    With a `config`, checks that the model has an embedding for each token.

    Raises:
      UserError: there is no vocabulary, it is unreadable, or it does not fit the model.
    """
    spm_model_file, vocab_file = flags.spm_model_file, flags.vocab_file
    tokenizer = tokenization.FullTokenizer(vocab_file, flags.do_lower_case, spm_model_file)
    if config is not None:
        tokenization.check_vocab_size(tokenizer, config.vocab_size)
    key = "spm_model_file" if spm_model_file else "vocab_file"
    return tokenizer, Vocabulary(key, spm_model_file or vocab_file, tokenizer.do_lower_case)


# ---- in a model's folder ----


def read_description(folder: str) -> Tuple[Dict[str, Any], str]:
    """Returns (description of the folder's model, file name); ({}, "") if there is none.

    Raises:
      UserError: the file cannot be read.
    """
    for name in _DESCRIPTIONS:
        path = os.path.join(folder, name)
        if files.exists(path):
            return json_files.read(path, DESCRIPTION), name
    return {}, ""


def recorded(
    folder: str, path: Optional[str] = None, description: Optional[Dict[str, Any]] = None
) -> Optional[Vocabulary]:
    """Returns the vocabulary that a folder records; None if it records none.

    Args:
      folder: folder of the model. If it lacks the vocabulary, the recorded path is used.
      path: path of the vocabulary; if that file differs from the record, the result is None.
      description: content of the record; by default, it is read from the folder.

    Raises:
      UserError: the file is missing or has changed.
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
    return files.exists(path) and not files.is_folder(path) and files.sha256(path) == sha256


def check_same(folder: str, vocabulary: Vocabulary) -> None:
    """Checks that a pretrained model in a folder, if any, has this vocabulary.

    Warns if the folder records no vocabulary, and none of its files is this one: users edit unused
    tokens in copies of released vocabularies.

    Raises:
      UserError: it records another vocabulary.
    """
    _, name = read_description(folder)
    same = recorded(folder, vocabulary.path)
    lower = {same and same.do_lower_case, vocabulary.do_lower_case} - {None}
    if not name:
        names = filter(_LOOKS_LIKE_VOCABULARY.search, files.names_in(folder))
        paths = [os.path.join(folder, name) for name in names]
        sha256 = files.sha256(vocabulary.path)
        if paths and not any(_has_hash(path, sha256) for path in paths):
            log.warning("%s is not the vocabulary in %s.", vocabulary.path, paths[0])
    if name == RECORD_NAME and (not same or len(lower) > 1):
        raise UserError(
            f"The model in {folder} has another vocabulary than {vocabulary.path}, or another "
            "do_lower_case. Use the model's own vocabulary, or another folder. If you want the "
            f"change, first remove {os.path.join(folder, RECORD_NAME)}."
        )


def path_in(folder: str, vocabulary: Vocabulary) -> str:
    """Returns the path of a vocabulary's copy in a model's folder.

    Raises:
      UserError: another file has that name.
    """
    path = os.path.join(folder, vocabulary.base_name)
    if files.exists(path) and not _has_hash(path, files.sha256(vocabulary.path)):
        raise UserError(
            f"{path} is another vocabulary. Choose another folder, or remove this file."
        )
    return path


def documents(
    vocabulary: Vocabulary, name: str = RECORD_NAME, description: Mapping[str, Any] = {}
) -> Dict[str, bytes]:
    """Returns a vocabulary's files for a model's folder, by name: its copy and the description.

    For a fine-tuned model, `name` and `description` are the name and content of its description,
    without the vocabulary.
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
    """Returns the vocabulary with this hash in a folder of records; None if missing or damaged."""
    for key in KEYS:
        path = _copy(folder, sha256, key)
        if _has_hash(path, sha256):
            return Vocabulary(key, path)
    return None


def _copy(folder: str, sha256: str, key: str) -> str:
    return os.path.join(folder, f".vocabulary-{sha256[:16]}{KEYS[key]}")
