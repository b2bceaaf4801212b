# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays by name: read, renamed along a table with every shape checked, and written.

No graph of the model is built; a table of `checkpoint_names` says what there has to be.
"""

from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.conversion import names as checkpoint_names
from albert.pretrained import checkpoint_files
from albert.pretrained import warm_start as checkpoint_init
from albert.util import runtime as precision

Values = Dict[str, np.ndarray]
Shape = Tuple[int, ...]


class Renamed(NamedTuple):
    """A variable that went over."""

    source: str
    source_shape: Shape
    target: str
    target_shape: Shape


class Remark(NamedTuple):
    """A variable that did not go over, and why."""

    name: str
    shape: Shape
    remark: str


class Report(NamedTuple):
    """What became of each variable.

    Attributes:
      converted: variables that went over.
      ignored: variables of the source that the target has no place for.
      missing: variables of the target that the source lacks.
      notes: what else the user should know.
    """

    converted: Tuple[Renamed, ...]
    ignored: Tuple[Remark, ...]
    missing: Tuple[Remark, ...]
    notes: Tuple[str, ...] = ()


class Conversion(NamedTuple):
    """The converted weights.

    Attributes:
      values: float32 arrays by their new names.
      parts: the parts of checkpoint_names that are among them.
      report: what became of each variable.
    """

    values: Values
    parts: Tuple[str, ...]
    report: Report


# ---------------------------------------------------------------------------------------------
# Checkpoints.


class Weights(NamedTuple):
    """What was read: float32 arrays by name, and what was left unread."""

    values: Values
    ignored: Tuple[Remark, ...]


def read_checkpoint(prefix: str) -> Weights:
    """Returns the variables of a checkpoint; an optimizer's are not read.

    Raises:
      ValueError: the checkpoint cannot be read.
    """
    values, ignored = {}, []
    with checkpoint_files.explained(prefix):
        reader = tf.train.load_checkpoint(prefix)
        shapes = reader.get_variable_to_shape_map()
        for name in sorted(shapes):
            if checkpoint_init.is_optimizer_state(name):
                ignored.append(Remark(name, tuple(shapes[name]), "of the optimiser"))
            else:
                values[name] = reader.get_tensor(name)
    return Weights(as_float32(values), tuple(ignored))


def as_float32(values: Values) -> Values:
    """Returns the arrays in the type that our variables have; numbers of no floating type stay."""
    return {
        name: value.astype(np.float32) if value.dtype.kind == "f" else value
        for name, value in values.items()
    }


def write_checkpoint(prefix: str, values: Values) -> None:
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
        with tf.Session(config=precision.session_config()) as session:
            session.run(saved, {x: values[name] for x, name in zip(tensors, names)})


# ---------------------------------------------------------------------------------------------
# Renaming.


class _Move(NamedTuple):
    """One variable on its way."""

    sources: Tuple[str, ...]  # its name, and others it may go by
    source_shape: Shape
    target: str
    target_shape: Shape


def _move(name: checkpoint_names.Name, to_ours: bool) -> _Move:
    if to_ours:
        return _Move((name.theirs, *name.aliases), name.their_shape, name.ours, name.shape)
    return _Move((name.ours,), name.shape, name.theirs, name.their_shape)


def rename(
    parts: checkpoint_names.Parts,
    values: Values,
    *,
    to_ours: bool,
    reason: Callable[[str], Optional[str]],
) -> Conversion:
    """Gives variables their new names.

    Args:
      parts: the table. The encoder has to be there; any other part is there wholly or not at all.
      values: of the source.
      to_ours: the direction.
      reason: for a variable of the source that is not in the table: why it may be ignored; None if
        it may not.

    Raises:
      ValueError: a variable is missing, has another shape, or must not be ignored.
    """
    converted, missing, wrong = [], [], []
    result, used, found_parts = {}, set(), []
    for part, names in parts.items():
        moves = [_move(name, to_ours) for name in names]
        sources = [next((key for key in move.sources if key in values), None) for move in moves]
        if part != checkpoint_names.ENCODER and not any(sources):
            missing += [Remark(move.target, move.target_shape, "") for move in moves]
            continue
        found_parts.append(part)
        for name, move, source in zip(names, moves, sources):
            fault = _fault(move, source, values)
            if fault:
                wrong.append(fault)
                continue
            value = values[source].T if name.is_transposed else values[source]
            result[move.target] = np.ascontiguousarray(value)
            used.add(source)
            converted.append(Renamed(source, move.source_shape, move.target, value.shape))
    ignored = _left_over(values, used, reason=reason, wrong=wrong)
    if wrong:
        raise ValueError(_refusal(wrong))
    return Conversion(
        result, tuple(found_parts), Report(tuple(converted), tuple(ignored), tuple(missing))
    )


def _fault(move: _Move, source: Optional[str], values: Values) -> str:
    """What keeps a variable from going over; "" if nothing does."""
    expected = list(move.source_shape)
    if source is None:
        return f"{move.sources[0]} {expected} is missing"
    if values[source].shape != move.source_shape:
        return f"{source} should be {expected} and is {list(values[source].shape)}"
    same = [name for name in move.sources if name in values]
    if any(not np.array_equal(values[name], values[source]) for name in same):
        return f"{' and '.join(same)} should be one and the same variable, and differ"
    return ""


def _left_over(
    values: Values, used: set, *, reason: Callable[[str], Optional[str]], wrong: List[str]
) -> List[Remark]:
    """The variables that nothing takes; those that must not be dropped are added to `wrong`."""
    ignored = []
    for name in sorted(set(values) - used):
        remark = reason(name)
        if remark is None:
            wrong.append(f"{name} {list(values[name].shape)} is not known")
        else:
            ignored.append(Remark(name, values[name].shape, remark))
    return ignored


_MOST_LISTED = 12


def _refusal(wrong: Sequence[str]) -> str:
    more = [f"and {len(wrong) - _MOST_LISTED} more"] if len(wrong) > _MOST_LISTED else []
    listed = "\n".join(f"  {fault}" for fault in [*wrong[:_MOST_LISTED], *more])
    return (
        f"The weights do not fit the model's configuration:\n{listed}\nUse the configuration that "
        "came with the weights."
    )


# ---------------------------------------------------------------------------------------------
# From albert_zh's layout to Google's.


class GoogleLayout(NamedTuple):
    """A model whose embeddings are as wide as its layers."""

    config: modeling.AlbertConfig
    values: Values


def to_google_layout(config: modeling.AlbertConfig, values: Values) -> GoogleLayout:
    """Returns the same function in Google's layout, with the product W P as the table [V, H].

    albert_zh normalises after the projection and Google before it, so that with a narrow table
    there is no exact counterpart. With E = H Google's layout has no projection, and what remains
    is the same computation: LayerNorm(W P [ids] + types + positions), and logits x (W P)^T.

    Args:
      config: with embedding_layout albert_zh.
      values: our variables.

    Raises:
      ValueError: the layout is Google's already.
    """
    if config.embedding_layout != "albert_zh":
        raise ValueError(
            "The model has Google's layout already (no embedding_layout albert_zh in its "
            "configuration): nothing is to be done."
        )
    values = dict(values)
    projection = values.pop(f"{checkpoint_names.MAPPING}/kernel", None)
    if projection is not None:
        table = values["bert/embeddings/word_embeddings"].astype(np.float64)
        product = np.dot(table, projection.astype(np.float64))  # [V, H]
        values["bert/embeddings/word_embeddings"] = product.astype(np.float32)
    settings = dict(config.to_dict(), embedding_size=config.hidden_size, embedding_layout="google")
    return GoogleLayout(modeling.AlbertConfig.from_dict(settings), values)


# ---------------------------------------------------------------------------------------------
# The report in words.


def format_report(report: Report) -> str:
    """Returns the report as text, a line for each variable; the optimizer's are only counted."""
    lines = [_heading("converted", [item.target_shape for item in report.converted])]
    for item in report.converted:
        lines.append(
            f"  {item.source} {list(item.source_shape)} -> {item.target} {list(item.target_shape)}"
        )
    for title, remarks in (("ignored", report.ignored), ("missing", report.missing)):
        lines.append(_heading(title, [item.shape for item in remarks]))
        slots = [item for item in remarks if checkpoint_init.is_optimizer_state(item.name)]
        if slots:
            lines.append(f"  {len(slots)} of the optimiser, such as {slots[0].name}")
        lines += [
            f"  {item.name} {list(item.shape)}: {item.remark}"
            for item in remarks
            if item not in slots
        ]
    return "\n".join([*lines, *(f"note: {note}" for note in report.notes)])


def _heading(title: str, shapes: Sequence[Shape]) -> str:
    count = sum(int(np.prod(shape, dtype=np.int64)) for shape in shapes)
    plural = "" if len(shapes) == 1 else "s"
    return f"{title}: {len(shapes)} variable{plural}, {count:,} parameters"
