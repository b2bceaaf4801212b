# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masking n-grams of whole words, and the same masks drawn on the fly."""

import collections
import json
import zlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.pretraining import masking, model, random_keys, words
from albert.pretraining import pairs as segment_pairs
from tests.support import pretraining_records as records
from tests.support.shared import needs_shared, shared_path

VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "<S>"]
VOCAB += [f"w{number}" for number in range(60)] + [f"##c{number}" for number in range(40)]
SETTINGS = segment_pairs.DataSettings(max_seq_length=64, max_predictions_per_seq=9)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    path.write_text("\n".join(VOCAB) + "\n", encoding="utf-8")
    return words.piece_table(tokenization.FullTokenizer(str(path)))


def make_pairs(length_a, length_b, count, *, seed=5):
    """`count` pairs over the same pieces: A first, B right after it."""
    return segment_pairs.Pairs(
        start_a=np.zeros(count, np.int64),
        length_a=np.full(count, length_a),
        start_b=np.full(count, length_a),
        length_b=np.full(count, length_b),
        label=np.arange(count) % 2,
        key=random_keys.fold(random_keys.seed_key(seed), np.arange(count)),
    )


def some_ids(length, *, continuation=0.3, seed=0):
    random = np.random.RandomState(seed)
    words = random.randint(7, 67, length)
    return np.where(random.rand(length) < continuation, words % 40 + 67, words).astype(np.int32)


def predictions(features, row):
    count = int(features["masked_lm_weights"][row].sum())
    return features["masked_lm_positions"][row, :count].tolist()


def make(ids, pairs, table, **changes):
    borders = np.array([0, len(ids)])
    block = segment_pairs.TokenizedBlock(ids, table.is_word_start[ids], borders, ())
    return masking.masked_features(block, pairs, table=table, settings=SETTINGS.replace(**changes))


def test_a_record_is_laid_out_as_cls_a_sep_b_sep_and_padding(table):
    ids = np.array([10, 70, 11, 12, 13, 71], np.int32)
    features = make(ids, make_pairs(4, 2, 1), table, max_seq_length=12, masked_lm_prob=0.0)
    assert features["input_ids"].tolist() == [[2, 10, 70, 11, 12, 3, 13, 71, 3, 0, 0, 0]]
    assert features["input_mask"].tolist() == [[1] * 9 + [0] * 3]
    assert features["segment_ids"].tolist() == [[0] * 6 + [1] * 3 + [0] * 3]
    assert features["token_boundary"].tolist() == [[1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0]]
    assert features["next_sentence_labels"].tolist() == [[0]]
    assert not any(name.startswith("masked_lm") for name in features)
    assert masking.count_predictions(features) == 0


def test_the_number_of_predictions_is_the_rounded_share_within_its_bounds(table):
    ids = some_ids(61, continuation=0.0)
    for length_a, length_b in ((1, 1), (4, 3), (10, 17), (30, 31)):
        length = length_a + length_b + 3
        features = make(ids, make_pairs(length_a, length_b, 50), table)
        wanted = min(9, max(1, int(round(length * 0.15))))
        assert (features["masked_lm_weights"].sum(axis=1) == wanted).all()


def test_positions_ascend_and_labels_are_what_stood_there(table):
    ids, pairs = some_ids(50), make_pairs(20, 30, 200)
    plain = make(ids, pairs, table, masked_lm_prob=0.0)["input_ids"]
    for changes in ({}, {"do_permutation": True}, {"ngram": 7}, {"do_whole_word_mask": False}):
        features = make(ids, pairs, table, **changes)
        for row in range(200):
            positions = predictions(features, row)
            assert positions == sorted(set(positions) - {0, 21, 52})  # [CLS], [SEP]
            count = len(positions)
            assert features["masked_lm_ids"][row, :count].tolist() == plain[row, positions].tolist()
            rest = np.setdiff1d(np.arange(64), positions)
            assert (features["input_ids"][row, rest] == plain[row, rest]).all()


