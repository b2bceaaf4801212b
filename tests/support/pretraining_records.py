# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A language of counting, small enough to be learnt in seconds, for the tests of pretraining.

A sequence counts upwards through both segments; where they are swapped, the label is 1. One piece
of each segment is masked.
"""

import json
import random
from typing import Any, Dict, List

from albert.data import batches
from albert.pretraining import model

LENGTH, PREDICTIONS, VOCAB_SIZE = 16, 3, 40
PAD, CLS, SEP, MASK, FIRST_PIECE = 0, 2, 3, 4, 5

CONFIG = {
    "vocab_size": VOCAB_SIZE,
    "embedding_size": 8,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_hidden_groups": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "inner_group_num": 1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 32,
    "type_vocab_size": 2,
    "initializer_range": 0.1,
}


def make_record(generator: random.Random, length: int = LENGTH) -> Dict[str, Any]:
    """Returns the features of one record, of `length` tokens with the padding."""
    size_a, size_b = generator.randint(2, 6), generator.randint(2, 6)
    first = generator.randint(FIRST_PIECE, VOCAB_SIZE - size_a - size_b)
    numbers = list(range(first, first + size_a + size_b))
    label = generator.randint(0, 1)
    a, b = numbers[:size_a], numbers[size_a:]
    if label:
        a, b = b, a
    ids = [CLS, *a, SEP, *b, SEP]
    boundaries = [1] * len(ids)
    boundaries[2] = 0  # a word of two pieces
    places = [generator.randint(1, len(a)), generator.randint(len(a) + 2, len(ids) - 2)]
    labels = [ids[place] for place in places]
    for place in places:
        ids[place] = MASK

    def padded(values: List, length: int) -> List:
        return values + [0] * (length - len(values))

    return {
        "input_ids": padded(ids, length),
        "input_mask": padded([1] * len(ids), length),
        "segment_ids": padded([0] * (len(a) + 2) + [1] * (len(b) + 1), length),
        "token_boundary": padded(boundaries, length),
        "masked_lm_positions": padded(places, PREDICTIONS),
        "masked_lm_ids": padded(labels, PREDICTIONS),
        "masked_lm_weights": padded([1.0] * len(places), PREDICTIONS),
        "next_sentence_labels": [label],
    }


def make_records(count: int, seed: int = 0, length: int = LENGTH) -> List[Dict[str, Any]]:
    generator = random.Random(seed)
    return [make_record(generator, length) for _ in range(count)]


def write_records(path: Any, count: int, seed: int = 0, *, length: int = LENGTH) -> str:
    """Writes a record file and returns its name."""
    spec = model.feature_spec(length, PREDICTIONS)
    with batches.AtomicRecordWriter(str(path), {"seed": seed}) as writer:
        for record in make_records(count, seed, length):
            writer.write(spec.encode(record))
    return str(path)


def write_config(path: Any, **changes: Any) -> str:
    """Writes the configuration of a tiny model and returns its name."""
    path.write_text(json.dumps(dict(CONFIG, **changes)), encoding="utf-8")
    return str(path)


def write_uneven_records(path: Any, count: int) -> str:
    """Writes records of which every third has one masked piece less; returns the file's name."""
    spec = model.feature_spec(LENGTH, PREDICTIONS)
    with batches.AtomicRecordWriter(str(path), {}) as writer:
        for number, record in enumerate(make_records(count)):
            if number % 3 == 0:
                record["masked_lm_weights"] = [1.0, 0.0, 0.0]
            writer.write(spec.encode(record))
    return str(path)
