# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes checkpoints, describes damage, and compares a model with a checkpoint.

A checkpoint's index has a checksum of each value. TensorFlow checks it whenever it reads a value.
"""

import contextlib
import glob
import re
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import optimization
from albert.formats import model_paths
from albert.runtimes import compat
from albert.util import UserError, files, wording

# Optimizer slots of each variable: ours and Google's, albert_zh's, tf.train's Adam.
OPTIMIZER_SLOTS = ("adam_m", "adam_v", "lamb_m", "lamb_v", "Adam", "Adam_1")
_OPTIMIZER_SCALARS = ("global_step", "beta1_power", "beta2_power", *optimization.LossScale.NAMES)
# TensorFlow raises these for damaged checkpoints; 2.15 raises IndexError for a truncated file.
_READ_ERRORS = (tf.errors.OpError, RuntimeError, ValueError, IndexError)
# Errors that do not prove damage. In TensorFlow 2.15, only the message shows the difference.
_UNREACHABLE = re.compile(
    "(?i)permission.?denied|unauth|not authorized|forbidden|unavailable|deadline|timed? ?out"
    "|exhausted|aborted|cancelled|connection|could not resolve|too many open|input/output error"
)

Values = Dict[str, np.ndarray]  # the variables of a model by name


def open_reader(checkpoint: str) -> Any:
    """Returns TensorFlow's reader of a checkpoint; UserError if its files are pipes."""
    for path in [f"{checkpoint}.index", *glob.glob(f"{glob.escape(checkpoint)}.data-*")]:
        files.check_regular(path)
    return tf.train.load_checkpoint(checkpoint)


def is_optimizer_state(name: str) -> bool:
    """Returns whether a variable is an optimizer's slot, step counter or loss scale."""
    return name.split("/")[-1] in OPTIMIZER_SLOTS + _OPTIMIZER_SCALARS


# ---- values ----


