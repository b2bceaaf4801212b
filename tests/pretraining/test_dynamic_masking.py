# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masks drawn on the fly."""

import collections
import json
import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert.data import batches as input_pipeline
from albert.pretraining import dynamic_masking
from albert.pretraining import masking as ngram_masking
from albert.pretraining import model as pretraining_utils
from albert.pretraining import pairs as segment_pairs
from albert.pretraining import random_keys as random_streams
from tests.support import pretraining_records as records
from tests.support import pretraining_statistics
from tests.support.shared import needs_shared

VOCABULARY = dynamic_masking.Vocabulary(
    records.MASK, np.arange(records.FIRST_PIECE, records.VOCAB_SIZE, dtype=np.int32)
)
SETTINGS = ngram_masking.MaskSettings(
    max_seq_length=records.LENGTH,
    max_predictions_per_seq=records.PREDICTIONS,
    masked_lm_prob=0.2,
    ngram=3,
    favor_shorter_ngram=True,
    do_whole_word_mask=True,
    do_permutation=False,
)


# ---------------------------------------------------------------------------------------------
# The same masks as those of ngram_masking.


def masked_on_the_fly(features, keys, settings, *, vocabulary, rows=256):
    """Runs `dynamic_masking.masked` on arrays, some rows at a time."""
    slots = settings.max_predictions_per_seq
    empty = {
        "masked_lm_positions": np.zeros([len(keys), slots], np.int32),
        "masked_lm_ids": np.zeros([len(keys), slots], np.int32),
        "masked_lm_weights": np.zeros([len(keys), slots], np.float32),
    }
    columns = {
        name: values.astype(np.float32 if values.dtype == np.float32 else np.int32)
        for name, values in dict(empty, **features).items()
    }
    with tf.Graph().as_default(), tf.Session() as session:
        places = {
            name: tf.placeholder(values.dtype, [None, values.shape[1]])
            for name, values in columns.items()
        }
        keys_place = tf.placeholder(tf.int64, [None])
        result = dynamic_masking.masked(places, keys_place, settings, vocabulary=vocabulary)
        found = []
        for start in range(0, len(keys), rows):
            part = slice(start, start + rows)
            feed = {places[name]: values[part] for name, values in columns.items()}
            feed[keys_place] = keys[part].astype(np.int64)
            found.append(session.run(result, feed))
    return pretraining_statistics.joined(found)


def some_table(random):
    starts = random.rand(300) < 0.6
    ordinary = np.arange(10, 300, dtype=np.int32)
    return ngram_masking.PieceTable(
        is_word_start=starts,
        odd_unknown=None,
        unknown_id=-1,
        ordinary=ordinary[ordinary != 77],
        cls_id=2,
        sep_id=3,
        mask_id=4,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ngram": 1},
        {"ngram": 5, "favor_shorter_ngram": False},
        {"do_whole_word_mask": False},
        {"masked_lm_prob": 0.5, "max_predictions_per_seq": 40},
        {"max_predictions_per_seq": 2},
    ],
    ids=str,
)
def test_masks_are_bit_for_bit_those_of_data_creation(changes):
    random = np.random.RandomState(3)
    table, count, width = some_table(random), 150, 48
    settings = SETTINGS._replace(max_seq_length=width, max_predictions_per_seq=12)
    settings = settings._replace(**changes)
    ids = random.randint(10, 300, 2000).astype(np.int32)
    block = segment_pairs.TokenizedBlock(ids, table.is_word_start[ids], np.array([0, 2000]), ())
    length_a = random.randint(1, 30, count)
    length_b = random.randint(1, width - 2 - length_a)
    length_b[0] = width - 3 - length_a[0]
    start = random.randint(0, 1900, count)
    pairs = segment_pairs.Pairs(
        start,
        length_a,
        start + length_a,
        length_b,
        np.arange(count) % 2,
        random_streams.fold(random_streams.seed_key(9), np.arange(count)),
    )

    def made(keys, **flags):
        return ngram_masking.masked_features(
            block, pairs._replace(key=keys), table=table, settings=settings._replace(**flags)
        )

    expected = made(pairs.key)
    plain = made(pairs.key, masked_lm_prob=0.0)
    assert not any(name.startswith("masked_lm") for name in plain)
    others = made(random_streams.fold(pairs.key, 1))  # masks to be undone
    assert (others["masked_lm_positions"] != expected["masked_lm_positions"]).any()
    vocabulary = dynamic_masking.vocabulary_of_table(table)
    for features in (plain, others):
        found = masked_on_the_fly(features, pairs.key, settings, vocabulary=vocabulary)
        assert sorted(found) == sorted(expected)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_keys_are_those_of_random_streams():
    positions = np.array([0, 1, 2, 1 << 40])
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(dynamic_masking.keys_of(-5, tf.constant(positions)))
    base = random_streams.fold(random_streams.seed_key(-5), dynamic_masking._MASKS)
    assert found.astype(np.uint64).tolist() == random_streams.fold(base, positions).tolist()


