# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays by name: read, renamed along a table with every shape checked, and written."""

from typing import Callable, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files
from albert.checkpoints import names as checkpoint_names
from albert.runtimes import compat
from albert.util.errors import UserError

PRETRAINING = (checkpoint_names.MASKED_WORDS, checkpoint_names.SENTENCE_ORDER)

Values = Dict[str, np.ndarray]
Shape = Tuple[int, ...]


class Renamed(NamedTuple):
    """A converted variable."""

    source: str
    source_shape: Shape
    target: str
    target_shape: Shape


class Remark(NamedTuple):
    """A variable that was not converted, and why."""

    name: str
    shape: Shape
    remark: str


class Report(NamedTuple):
    """Every variable of the source and of the target."""

    converted: Tuple[Renamed, ...]
    ignored: Tuple[Remark, ...]  # variables of the source that the target lacks
    missing: Tuple[Remark, ...]  # variables of the target that the source lacks
    notes: Tuple[str, ...] = ()


class Conversion(NamedTuple):
    """The converted weights."""

    values: Values  # float32, by their new names
    parts: Tuple[str, ...]  # of the table, those that are among them
    report: Report


# ---- checkpoints ----


class Weights(NamedTuple):
    """The variables of a checkpoint, and those that were not read."""

    values: Values  # float32, by name
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
            if checkpoint_files.is_optimizer_state(name):
                ignored.append(Remark(name, tuple(shapes[name]), "of the optimiser"))
            else:
                values[name] = reader.get_tensor(name)
    return Weights(as_float32(values), tuple(ignored))


def as_float32(values: Values) -> Values:
    """Returns the arrays with floating-point numbers as float32."""
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
        with tf.Session(config=compat.session_config()) as session:
            session.run(saved, {x: values[name] for x, name in zip(tensors, names)})


# ---- renaming ----


def rename(
    parts: checkpoint_names.Parts,
    values: Values,
    *,
    to_ours: bool,
    reason: Callable[[str], Optional[str]],
    missing_remark: str = "not in the new checkpoint; new when a model with it is trained",
) -> Conversion:
    """Gives variables their new names.

    Args:
      parts: the table. The encoder has to be there; any other part is there wholly or not at all.
      values: of the source.
      to_ours: the direction.
      reason: for a variable of the source that is not in the table: why it may be ignored; None if
        it may not.
      missing_remark: what the report says of variables of the target that the source lacks.

    Raises:
      ValueError: a variable is missing, has another shape, or must not be ignored.
    """
    converted, ignored, missing, wrong = [], [], [], []
    result, used, found_parts = {}, set(), []
    for part, names in parts.items():
        if not to_ours:
            names = [name.reversed() for name in names]
        sources = [
            next((key for key in (name.theirs, *name.aliases) if key in values), None)
            for name in names
        ]
        if part != checkpoint_names.ENCODER and not any(sources):
            missing += [Remark(name.ours, name.shape, missing_remark) for name in names]
            continue
        found_parts.append(part)
        for name, source in zip(names, sources):
            fault = _fault(name, source, values)
            if fault:
                wrong.append(fault)
                continue
            value = values[source].T if name.is_transposed else values[source]
            result[name.ours] = np.ascontiguousarray(value)
            used.add(source)
            converted.append(Renamed(source, name.their_shape, name.ours, name.shape))
    for key in sorted(set(values) - used):
        remark = reason(key)
        if remark is None:
            wrong.append(f"{key} {list(values[key].shape)} is not known")
        else:
            ignored.append(Remark(key, values[key].shape, remark))
    if wrong:
        raise UserError(_refusal(wrong))
    report = Report(tuple(converted), tuple(ignored), tuple(missing))
    return Conversion(result, tuple(found_parts), report)


def _fault(name: checkpoint_names.Name, source: Optional[str], values: Values) -> str:
    """Why a variable cannot be converted; "" if it can."""
    expected = list(name.their_shape)
    if source is None:
        return f"{name.theirs} {expected} is missing"
    if list(values[source].shape) != expected:
        return f"{source} should be {expected} and is {list(values[source].shape)}"
    same = [key for key in (name.theirs, *name.aliases) if key in values]
    if any(not np.array_equal(values[key], values[source]) for key in same):
        return f"{' and '.join(same)} should be one and the same variable, and differ"
    return ""


_MOST_LISTED = 12


