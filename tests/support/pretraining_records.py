# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A language of counting, small enough to be learnt in seconds, for the tests of pretraining.

A sequence counts upwards through both segments; where they are swapped, the label is 1. One piece
of each segment is masked.
"""

import random

import tensorflow.compat.v1 as tf

from albert.data import record_files
from albert.tasks.pretraining.features import feature_spec
from tests.support import fine_tuned_models, graphs, write_json

LENGTH, PREDICTIONS, VOCAB_SIZE = 16, 3, 40
PAD, CLS, SEP, MASK, FIRST_PIECE = 0, 2, 3, 4, 5

CONFIG = dict(
    fine_tuned_models.CONFIG,
    vocab_size=VOCAB_SIZE,
    max_position_embeddings=32,
    hidden_dropout_prob=0.1,
    attention_probs_dropout_prob=0.1,
    initializer_range=0.1,
)


def make_record(generator):
    """Returns the features of one record."""
    size_a, size_b = generator.randint(2, 6), generator.randint(2, 6)
    first = generator.randint(FIRST_PIECE, VOCAB_SIZE - size_a - size_b)
    label = generator.randint(0, 1)
    a, b = range(first, first + size_a), range(first + size_a, first + size_a + size_b)
    if label:
        a, b = b, a
    ids = [CLS, *a, SEP, *b, SEP]
    places = [generator.randint(1, len(a)), generator.randint(len(a) + 2, len(ids) - 2)]
    sequences = {
        "input_ids": [MASK if place in places else piece for place, piece in enumerate(ids)],
        "input_mask": [1] * len(ids),
        "segment_ids": [0] * (len(a) + 2) + [1] * (len(b) + 1),
        "token_boundary": [1, 1, 0] + [1] * (len(ids) - 3),  # with a word of two pieces
    }
    slots = {
        "masked_lm_positions": places,
        "masked_lm_ids": [ids[place] for place in places],
        "masked_lm_weights": [1.0] * len(places),
    }
    record = {"next_sentence_labels": [label]}
    for features, size in ((sequences, LENGTH), (slots, PREDICTIONS)):
        record.update({name: row + [0] * (size - len(row)) for name, row in features.items()})
    return record


def make_records(count, seed=0):
    generator = random.Random(seed)
    return [make_record(generator) for _ in range(count)]


def write_records(path, count, seed=0, *, is_uneven=False):
    """Writes a record file and returns its name.

    `is_uneven`: every third record has one masked piece less.
    """
    spec, records = feature_spec(LENGTH, PREDICTIONS), make_records(count, seed)
    for record in records[::3] if is_uneven else ():
        record["masked_lm_weights"] = [1.0, 0.0, 0.0]
    with record_files.create(str(path)) as file:
        for record in spec.encode_each(records):
            file.write(record)
    return str(path)


def records_in(*paths):
    """The bytes of the records of several files, one file after another."""
    return [record for path in paths for record in tf.python_io.tf_record_iterator(str(path))]


def read(path, length, predictions):
    """The features of a record file, by name [N, ...]."""
    spec = feature_spec(length, predictions)
    with graphs.new_session() as session:
        return session.run(spec.parse_batch(tf.constant(records_in(path))))


def write_config(path, **changes):
    """Writes the configuration of a tiny model and returns its name."""
    write_json(path, dict(CONFIG, **changes))
    return str(path)
