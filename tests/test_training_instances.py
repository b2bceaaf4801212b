# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining data by the functions that programs import from create_pretraining_data."""

import json
import random

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from absl import flags
from absl.testing import flagsaver

from albert import create_pretraining_data as data
from albert import tokenization
from albert.pretraining import model as pretraining_utils
from tests.support import pretraining_statistics, squad_data
from tests.support.shared import needs_shared, shared_path

FLAGS = flags.FLAGS
SPM = str(squad_data.FIXTURES / "tiny.model")
TOKENIZER = tokenization.FullTokenizer(None, True, SPM)
CORPUS = str(squad_data.FIXTURES / "corpus.txt")
VOCAB = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]"]
VOCAB += [f"w{number}" for number in range(60)] + [f"##c{number}" for number in range(20)]


@pytest.fixture(autouse=True)
def _restored_flags():
    with flagsaver.flagsaver():
        yield


def sentence(generator, words):
    """Words of which every third has a second piece."""
    pieces = []
    for _ in range(words):
        pieces.append(f"w{generator.randrange(60)}")
        pieces += [f"##c{generator.randrange(20)}"] * (generator.random() < 1 / 3)
    return pieces


def masked(tokens, prob=0.15, most=20, *, rng=None, vocab=VOCAB):
    return data.create_masked_lm_predictions(
        tokens, prob, most, vocab, random.Random(1) if rng is None else rng
    )


TOKENS = ["[CLS]", *sentence(random.Random(0), 60), "[SEP]"]


def words_of(tokens):
    """Sets of positions, without those of special tokens."""
    words = [set()]
    for place, piece in enumerate(tokens):
        if not piece.startswith("##") or tokens[place - 1] == "[SEP]":
            words.append(set())
        words[-1].update({place} if piece not in ("[CLS]", "[SEP]") else ())
    return words


# ---- masks ----


def test_which_pieces_start_words_depends_on_the_vocabulary_that_flags_name():
    pieces = ("##a", "a", "\u2581a", "1")
    assert [data.is_start_piece(piece) for piece in pieces] == [False, True, True, True]
    FLAGS.spm_model_file = SPM
    assert [data.is_start_piece(piece) for piece in pieces] == [False, False, True, True]


