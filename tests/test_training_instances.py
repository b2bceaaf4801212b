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


def words_of(tokens):
    """Sets of positions, without those of special tokens."""
    words, is_open = [], False
    for place, piece in enumerate(tokens):
        if piece in ("[CLS]", "[SEP]"):
            is_open = False
        elif is_open and piece.startswith("##"):
            words[-1].add(place)
        else:
            words.append({place})
            is_open = True
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


@pytest.mark.parametrize("layout", ["pair", "one", "bare"])
def test_whole_words_are_masked_up_to_the_rounded_share(layout):
    for seed in range(30):
        generator = random.Random(seed)
        tokens = sentence(generator, 20)
        if layout != "bare":
            tokens = ["[CLS]", *tokens, "[SEP]"]
        if layout == "pair":
            # Truncation may leave a piece that goes on a word at the beginning of B.
            tokens += ["##c1", *sentence(generator, 9), "[SEP]"]
        output, positions, labels, boundary = masked(tokens, rng=generator)
        assert len(positions) == max(1, int(round(0.15 * len(tokens))))
        assert positions == sorted(set(positions))
        assert labels == [tokens[place] for place in positions]
        assert [piece for n, piece in enumerate(output) if n not in positions] == [
            piece for n, piece in enumerate(tokens) if n not in positions
        ]
        for word in words_of(tokens):
            assert len(word & set(positions)) in (0, len(word))
        assert boundary == [int(not piece.startswith("##")) for piece in tokens]


def test_the_flags_of_masking_are_heard():
    tokens = ["[CLS]", *sentence(random.Random(0), 60), "[SEP]"]
    runs = {}
    for FLAGS.ngram in (1, 3):
        touching = [
            np.sum(np.diff(masked(tokens, rng=random.Random(seed))[1]) == 1) for seed in range(60)
        ]
        runs[FLAGS.ngram] = np.mean(touching)
    assert runs[3] > 1.5 * runs[1]
    FLAGS.do_permutation = True
    output, positions, labels, _ = masked(tokens)
    assert len(positions) == 2 * int(round(0.15 * len(tokens)))
    moved = [n for n in positions if output[n] != "[MASK]" and output[n] != tokens[n]]
    assert moved and labels == [tokens[place] for place in positions]
    FLAGS.do_whole_word_mask = False
    results = [set(masked(tokens, rng=random.Random(seed))[1]) for seed in range(9)]
    assert any(0 < len(word & found) < len(word) for found in results for word in words_of(tokens))


def test_the_state_of_any_random_random_decides():
    tokens = ["[CLS]", *sentence(random.Random(0), 60), "[SEP]"]
    generator = random.Random(3)
    first = masked(tokens, rng=generator)
    assert first == masked(tokens, rng=random.Random(3)) != masked(tokens, rng=generator)
    assert len(masked(tokens, rng=random.SystemRandom())[1]) == int(round(0.15 * len(tokens)))


def test_nothing_to_mask_is_a_result_and_nothing_to_replace_by_an_error():
    assert masked(["[CLS]", "[SEP]"]) == (["[CLS]", "[SEP]"], [], [], [1, 1])
    with pytest.raises(ValueError, match="vocab_words"):
        masked(["[CLS]", "w1", "[SEP]"], vocab=["[MASK]"])


# ---- pairs ----


@pytest.mark.parametrize("sizes, kept", [((9, 2), (8, 2)), ((9, 9), (5, 5)), ((2, 3), (2, 3))])
def test_the_longer_segment_is_cut_at_both_ends(sizes, kept):
    fronts = set()
    for seed in range(30):
        a, b = (list(range(size)) for size in sizes)
        data.truncate_seq_pair(a, b, 10, random.Random(seed))
        assert (len(a), len(b)) == kept
        for cut in (a, b):
            assert cut == list(range(cut[0], cut[0] + len(cut)))
        fronts.add(a[0])
    assert len(fronts) == 1 + sizes[0] - kept[0]


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


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("run", ["blocks40", "blocks40,favor_shorter_ngram=False"])
def test_the_masks_have_the_references_statistics(run, tmp_path):
    for change in run.split(",")[1:]:
        setattr(FLAGS, change.split("=")[0], change.endswith("True"))
    FLAGS.spm_model_file = SPM
    tokenizer = pretraining_statistics.tokenizer()
    documents = [
        [tokenizer.tokenize_text(line) for line in lines]
        for lines in pretraining_statistics.blocks40()[:150]
    ]
    vocab, rng = list(tokenizer.vocab), random.Random(5)
    instances = [
        instance
        for index in range(len(documents))
        for instance in data.create_instances_from_document(
            documents, index, 128, 0.1, 0.15, 20, vocab, rng
        )
    ]
    data.write_instance_to_example_files(instances, tokenizer, 128, 20, [str(tmp_path / "all")])
    examples = [example.features.feature for example in examples_in(tmp_path / "all")]
    features = {}
    for name in examples[0]:
        lists = [row[name].int64_list.value or row[name].float_list.value for row in examples]
        features[name] = np.array([list(values) for values in lists])
    found = pretraining_statistics.statistics(features, tokenizer.vocab["[MASK]"])
    golden = json.loads(shared_path("golden/pretraining_data_stats.json").read_text())["runs"][run]
    exact = ("frac_at_target", "frac_masked_words_partial", "masked_special_tokens")
    near = ("frac_mask", "frac_kept", "frac_random", "frac_token_boundary", "frac_run_words_1")
    near += ("frac_run_words_2", "frac_run_words_3", "frac_masked_tokens_word_start")
    for name in exact + near:
        expected = golden["summary"][name]["mean"]
        assert found[name] == pytest.approx(expected, abs=0.015 if name in near else 1e-3), name