def test_words_are_masked_whole_or_not_at_all_and_segments_end_words(table):
    # B begins with a continuation piece: it does not belong to the last word of A.
    ids = np.array([10, 70, 11, 71, 72, 73, 12, 13, 74, 14], np.int32)
    words = [{1, 2}, {3, 4, 5}, {7}, {8}, {9, 10}, {11}]
    features = make(ids, make_pairs(5, 5, 3000), table, masked_lm_prob=0.4, ngram=1)
    partners = collections.Counter()
    for row in range(3000):
        masked = set(predictions(features, row))
        for word in words:
            assert masked >= word or not masked & word
        partners[7 in masked, 5 in masked] += 1
    assert partners[True, False] > 0
    assert partners[False, True] > 0


def test_lengths_of_ngrams_are_drawn_in_proportion_to_one_over_n():
    thresholds = masking.ngram_thresholds(SETTINGS)
    np.testing.assert_allclose(thresholds, [6 / 11, 9 / 11])
    reverse = masking.ngram_thresholds(SETTINGS.replace(favor_shorter_ngram=False))
    np.testing.assert_allclose(reverse, [2 / 11, 5 / 11])


def test_eight_in_ten_become_mask_one_stays_and_one_is_replaced_evenly(table):
    ids = some_ids(60, continuation=0.0)
    features = make(ids, make_pairs(30, 30, 8000), table)
    rows, slots = np.nonzero(features["masked_lm_weights"])
    output = features["input_ids"][rows, features["masked_lm_positions"][rows, slots]]
    label = features["masked_lm_ids"][rows, slots]
    count = len(rows)
    assert abs((output == 4).mean() - 0.8) < 5 * np.sqrt(0.16 / count)
    replaced = output[(output != 4) & (output != label)]
    assert abs(len(replaced) / count - 0.1 * 99 / 100) < 5 * np.sqrt(0.09 / count)
    drawn = np.bincount(replaced, minlength=len(VOCAB))
    assert drawn[:7].sum() == 0
    assert abs(drawn[7:] - len(replaced) / 100).max() < 6 * np.sqrt(len(replaced) / 100)


def test_permutation_moves_as_many_other_pieces_among_themselves(table):
    ids = np.arange(7, 67, dtype=np.int32)  # all pieces differ
    plain = make(ids, make_pairs(30, 30, 500), table, masked_lm_prob=0.0)["input_ids"]
    masked = make(ids, make_pairs(30, 30, 500), table)
    both = make(ids, make_pairs(30, 30, 500), table, do_permutation=True)
    assert both["masked_lm_positions"].shape == (500, 18)
    unmoved = total = 0
    for row in range(500):
        first = set(predictions(masked, row))
        moved = sorted(set(predictions(both, row)) - first)
        assert set(predictions(both, row)) >= first
        assert len(moved) == 9
        at_first = sorted(first)
        assert (both["input_ids"][row, at_first] == masked["input_ids"][row, at_first]).all()
        assert sorted(both["input_ids"][row, moved]) == sorted(plain[row, moved])
        unmoved += (both["input_ids"][row, moved] == plain[row, moved]).sum()
        total += 9
    # A random permutation leaves one of its elements in place on average.
    assert abs(unmoved / 500 - 1.0) < 0.25


# ---- against the reference ----------------------------------------------------------------------