@needs_shared
def test_token_boundaries_are_the_references():
    lines = shared_path("golden/token_boundary.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 240
    for golden in map(json.loads, lines):
        FLAGS.spm_model_file = SPM if golden["mode"] == "spm" else None
        for FLAGS.do_whole_word_mask in (True, False):
            found = masked(golden["tokens"], 0, vocab=[])
            assert found == (golden["tokens"], [], [], golden["token_boundary"])


def test_whole_words_are_masked_up_to_the_rounded_share():
    for seed in range(30):
        generator = random.Random(seed)
        # Truncation may leave a piece that goes on a word at the beginning of B.
        tokens = ["[CLS]", *sentence(generator, 20), "[SEP]", "##c1"]
        tokens += [*sentence(generator, 9), "[SEP]"]
        output, positions, labels, boundary = masked(tokens, rng=generator)
        assert len(positions) == int(round(0.15 * len(tokens)))
        assert positions == sorted(set(positions))
        restored = {**dict(enumerate(output)), **dict(zip(positions, labels))}
        assert list(restored.values()) == tokens
        assert all(len(word & set(positions)) in (0, len(word)) for word in words_of(tokens))
        assert boundary == [int(not piece.startswith("##")) for piece in tokens]


def test_the_flags_of_masking_are_heard():
    def all_positions():
        return [masked(TOKENS, rng=random.Random(seed))[1] for seed in range(60)]

    touching = []
    for FLAGS.ngram in (1, 3):
        touching.append(sum(np.sum(np.diff(found) == 1) for found in all_positions()))
    assert touching[1] > 1.5 * touching[0]
    FLAGS.do_permutation = True
    output, positions, labels, _ = masked(TOKENS)
    assert len(positions) == 2 * int(round(0.15 * len(TOKENS)))
    assert any(output[place] not in ("[MASK]", TOKENS[place]) for place in positions)
    assert labels == [TOKENS[place] for place in positions]
    FLAGS.do_whole_word_mask = False
    words = words_of(TOKENS)
    assert any(
        0 < len(word & set(found)) < len(word) for found in all_positions() for word in words
    )


def test_the_state_of_any_random_random_decides():
    generator = random.Random(3)
    first = masked(TOKENS, rng=generator)
    assert first == masked(TOKENS, rng=random.Random(3)) != masked(TOKENS, rng=generator)
    assert len(masked(TOKENS, rng=random.SystemRandom())[1]) == len(first[1])


def test_nothing_to_mask_is_a_result_and_nothing_to_replace_by_an_error():
    assert masked(["[CLS]", "[SEP]"]) == (["[CLS]", "[SEP]"], [], [], [1, 1])
    with pytest.raises(ValueError, match="vocab_words"):
        masked(["[CLS]", "w1", "[SEP]"], vocab=["[MASK]"])


# ---- pairs ----


def test_the_longer_segment_is_cut_at_both_ends():
    fronts = set()
    for seed in range(30):
        a, b = list(range(9)), [0, 1]
        data.truncate_seq_pair(a, b, 10, random.Random(seed))
        assert a == list(range(a[0], a[0] + 8)) and b == [0, 1]
        fronts.add(a[0])
    assert fronts == {0, 1}


def pairs_from(documents, index, *, seed=0, short_seq_prob=0.1):
    return data.create_instances_from_document(
        documents, index, 40, short_seq_prob, 0.15, 5, VOCAB, random.Random(seed)
    )


def parts_of(instance):
    """The pieces of A and B before they were masked."""
    tokens = list(instance.tokens)
    for place, label in zip(instance.masked_lm_positions, instance.masked_lm_labels):
        tokens[place] = label
    middle = tokens.index("[SEP]")
    assert tokens[0] == "[CLS]" and tokens[-1] == "[SEP]"
    assert instance.segment_ids == [0] * (middle + 1) + [1] * (len(tokens) - middle - 1)
    return tokens[1:middle], tokens[middle + 1 : -1]


def numbered(count, start=0):
    """A document in which each piece says where it stands."""
    return [[f"n{start + 5 * line + n}" for n in range(5)] for line in range(count)]


def test_a_document_becomes_pairs_in_order_or_swapped():
    labels = []
    for seed in range(20):
        for instance in pairs_from([numbered(40)], 0, seed=seed):
            first, second = parts_of(instance)
            if instance.is_random_next:
                first, second = second, first
            numbers = [[int(piece[1:]) for piece in part] for part in (first, second)]
            assert all(part == list(range(part[0], part[-1] + 1)) for part in numbers)
            assert 0 < numbers[1][0] - numbers[0][-1] < 6  # what truncation leaves out
            assert len(instance.tokens) <= 40 and len(instance.masked_lm_positions) <= 5
            labels.append(instance.is_random_next)
    assert 0.35 < np.mean(labels) < 0.65


def test_the_next_sentence_is_of_another_document_where_flags_ask_for_it():
    FLAGS.random_next_sentence = True
    documents = [numbered(40, start=1000 * number) for number in range(12)]
    labels = []
    for seed in range(10):
        for instance in pairs_from(documents, 3, seed=seed):
            homes = [{int(piece[1:]) // 1000 for piece in part} for part in parts_of(instance)]
            assert homes[0] == {3} and len(homes[1]) == 1
            assert instance.is_random_next == (homes[1] != {3})
            labels.append(instance.is_random_next)
    assert 0.3 < np.mean(labels) < 0.7
    assert not any(instance.is_random_next for instance in pairs_from(documents[:1], 0))


# ---- from text to records ----


def examples_in(path):
    return [*map(tf.train.Example.FromString, tf.python_io.tf_record_iterator(str(path)))]


def from_text(**changes):
    arguments = {
        "tokenizer": TOKENIZER,
        "max_seq_length": 32,
        "dupe_factor": 2,
        "short_seq_prob": 0.1,
        "masked_lm_prob": 0.15,
        "max_predictions_per_seq": 5,
        "rng": random.Random(7),
    }
    return data.create_training_instances([CORPUS], **dict(arguments, **changes))


def test_text_becomes_shuffled_instances_that_a_seed_makes_again():
    instances = from_text()
    assert str(instances) == str(from_text()) != str(from_text(rng=random.Random(8)))
    assert 1.7 < len(instances) / len(from_text(dupe_factor=1)) < 2.3
    assert all(all(parts_of(one)) for one in instances)
    assert "tokens: [CLS] " in repr(instances[0])
    assert not any(one.masked_lm_positions for one in from_text(masked_lm_prob=0))
    with pytest.raises(ValueError, match="dupe_factor"):
        from_text(dupe_factor=0)


@pytest.mark.parametrize("is_permuted, slots", [(False, 5), (True, 10)])
def test_instances_become_records_that_pretraining_reads(is_permuted, slots, tmp_path):
    FLAGS.do_permutation = is_permuted
    paths, instances = [str(tmp_path / name) for name in "ab"], from_text()
    data.write_instance_to_example_files(instances, TOKENIZER, 32, 5, paths)
    for path in paths:
        pretraining_utils.feature_spec(32, slots).check_file(path)
    first, second = map(examples_in, paths)
    assert len(first) - len(second) in (0, 1)
    example = second[0].features.feature
    ids = TOKENIZER.convert_tokens_to_ids(instances[1].tokens)
    assert list(example["input_ids"].int64_list.value) == ids + [0] * (32 - len(ids))
    assert sum(example["input_mask"].int64_list.value) == len(ids)
    count = len(instances[1].masked_lm_labels)
    weights = list(example["masked_lm_weights"].float_list.value)
    assert weights == [1.0] * count + [0.0] * (slots - count)


@needs_shared
def test_records_are_the_references(tmp_path):
    lines = shared_path("golden/pretraining_sample/sample.jsonl").read_text(encoding="utf-8")
    instances = [data.TrainingInstance(**json.loads(line)) for line in lines.splitlines()]
    data.write_instance_to_example_files(
        instances, pretraining_statistics.tokenizer(), 128, 20, [str(tmp_path / "all")]
    )
    expected = examples_in(shared_path("golden/pretraining_sample/sample.tf_record"))
    assert examples_in(tmp_path / "all") == expected


@pytest.mark.parametrize("length, slots", [(31, 5), (32, 0)])
def test_an_instance_without_room_is_an_error_and_leaves_no_file(length, slots, tmp_path):
    with pytest.raises(ValueError):
        data.write_instance_to_example_files(
            from_text(), TOKENIZER, length, slots, [str(tmp_path / "out")]
        )
    assert list(tmp_path.iterdir()) == []


def test_features_are_lists_of_numbers():
    assert list(data.create_int_feature(range(3)).int64_list.value) == [0, 1, 2]
    assert list(data.create_float_feature((0.5, 1)).float_list.value) == [0.5, 1.0]