# ---- from text to records ----


def examples_in(*paths):
    return [
        tf.train.Example.FromString(record)
        for path in paths
        for record in tf.python_io.tf_record_iterator(str(path))
    ]


def from_text(**changes):
    arguments = {
        "tokenizer": tokenization.FullTokenizer(None, True, SPM),
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
    assert [str(one) for one in instances] == [str(one) for one in from_text()]
    assert [str(one) for one in instances] != [str(one) for one in from_text(rng=random.Random(8))]
    once = from_text(dupe_factor=1)
    assert 1.7 * len(once) < len(instances) < 2.3 * len(once)
    assert all(parts_of(one)[0] and parts_of(one)[1] for one in instances)
    assert "tokens: [CLS] " in repr(instances[0])
    unmasked = from_text(masked_lm_prob=0)
    assert not any(one.masked_lm_positions for one in unmasked)
    with pytest.raises(ValueError, match="dupe_factor"):
        from_text(dupe_factor=0)


def test_instances_become_records_that_pretraining_reads(tmp_path):
    tokenizer = tokenization.FullTokenizer(None, True, SPM)
    paths = [str(tmp_path / name) for name in "ab"]
    for FLAGS.do_permutation in (False, True):
        instances = from_text()
        data.write_instance_to_example_files(instances, tokenizer, 32, 5, paths)
        slots = 5 * (1 + FLAGS.do_permutation)
        spec = pretraining_utils.feature_spec(32, slots)
        for path in paths:
            spec.check_file(path)
        halves = [examples_in(path) for path in paths]
        assert len(halves[0]) - len(halves[1]) in (0, 1)
        example = halves[1][0].features.feature
        ids = tokenizer.convert_tokens_to_ids(instances[1].tokens)
        assert list(example["input_ids"].int64_list.value) == ids + [0] * (32 - len(ids))
        assert sum(example["input_mask"].int64_list.value) == len(ids)
        weights = list(example["masked_lm_weights"].float_list.value)
        count = len(instances[1].masked_lm_labels)
        assert weights == [1.0] * count + [0.0] * (slots - count)


@needs_shared
def test_records_are_the_references(tmp_path):
    lines = shared_path("golden/pretraining_sample/sample.jsonl").read_text(encoding="utf-8")
    tokenizer = pretraining_statistics.tokenizer()
    instances = [data.TrainingInstance(**json.loads(line)) for line in lines.splitlines()]
    data.write_instance_to_example_files(instances, tokenizer, 128, 20, [str(tmp_path / "all")])
    expected = examples_in(shared_path("golden/pretraining_sample/sample.tf_record"))
    assert examples_in(tmp_path / "all") == expected


@pytest.mark.parametrize("length, slots", [(31, 5), (32, 0)])
def test_an_instance_without_room_is_an_error_and_leaves_no_file(length, slots, tmp_path):
    tokenizer, paths = tokenization.FullTokenizer(None, True, SPM), [str(tmp_path / "out")]
    with pytest.raises(ValueError):
        data.write_instance_to_example_files(from_text(), tokenizer, length, slots, paths)
    assert list(tmp_path.iterdir()) == []


def test_features_are_lists_of_numbers():
    assert list(data.create_int_feature(range(3)).int64_list.value) == [0, 1, 2]
    assert list(data.create_float_feature((0.5, 1)).float_list.value) == [0.5, 1.0]