@needs_shared
def test_statistics_of_real_text_are_those_of_the_published_procedure():
    """The same table that ngram_masking is held against, within five deviations of a seed."""
    pieces = pretraining_statistics.tokenizer()
    block = pretraining_statistics.our_block(pretraining_statistics.blocks40(), pieces)
    table = ngram_masking.piece_table(pieces)
    run = "blocks40"
    expected = json.loads(pretraining_statistics.EXPECTED.read_text(encoding="utf-8"))["runs"][run]
    plain = pretraining_statistics.our_features(block, table, masked_lm_prob=0.0)
    count = len(plain["input_ids"])
    settings = SETTINGS._replace(
        max_seq_length=128, max_predictions_per_seq=20, masked_lm_prob=0.15
    )
    features = masked_on_the_fly(
        plain,
        random_streams.fold(random_streams.seed_key(4), np.arange(count)),
        settings,
        vocabulary=dynamic_masking.vocabulary_of_table(table),
    )
    found = pretraining_statistics.statistics(features, table.mask_id)
    for name in (
        "frac_at_target",
        "frac_mask",
        "frac_kept",
        "frac_random",
        "frac_masked_tokens_word_start",
        "frac_run_words_1",
        "frac_run_words_2",
        "frac_run_words_3",
        "mean_run_words",
    ):
        margin = 5 * expected[name]["sd"] + 1e-9
        assert found[name] == pytest.approx(expected[name]["mean"], abs=margin), name
    assert found["frac_masked_words_partial"] == found["masked_special_tokens"] == 0


# ---------------------------------------------------------------------------------------------
# In the input pipeline.


def example(record):
    spec = pretraining_utils.feature_spec(records.LENGTH, records.PREDICTIONS)
    return tf.train.Example.FromString(spec.encode(record))


def masked_batches(path, count, *, share, seed=5, masking=True):
    """Returns the first batches of 50 records, with or without masking on the fly."""
    spec = pretraining_utils.feature_spec(records.LENGTH, records.PREDICTIONS)
    transform = dynamic_masking.masking(
        settings=SETTINGS._replace(masked_lm_prob=share), seed=seed, vocabulary=VOCABULARY
    )
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
    before = masked_batches(path, 2, share=0.3, masking=False)
    after = masked_batches(path, 2, share=0.3)
    for old, new in zip(rows(before), rows(after)):
        np.testing.assert_array_equal(original_of(new), original_of(old))
        for name in ("input_mask", "segment_ids", "next_sentence_labels", "token_boundary"):
            np.testing.assert_array_equal(new[name], old[name])


def test_words_are_masked_whole_and_special_pieces_never(path):
    for row in rows(masked_batches(path, 2, share=1 / 3)):
        chosen = set(row["masked_lm_positions"][row["masked_lm_weights"] > 0])
        length = row["input_mask"].sum()
        assert all(0 < place < length - 1 for place in chosen)
        assert not set(original_of(row)[list(chosen)]) & {records.CLS, records.SEP, records.PAD}
        assert (1 in chosen) == (2 in chosen), "pieces 1 and 2 are one word"


def test_a_small_share_masks_one_piece(path):
    masked = [
        int(row["masked_lm_weights"].sum()) for row in rows(masked_batches(path, 1, share=1e-4))
    ]
    assert set(masked) <= {0, 1} and sum(masked) > 40  # none where the word drawn last has two


def test_each_pass_over_the_data_gets_new_masks(path):
    batches = masked_batches(path, 4, share=0.3)
    positions = collections.defaultdict(set)
    for row in rows(batches):
        positions[tuple(original_of(row))].add(tuple(row["masked_lm_positions"]))
    assert sum(len(found) > 1 for found in positions.values()) > len(positions) / 2


def test_masks_are_a_function_of_seed_and_position_on_every_runtime(path):
    def checksum(seed):
        (batch,) = masked_batches(path, 1, share=0.3, seed=seed)
        return zlib.crc32(batch["input_ids"].tobytes() + batch["masked_lm_positions"].tobytes())

    assert checksum(5) == CHECKSUM_OF_SEED_5
    assert checksum(6) != CHECKSUM_OF_SEED_5


CHECKSUM_OF_SEED_5 = 3993263679


# ---------------------------------------------------------------------------------------------
# Where the vocabulary comes from.


def same(left, right):
    return left.mask_id == right.mask_id and left.ordinary.tolist() == right.ordinary.tolist()


def test_the_vocabulary_is_learnt_from_the_records():
    examples = [example(record) for record in records.make_records(20)]
    assert same(dynamic_masking.vocabulary_of_records(examples, records.VOCAB_SIZE), VOCABULARY)


def test_a_description_gives_the_vocabulary_back():
    table = some_table(np.random.RandomState(0))
    description = ngram_masking.describe_vocabulary(table)
    assert description == {"mask_id": 4, "ordinary": [[10, 77], [78, 300]]}
    found = dynamic_masking.vocabulary_of_description(json.loads(json.dumps(description)))
    assert same(found, dynamic_masking.vocabulary_of_table(table))


def test_records_that_do_not_tell_the_vocabulary_are_refused():
    record = records.make_records(1)[0]
    unmasked = dict(record, masked_lm_weights=[0.0] * records.PREDICTIONS)
    with pytest.raises(ValueError, match="--spm_model_file or --vocab_file"):
        dynamic_masking.vocabulary_of_records([example(unmasked)], records.VOCAB_SIZE)


def test_records_without_boundaries_are_refused():
    without = dict(records.make_records(1)[0], token_boundary=[0] * records.LENGTH)
    with pytest.raises(ValueError, match="needs records with token_boundary"):
        dynamic_masking.check_boundaries("a.tf_record", [example(without)])
