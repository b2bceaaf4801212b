# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of checkpoints: which there are, and whether they are damaged.

The index of a checkpoint has a checksum of each value, which TensorFlow compares whenever it reads
one. The file `checkpoint` beside them, the state, says which one is the newest.
"""

import contextlib
import logging
import os
import re
from typing import Iterable, Iterator, List, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf

from albert import optimization
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

STATE_NAME = "checkpoint"
BEST_CHECKPOINT = "model.ckpt-best"
# What optimizers keep beside a variable: ours and Google's, albert_zh's, tf.train's Adam.
OPTIMIZER_SLOTS = ("adam_m", "adam_v", "lamb_m", "lamb_v", "Adam", "Adam_1")
_OPTIMIZER_SCALARS = ("global_step", "beta1_power", "beta2_power", *optimization.LossScale.NAMES)
# Errors of reading a damaged checkpoint; TensorFlow 2.15 raises IndexError for a truncated file.
_READ_ERRORS = (tf.errors.OpError, RuntimeError, ValueError, IndexError)
# Errors that do not prove damage: TensorFlow 2.15 tells them apart in the message alone.
_UNREACHABLE = re.compile(
    "(?i)permission.?denied|unauth|not authorized|forbidden|unavailable|deadline|timed? ?out"
    "|exhausted|aborted|cancelled|connection|could not resolve|too many open|input/output error"
)


class Checkpoint(NamedTuple):
    """A checkpoint and the training step it was written at."""

    step: int
    path: str  # prefix, without .index


def list_checkpoints(output_dir: str, *, incomplete_too: bool = False) -> List[Checkpoint]:
    """Returns the checkpoints model.ckpt-<step> of a folder, which need not exist, by step.

    Those of which the index or a data file is missing are left out; with `incomplete_too`, those
    without an index.
    """
    names = tf.io.gfile.listdir(output_dir) if tf.io.gfile.isdir(output_dir) else []
    found = []
    for name in names:
        match = re.match(r"(model\.ckpt-(\d+))\.index$", name)
        if match and (incomplete_too or data_files(match.group(1), names)):
            found.append(Checkpoint(int(match.group(2)), os.path.join(output_dir, match.group(1))))
    return sorted(found)


def is_optimizer_state(name: str) -> bool:
    """Returns whether a checkpoint's variable is an optimizer's slot or a counter."""
    return name.split("/")[-1] in OPTIMIZER_SLOTS + _OPTIMIZER_SCALARS


def data_files(prefix: str, names: Iterable[str]) -> List[str]:
    """Returns the data files of a checkpoint among names; [] if one of them is missing."""
    shards = sorted(name for name in names if name.startswith(f"{prefix}.data-"))
    count = re.search(r"-of-(\d+)$", shards[0]) if shards else None
    return shards if count and len(shards) >= int(count.group(1)) else []


# ---------------------------------------------------------------------------------------------
# Damage.


def find_damage(
    checkpoint: str, names: Optional[Iterable[str]] = None, *, must_be_finite: bool = False
) -> str:
    """Reads a checkpoint and returns what is wrong with its files, "" if nothing is.

    One value is in memory at a time. It takes about a second for each GB, or what the disk takes,
    after which the files are in the system's cache.

    Args:
      checkpoint: its prefix.
      names: the variables to read, which have to be there; None reads all.
      must_be_finite: whether NaN and infinity are wrong too.

    Raises:
      ValueError: the files cannot be reached, which does not mean that they are damaged.
    """
    name = None
    try:
        reader = tf.train.load_checkpoint(checkpoint)
        for name in sorted(reader.get_variable_to_shape_map() if names is None else names):
            value = reader.get_tensor(name)
            if must_be_finite and value.dtype.kind == "f" and not np.isfinite(value).all():
                return f"{name} in {checkpoint}.data-* has numbers that are not finite"
    except _READ_ERRORS as error:
        place = f"{name} in {checkpoint}.data-*" if name else f"{checkpoint}.index"
        fault = f"{place}: {' '.join(str(error).split())}"
        if _UNREACHABLE.search(f"{type(error).__name__} {error}"):
            raise UserError(
                f"The checkpoint {checkpoint!r} cannot be read now ({fault})."
            ) from error
        return fault
    return ""


def check_whole(checkpoint: str, names: Optional[Iterable[str]] = None) -> None:
    """Checks that the values of a checkpoint, or those of `names`, are what was written.

    Raises:
      ValueError: they are not.
    """
    damage = find_damage(checkpoint, names)
    if damage:
        raise UserError(
            f"The checkpoint {checkpoint!r} is corrupt ({damage}). Copy it again, or name another."
        )


@contextlib.contextmanager
def explained(checkpoint: str) -> Iterator[None]:
    """Names the file where a damaged checkpoint is read inside; costs nothing otherwise.

    Raises:
      ValueError: in place of TensorFlow's error, if the checkpoint is damaged.
    """
    try:
        yield
    except _READ_ERRORS:
        check_whole(checkpoint)
        raise


# ---------------------------------------------------------------------------------------------
# The state.


class State(NamedTuple):
    """What the file `checkpoint` of a folder says."""

    exists: bool
    # Of the checkpoint in the folder that it names, e.g. model.ckpt-100; None if it is empty,
    # garbled, or names files of another folder.
    name: Optional[str]


def read_state(folder: str) -> State:
    """Returns what the state of a folder says; logs a warning if that is of no use."""
    path = os.path.join(folder, STATE_NAME)
    if not tf.io.gfile.exists(path):
        return State(False, None)
    try:
        state = tf.train.get_checkpoint_state(folder)
        paths = [state.model_checkpoint_path, *state.all_model_checkpoint_paths] if state else []
    except ValueError:  # it is empty, or no text
        paths = []
    # Otherwise TensorFlow would restore from, and delete, files of another folder.
    if paths and {_real(os.path.dirname(item)) for item in paths} == {_real(folder)}:
        return State(True, os.path.basename(paths[0]))
    _LOGGER.warning("%s names no checkpoint of its folder: found by their names.", path)
    return State(True, None)


def _real(folder: str) -> str:
    return os.path.realpath(folder or ".")
