# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masking n-grams of whole words, and the same masks drawn on the fly."""

import zlib

import numpy as np
import pytest

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.pretraining import masking, model, random_keys, words
from albert.pretraining import pairs as segment_pairs
from tests.support import pretraining_records as records
from tests.support.number_records import served
from tests.support.shared import english_tokenizer, json_lines, needs_shared, shared_path

VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "<S>"]
VOCAB += [f"w{number}" for number in range(60)] + [f"##c{number}" for number in range(40)]
SETTINGS = segment_pairs.DataSettings(max_seq_length=64, max_predictions_per_seq=9)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    path.write_text("\n".join(VOCAB) + "\n", encoding="utf-8")
    return words.piece_table(tokenization.FullTokenizer(str(path)))


def make_pairs(length_a, length_b, count, *, seed=5):
    """`count` pairs over the same pieces."""
    lengths = (np.full(count, length) for length in (length_a, length_b))
    return records.make_pairs(*lengths, seed=seed)


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


@pytest.mark.parametrize(
    "changes", [{}, {"do_permutation": True}, {"ngram": 7}, {"do_whole_word_mask": False}]
)
def test_positions_ascend_and_labels_are_what_stood_there(changes, table):
    ids, pairs = some_ids(50), make_pairs(20, 30, 200)
    plain = make(ids, pairs, table, masked_lm_prob=0.0)["input_ids"]
    features = make(ids, pairs, table, **changes)
    for row, (expected, found) in enumerate(zip(plain, features["input_ids"])):
        positions = predictions(features, row)
        assert positions == sorted(set(positions) - {0, 21, 52})  # [CLS], [SEP]
        labels = features["masked_lm_ids"][row, : len(positions)]
        assert labels.tolist() == expected[positions].tolist()
        assert set(np.flatnonzero(found != expected)) <= set(positions)


def test_words_are_masked_whole_or_not_at_all_and_segments_end_words(table):
    # B begins with a continuation piece: it does not belong to the last word of A.
    ids = np.array([10, 70, 11, 71, 72, 73, 12, 13, 74, 14], np.int32)
    words = [{1, 2}, {3, 4, 5}, {7}, {8}, {9, 10}, {11}]
    features = make(ids, make_pairs(5, 5, 3000), table, masked_lm_prob=0.4, ngram=1)
    found = [set(predictions(features, row)) for row in range(3000)]
    assert all(masked >= word or not masked & word for masked in found for word in words)
    assert {(True, False), (False, True)} <= {(7 in masked, 5 in masked) for masked in found}


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
    pairs = make_pairs(30, 30, 500)
    plain = make(ids, pairs, table, masked_lm_prob=0.0)["input_ids"]
    masked, both = (make(ids, pairs, table, do_permutation=value) for value in (False, True))
    assert both["masked_lm_positions"].shape == (500, 18)
    unmoved = 0
    for row, found in enumerate(both["input_ids"]):
        first = predictions(masked, row)
        moved = sorted(set(predictions(both, row)) - set(first))
        assert len(moved) == 9 and len(predictions(both, row)) == 9 + len(first)
        assert (found[first] == masked["input_ids"][row, first]).all()
        assert sorted(found[moved]) == sorted(plain[row, moved])
        unmoved += (found[moved] == plain[row, moved]).sum()
    # A random permutation leaves one of its elements in place on average.
    assert abs(unmoved / 500 - 1.0) < 0.25


# ---- against the reference ----------------------------------------------------------------------


@needs_shared
def test_token_boundaries_are_exactly_the_references():
    spm = english_tokenizer()
    bert = tokenization.FullTokenizer(str(shared_path("data/wordpiece/uncased_vocab.txt")))
    texts = json_lines("golden/tokenization.jsonl")
    lines = json_lines("golden/token_boundary.jsonl")
    assert len(lines) == 240
    models = {"spm": (spm, words.piece_table(spm)), "bert": (bert, words.piece_table(bert))}
    for golden in lines:
        pieces, table = models[golden["mode"]]
        text = [texts[golden[name]]["text"] for name in ("line_a", "line_b")]
        a, b = ids = pieces.encode_ids_batch(text)
        starts = words.word_starts(pieces, table, lines=text, ids=ids)
        # One more token: two lines may be empty, a block never is.
        block = segment_pairs.TokenizedBlock(
            np.array([*a, *b, 7], np.int32), np.append(starts, True), np.zeros(1), ()
        )
        expected = pieces.convert_tokens_to_ids(golden["tokens"])
        settings = SETTINGS.replace(max_seq_length=len(expected), masked_lm_prob=0.0)
        for whole in (True, False):
            features = masking.masked_features(
                block,
                make_pairs(len(a), len(b), 1),
                table=table,
                settings=settings.replace(do_whole_word_mask=whole),
            )
            assert features["input_ids"].tolist() == [expected]
            assert features["token_boundary"].tolist() == [golden["token_boundary"]]


# ---- on the fly --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ngram": 5, "favor_shorter_ngram": False},
        {"do_whole_word_mask": False},
        {"masked_lm_prob": 0.5, "max_predictions_per_seq": 40},
    ],
)
def test_masks_on_the_fly_are_bit_for_bit_those_of_data_creation(changes, table):
    random = np.random.RandomState(3)
    length_a = random.randint(1, 30, 150)
    pairs = records.make_pairs(length_a, random.randint(1, 62 - length_a, 150))
    expected = make(some_ids(61), pairs, table, **changes)
    plain = make(some_ids(61), pairs, table, **{**changes, "masked_lm_prob": 0.0})
    no_masks = {name: 0 * values for name, values in expected.items() if "masked_lm" in name}
    # Masks to be undone.
    others = pairs._replace(key=random_keys.fold(pairs.key, 1))
    others = make(some_ids(61), others, table, **changes)
    assert (others["masked_lm_positions"] != expected["masked_lm_positions"]).any()
    for features in ({**no_masks, **plain}, others):
        settings = SETTINGS.replace(**changes)
        found = masking.masked(features, pairs.key, settings, vocabulary=table)
        assert sorted(found) == sorted(expected)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("seed", [5, 6])
def test_masks_are_a_function_of_seed_and_position_on_every_runtime(seed, tmp_path):
    path = records.write_records(tmp_path / "a.tf_record", 100)
    spec = model.feature_spec(records.LENGTH, records.PREDICTIONS)
    sizes = {"max_seq_length": records.LENGTH, "max_predictions_per_seq": records.PREDICTIONS}
    pieces = np.arange(records.FIRST_PIECE, records.VOCAB_SIZE, dtype=np.int32)
    transform = masking.masking(
        settings=SETTINGS.replace(**sizes, masked_lm_prob=0.3),
        seed=seed,
        vocabulary=words.PieceTable(records.MASK, pieces),
    )
    options = {"batch_size": 50, "seed": 1, "transform": transform}
    (batch,) = served(lambda: input_pipeline.seeded_batches([path], spec, **options), 1)
    found = zlib.crc32(batch["input_ids"].tobytes() + batch["masked_lm_positions"].tobytes())
    assert (found == 3993263679) == (seed == 5)
