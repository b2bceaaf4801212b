# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays by name: read, renamed along a table with every shape checked, and written."""

from typing import Callable, Collection, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files
from albert.checkpoints import names as checkpoint_names
from albert.runtimes import compat
from albert.util import wording
from albert.util.errors import UserError

PRETRAINING = (checkpoint_names.MASKED_WORDS, checkpoint_names.SENTENCE_ORDER)
_TABLE = "bert/embeddings/word_embeddings"
_OPTIMIZER = ": of the optimizer"

Values = Dict[str, np.ndarray]


class Line(NamedTuple):
    """A variable in a report."""

    name: str
    shape: Tuple[int, ...]
    remark: str  # "-> its new name", or ": why there is none"

    def __str__(self) -> str:
        return f"  {self.name} {list(self.shape)}{self.remark}"


class Report(NamedTuple):
    """Every variable of the source and of the target."""

    converted: Sequence[Line]
    ignored: Sequence[Line]  # variables of the source that the target lacks
    missing: Sequence[Line]  # variables of the target that the source lacks
    notes: Sequence[str] = ()


# ---- checkpoints ----


class Weights(NamedTuple):
    """The variables of a checkpoint, and those that were not read."""

    values: Values  # float32, by name
    ignored: Sequence[Line]


def read_checkpoint(prefix: str) -> Weights:
    """Returns the variables of a checkpoint; an optimizer's are not read.

    Raises:
      UserError: the checkpoint cannot be read.
    """
    values, ignored = {}, []
    with checkpoint_files.explained(prefix):
        reader = tf.train.load_checkpoint(prefix)
        for name, shape in sorted(reader.get_variable_to_shape_map().items()):
            if checkpoint_files.is_optimizer_state(name):
                ignored.append(Line(name, tuple(shape), _OPTIMIZER))
            else:
                values[name] = as_float32(reader.get_tensor(name))
    return Weights(values, ignored)


def as_float32(value: np.ndarray) -> np.ndarray:
    """Returns floating-point numbers as float32, and others as they are."""
    return value.astype(np.float32) if value.dtype.kind == "f" else value


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
    required: Collection[str],
    reason: Callable[[str], Optional[str]],
) -> Tuple[Values, Report]:
    """Returns variables by their new names.

    Args:
      parts: the table.
      values: of the source.
      to_ours: the direction.
      required: the parts that have to be there; any other is there wholly or not at all.
      reason: for a variable of the source that is not in the table: why it may be ignored; None if
        it may not.

    Raises:
      UserError: a variable is missing, has another shape, or must not be ignored.
    """
    converted, missing, wrong = [], [], []
    unused, result = dict(values), {}
    rows = [(part, name, name.sides(to_ours)) for part, names in parts.items() for name in names]
    present = {part for part, _, ((source, _), _) in rows if source in values}.union(required)
    for part, name, ((source, shape), (target, new_shape)) in rows:
        value = unused.pop(source, None)
        if value is None:
            missing.append(Line(target, new_shape, ": not in the source"))
            if part in present:
                wrong.append(f"{source} {list(shape)} is missing")
        elif value.shape != shape:
            wrong.append(f"{source} is {list(value.shape)} in place of {list(shape)}")
        else:
            result[target] = np.ascontiguousarray(value.T if name.is_transposed else value)
            converted.append(Line(source, shape, f" -> {target} {list(new_shape)}"))
    ignored = [Line(key, unused[key].shape, f": {reason(key)}") for key in sorted(unused)]
    wrong += [f"{key} {list(unused[key].shape)} is unknown" for key in unused if not reason(key)]
    if wrong:
        raise UserError(
            f"The weights do not fit the configuration or --head: {wording.listed(wrong, 12)}. "
            "Use the configuration that came with the weights, or another --head."
        )
    return result, Report(converted, ignored, missing)


def wanted_parts(parts: checkpoint_names.Parts, values: Values) -> checkpoint_names.Parts:
    """Returns encoder, pooler and the heads of a foreign model; pretraining heads go together."""
    there = {part for part, names in parts.items() if any(name.theirs in values for name in names)}
    wanted = {checkpoint_names.ENCODER, checkpoint_names.POOLER, *there}
    if wanted & set(PRETRAINING):
        wanted.update(PRETRAINING)
    return {part: names for part, names in parts.items() if part in wanted}


# ---- albert_zh's layout ----


def from_albert_zh(
    config: modeling.AlbertConfig, source: Weights
) -> Tuple[modeling.AlbertConfig, Values, Report]:
    """Returns a model of albert_zh's as one of ours, in its own layout.

    Args:
      config: of albert_zh, which does not say what layout it is.
      source: its variables.

    Raises:
      UserError: the variables are not albert_zh's, or do not fit the configuration.
    """
    values = dict(source.values)
    if not any(name.startswith("bert/encoder/layer_shared/") for name in values):
        raise UserError(
            "The checkpoint does not have albert_zh's layout: no variable begins with "
            f"bert/encoder/layer_shared/ (the first are {wording.listed(sorted(values), 3)}). "
            "Google's layout, which albert_zh's *_google models have too, needs no conversion."
        )
    config = modeling.AlbertConfig.from_dict(dict(config.to_dict(), embedding_layout="albert_zh"))
    shared = (config.num_hidden_groups, config.inner_group_num, config.share_type)
    if shared != (1, 1, "all"):
        raise UserError(
            "num_hidden_groups, inner_group_num and share_type of the configuration are "
            f"{shared}; in albert_zh's layout they are (1, 1, 'all')."
        )
    if f"{_TABLE}_1" in values and _TABLE not in values:
        values[_TABLE] = values.pop(f"{_TABLE}_1")
    label_count = len(values["output_bias"]) if "output_bias" in values else None
    values, report = rename(
        wanted_parts(checkpoint_names.albert_zh(config, label_count), values),
        values,
        to_ours=True,
        required=(checkpoint_names.ENCODER,),
        reason=lambda name: None if name.startswith("bert/") else "not part of this model",
    )
    return config, values, report._replace(ignored=[*report.ignored, *source.ignored])


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
    if config.embedding_layout != "albert_zh" or any("/layer_shared/" in name for name in values):
        raise UserError(
            "The model is not one of this package with embedding_layout albert_zh in its "
            "configuration. Google's layout needs no conversion; convert albert_zh's own "
            "checkpoints by from_albert_zh --layout=google."
        )
    values = dict(values)
    projection = values.pop(f"{checkpoint_names.MAPPING}/kernel", None)
    if projection is not None:
        table = values[_TABLE].astype(np.float64)
        product = np.dot(table, projection.astype(np.float64))  # [V, H]
        values[_TABLE] = product.astype(np.float32)
    settings = dict(config.to_dict(), embedding_size=config.hidden_size, embedding_layout="google")
    return modeling.AlbertConfig.from_dict(settings), values


def format_report(report: Report) -> str:
    """Returns the report as text, a line for each variable; the optimizer's are only counted."""
    text: List[str] = []
    for title, lines in zip(Report._fields, report[:3]):
        shown = [str(line) for line in lines if line.remark != _OPTIMIZER]
        hidden = len(lines) - len(shown)
        count = sum(int(np.prod(line.shape, dtype=np.int64)) for line in lines)
        text.append(f"{title}: {wording.counted(len(lines), 'variable')}, {count:,} parameters")
        text += shown + [f"  {hidden} of the optimizer"] * bool(hidden)
    return "\n".join([*text, *(f"note: {note}" for note in report.notes)])
