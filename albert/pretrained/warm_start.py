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
from albert.util import files, wording
from albert.util.errors import UserError

BEST_CHECKPOINT = checkpoint_files.BEST_CHECKPOINT
_MOST_LISTED = 12
_PRETRAINING_HEADS = "cls/"

# A variable of other layouts under the same file names, and what to do about each.
_CONVERT = "Convert it first: python -m albert.convert_checkpoint {} --input_dir=FOLDER "
_CONVERT += "--output_dir=NEW"
_FOREIGN_LAYOUTS = {
    r"^bert/encoder/layer_shared/": "The checkpoint has albert_zh's layout. "
    + _CONVERT.format("from_albert_zh"),
    r"^bert/encoder/layer_\d+/": "The checkpoint is one of BERT, whose layers share nothing: take "
    "an ALBERT checkpoint.",
    r"albert_layer_groups": "The checkpoint has the variable names of Hugging Face's ALBERT. "
    + _CONVERT.format("from_huggingface"),
    r"\.ATTRIBUTES/VARIABLE_VALUE$|^_CHECKPOINTABLE_OBJECT_GRAPH$": "The checkpoint was written by "
    "tf.train.Checkpoint or Keras, which save objects and not variable names: save it again with "
    "tf.compat.v1.train.Saver.",
    r"^module/bert/": "The variables are those of a TF-Hub module: give the module's handle in "
    "place of a checkpoint.",
}
_PROGRAMS = (".onnx", ".tflite")
_FOREIGN_FILES = (".bin", ".safetensors", ".pt", ".pth", ".h5", ".msgpack", *_PROGRAMS)


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


class _Tensor(NamedTuple):
    shape: Tuple[int, ...]
    dtype: tf.DType


# ---------------------------------------------------------------------------------------------
# Which checkpoint.


def resolve_checkpoint(path: str) -> str:
    """Returns the prefix of the checkpoint that `path` means.

    Args:
      path: a prefix; the path of its .index, .meta or .data file; or a folder, in which
        model.ckpt-best, the one that the file `checkpoint` names, the newest model.ckpt-<step>, or
        the only one is taken.

    Raises:
      ValueError: there is no such checkpoint, or it is not clear which is meant.
    """
    path = os.path.expanduser(str(path)).rstrip("/")
    if not path:
        raise UserError("The path of the checkpoint is empty. Give a prefix or a folder.")
    is_folder = tf.gfile.IsDirectory(path)
    if path.endswith(_FOREIGN_FILES) and not is_folder:
        remedy = (
            "An exported file cannot be trained: give the checkpoint that it was made from."
            if path.endswith(_PROGRAMS)
            else "Weights of Hugging Face are converted by python -m albert.convert_checkpoint "
            "from_huggingface."
        )
        raise UserError(
            f"{path!r} is no TensorFlow checkpoint, which is named by the common prefix of its "
            f".index and .data files. {remedy}"
        )
    prefix = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", path)
    if is_folder:
        prefix = _checkpoint_in_folder(path)
    folder = os.path.dirname(prefix) or "."
    if not tf.gfile.Exists(prefix + ".index"):
        hint = wording.did_you_mean(prefix, _prefixes_in(folder))
        raise UserError(
            f"There is no checkpoint {prefix!r}: {prefix}.index is missing.{hint} "
            + _found_in(folder)
        )
    if not tf.gfile.Glob(prefix + ".index"):
        raise UserError(
            f"TensorFlow takes the path {prefix!r} for a pattern. Rename its folder: without *, ?, "
            "[ and \\."
        )
    start = os.path.basename(prefix) + ".data-"
    data = [os.path.join(folder, name) for name in _files_in(folder) if name.startswith(start)]
    for path in (prefix + ".index", *data):
        files.check_is_file(path)
    if not data:
        raise UserError(
            f"The checkpoint {prefix!r} is incomplete: {prefix}.index is there, but no .data file. "
            "Copy all files that begin with this prefix."
        )
    return prefix


