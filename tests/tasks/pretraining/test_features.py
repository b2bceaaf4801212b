# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What records hold: pairs of segments, masks of whole words, and masks drawn on the fly.

Each token of the texts occurs once, and tokens are numbered in their order, so that a record shows
where its tokens come from.
"""

import collections
import functools
import random
import types
import zlib

import numpy as np
import pytest
from absl.testing import flagsaver

from albert import create_pretraining_data, modeling, run_pretraining
from albert.data import record_files
from albert.pretraining_data import documents
from albert.tasks.pretraining import features as pretraining_features
from albert.tasks.pretraining.flags import PretrainingFlags
from albert.util import flags as flags_lib
from tests.support import pretraining_records
from tests.support.number_records import served
from tests.support.recorded import assert_checksum, assert_equal
from tests.support.shared import json_lines, needs_shared, shared_path

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "<S>"]
CLS, SEP, MASK, FIRST = 2, 3, 4, len(SPECIAL)
EXACT = "--nodo_whole_word_mask --ngram=7"  # as many predictions as wanted

# Documents: sentences, which are words, which are numbers of tokens.
GENERATOR = random.Random(0)
DOCUMENTS = [
    [[1 + (GENERATOR.random() < 0.3) for _ in range(1 + n * 7 % 11)] for n in range(1 + d % 9)]
    for d in range(150)
]


def make(folder, texts, arguments="", length=64, slots=9):
    """Makes records of documents by the script, and looks into them."""
    vocabulary, lines, document, starts_word = list(SPECIAL), [], [], []
    for number, text in enumerate(texts):
        for sentence in text:
            words = []
            for size in sentence:
                pieces = [f"c{len(vocabulary) + place}" for place in range(size)]
                vocabulary += [pieces[0], *(f"##{piece}" for piece in pieces[1:])]
                words.append("".join(pieces))
                starts_word += [True] + [False] * (size - 1)
            lines.append(" ".join(words))
            document += [number] * sum(sentence)
        lines.append("")
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    (folder / "text.txt").write_text("\n".join(lines))
    given = f"""--input_file={folder}/text.txt --output_file={folder}/records --num_processes=1
        --vocab_file={folder}/vocab.txt --max_seq_length={length} --dupe_factor=20
        --max_predictions_per_seq={slots} {arguments}"""
    flags = flags_lib.parse(create_pretraining_data.Flags, given.split())
    create_pretraining_data.main(flags)
    features = pretraining_records.read(folder / "records", length, flags.slots)
    return look(features, np.array(document), np.array(starts_word), folder=folder)


def look(features, document, starts_word, **more):
    """What N records hold, after a check that A and B are stretches of the text between marks."""
    ids, segments = features["input_ids"], features["segment_ids"]
    length = features["input_mask"].sum(axis=1)
    end_a, place = length - segments.sum(axis=1) - 1, np.arange(ids.shape[1])
    in_use = place < length[:, None]
    is_mark = (place == 0) | (place == end_a[:, None]) | (place == length[:, None] - 1)
    is_token = in_use & ~is_mark
    # Which tokens are predicted, in ascending order, and what stood there.
    weights, positions = features["masked_lm_weights"] > 0, features["masked_lm_positions"]
    masked, original = np.zeros(ids.shape, bool), ids.copy()
    masked[np.nonzero(weights)[0], positions[weights]] = True
    original[masked] = features["masked_lm_ids"][weights]

    rows, tokens = np.arange(len(ids)), np.where(is_token, original - FIRST, 0)
    assert (np.diff(positions)[weights[:, 1:]] > 0).all() and not masked[~is_token].any()
    assert (features["input_mask"] == in_use).all() and not ids[~in_use].any()
    assert (ids[:, 0] == CLS).all()
    assert (ids[rows, end_a] == SEP).all() and (ids[rows, length - 1] == SEP).all()
    follows = is_token[:, 1:] & is_token[:, :-1]
    assert (np.diff(tokens)[follows] == 1).all()
    assert (features["token_boundary"] == in_use & (is_mark | starts_word[tokens])).all()

    start_a, start_b = tokens[:, 1], tokens[rows, (end_a + 1) % len(place)]
    first = np.searchsorted(document, document[start_a])  # token of A's document
    return types.SimpleNamespace(
        features=features,
        label=features["next_sentence_labels"][:, 0],
        is_of_one=document[start_a] == document[start_b],
        document=document[start_a],
        start=np.stack([start_a - first, start_b - first], axis=1),
        lengths=np.stack([end_a - 1, length - end_a - 2], axis=1),
        length=length,
        end_a=end_a,
        follows=follows,
        masked=masked,
        original=original,
        **more,
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Flags -> the records of DOCUMENTS."""
    return functools.lru_cache(maxsize=None)(
        lambda flags="": make(tmp_path_factory.mktemp("made"), DOCUMENTS, flags)
    )


