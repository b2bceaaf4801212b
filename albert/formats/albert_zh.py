# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights as arrays by name: reads, renames and writes them, and checks every shape."""

from typing import Collection, Dict, List, NamedTuple, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling
from albert.checkpoints import checkpoint_files, comparison
from albert.checkpoints import names as checkpoint_names
from albert.checkpoints.comparison import Entry
from albert.runtimes import compat
from albert.util import wording
from albert.util.errors import UserError

_TABLE = "bert/embeddings/word_embeddings"

Values = Dict[str, np.ndarray]


class Report(NamedTuple):
    """Every variable of the source and of the target, but for an optimizer's."""

    converted: List[Entry]  # variables of the source
    ignored: List[Entry]  # variables of the source that the target lacks
    missing: List[Entry]  # variables of the target that the source lacks

    def __str__(self) -> str:
        lines = []
        for title, entries in zip(self._fields, self):
            lines.append(f"{title}: {wording.counted(len(entries), 'variable')}")
            lines += [f"  {entry}" for entry in entries]
        return "\n".join(lines)


# ---- checkpoints ----


def read_checkpoint(prefix: str) -> Values:
    """Returns the variables of a checkpoint, but for an optimizer's; floating point as float32.

    Raises:
      UserError: the checkpoint cannot be read.
    """
    values = {}
    with checkpoint_files.explained(prefix):
        reader = checkpoint_files.open_reader(prefix)
        for name in sorted(reader.get_variable_to_shape_map()):
            if not checkpoint_files.is_optimizer_state(name):
                value = reader.get_tensor(name)
                values[name] = value.astype(np.float32) if value.dtype.kind == "f" else value
    return values


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
    strict: Tuple[str, ...],
) -> Tuple[Values, Report]:
    """Returns variables by their new names.

    Args:
      parts: the table.
      values: of the source.
      to_ours: the direction.
      required: the parts that have to be there; any other is there wholly or not at all.
      strict: beginnings of the source's names that the table has to know; others are ignored.

    Raises:
      UserError: a variable is missing, has another shape, or must not be ignored.
    """
    report, unused = Report([], [], []), dict(values)
    result: Values = {}
    lacking: List[Entry] = []
    for part, names in parts.items():
        is_there = part in required or checkpoint_names.is_in(values, names, to_ours=to_ours)
        for name in names:
            (source, shape), (target, new_shape) = name.sides(to_ours)
            if not is_there:
                report.missing.append(Entry(target, new_shape))
            elif source in values and values[source].shape == shape:
                value = unused.pop(source)
                result[target] = np.ascontiguousarray(value.T if name.is_transposed else value)
                entry = Entry(source, shape, remark=f" -> {target} {list(new_shape)}")
                report.converted.append(entry)
            else:
                lacking.append(Entry(source, shape))
    report.ignored.extend(Entry(source, unused[source].shape) for source in sorted(unused))
    unknown = [entry for entry in report.ignored if entry.name.startswith(strict)]
    if lacking or unknown:
        remedy = (
            "Use the configuration that came with the weights. If you gave --head, try another."
        )
        raise comparison.misfit("The model to convert", remedy, lacking=lacking, unknown=unknown)
    return result, report


# ---- albert_zh's layout ----


def from_albert_zh(
    config: modeling.AlbertConfig, values: Values
) -> Tuple[modeling.AlbertConfig, Values, Report]:
    """Returns a model of albert_zh's as one of ours, in its own layout.

    Args:
      config: of albert_zh, which does not say what layout it is.
      values: its variables.

    Raises:
      UserError: the variables are not albert_zh's, or do not fit the configuration.
    """
    settings = config.to_dict()
    settings.update(embedding_layout="albert_zh", share_type="all")
    settings.update(num_hidden_groups=1, inner_group_num=1)
    config, values = modeling.AlbertConfig.from_dict(settings), dict(values)
    if f"{_TABLE}_1" in values:  # its name in the older checkpoints
        values.setdefault(_TABLE, values.pop(f"{_TABLE}_1"))
    table = checkpoint_names.albert_zh(config, len(values.get("output_bias", ())))
    values, report = rename(
        table, values, to_ours=True, required={checkpoint_names.ENCODER}, strict=("bert/",)
    )
    # A head that is not there is none of the model's.
    missing = [entry for entry in report.missing if entry.name.startswith("bert/")]
    return config, values, report._replace(missing=missing)


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
      UserError: the layout is Google's already.
    """
    if config.embedding_layout != "albert_zh":
        raise UserError(
            "to_google_layout needs a model whose embedding_layout is albert_zh. This model has "
            "Google's layout. To convert a model of albert_zh, use from_albert_zh --layout=google."
        )
    values = dict(values)
    projection = values.pop(f"{checkpoint_names.MAPPING}/kernel", None)
    if projection is not None:
        product = values[_TABLE].astype(np.float64) @ projection.astype(np.float64)  # [V, H]
        values[_TABLE] = product.astype(np.float32)
    settings = dict(config.to_dict(), embedding_size=config.hidden_size, embedding_layout="google")
    return modeling.AlbertConfig.from_dict(settings), values