def read_lines(name):
    with open(str(shared_path(name)), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@needs_shared
def test_token_boundaries_are_exactly_the_references():
    spm = tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))
    bert = tokenization.FullTokenizer(str(shared_path("data/wordpiece/uncased_vocab.txt")))
    texts = read_lines("golden/tokenization.jsonl")
    lines = read_lines("golden/token_boundary.jsonl")
    assert len(lines) == 240
    models = {"spm": (spm, words.piece_table(spm)), "bert": (bert, words.piece_table(bert))}
    for golden in lines:
        pieces, table = models[golden["mode"]]
        text = [texts[golden["line_a"]]["text"], texts[golden["line_b"]]["text"]]
        ids = pieces.encode_ids_batch(text)
        starts = words.word_starts(pieces, table, lines=text, ids=ids)
        length = len(ids[0]) + len(ids[1]) + 3
        # One more token: two lines may be empty, a block never is.
        block = segment_pairs.TokenizedBlock(
            np.array(ids[0] + ids[1] + [7], np.int32), np.append(starts, True), np.zeros(1), ()
        )
        for whole in (True, False):
            settings = SETTINGS.replace(
                max_seq_length=length + 5, masked_lm_prob=0.0, do_whole_word_mask=whole
            )
            features = masking.masked_features(
                block, make_pairs(len(ids[0]), len(ids[1]), 1), table=table, settings=settings
            )
            expected = pieces.convert_tokens_to_ids(golden["tokens"])
            assert features["input_ids"][0, :length].tolist() == expected
            assert features["token_boundary"][0, :length].tolist() == golden["token_boundary"]


# ---- on the fly --------------------------------------------------------------------------------

GRAPH_SETTINGS = SETTINGS.replace(
    max_seq_length=records.LENGTH,
    max_predictions_per_seq=records.PREDICTIONS,
    masked_lm_prob=0.2,
)
VOCABULARY = words.Vocabulary(
    records.MASK, np.arange(records.FIRST_PIECE, records.VOCAB_SIZE, dtype=np.int32)
)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ngram": 5, "favor_shorter_ngram": False},
        {"do_whole_word_mask": False},
        {"masked_lm_prob": 0.5, "max_predictions_per_seq": 40},
    ],
    ids=str,
)
def test_masks_on_the_fly_are_bit_for_bit_those_of_data_creation(changes, table):
    count, random = 150, np.random.RandomState(3)
    length_a = random.randint(1, 30, count)
    pairs = make_pairs(length_a, random.randint(1, 62 - length_a), count)
    expected, plain, others = (
        make(some_ids(61), pairs._replace(key=key), table, **some)
        for key, some in (
            (pairs.key, changes),
            (pairs.key, {**changes, "masked_lm_prob": 0.0}),
            (random_keys.fold(pairs.key, 1), changes),  # masks to be undone
        )
    )
    assert (others["masked_lm_positions"] != expected["masked_lm_positions"]).any()
    no_masks = {name: 0 * values for name, values in expected.items() if "masked_lm" in name}
    for features in (dict(no_masks, **plain), others):
        settings = SETTINGS.replace(**changes)
        found = masking.masked(features, pairs.key, settings, vocabulary=table)
        assert sorted(found) == sorted(expected)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_keys_are_a_function_of_seed_and_position():
    positions = np.array([0, 1, 2, 1 << 40])
    found = np.concatenate([masking.keys_of(seed, positions) for seed in (-5, 6)])
    assert len(set(found.tolist())) == 8
    assert found[0] == 2**64 - 8100066986871223295


def masked_batches(path, count, *, share, seed=5):
    """Returns the first batches of 50 records, masked on the fly."""
    spec = model.feature_spec(records.LENGTH, records.PREDICTIONS)
    transform = masking.masking(
        settings=GRAPH_SETTINGS.replace(masked_lm_prob=share), seed=seed, vocabulary=VOCABULARY
    )
    with tf.Graph().as_default(), tf.Session() as session:
        batches = input_pipeline.seeded_batches(
            [path], spec, batch_size=50, seed=1, transform=transform
        )
        batch = tf.data.make_one_shot_iterator(batches).get_next()
        return [session.run(batch) for _ in range(count)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return records.write_records(tmp_path_factory.mktemp("records") / "a.tf_record", 100)


def test_masks_are_a_function_of_seed_and_position_on_every_runtime(path):
    def checksum(seed):
        (batch,) = masked_batches(path, 1, share=0.3, seed=seed)
        return zlib.crc32(batch["input_ids"].tobytes() + batch["masked_lm_positions"].tobytes())

    assert checksum(5) == CHECKSUM_OF_SEED_5
    assert checksum(6) != CHECKSUM_OF_SEED_5


CHECKSUM_OF_SEED_5 = 3993263679
