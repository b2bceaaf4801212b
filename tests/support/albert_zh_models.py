# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Folders in the shape of albert_zh's, with random weights."""

import json
import pathlib
import shutil

import numpy as np

from tests.support import fine_tuned_models, released_archives

WORDPIECES = released_archives.WORDPIECES  # 257 pieces

CONFIG = dict(
    fine_tuned_models.CONFIG,
    vocab_size=257,
    num_hidden_layers=3,
    max_position_embeddings=40,
    type_vocab_size=2,
    hidden_act="gelu",
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    initializer_range=0.02,
    ln_type="postln",
    # Keys that nothing reads; they have to survive.
    directionality="bidi",
    pooler_fc_size=768,
)


def shapes(config, labels=None):
    """Name -> shape of every variable, written down from the description of the layout."""
    vocab, narrow, wide = (config[key] for key in ("vocab_size", "embedding_size", "hidden_size"))
    inner = config["intermediate_size"]
    layer = "bert/encoder/layer_shared"
    square = ("attention/self/query", "attention/self/key", "attention/self/value")
    dense = {f"{layer}/{name}": (wide, wide) for name in (*square, "attention/output/dense")}
    dense.update({f"{layer}/intermediate/dense": (wide, inner), "bert/pooler/dense": (wide, wide)})
    dense[f"{layer}/output/dense"] = (inner, wide)
    norms = ["bert/embeddings", f"{layer}/attention/output", f"{layer}/output"]
    found = {
        "bert/embeddings/word_embeddings": (vocab, narrow),
        "bert/embeddings/word_embeddings_2": (narrow, wide),
        "bert/embeddings/token_type_embeddings": (config["type_vocab_size"], wide),
        "bert/embeddings/position_embeddings": (config["max_position_embeddings"], wide),
    }
    if labels:
        found.update({"output_weights": (labels, wide), "output_bias": (labels,)})
        norms += ["loss"] * (config["ln_type"] == "preln")
    else:
        dense["cls/predictions/transform/dense"] = (wide, wide)
        norms.append("cls/predictions/transform")
        found["cls/predictions/output_bias"] = (vocab,)
        found["cls/seq_relationship/output_weights"] = (2, wide)
        found["cls/seq_relationship/output_bias"] = (2,)
    for name, shape in dense.items():
        found.update({f"{name}/kernel": shape, f"{name}/bias": shape[1:]})
    for name in norms:
        found.update({f"{name}/LayerNorm/{ending}": (wide,) for ending in ("beta", "gamma")})
    return found


def values_of(found, *, scale=0.4):
    """Random values of these shapes."""
    generator = np.random.RandomState(0)
    return {
        name: generator.normal(name.endswith("gamma"), scale, found[name]).astype(np.float32)
        for name in sorted(found)
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
    folder = pathlib.Path(str(folder))
    folder.mkdir(parents=True)
    config = dict(CONFIG, **changes)
    values = values_of(shapes(config, labels))
    if alias:
        table = values.pop("bert/embeddings/word_embeddings")
        values["bert/embeddings/word_embeddings_1"] = table
    if slots:
        weights = list(values)
        for kind in ("lamb_m", "lamb_v"):
            values.update({f"{name}/{kind}": values[name] for name in weights})
        values["global_step"] = np.array(125000, np.int64)
    (folder / config_name).write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(str(WORDPIECES), str(folder / "vocab.txt"))
    released_archives.save(folder / "albert_model.ckpt", values)
    return str(folder)