def read(prefix: str) -> Values:
    """Returns a checkpoint's variables without optimizer state; floating point as float32.

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
        with tf.Session(config=compat.base_session_config()) as session:
            session.run(saved, {x: values[name] for x, name in zip(tensors, names)})


# ---- damage ----


def find_damage(
    checkpoint: str, names: Optional[Iterable[str]] = None, *, must_be_finite: bool = False
) -> str:
    """Reads a checkpoint and describes the first damage; "" if the checkpoint is intact.

    Only one value is in memory at a time. Reading takes about one second per GB, or longer on a
    slow disk. Afterwards the files are in the system's cache.

    Args:
      checkpoint: its prefix.
      names: the variables that must exist and are read; None reads all.
      must_be_finite: whether NaN and infinity count as damage.

    Raises:
      ValueError: the files cannot be reached, so it is unknown whether they are damaged.
    """
    model_paths.check_name(checkpoint)
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
    """Checks the checksums of a checkpoint's values: all of them, or the variables in `names`.

    Raises:
      ValueError: the checkpoint is damaged, or lacks a variable.
    """
    damage = find_damage(checkpoint, names)
    if damage:
        raise UserError(
            f"The checkpoint {checkpoint!r} is corrupt ({damage}). Copy it again, or name another."
        )


@contextlib.contextmanager
def explained(checkpoint: str) -> Iterator[None]:
    """Replaces TensorFlow's errors about a damaged checkpoint by errors that name the file.

    Raises:
      ValueError: the checkpoint is damaged.
    """
    try:
        yield
    except _READ_ERRORS:
        check_whole(checkpoint)
        raise


# ---- comparison with a model's variables ----

# Prefix of variable names if Google's scripts trained the model from a TF-Hub module.
_MODULE_SCOPE = "module/"
# Pattern in variable names of another layout -> advice.
_CONVERT = "Convert it: python -m albert convert_checkpoint {}."
_FOREIGN_LAYOUTS = {
    "^bert/encoder/layer_shared/": _CONVERT.format("from_albert_zh"),
    r"^bert/encoder/layer_\d+/": "This is a BERT checkpoint. Use an ALBERT checkpoint.",
    "albert_layer_groups": _CONVERT.format("from_huggingface"),
    r"\.ATTRIBUTES/VARIABLE_VALUE$": "This is from tf.train.Checkpoint or Keras. Save it with "
    "tf.compat.v1.train.Saver.",
}
USE_ITS_CONFIG = (
    "Use the albert_config.json and the vocabulary of the checkpoint, or random weights. If the "
    "model has more layer groups, add --init_from_group0."
)
_TRAIN_FIRST = (
    "It has no head for this task. Train first with --do_train, or name a trained checkpoint."
)


class Entry(NamedTuple):
    """A variable of the model or of the checkpoint."""

    name: str
    shape: Sequence[int]
    source: str = ""  # the checkpoint's variable that initializes it
    remark: str = ""  # shape and dtype in the checkpoint if they differ, or the converted name

    def __str__(self) -> str:
        return f"{self.name} {list(self.shape)}{self.remark}"


def match_variables(
    checkpoint: str,
    variables: Sequence[tf.Variable],
    *,
    required: Tuple[str, ...] = ("",),
    init_from_group0: bool = False,
    remedy: str = USE_ITS_CONFIG,
) -> Tuple[List[Entry], List[Entry]]:
    """Returns an entry for each variable, and the checkpoint's variables that are not used.

    Args:
      checkpoint: its prefix.
      variables: the model's variables.
      required: name prefixes of variables that the checkpoint must have; ("",) means all.
      init_from_group0: initialize every group (and each inner group that the checkpoint lacks)
        from group 0.
      remedy: the advice in the error message.

    Raises:
      UserError: the checkpoint is corrupt, has none of the variables, or lacks a required variable
        or has it with another shape or type.
    """
    with explained(checkpoint):
        reader = open_reader(checkpoint)
        dtypes = reader.get_variable_to_dtype_map()
        shapes = reader.get_variable_to_shape_map()
    entries = []
    for variable in variables:
        name, shape = variable.name.split(":")[0], variable.shape.as_list()
        candidates = [name, _MODULE_SCOPE + name]
        if init_from_group0:
            group0 = re.sub(r"/group_\d+/", "/group_0/", name)
            first_block = re.sub(r"/(attention|ffn)_\d+/", r"/\1_1/", group0)
            first_inner = re.sub(r"/inner_group_\d+/", "/inner_group_0/", first_block)
            candidates = [group0, first_block, first_inner]
        source, remark = next((name for name in candidates if name in shapes), ""), ""
        if source and (shapes[source], dtypes[source]) != (shape, variable.dtype.base_dtype):
            remark = f" (the checkpoint has {dtypes[source].name} {shapes[source]})"
            source = ""
        entries.append(Entry(name, shape, source, remark))
    taken = {entry.source for entry in entries} - {""}
    unused = [Entry(name, shapes[name]) for name in sorted(set(shapes) - taken)]
    lacking = [entry for entry in entries if not entry.source and entry.name.startswith(required)]
    if lacking or not taken:
        has_encoder = not any(entry.name.startswith("bert/") for entry in lacking)
        if lacking and has_encoder and remedy == USE_ITS_CONFIG:
            remedy = _TRAIN_FIRST
        for pattern, advice in _FOREIGN_LAYOUTS.items():
            if any(re.search(pattern, name) for name in shapes):
                remedy = advice
        raise misfit(f"The checkpoint {checkpoint!r}", remedy, lacking=lacking, unknown=unused)
    return entries, unused


def misfit(
    checkpoint: str, remedy: str, *, lacking: Iterable[Entry], unknown: Iterable[Entry]
) -> UserError:
    """Returns the error for a checkpoint that does not have the variables of a model."""
    return UserError(
        f"{checkpoint} does not fit the model. {remedy}\n"
        f"  It lacks {wording.listed(list(map(str, lacking)), most=12)}.\n"
        f"  It also has {wording.listed(list(map(str, unknown)), most=3)}."
    )