# ---- pairs ---------------------------------------------------------------------------------------


def test_segments_are_swapped_in_half_the_pairs(made):
    found = made()
    assert found.is_of_one.all()
    assert (found.label == (found.start[:, 0] > found.start[:, 1])).all()
    assert abs(found.label.mean() - 0.5) < 0.04


def test_random_next_sentence_is_of_another_document(tmp_path, monkeypatch):
    # Parts of one are not other documents, and a block of one document takes one from the next.
    monkeypatch.setattr(documents, "DOCUMENT_BYTES", 200)
    monkeypatch.setattr(documents, "BLOCK_BYTES", 300)
    found = make(tmp_path, DOCUMENTS, "--random_next_sentence")
    assert (found.label == ~found.is_of_one).all()
    end_a = found.start[:, 0] + found.lengths[:, 0]
    assert (found.start[:, 1] >= end_a)[found.label == 0].all()
    assert abs(found.label.mean() - 0.5) < 0.07


def test_chunks_are_cut_at_every_place_alike(tmp_path):
    texts = [
        [[1] * 7] * 7,  # 21 tokens are a chunk: three sentences
        [[1] * 5] * 4,  # is cut at each border
        [[2, 2, 1, 2, 1]],  # a sentence alone: at each inner word start
        [[6]],  # one word: between its tokens
        [[1] * 15, [1] * 40],  # too long: the longer segment is cut
        [[1] * 5, [1] * 81],  # at its front or its end for each token
    ]
    flags = "--dupe_factor=2000 --short_seq_prob=0"
    found = make(tmp_path, texts, flags, length=24)
    first, last = found.start.min(axis=1), found.start.max(axis=1)
    sizes = found.lengths.sum(axis=1)
    chunked, *alike, halves, long = (found.document == number for number in range(6))
    assert set(zip(first[chunked], sizes[chunked])) == {(0, 21), (21, 21), (42, 7)}
    for rows, expected in zip(alike, [{5, 10, 15}, {2, 4, 5, 7}, {1, 2, 3, 4, 5}]):
        places = collections.Counter(last[rows])
        assert set(places) == expected
        assert all(abs(count - 2000 / len(expected)) < 110 for count in places.values())
    assert set(map(tuple, found.lengths[halves])) == {(11, 10)}
    assert set(map(tuple, found.lengths[long])) == {(5, 16), (16, 5)}
    front = last[long] - 5
    assert abs(front.mean() - 65 / 2) < 5 * np.sqrt(65 / 4 / 2000)


def test_single_segments(tmp_path):
    texts = [
        [[1] * 7] * 7,  # 22 tokens are a chunk: four sentences, cut; the last three fit
        [[1] * 22, [2, 1]],  # fits; the last sentence is a chunk of its own
        [[1]],  # a token alone is left out
    ]
    found = make(tmp_path, texts, "--nosentence_order --short_seq_prob=0", length=24)
    assert not found.features["segment_ids"].any() and not found.label.any()
    assert set(found.document) == {0, 1} and len(found.label) == 20 * 4
    chunks = collections.Counter(zip(found.document, found.start[:, 0], found.lengths[:, 0]))
    exact = [chunks.pop(chunk) for chunk in ((0, 28, 21), (1, 0, 22), (1, 22, 3))]
    assert exact == [20, 20, 20]
    assert len(chunks) > 3 and set(chunks) <= {(0, start, 22) for start in range(7)}


def test_records_of_pairs_keep_their_metadata(made):
    settings = [
        record_files.read_sidecar(str(made(flags).folder / "records")).fingerprint["settings"]
        for flags in ("", "--nosentence_order")
    ]
    assert settings[1] == dict(settings[0], sentence_order=False) != settings[0]


# ---- masks ---------------------------------------------------------------------------------------