def _checkpoint_in_folder(folder: str) -> str:
    found = _prefixes_in(folder)
    best = os.path.join(folder, BEST_CHECKPOINT)
    if best in found:
        return best
    named = os.path.join(folder, checkpoint_files.read_state(folder).name or "")
    if named in found:
        return named
    numbered = checkpoint_files.list_checkpoints(folder)
    if numbered:
        return numbered[-1].path
    if len(found) == 1:
        return found[0]
    raise UserError(
        f"The folder {folder!r} has no {BEST_CHECKPOINT}, no model.ckpt-<step>, no 'checkpoint' "
        f"file that names one, and not exactly one checkpoint. {_found_in(folder)} Name one by its "
        "prefix."
    )


def _files_in(folder: str) -> List[str]:
    return sorted(tf.gfile.ListDirectory(folder)) if tf.gfile.IsDirectory(folder) else []


def _prefixes_in(folder: str) -> List[str]:
    names = [name for name in _files_in(folder) if name.endswith(".index")]
    return [os.path.join(folder, name[: -len(".index")]) for name in names]


def _found_in(folder: str) -> str:
    prefixes = _prefixes_in(folder)
    if prefixes:
        return f"Checkpoints in {folder!r}: {wording.listed(prefixes)}."
    return f"In {folder!r} there is no checkpoint; its files: {wording.listed(_files_in(folder))}."


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
      ValueError: no such checkpoint, an unreadable one, or one that does not fit the model.
    """
    checkpoint = resolve_checkpoint(init_checkpoint)
    tensors = _read_index(checkpoint)
    takers: Dict[str, List[tf.Variable]] = {}
    loaded, new, wrong = [], [], []
    for variable in variables:
        name, shape = _name(variable), tuple(variable.shape.as_list())
        source, fault = _find(variable, tensors, init_from_group0)
        if not fault:
            takers.setdefault(source, []).append(variable)
            loaded.append(Entry(name, shape, source=source))
        elif name.startswith(tuple(f"{scope}/" for scope in required_scopes)):
            wrong.append(Entry(name, shape, fault))
        else:
            new.append(Entry(name, shape, fault if source in tensors else ""))
    if wrong or not loaded:
        raise UserError(_refusal(checkpoint, wrong, tensors))
    # Checked here, because TensorFlow's own error would not name the file.
    checkpoint_files.check_whole(checkpoint, takers)
    unused = [Entry(name, tensors[name].shape) for name in sorted(set(tensors) - set(takers))]
    state = tuple(entry for entry in unused if checkpoint_files.is_optimizer_state(entry.name))
    left_over = tuple(entry for entry in unused if entry not in state)
    report = Report(checkpoint, tuple(loaded), tuple(new), left_over, state)

    def initialise() -> tf.train.Scaffold:
        # init_from_checkpoint gives a value to one variable; several may want it.
        for place in range(max(map(len, takers.values()))):
            one_each = {name: found[place] for name, found in takers.items() if place < len(found)}
            tf.train.init_from_checkpoint(checkpoint, one_each)
        return tf.train.Scaffold()

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
      ValueError: it is unreadable, or lacks a variable, or has it in another shape.
    """
    variables = tf.global_variables()
    tensors = _read_index(checkpoint)
    wrong = []
    for variable in variables:
        _, fault = _find(variable, tensors, False)
        if fault:
            wrong.append(f"{_name(variable)} {variable.shape.as_list()} (in it it {fault})")
    if wrong:
        raise UserError(
            f"The checkpoint {checkpoint!r} is not one of this trained model: "
            f"{wording.listed(wrong)}. "
            "Name one that was written into the same folder as the model's description."
        )
    with checkpoint_files.explained(checkpoint):
        tf.train.Saver(variables).restore(session, checkpoint)


def _read_index(checkpoint: str) -> Dict[str, _Tensor]:
    with checkpoint_files.explained(checkpoint):
        reader = tf.train.load_checkpoint(checkpoint)
        dtypes = reader.get_variable_to_dtype_map()
        shapes = reader.get_variable_to_shape_map()
    return {name: _Tensor(tuple(shape), dtypes[name]) for name, shape in shapes.items()}


def _name(variable: tf.Variable) -> str:
    """A variable's name in checkpoints."""
    return re.sub(r":\d+$", "", variable.name)


