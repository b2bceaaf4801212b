# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads models of brightmart/albert_zh, and rewrites them in Google's layout."""

from typing import Optional, Tuple

import numpy as np

from albert import modeling
from albert.formats import checkpoints, model_folder, variable_names
from albert.formats.checkpoints import Entry, Values
from albert.formats.model_vocabulary import Vocabulary
from albert.formats.variable_names import Report
from albert.util import UserError

_TABLE = "bert/embeddings/word_embeddings"


def convert(
    config: modeling.AlbertConfig,
    checkpoint: str,
    folder: str,
    *,
    vocabulary: Optional[Vocabulary] = None,
    is_ours: bool = False,
    to_google: bool = False,
) -> Report:
    """Converts a model of albert_zh to a model folder of this package; returns the report.

    Args:
      config, checkpoint, vocabulary: files of the model.
      folder: the new folder.
      is_ours: the model is already in this package's format, with albert_zh's layout. It is written
        in Google's layout.
      to_google: write a model of albert_zh in Google's layout.

    Raises:
      UserError: the weights do not fit the configuration, or the layout is Google's already.
    """
    values = checkpoints.read(checkpoint)
    report = Report([Entry(name, value.shape) for name, value in values.items()], [], [])
    if not is_ours:
        config, values, report = from_albert_zh(config, values)
    if is_ours or to_google:
        config, values = to_google_layout(config, values)
    model_folder.write_model(folder, config, values, vocabulary=vocabulary)
    return report


def from_albert_zh(
    config: modeling.AlbertConfig, values: Values
) -> Tuple[modeling.AlbertConfig, Values, Report]:
    """Returns a model of albert_zh with this package's names. The embedding layout stays.

    Args:
      config: configuration of albert_zh, which does not name the layout.
      values: variables of albert_zh.

    Raises:
      UserError: the variables are not albert_zh's, or do not fit the configuration.
    """
    flags = config.to_dict()
    flags.update(embedding_layout="albert_zh", share_type="all")
    flags.update(num_hidden_groups=1, inner_group_num=1)
    config, values = modeling.AlbertConfig.from_dict(flags), dict(values)
    if f"{_TABLE}_1" in values:  # its name in the older checkpoints
        values.setdefault(_TABLE, values.pop(f"{_TABLE}_1"))
    table = variable_names.albert_zh(config, len(values.get("output_bias", ())))
    values, report = variable_names.rename(
        table, values, to_ours=True, required={variable_names.ENCODER}, strict=("bert/",)
    )
    # Do not report heads that the model does not have.
    missing = [entry for entry in report.missing if entry.name.startswith("bert/")]
    return config, values, report._replace(missing=missing)


def to_google_layout(
    config: modeling.AlbertConfig, values: Values
) -> Tuple[modeling.AlbertConfig, Values]:
    """Returns an equivalent model in Google's layout, whose embedding table is W P, [V, H].

    W is the table, P the projection. albert_zh normalizes after the projection and Google before
    it, so a table of size E < H has no exact counterpart. With E = H, Google's layout has no
    projection, and both compute LayerNorm(W P [ids] + types + positions) and logits x (W P)^T.

    Args:
      config: with embedding_layout albert_zh.
      values: variables with this package's names.

    Raises:
      UserError: the layout is Google's already.
    """
    if config.embedding_layout != "albert_zh":
        raise UserError(
            "to_google_layout needs a model whose embedding_layout is albert_zh. This model has "
            "Google's layout. To convert a model of albert_zh, use from_albert_zh --layout=google."
        )
    values = dict(values)
    projection = values.pop(f"{variable_names.MAPPING}/kernel", None)
    if projection is not None:
        product = values[_TABLE].astype(np.float64) @ projection.astype(np.float64)  # [V, H]
        values[_TABLE] = product.astype(np.float32)
    flags = dict(config.to_dict(), embedding_size=config.hidden_size, embedding_layout="google")
    return modeling.AlbertConfig.from_dict(flags), values
