# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Warm start: takes a model's first weights from a checkpoint, checked and reported.

Every variable of the backbone has to be there with its shape. Heads are loaded where the checkpoint
has them and are new where it has not.
"""

import os
import re
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.checkpoints import checkpoint_files
from albert.util import wording
from albert.util.errors import UserError

BEST_CHECKPOINT = checkpoint_files.BEST_CHECKPOINT
_MOST_LISTED = 12
_PRETRAINING_HEADS = "cls/"
# What a variable's name here can begin with in the checkpoint of a model that was trained from a
# TF-Hub module by earlier versions, or by Google's scripts.
_MODULE_SCOPE = "module/"

# A variable of other layouts under the same file names, and what to do about each.
_CONVERT = "Convert it: python -m albert.convert_checkpoint {} --input_dir=FOLDER --output_dir=NEW"
_FOREIGN_LAYOUTS = {
    r"^bert/encoder/layer_shared/": "It has albert_zh's layout. "
    + _CONVERT.format("from_albert_zh"),
    r"^bert/encoder/layer_\d+/": "It is one of BERT, whose layers share nothing: take an ALBERT "
    "checkpoint.",
    r"albert_layer_groups": "It has the names of Hugging Face's ALBERT. "
    + _CONVERT.format("from_huggingface"),
    r"\.ATTRIBUTES/VARIABLE_VALUE$": "tf.train.Checkpoint or Keras wrote it: save it again with "
    "tf.compat.v1.train.Saver.",
}


class Entry(NamedTuple):
    """A variable of the model or of the checkpoint."""

    name: str
    shape: Tuple[int, ...]
    remark: str = ""  # why the checkpoint's value is not taken, if it has one
    source: str = ""  # the variable of the checkpoint whose value is taken


class Report(NamedTuple):
    """What a warm start did with each variable."""

    checkpoint: str  # prefix
    loaded: Tuple[Entry, ...]  # variables of the model that take a value from it
    new: Tuple[Entry, ...]  # variables of the model that keep their random initial values
    left_over: Tuple[Entry, ...]  # variables of the checkpoint that nothing takes
    optimizer_state: Tuple[Entry, ...]  # slots and counters, which a warm start never takes


class WarmStart(NamedTuple):
    """A checked warm start."""

    scaffold_fn: Optional[Callable[[], tf.train.Scaffold]]  # of a TPUEstimatorSpec, with use_tpu
    report: Report


_Tensors = Dict[str, Tuple[Tuple[int, ...], tf.DType]]  # shape and type by name


# ---------------------------------------------------------------------------------------------
# Which checkpoint.


def resolve_checkpoint(path: str) -> str:
    """Returns the prefix of the checkpoint that `path` means.

    Args:
      path: a prefix; the path of its .index, .meta or .data file; or a folder, in which
        model.ckpt-best, the one that the file `checkpoint` names, the newest model.ckpt-<step>, or
        the only one is taken.

    Raises:
      UserError: there is no such checkpoint, or it is not clear which is meant.
    """
    path = os.path.expanduser(str(path)).rstrip("/")
    is_folder = tf.gfile.IsDirectory(path)
    folder = path if is_folder else os.path.dirname(path)
    names = tf.gfile.ListDirectory(folder or ".") if tf.gfile.IsDirectory(folder or ".") else []
    prefixes = sorted(
        os.path.join(folder, name[: -len(".index")]) for name in names if name.endswith(".index")
    )
    prefix = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", path)
    if is_folder:
        prefix = _checkpoint_in_folder(path, prefixes) or ""
    if prefix not in prefixes:
        raise UserError(
            f"There is no checkpoint {path!r}: give the common prefix of its .index and .data "
            f"files, or a folder with {BEST_CHECKPOINT} or one checkpoint."
            f"{wording.did_you_mean(path, prefixes)} Checkpoints in {folder!r}: "
            f"{wording.listed(prefixes)}. convert_checkpoint reads files of Hugging Face."
        )
    if not checkpoint_files.data_files(os.path.basename(prefix), names):
        raise UserError(
            f"The checkpoint {prefix!r} is incomplete: a .data file is missing. Copy all files "
            "that begin with this prefix."
        )
    return prefix


def _checkpoint_in_folder(folder: str, prefixes: Sequence[str]) -> Optional[str]:
    named = [BEST_CHECKPOINT, checkpoint_files.read_state(folder).name]
    for name in filter(None, named):
        if os.path.join(folder, name) in prefixes:
            return os.path.join(folder, name)
    numbered = checkpoint_files.list_checkpoints(folder)
    if numbered:
        return numbered[-1].path
    return prefixes[0] if len(prefixes) == 1 else None


# ---------------------------------------------------------------------------------------------
# Its values.


def warm_start(
    init_checkpoint: str,
    variables: Sequence[tf.Variable],
    *,
    required_scopes: Sequence[str] = ("bert",),
    init_from_group0: bool = False,
    use_tpu: bool = False,
) -> WarmStart:
    """Makes variables take their initial values from a checkpoint.

    Optimizer slots and the global step are never taken: resuming in the same output_dir does that.

    Args:
      init_checkpoint: whatever `resolve_checkpoint` takes.
      variables: the model's variables, usually tf.trainable_variables().
      required_scopes: every variable below these has to be in the checkpoint with its shape.
        Others (the heads) are loaded if they fit, and new if not.
      init_from_group0: gives every layer group (and inner group the checkpoint lacks) the values of
        the checkpoint's group 0.
      use_tpu: leaves the initialisation to `scaffold_fn`, where TPUEstimator needs it; otherwise
        the variables' initialisers do it.

    Raises:
      UserError: no such checkpoint, an unreadable one, or one that does not fit the model.
    """
    checkpoint = resolve_checkpoint(init_checkpoint)
    tensors = _read_index(checkpoint)
    takers: Dict[str, List[tf.Variable]] = {}
    loaded, new, wrong = [], [], []
    for variable in variables:
        entry = _compare(variable, tensors, init_from_group0)
        if entry.source:
            takers.setdefault(entry.source, []).append(variable)
            loaded.append(entry)
        elif entry.name.startswith(tuple(f"{scope}/" for scope in required_scopes)):
            wrong.append(entry)
        else:
            new.append(entry)
    if wrong or not loaded:
        raise UserError(_refusal(checkpoint, wrong, tensors))
    # Checked here, because TensorFlow's own error would not name the file.
    checkpoint_files.check_whole(checkpoint, takers)
    unused = [Entry(name, tensors[name][0]) for name in sorted(set(tensors) - set(takers))]
    state = tuple(entry for entry in unused if checkpoint_files.is_optimizer_state(entry.name))
    left_over = tuple(entry for entry in unused if entry not in state)

    def initialise() -> tf.train.Scaffold:
        # init_from_checkpoint gives a value to one variable; several may want it.
        for place in range(max(map(len, takers.values()))):
            one_each = {name: found[place] for name, found in takers.items() if place < len(found)}
            tf.train.init_from_checkpoint(checkpoint, one_each)
        return tf.train.Scaffold()

    report = Report(checkpoint, tuple(loaded), tuple(new), left_over, state)
    if use_tpu:
        return WarmStart(initialise, report)
    initialise()
    return WarmStart(None, report)


def restore_weights(session: tf.Session, checkpoint: str) -> None:
    """Gives every variable of the session's graph its value in a checkpoint, heads included.

    Args:
      session: of a graph without an optimizer.
      checkpoint: prefix of a checkpoint that a training script wrote.

    Raises:
      UserError: it is unreadable, or lacks a variable, or has it in another shape.
    """
    variables = tf.global_variables()
    tensors = _read_index(checkpoint)
    entries = [_compare(variable, tensors) for variable in variables]
    wrong = [entry for entry in entries if not entry.source]
    if wrong:
        raise UserError(_refusal(checkpoint, wrong, tensors))
    with checkpoint_files.explained(checkpoint):
        sources = {entry.source: variable for entry, variable in zip(entries, variables)}
        tf.train.Saver(sources).restore(session, checkpoint)


def _read_index(checkpoint: str) -> _Tensors:
    with checkpoint_files.explained(checkpoint):
        reader = tf.train.load_checkpoint(checkpoint)
        dtypes = reader.get_variable_to_dtype_map()
        shapes = reader.get_variable_to_shape_map()
    return {name: (tuple(shape), dtypes[name]) for name, shape in shapes.items()}


def _compare(variable: tf.Variable, tensors: _Tensors, init_from_group0: bool = False) -> Entry:
    """A variable with the name of its value in the checkpoint, or why there is none."""
    name, shape = re.sub(r":\d+$", "", variable.name), tuple(variable.shape.as_list())
    candidates = [name, _MODULE_SCOPE + name]
    if init_from_group0:
        group0 = re.sub(r"/group_\d+/", "/group_0/", name)
        first_block = re.sub(r"/(attention|ffn)_\d+/", r"/\1_1/", group0)
        first_inner = re.sub(r"/inner_group_\d+/", "/inner_group_0/", first_block)
        candidates = [group0, first_block, first_inner]
    source = next((name for name in candidates if name in tensors), "")
    if not source:
        return Entry(name, shape)
    if tensors[source] == (shape, variable.dtype.base_dtype):
        return Entry(name, shape, source=source)
    found, dtype = tensors[source]
    return Entry(name, shape, f"{dtype.name} {list(found)}")


# ---------------------------------------------------------------------------------------------
# In words.


def _refusal(checkpoint: str, wrong: Sequence[Entry], tensors: _Tensors) -> str:
    """The message for a checkpoint that does not fit, and the most likely remedy."""
    listed = "".join(f"\n  {_described(entry)}" for entry in wrong[:_MOST_LISTED])
    if len(wrong) > _MOST_LISTED:
        listed += f"\n  and {len(wrong) - _MOST_LISTED} more"
    remedy = (
        "Use the albert_config.json that came with the checkpoint, or leave --init_checkpoint out "
        f"to start from random weights. The checkpoint begins with: "
        f"{', '.join(sorted(tensors)[:3])}."
    )
    if any(entry.name.endswith("/word_embeddings") for entry in wrong):
        remedy = (
            "vocab_size or embedding_size differ: use the albert_config.json and the vocabulary "
            "that came with the checkpoint."
        )
    if wrong and all(re.search(r"/(inner_)?group_[1-9]\d*/", entry.name) for entry in wrong):
        remedy = (
            "The checkpoint has fewer groups than the model: use the config that came with it, or "
            "start every group from group 0 with --init_from_group0."
        )
    for pattern, advice in _FOREIGN_LAYOUTS.items():
        if any(re.search(pattern, name) for name in tensors):
            remedy = advice
    return f"The checkpoint {checkpoint!r} does not fit the model; it lacks:{listed}\n{remedy}"


def format_report(report: Optional[Report]) -> str:
    """Returns what was loaded and left out, with names where something may be wrong.

    None stands for no checkpoint at all.
    """
    if report is None:
        return "All weights are randomly initialised (no --init_checkpoint)."
    heads = [entry for entry in report.left_over if entry.name.startswith(_PRETRAINING_HEADS)]
    unknown = [_described(entry) for entry in report.left_over if entry not in heads]
    unfit = [_described(entry) for entry in report.new if entry.remark]
    parts = [f"Warm start from {report.checkpoint}: {_amount(report.loaded)} loaded"]
    if report.new:
        names = wording.listed([entry.name for entry in report.new], most=3)
        parts.append(f"{_amount(report.new)} new, at random: {names}")
    left = {"the pretraining heads": heads, "the optimizer": report.optimizer_state}
    parts += [f"not taken: {len(entries)} of {name}" for name, entries in left.items() if entries]
    if unfit:
        parts.append(f"\n  new, because the checkpoint's do not fit: {wording.listed(unfit)}")
    if unknown:
        parts.append(f"\n  in the checkpoint, but not in this model: {wording.listed(unknown)}")
    return "; ".join(parts)


def _amount(entries: Sequence[Entry]) -> str:
    variables = wording.counted(len(entries), "variable")
    return f"{variables} ({count_parameters(entries):,} parameters)"


def count_parameters(entries: Iterable[Entry]) -> int:
    """Returns the number of parameters of a report's `loaded`, `new` or other part."""
    return sum(int(np.prod(entry.shape, dtype=np.int64)) for entry in entries)


def _described(entry: Entry) -> str:
    remark = f" (the checkpoint's is {entry.remark})" if entry.remark else ""
    return f"{entry.name} {list(entry.shape)}{remark}"