def test_number_of_predictions(made):
    assert {30, 64} < set(made(EXACT).length)  # a half, which is rounded to even, and the bound
    for found in (made(EXACT), made()):
        missing = np.clip(np.rint(found.length * 0.15), 1, 9) - found.masked.sum(axis=1)
        assert missing.min() == 0 and (missing.any() == (found is made()))


def test_whole_words_are_masked(made):
    found = made()
    continues = found.features["token_boundary"] == 0
    inside = found.follows & continues[:, 1:]
    assert (found.masked[:, 1:] == found.masked[:, :-1])[inside].all()
    # A continuation that B begins with does not belong to the last word of A.
    rows = np.flatnonzero(continues[np.arange(len(inside)), found.end_a + 1])
    ends = (found.masked[rows, found.end_a[rows] + side] for side in (-1, 1))
    assert {(True, False), (False, True)} <= set(zip(*ends))


@pytest.mark.parametrize("flag, share", [("", 2 / 11), ("--nofavor_shorter_ngram", 6 / 11)])
def test_ngram_lengths(tmp_path, flag, share):
    # There is room for one n-gram of three words, or for several shorter ones.
    found = make(tmp_path, [[[1] * 64] * 60], f"--short_seq_prob=0 {flag}", slots=3)
    first, _, last = found.features["masked_lm_positions"].T
    assert abs((last - first == 2).mean() - share) < 0.05


def test_masked_tokens_become_mask_random_or_stay(made):
    found = made()
    ids, tokens = found.features["input_ids"], sum(map(sum, sum(DOCUMENTS, [])))
    assert (ids == found.original)[~found.masked].all()
    output, label = ids[found.masked], found.original[found.masked]
    assert abs((output == MASK).mean() - 0.8) < 5 * np.sqrt(0.16 / len(label))
    replaced = output[(output != MASK) & (output != label)]
    assert abs(len(replaced) / len(label) - 0.1) < 5 * np.sqrt(0.09 / len(label))
    drawn, _ = np.histogram(replaced, 10, (FIRST, FIRST + tokens))
    assert drawn.sum() == len(replaced)  # nothing but ordinary tokens
    assert abs(drawn - len(replaced) / 10).max() < 5 * np.sqrt(len(replaced) / 10)


@pytest.mark.parametrize("has_order", [True, False])
def test_masks_on_the_fly(made, has_order):
    def batch(arguments):
        if not has_order:
            arguments += " --nosentence_order"
        path = str(made(arguments).folder / "records")
        flags = PretrainingFlags(
            max_seq_length=64,
            max_predictions_per_seq=9,
            masked_lm_budget=0.25,
            seed=5,
            sentence_order=has_order,
        )
        files = pretraining_features.read_files([path], flags, modeling.AlbertConfig(30000))
        draw = pretraining_features.masks_on_the_fly(flags, files, is_training=True)
        read = run_pretraining.input_fn_builder([path], 64, 9, True, seed=5, transform=draw)
        return served(lambda: read({"batch_size": 200}), 1)[0]

    found, of_plain = batch(EXACT), batch(f"{EXACT} --masked_lm_prob=0")
    assert_equal(found, of_plain)
    wanted = np.clip(np.rint(found["input_mask"].sum(axis=1) * 0.2), 1, 9)
    assert (found["masked_lm_weights"].sum(axis=1) == wanted).all()
    assert len(np.unique(found["masked_lm_positions"], axis=0)) > 150
    if has_order:
        drawn = found["input_ids"].tobytes() + found["masked_lm_positions"].tobytes()
        assert_checksum("masks on the fly", zlib.crc32(drawn))
    else:
        last = found["input_mask"].sum(axis=1) - 1
        rows, columns = np.nonzero(found["masked_lm_weights"])
        positions = found["masked_lm_positions"][rows, columns]
        assert (positions > 0).all() and (positions < last[rows]).all()


@needs_shared
def test_token_boundaries_equal_reference():
    lines = json_lines("golden/token_boundary.jsonl")
    assert len(lines) == 240
    model_file = str(shared_path("data/spm/30k-clean.model"))
    for golden in lines:
        spm = model_file if golden["mode"] == "spm" else None
        with flagsaver.flagsaver(spm_model_file=spm):
            masked = create_pretraining_data.create_masked_lm_predictions(
                golden["tokens"], 0.15, 20, ["w"], random.Random(0)
            )
        assert masked[3] == golden["token_boundary"]
