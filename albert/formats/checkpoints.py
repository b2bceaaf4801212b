# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: finds, reads and writes them, and says what is damaged.

The index of a checkpoint has a checksum of each value, which TensorFlow compares whenever it reads
one.
"""

import contextlib
import glob
import os
import re
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf

from albert import optimization
from albert.runtimes import compat
from albert.util import files, wording
from albert.util.errors import UserError

BEST_CHECKPOINT = "model.ckpt-best"
# What optimizers keep beside a variable: ours and Google's, albert_zh's, tf.train's Adam.
OPTIMIZER_SLOTS = ("adam_m", "adam_v", "lamb_m", "lamb_v", "Adam", "Adam_1")
_OPTIMIZER_SCALARS = ("global_step", "beta1_power", "beta2_power", *optimization.LossScale.NAMES)
# Errors of reading a damaged checkpoint; TensorFlow 2.15 raises IndexError for a truncated file.
_READ_ERRORS = (tf.errors.OpError, RuntimeError, ValueError, IndexError)
_PATTERN = re.compile(r"[*?[\\]")
# Errors that do not prove damage: TensorFlow 2.15 tells them apart in the message alone.
_UNREACHABLE = re.compile(
    "(?i)permission.?denied|unauth|not authorized|forbidden|unavailable|deadline|timed? ?out"
    "|exhausted|aborted|cancelled|connection|could not resolve|too many open|input/output error"
)

Values = Dict[str, np.ndarray]  # the variables of a model by name


class Checkpoint(NamedTuple):
    """A checkpoint and the training step it was written at."""

    step: int
    path: str  # prefix, without .index


def list_checkpoints(output_dir: str) -> List[Checkpoint]:
    """Returns the checkpoints model.ckpt-<step> of a folder, which need not exist, by step.

    Raises UserError for a name that TensorFlow takes for a pattern.
    """
    check_name(output_dir)
    steps = (re.match(r"model\.ckpt-(\d+)$", name) for name in names_in(output_dir))
    prefix = os.path.join(output_dir, "model.ckpt-")
    return sorted(Checkpoint(int(step[1]), prefix + step[1]) for step in steps if step)


def resolve(path: str) -> str:
    """Returns the prefix of the checkpoint for a prefix, an .index file or a folder.

    Args:
      path: a prefix; the path of its .index, .meta or .data file; or a folder, in which
        model.ckpt-best, the one that the file `checkpoint` names, the newest model.ckpt-<step>, or
        the only one is taken.

    Raises:
      UserError: there is no such checkpoint, or it is not clear which is meant.
    """
    path = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", os.path.expanduser(str(path)).rstrip("/"))
    is_folder = tf.io.gfile.isdir(path)
    folder, name = (path, "") if is_folder else os.path.split(path)
    present, candidates = names_in(folder or "."), [name]
    if is_folder:
        newest = list_checkpoints(path)[-1:]
        candidates = [BEST_CHECKPOINT, named_in_state(path)]
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
    """Raises UserError if TensorFlow would take the path of a checkpoint for a pattern."""
    if _PATTERN.search(path):
        raise UserError(
            f"{path!r} has one of the characters * ? [ \\ in its name, and TensorFlow reads no "
            "checkpoints there. Rename the folder."
        )


def open_reader(checkpoint: str) -> Any:
    """Returns TensorFlow's reader of a checkpoint; UserError for pipes in place of its files."""
    for path in [f"{checkpoint}.index", *glob.glob(f"{glob.escape(checkpoint)}.data-*")]:
        files.check_regular(path)
    return tf.train.load_checkpoint(checkpoint)


def names_in(folder: str, ending: str = ".index") -> List[str]:
    """Returns the names in a folder with an ending, without that ending; [] without a folder.

    A checkpoint is named by its index, which is written last and deleted first.
    """
    names = files.names_in(folder)
    return [name[: len(name) - len(ending)] for name in names if name.endswith(ending)]


def named_in_state(folder: str) -> str:
    """Returns the name of the checkpoint that the file `checkpoint` names; "" if it names none."""
    files.check_regular(os.path.join(folder, "checkpoint"))
    try:
        state = tf.train.get_checkpoint_state(folder)
    except ValueError:  # it is empty, or no text
        state = None
    return os.path.basename(state.model_checkpoint_path) if state else ""


def is_optimizer_state(name: str) -> bool:
    """Returns whether a checkpoint's variable is an optimizer's slot or a counter."""
    return name.split("/")[-1] in OPTIMIZER_SLOTS + _OPTIMIZER_SCALARS


# ---- values ----


def read(prefix: str) -> Values:
    """Returns the variables of a checkpoint, but for an optimizer's; floating point as float32.

    Raises:
      UserError: the checkpoint cannot be read.
    """
    values = {}
    with explained(prefix):
        reader = open_reader(prefix)
        for name in sorted(reader.get_variable_to_shape_map()):
            if not is_optimizer_state(name):
                value = reader.get_tensor(name)
                values[name] = value.astype(np.float32) if value.dtype.kind == "f" else value
    return values


def write(prefix: str, values: Values) -> None:
    """Writes variables to the checkpoint `prefix`, as tf.train.Saver would."""
    names = sorted(values)
    with tf.Graph().as_default():
        tensors = [tf.placeholder(values[name].dtype) for name in names]
        saved = tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=tensors,
        )
        with tf.Session(config=compat.session_config()) as session:
            session.run(saved, {x: values[name] for x, name in zip(tensors, names)})


# ---- damage ----


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
    check_name(checkpoint)
    name = None
    try:
        reader = open_reader(checkpoint)
        for name in sorted(reader.get_variable_to_shape_map() if names is None else names):
            value = reader.get_tensor(name)
            if must_be_finite and value.dtype.kind == "f" and not np.isfinite(value).all():
                return f"{name} in {checkpoint}.data-* has numbers that are not finite"
    except _READ_ERRORS as error:
        where = f"{name} in {checkpoint}.data-*" if name else f"{checkpoint}.index"
        fault = f"{where}: {' '.join(str(error).split())}"
        if _UNREACHABLE.search(f"{type(error).__name__} {error}"):
            raise UserError(
                f"The checkpoint {checkpoint!r} cannot be read now ({fault})."
            ) from error
        return fault
    return ""


def check_whole(checkpoint: str, names: Optional[Iterable[str]] = None) -> None:
    """Checks the checksums of all values of a checkpoint, or of those in `names`.

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
    """Adds the file's name to errors about a damaged checkpoint that is read in this context.

    Raises:
      ValueError: in place of TensorFlow's error, if the checkpoint is damaged.
    """
    try:
        yield
    except _READ_ERRORS:
        check_whole(checkpoint)
        raise
