# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Folders in the shape of albert_zh's, with random weights."""

import json
import pathlib
import shutil
from typing import Any, Dict, Optional

import numpy as np

from tests.support import released_archives

WORDPIECES = released_archives.WORDPIECES  # 257 pieces

CONFIG = {
    "vocab_size": 257,
    "embedding_size": 8,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "initializer_range": 0.02,
    "ln_type": "postln",
    # Keys that nothing reads; they have to survive.
    "directionality": "bidi",
    "pooler_fc_size": 768,
    "pooler_num_attention_heads": 12,
    "pooler_num_fc_layers": 3,
    "pooler_size_per_head": 128,
    "pooler_type": "first_token_transform",
}


def shapes(config: Dict[str, Any], labels: Optional[int] = None) -> Dict[str, tuple]:
    """Name -> shape of every variable, written down from the description of the layout."""
    vocab, narrow, wide = (config[key] for key in ("vocab_size", "embedding_size", "hidden_size"))
    inner = config["intermediate_size"]
    layer = "bert/encoder/layer_shared"
    dense = {
        f"{layer}/attention/self/query": (wide, wide),
        f"{layer}/attention/self/key": (wide, wide),
        f"{layer}/attention/self/value": (wide, wide),
        f"{layer}/attention/output/dense": (wide, wide),
        f"{layer}/intermediate/dense": (wide, inner),
        f"{layer}/output/dense": (inner, wide),
        "bert/pooler/dense": (wide, wide),
        "cls/predictions/transform/dense": (wide, wide),
    }
    norms = ["bert/embeddings", f"{layer}/attention/output", f"{layer}/output"]
    norms += ["cls/predictions/transform"] + (["loss"] if labels else [])
    found = {
        "bert/embeddings/word_embeddings": (vocab, narrow),
        "bert/embeddings/word_embeddings_2": (narrow, wide),
        "bert/embeddings/token_type_embeddings": (config["type_vocab_size"], wide),
        "bert/embeddings/position_embeddings": (config["max_position_embeddings"], wide),
        "cls/predictions/output_bias": (vocab,),
        "cls/seq_relationship/output_weights": (2, wide),
        "cls/seq_relationship/output_bias": (2,),
    }
    for name, shape in dense.items():
        found.update({f"{name}/kernel": shape, f"{name}/bias": shape[1:]})
    for name in norms:
        found.update({f"{name}/LayerNorm/{ending}": (wide,) for ending in ("beta", "gamma")})
    if labels:
        found = {name: shape for name, shape in found.items() if not name.startswith("cls/")}
        found.update({"output_weights": (labels, wide), "output_bias": (labels,)})
        if config["ln_type"] != "preln":
            found = {name: shape for name, shape in found.items() if not name.startswith("loss/")}
    return found


def values_of(found: Dict[str, tuple], *, scale: float = 0.4, seed: int = 0) -> Dict[str, Any]:
    """Random values of these shapes."""
    generator = np.random.RandomState(seed)
    return {
        name: generator.normal(name.endswith("gamma"), scale, found[name]).astype(np.float32)
        for name in sorted(found)
    }


def write(
    folder: Any,
    *,
    labels: Optional[int] = None,
    alias: bool = False,
    slots: bool = False,
    config_name: str = "albert_config_base.json",
    **changes: Any,
) -> str:
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