def _find(
    variable: tf.Variable, tensors: Dict[str, _Tensor], init_from_group0: bool
) -> Tuple[str, str]:
    """Returns the name of a variable's value in the checkpoint, and why it cannot be taken."""
    candidates = [_name(variable)]
    if init_from_group0:
        group0 = re.sub(r"/group_\d+/", "/group_0/", candidates[0])
        first_block = re.sub(r"/(attention|ffn)_\d+/", r"/\1_1/", group0)
        first_inner = re.sub(r"/inner_group_\d+/", "/inner_group_0/", first_block)
        candidates = [group0, first_block, first_inner]
    source = next((name for name in candidates if name in tensors), candidates[0])
    if source not in tensors:
        return source, "is missing"
    tensor = tensors[source]
    if tensor.shape != tuple(variable.shape.as_list()):
        return source, f"has the shape {list(tensor.shape)}"
    if tensor.dtype != variable.dtype.base_dtype:
        return source, f"has the type {tensor.dtype.name}"
    return source, ""


# ---------------------------------------------------------------------------------------------
# In words.


def _refusal(checkpoint: str, wrong: Sequence[Entry], tensors: Dict[str, _Tensor]) -> str:
    """The message for a checkpoint that does not fit."""
    lines = [f"The checkpoint {checkpoint!r} does not fit the model."]
    if not wrong:
        lines[0] += " None of the model's variables is in it."
    lines += [f"  {_described(entry)}" for entry in wrong[:_MOST_LISTED]]
    if len(wrong) > _MOST_LISTED:
        lines.append(f"  and {len(wrong) - _MOST_LISTED} more")
    return "\n".join([*lines, _remedy(wrong, tensors)])


def _remedy(wrong: Sequence[Entry], tensors: Dict[str, _Tensor]) -> str:
    """The most likely reason and what to do."""
    for pattern, advice in _FOREIGN_LAYOUTS.items():
        if any(re.search(pattern, name) for name in tensors):
            return advice
    if wrong and all(re.search(r"/(inner_)?group_[1-9]\d*/", entry.name) for entry in wrong):
        return (
            "The checkpoint has fewer groups than the model: use the config that came with it, or "
            "start every group from group 0 with --init_from_group0."
        )
    if any(entry.name.endswith("/word_embeddings") for entry in wrong):
        return (
            "vocab_size or embedding_size differ: use the albert_config.json and the vocabulary "
            "that came with the checkpoint."
        )
    names = ", ".join(sorted(tensors)[:3])
    return (
        "Use the albert_config.json that came with the checkpoint, or leave --init_checkpoint out "
        f"to start from random weights. The checkpoint begins with: {names}."
    )


def format_report(report: Optional[Report]) -> str:
    """Returns what was loaded and left out, with names where something may be wrong.

    None stands for no checkpoint at all.
    """
    if report is None:
        return "All weights are randomly initialised (no --init_checkpoint)."
    heads = [entry for entry in report.left_over if entry.name.startswith(_PRETRAINING_HEADS)]
    unknown = [_described(entry) for entry in report.left_over if entry not in heads]
    unfit = [_described(entry) for entry in report.new if entry.remark]
    lines = [f"Warm start from {report.checkpoint}: {_amount(report.loaded)} loaded"]
    if report.new:
        names = wording.listed([entry.name for entry in report.new], most=3)
        lines[0] += f"; {_amount(report.new)} new, at random: {names}"
    left = {"the pretraining heads": heads, "the optimizer": report.optimizer_state}
    counts = [f"{len(entries)} of {name}" for name, entries in left.items() if entries]
    if counts:
        lines[0] += f"; not taken over: {' and '.join(counts)}"
    if unfit:
        lines.append(f"  New, because the checkpoint's do not fit: {wording.listed(unfit)}")
    if unknown:
        lines.append(f"  In the checkpoint, but not in this model: {wording.listed(unknown)}")
    return "\n".join(lines)


def _amount(entries: Sequence[Entry]) -> str:
    variables = wording.counted(len(entries), "variable")
    return f"{variables} ({count_parameters(entries):,} parameters)"


def count_parameters(entries: Iterable[Entry]) -> int:
    """Returns the number of parameters of a report's `loaded`, `new` or other part."""
    return sum(int(np.prod(entry.shape, dtype=np.int64)) for entry in entries)


def _described(entry: Entry) -> str:
    remark = f" (in the checkpoint it {entry.remark})" if entry.remark else ""
    return f"{entry.name} {list(entry.shape)}{remark}"
