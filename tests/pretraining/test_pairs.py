# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From tokenized documents to pairs of segments."""

import collections
import random

import numpy as np
import pytest

from albert.pretraining import pairs as segment_pairs
from tests.support import pretraining_records as records

SETTINGS = segment_pairs.DataSettings(
    max_seq_length=23, short_seq_prob=0.0, dupe_factor=4, random_seed=1, random_next_sentence=False
)


def make_block(documents, *, sources=None, word_starts=None):
    """A block of documents given as lists of sentence lengths; token n has the id n."""
    texts = [
        (number, sources[number] if sources else number, [[None] * length for length in lengths])
        for number, lengths in enumerate(documents)
    ]
    ids = np.arange(sum(map(sum, documents)), dtype=np.int32)
    starts = ids >= 0 if word_starts is None else np.isin(ids, list(word_starts))
    return segment_pairs.tokenized_block(texts, ids, starts)


def make(block, **changes):
    return segment_pairs.make_pairs(block, SETTINGS.replace(**changes))


def rows(pairs):
    """Start and length of A, of B, and the label."""
    return list(zip(*(column.tolist() for column in pairs[:5])))


def random_documents(count, *, longest=12, seed=0):
    generator = random.Random(seed)
    return [
        [generator.randint(1, longest) for _ in range(generator.randint(1, 30))]
        for _ in range(count)
    ]


def test_chunks_hold_whole_sentences_up_to_the_length_and_miss_nothing():
    pairs, left_out = make(
        make_block([[5] * 9]), dupe_factor=50
    )  # 20 tokens: four sentences a chunk
    assert left_out == 0
    chunks = collections.Counter()
    for start_a, length_a, start_b, length_b, label in rows(pairs):
        assert label == int(start_a > start_b)
        (first, border), (begin, last) = sorted(
            [(start_a, start_a + length_a), (start_b, start_b + length_b)]
        )
        assert border == begin
        chunks[first, last] += 1
    # The ninth sentence is alone, and is split inside.
    assert chunks == {(0, 20): 50, (20, 40): 50, (40, 45): 50}


@pytest.mark.parametrize(
    "sentences, word_starts, cuts",
    [
        ([5, 5, 5, 5], None, {5, 10, 15}),  # at each sentence border
        ([8], [0, 2, 4, 5, 7], {2, 4, 5, 7}),  # a sentence alone: at each inner word start
        ([6], [0], {1, 2, 3, 4, 5}),  # one word: between its tokens
    ],
)
def test_a_chunk_is_cut_at_each_possible_place_alike(sentences, word_starts, cuts):
    pairs, _ = make(make_block([sentences], word_starts=word_starts), dupe_factor=3000)
    found = collections.Counter(max(row[0], row[2]) for row in rows(pairs))
    assert set(found) == cuts
    assert all(abs(count - 3000 / len(cuts)) < 130 for count in found.values())
    assert abs(pairs.label.mean() - 0.5) < 0.04


def test_a_single_token_without_a_partner_is_left_out_and_counted():
    pairs, left_out = make(make_block([[1], [3, 1], [4] * 5 + [1]]), dupe_factor=3)
    assert left_out == 2 * 3  # the first document, and the last sentence of the third
    assert len(pairs.key) == (0 + 1 + 1) * 3


@pytest.mark.parametrize("longest", [2, 9, 10, 20])
def test_truncation_takes_from_the_longer_segment_what_one_token_at_a_time_would(longest):
    lengths = np.array([(a, b) for a in range(1, 40) for b in range(1, 40)])
    pairs = records.make_pairs(*lengths.T)
    cut = segment_pairs.truncate(pairs, longest)
    for row, (a, b) in enumerate(lengths):
        while a + b > longest:
            a, b = (a - 1, b) if a > b else (a, b - 1)
        assert (cut.length_a[row], cut.length_b[row]) == (a, b)
    front_a, front_b = cut.start_a - pairs.start_a, cut.start_b - pairs.start_b
    assert min(front_a) == min(front_b) == 0
    assert (front_a + cut.length_a <= pairs.length_a).all()
    assert (front_b + cut.length_b <= pairs.length_b).all()


@pytest.mark.parametrize("flips", [1, 7, 63, 64, 65, 200])
def test_tokens_are_cut_at_the_front_as_often_as_a_coin_shows_heads(flips):
    length = np.full(20000, 300)
    pairs = records.make_pairs(length + flips, length, seed=flips)
    heads = segment_pairs.truncate(pairs, 600).start_a
    assert heads.min() >= 0 and heads.max() <= flips
    assert abs(heads.mean() - flips / 2) < 5 * np.sqrt(flips / 4 / 20000)
    assert abs(heads.var() / (flips / 4) - 1) < 0.06


def test_short_targets_are_drawn_once_a_pass_with_the_given_probability():
    # With sentences of one token, all chunks of a pass except the last have the target's length.
    pairs, _ = make(make_block([[1] * 400]), short_seq_prob=0.1, dupe_factor=2000)
    first = np.minimum(pairs.start_a, pairs.start_b) == 0
    targets = (pairs.length_a + pairs.length_b)[first]
    short = targets[targets < 20]
    assert len(targets) == 2000
    assert abs(len(short) / 2000 - 0.1 * 18 / 19) < 0.03
    assert short.min() == 2
    lengths = collections.Counter((pairs.length_a + pairs.length_b).tolist())
    assert lengths[20] == 20 * (2000 - len(short))


def test_pairs_of_a_document_do_not_depend_on_the_block_it_is_in():
    block = make_block(random_documents(6))
    whole, _ = make(block, short_seq_prob=0.3)
    part, _ = make(block._replace(documents=block.documents[3:4]), short_seq_prob=0.3)
    assert len(part.key) > 0
    assert set(zip(rows(part), part.key.tolist())) <= set(zip(rows(whole), whole.key.tolist()))


# ---- BERT's next sentence ------------------------------------------------------------------------


def next_sentence(block, dupe_factor):
    """Pairs as start and length of A, of B, label, source of A's document, source of B's."""

    def owner(token):
        for document in block.documents:
            if block.borders[document.first] <= token < block.borders[document.last]:
                return document.source
        raise AssertionError(token)

    pairs, _ = make(block, random_next_sentence=True, dupe_factor=dupe_factor)
    found = [(*row, owner(row[0]), owner(row[2])) for row in rows(pairs)]
    assert all((source_a == source_b) == (label == 0) for *_, label, source_a, source_b in found)
    return found


def test_half_of_the_pairs_take_b_from_another_document_and_are_labelled_one():
    found = next_sentence(make_block(random_documents(30)), 20)
    assert all(start_b >= start_a + a for start_a, a, start_b, _, label, *_ in found if not label)
    share = np.mean([row[4] for row in found])
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(len(found))


def test_parts_of_one_document_are_not_other_documents():
    found = next_sentence(make_block([[3] * 9] * 4, sources=[7, 7, 8, 9]), 30)
    used = {row[5:] for row in found if row[4]}
    assert used == {(a, b) for a in (7, 8, 9) for b in (7, 8, 9) if a != b}