def _refusal(wrong: Sequence[str]) -> str:
    more = [f"and {len(wrong) - _MOST_LISTED} more"] if len(wrong) > _MOST_LISTED else []
    listed = "\n".join(f"  {fault}" for fault in [*wrong[:_MOST_LISTED], *more])
    return (
        f"The weights do not fit the model's configuration:\n{listed}\nUse the configuration that "
        "came with the weights."
    )


def wanted_parts(parts: checkpoint_names.Parts, values: Values) -> checkpoint_names.Parts:
    """Returns encoder, pooler and the heads of a foreign model; pretraining heads go together."""
    there = {part for part, names in parts.items() if any(name.theirs in values for name in names)}
    wanted = {checkpoint_names.ENCODER, checkpoint_names.POOLER, *there}
    if wanted & set(PRETRAINING):
        wanted.update(PRETRAINING)
    return {part: names for part, names in parts.items() if part in wanted}


def output_count(values: Values, name: str) -> Optional[int]:
    """Returns the number of outputs of a head, by the name of its bias; None without a head."""
    return int(values[name].shape[0]) if name in values and values[name].ndim == 1 else None


# ---- albert_zh's layout ----


def from_albert_zh(
    config: modeling.AlbertConfig, source: Weights
) -> Tuple[modeling.AlbertConfig, Values, Report]:
    """Returns a model of albert_zh's as one of ours, in its own layout.

    Args:
      config: of albert_zh, which does not say what layout it is.
      source: its variables.

    Raises:
      ValueError: the variables are not albert_zh's, or do not fit the configuration.
    """
    _check_albert_zh(source.values)
    config = modeling.AlbertConfig.from_dict(dict(config.to_dict(), embedding_layout="albert_zh"))
    if config.num_hidden_groups != 1 or config.inner_group_num != 1 or config.share_type != "all":
        raise UserError(
            f"The configuration's num_hidden_groups {config.num_hidden_groups}, inner_group_num "
            f"{config.inner_group_num} and share_type {config.share_type} do not fit albert_zh's "
            "layout, in which all layers share one set of weights."
        )
    parts = checkpoint_names.albert_zh(config, output_count(source.values, "output_bias"))
    conversion = rename(
        wanted_parts(parts, source.values),
        source.values,
        to_ours=True,
        # The whole encoder must be converted.
        reason=lambda name: None if name.startswith("bert/") else "not part of this model",
    )
    ignored = (*conversion.report.ignored, *source.ignored)
    return config, conversion.values, conversion.report._replace(ignored=ignored)


def _check_albert_zh(values: Values) -> None:
    """Refuses other layouts that have files of the same names."""
    if any(name.startswith("bert/encoder/layer_shared/") for name in values):
        return
    if any(name.startswith("bert/encoder/transformer/group_0/") for name in values):
        raise UserError(
            "The checkpoint has this package's variable names (Google's) already, as have the "
            "*_google models of albert_zh: it needs no conversion."
        )
    raise UserError(
        "The checkpoint has not albert_zh's layout: no variable begins with "
        f"bert/encoder/layer_shared/ (the first are {', '.join(sorted(values)[:3])})."
    )


def to_google_layout(
    config: modeling.AlbertConfig, values: Values
) -> Tuple[modeling.AlbertConfig, Values]:
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
        raise UserError(
            "The model has Google's layout already: there is no embedding_layout albert_zh in its "
            "configuration."
        )
    values = dict(values)
    projection = values.pop(f"{checkpoint_names.MAPPING}/kernel", None)
    if projection is not None:
        table = values["bert/embeddings/word_embeddings"].astype(np.float64)
        product = np.dot(table, projection.astype(np.float64))  # [V, H]
        values["bert/embeddings/word_embeddings"] = product.astype(np.float32)
    settings = dict(config.to_dict(), embedding_size=config.hidden_size, embedding_layout="google")
    return modeling.AlbertConfig.from_dict(settings), values


# ---- the report in words ----


def format_report(report: Report) -> str:
    """Returns the report as text, a line for each variable; the optimizer's are only counted."""
    lines = [_heading("converted", [item.target_shape for item in report.converted])]
    for item in report.converted:
        lines.append(
            f"  {item.source} {list(item.source_shape)} -> {item.target} {list(item.target_shape)}"
        )
    for title, remarks in (("ignored", report.ignored), ("missing", report.missing)):
        lines.append(_heading(title, [item.shape for item in remarks]))
        slots = [item for item in remarks if checkpoint_files.is_optimizer_state(item.name)]
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
