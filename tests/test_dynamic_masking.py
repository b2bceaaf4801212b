# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masks drawn on the fly."""

import collections
import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import dynamic_masking, input_pipeline, pretraining_utils
from tests import pretraining_records as records

VOCABULARY = dynamic_masking.Vocabulary(records.MASK, records.FIRST_PIECE, records.VOCAB_SIZE)


def example(record):
    spec = pretraining_utils.feature_spec(records.LENGTH, records.PREDICTIONS)
    return tf.train.Example.FromString(spec.encode(record))


def masked_batches(path, count, *, budget, seed=5, predictions=records.PREDICTIONS, masking=True):
    """Returns the first batches of 50 records, with or without masking on the fly."""
    spec = pretraining_utils.feature_spec(records.LENGTH, predictions)
    transform = dynamic_masking.masking(budget=budget, seed=seed, vocabulary=VOCABULARY)
    with tf.Graph().as_default(), tf.Session() as session:
        batches = input_pipeline.seeded_batches(
            [path], spec, batch_size=50, seed=1, transform=transform if masking else None
        )
        batch = tf.data.make_one_shot_iterator(batches).get_next()
        return [session.run(batch) for _ in range(count)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return records.write_records(tmp_path_factory.mktemp("records") / "a.tf_record", 100)


def rows(batches):
    for batch in batches:
        for row in range(50):
            yield {name: values[row] for name, values in batch.items()}


def original_of(row):
    ids = row["input_ids"].copy()
    used = row["masked_lm_weights"] > 0
    ids[row["masked_lm_positions"][used]] = row["masked_lm_ids"][used]
    return ids


def test_labels_restore_exactly_the_original_sequence(path):
    before = masked_batches(path, 2, budget=0.3, masking=False)
    after = masked_batches(path, 2, budget=0.3)
    for old, new in zip(rows(before), rows(after)):
        np.testing.assert_array_equal(original_of(new), original_of(old))
        for name in ("input_mask", "segment_ids", "next_sentence_labels", "token_boundary"):
            np.testing.assert_array_equal(new[name], old[name])


def test_words_are_masked_whole_and_special_pieces_never(path):
    for row in rows(masked_batches(path, 2, budget=0.5)):
        chosen = set(row["masked_lm_positions"][row["masked_lm_weights"] > 0])
        length = row["input_mask"].sum()
        assert all(0 < place < length - 1 for place in chosen)
        assert not set(original_of(row)[list(chosen)]) & {records.CLS, records.SEP, records.PAD}
        assert (1 in chosen) == (2 in chosen), "pieces 1 and 2 are one word"


def test_the_budget_is_the_ratio_of_masked_to_unmasked(path):
    for row in rows(masked_batches(path, 2, budget=0.25)):
        masked, length = int(row["masked_lm_weights"].sum()), row["input_mask"].sum()
        assert masked == min(records.PREDICTIONS, max(1, int(np.round(length * 0.2))))


def test_a_small_budget_masks_one_piece(path):
    masked = {
        int(row["masked_lm_weights"].sum()) for row in rows(masked_batches(path, 1, budget=1e-4))
    }
    assert masked == {1}


def test_eight_in_ten_become_mask_and_one_in_ten_stays(path):
    kinds = collections.Counter()
    for row in rows(masked_batches(path, 60, budget=0.4)):
        used = row["masked_lm_weights"] > 0
        now = row["input_ids"][row["masked_lm_positions"][used]]
        kinds["mask"] += (now == records.MASK).sum()
        kinds["kept"] += (now == row["masked_lm_ids"][used]).sum()
        kinds["all"] += used.sum()
        assert ((now == records.MASK) | (now >= records.FIRST_PIECE)).all()
    assert kinds["all"] > 6000
    assert abs(kinds["mask"] / kinds["all"] - 0.8) < 0.02
    # A random piece is the original once in 35 times.
    assert abs(kinds["kept"] / kinds["all"] - (0.1 + 0.1 / 35)) < 0.015


def test_each_pass_over_the_data_gets_new_masks(path):
    batches = masked_batches(path, 4, budget=0.3)
    positions = collections.defaultdict(set)
    for row in rows(batches):
        positions[tuple(original_of(row))].add(tuple(row["masked_lm_positions"]))
    assert sum(len(found) > 1 for found in positions.values()) > len(positions) / 2


def test_masks_are_a_function_of_seed_and_position_on_every_runtime(path):
    def checksum(seed):
        (batch,) = masked_batches(path, 1, budget=0.3, seed=seed)
        return zlib.crc32(batch["input_ids"].tobytes() + batch["masked_lm_positions"].tobytes())

    assert checksum(5) == CHECKSUM_OF_SEED_5
    assert checksum(6) != CHECKSUM_OF_SEED_5


CHECKSUM_OF_SEED_5 = 1126644023


def ngrams_of(segments, record):
    with tf.Graph().as_default(), tf.Session() as session:
        words = dynamic_masking._Words(tf.range(len(segments)), tf.constant(segments))
        random = dynamic_masking._Random(3, tf.constant(record, tf.int64))
        return session.run(dynamic_masking._ngram_numbers(words, random))


def test_n_grams_have_one_to_three_words_with_inverse_frequencies():
    ngrams = ngrams_of([0] * 30000, record=0)
    sizes = collections.Counter(collections.Counter(ngrams.tolist()).values())
    total = sum(sizes.values())
    assert set(sizes) == {1, 2, 3}
    for size, share in ((1, 6 / 11), (2, 3 / 11), (3, 2 / 11)):
        assert abs(sizes[size] / total - share) < 0.015


def test_n_grams_do_not_cross_the_border_of_segments():
    for record in range(10):
        ngrams = ngrams_of([0] * 7 + [1] * 7, record)
        assert not set(ngrams[:7]) & set(ngrams[7:])


def test_the_vocabulary_is_learnt_from_the_records():
    examples = [example(record) for record in records.make_records(20)]
    assert dynamic_masking.vocabulary_of(examples, records.VOCAB_SIZE) == VOCABULARY


def test_records_without_masks_or_boundaries_are_refused():
    record = records.make_records(1)[0]
    unmasked = dict(record, masked_lm_weights=[0.0] * records.PREDICTIONS)
    with pytest.raises(ValueError, match="masked_lm_prob"):
        dynamic_masking.vocabulary_of([example(unmasked)], records.VOCAB_SIZE)
    without = dict(record, token_boundary=[0] * records.LENGTH)
    with pytest.raises(ValueError, match="token_boundary"):
        dynamic_masking.vocabulary_of([example(without)], records.VOCAB_SIZE)
