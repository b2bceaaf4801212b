# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Folders in the shape of albert_zh's, with random weights."""

import pathlib
import shutil

import numpy as np

from tests.support import FIXTURES, fine_tuned_models, released_archives, write_json

WORDPIECES = released_archives.WORDPIECES  # 257 pieces

CONFIG = dict(
    fine_tuned_models.CONFIG,
    vocab_size=257,
    num_hidden_layers=3,
    max_position_embeddings=40,
    type_vocab_size=2,
    hidden_act="gelu",
    **fine_tuned_models.NO_DROPOUT,
    initializer_range=0.02,
    ln_type="postln",
    # Keys that nothing reads; they have to survive.
    directionality="bidi",
    pooler_fc_size=768,
)


# The variables and their sizes, written down from the description of the layout.
TABLE = FIXTURES / "albert_zh_variables.txt"


def shapes(config, labels=None):
    """Name -> shape of every variable of a pretraining model, or of a classifier."""
    sizes = dict(config, labels=labels, **{"2": 2})
    heads = ("output_", "loss")[: 1 + (config["ln_type"] == "preln")] if labels else ("cls",)
    rows = map(str.split, TABLE.read_text().splitlines())
    return {
        name: tuple(sizes[size] for size in row)
        for name, *row in rows
        if name.startswith(("bert", *heads))
    }


def write(
    folder,
    *,
    labels=None,
    alias=False,
    slots=False,
    config_name="albert_config_base.json",
    **changes,
):
    """Writes configuration, checkpoint and vocabulary, and returns the folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    config = dict(CONFIG, **changes)
    values = dict(sorted(shapes(config, labels).items()))
    values = fine_tuned_models.random_values(values, scale=0.4)
    if alias:
        table = values.pop("bert/embeddings/word_embeddings")
        values["bert/embeddings/word_embeddings_1"] = table
    if slots:
        weights = list(values)
        for kind in ("lamb_m", "lamb_v"):
            values.update({f"{name}/{kind}": values[name] for name in weights})
        values["global_step"] = np.array(125000, np.int64)
    write_json(folder / config_name, config)
    shutil.copy(WORDPIECES, folder / "vocab.txt")
    released_archives.save(folder / "albert_model.ckpt", values)
    return str(folder)
