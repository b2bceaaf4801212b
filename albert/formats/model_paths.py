# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the files of a model in its folder.

A released archive unpacks to a folder with albert_config.json, model.ckpt-best.* and a vocabulary:
30k-clean.model (SentencePiece) or vocab_chinese.txt (WordPiece). Models trained here also record
which vocabulary they have (see `model_vocabulary`). An exported model has an ONNX or TensorFlow
Lite file instead of the checkpoint (see `exported`).
"""

import fnmatch
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from albert.formats import model_vocabulary
from albert.formats.flags import CONFIG_NAME, SPM_MODEL_NAME
from albert.util import UserError, files, wording

BEST_CHECKPOINT = "model.ckpt-best"
_PATTERN = re.compile(r"[*?[\\]")
# Flag -> (pattern of the file's name, preferred name if several files match).
FILE_PATTERNS = {
    "albert_config_file": ("albert_config*.json", CONFIG_NAME),
    "spm_model_file": ("*.model", SPM_MODEL_NAME),
    "vocab_file": ("*vocab*.txt", "vocab.txt"),
}
# (format, --quantize) -> path in the folder, which has one of the files.
PATHS = {
    ("onnx", "none"): "onnx/model.onnx",
    ("onnx", "int8"): "onnx/model_quantized.onnx",
    ("tflite", "none"): "model.tflite",
    ("tflite", "int8"): "model.tflite",
}
_OLD_PATH = "model.onnx"

ModelFiles = Dict[str, Any]  # paths by flag, and do_lower_case if the folder records it


# ---- checkpoints ----


class Checkpoint(NamedTuple):
    """A checkpoint and the training step it was written at."""

    step: int
    path: str  # prefix, without .index


def list_checkpoints(output_dir: str) -> List[Checkpoint]:
    """Returns the checkpoints model.ckpt-<step> in a folder, by step; [] without a folder.

    Raises UserError if TensorFlow would read the folder's name as a pattern.
    """
    check_name(output_dir)
    steps = (re.match(r"model\.ckpt-(\d+)$", name) for name in checkpoint_names(output_dir))
    prefix = os.path.join(output_dir, "model.ckpt-")
    return sorted(Checkpoint(int(step[1]), prefix + step[1]) for step in steps if step)


def resolve(path: str) -> str:
    """Returns the prefix of a checkpoint.

    Args:
      path: a prefix; the path of its .index, .meta or .data file; or a folder. In a folder, the
        order is model.ckpt-best, the checkpoint that the file `checkpoint` names, the newest
        model.ckpt-<step>, and the only checkpoint.

    Raises:
      UserError: there is no checkpoint, or several and no rule to choose.
    """
    path = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", os.path.expanduser(str(path)).rstrip("/"))
    is_folder = files.is_folder(path)
    folder, name = (path, "") if is_folder else os.path.split(path)
    present, candidates = checkpoint_names(folder or "."), [name]
    if is_folder:
        newest = list_checkpoints(path)[-1:]
        candidates = [BEST_CHECKPOINT]
        if BEST_CHECKPOINT not in present:  # reading the state imports TensorFlow
            candidates = [named_in_state(path)]
        if newest:
            candidates.append(os.path.basename(newest[0].path))
        elif len(present) == 1:
            candidates += present
    for name in candidates:
        if name in present:
            return os.path.join(folder, name)
    raise UserError(
        f"There is no checkpoint {path!r}. Give a path prefix, or a folder with {BEST_CHECKPOINT} "
        f"or one checkpoint. Checkpoints in {folder!r}: {wording.listed(present)}."
    )


def check_name(path: str) -> None:
    """Raises UserError if TensorFlow would read a checkpoint's path as a pattern."""
    if _PATTERN.search(path):
        raise UserError(
            f"{path!r} has one of the characters * ? [ \\ in its name, and TensorFlow reads no "
            "checkpoints there. Rename the folder."
        )


def checkpoint_names(folder: str) -> List[str]:
    """Returns the names of the complete checkpoints in a folder; [] without a folder.

    The .index file proves that a checkpoint is complete: it is written last and deleted first.
    """
    names = files.names_in(folder)
    return [name[: -len(".index")] for name in names if name.endswith(".index")]


def named_in_state(folder: str) -> str:
    """Returns the checkpoint's name in the file `checkpoint`; "" if there is none."""
    import tensorflow.compat.v1 as tf

    files.check_regular(os.path.join(folder, "checkpoint"))
    try:
        state = tf.train.get_checkpoint_state(folder)
    except ValueError:  # the file is empty or binary
        state = None
    return os.path.basename(state.model_checkpoint_path) if state else ""


# ---- all files of a model ----


def find_program(folder: str) -> Optional[str]:
    """Returns the file of an exported model in a folder; None if there is none."""
    paths = [os.path.join(folder, name) for name in (*PATHS.values(), _OLD_PATH)]
    return next((path for path in paths if files.exists(path)), None)


def find_model_files(
    folder: str, named: Mapping[str, str] = {}, *, with_vocabulary: bool = True
) -> ModelFiles:
    """Returns the paths of a model's files: `named`, and the files in the folder.

    The vocabulary is the one that the folder records, or else a file with a usual name. It may be
    missing. Without a checkpoint, an exported model replaces it.

    Args:
      folder: such as an unpacked archive.
      named: paths that you know already, by flag.
      with_vocabulary: whether to search for a vocabulary.

    Raises:
      UserError: the folder has no checkpoint, or several files of a kind; or its vocabulary has
        changed.
    """
    model_files: ModelFiles = dict(named)
    if "albert_config_file" not in model_files:
        config = _file_by_name(folder, "albert_config_file")
        model_files["albert_config_file"] = config or os.path.join(folder, CONFIG_NAME)
    if "init_checkpoint" not in model_files:
        program = None if checkpoint_names(folder) else find_program(folder)
        model_files["init_checkpoint"] = program or resolve(folder)
    if with_vocabulary:
        path = model_files.get("spm_model_file") or model_files.get("vocab_file")
        vocabulary = model_vocabulary.recorded(folder, path)
        if vocabulary:
            lower = vocabulary.do_lower_case
            model_files.update({vocabulary.key: vocabulary.path, "do_lower_case": lower})
        elif not path:
            by_name = ((key, _file_by_name(folder, key)) for key in model_vocabulary.KEYS)
            model_files.update([item for item in by_name if item[1]][:1])
    return model_files


def _file_by_name(folder: str, key: str) -> Optional[str]:
    """Returns the only file that matches a flag's pattern, or the one with the usual name."""
    pattern, usual = FILE_PATTERNS[key]
    present = fnmatch.filter(files.names_in(folder), pattern)
    names = [name for name in present if name[0] != "."]
    if usual in names:
        names = [usual]
    if len(names) > 1:
        raise UserError(f"{folder!r} has several: {', '.join(names)}. Choose one with --{key}.")
    return os.path.join(folder, names[0]) if names else None
