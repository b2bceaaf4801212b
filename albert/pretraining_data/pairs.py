# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Cuts tokenized documents into pairs of segments with a sentence-order label.

Each document is cut into chunks of whole sentences. A chunk ends as soon as it fills a sequence. A
chunk is cut into two segments, A and B, and half of the pairs are swapped (label 1), as in section
3.1 of arXiv:1909.11942 and in the public create_pretraining_data.py, with these differences:

* A chunk of one sentence (a long sentence, or the last one of a document) is cut inside the
  sentence, at a random word start, or between two tokens if there is no inner word start. So A and
  B come from one document, in order or swapped, as for all other chunks. (The public code takes B
  from another document.) If a chunk is only one token, at the end of a document, it is left out.
* With `random_next_sentence` (BERT's next-sentence task), such a chunk, too, gets B from another
  document only for half of the pairs. The other document is in the same block of text.
* With `nosentence_order`, A is the whole chunk, B is empty, and the label is 0.

Pairs are offsets into one array of ids. No code here loops over tokens.

Legend: D documents, N pairs, T tokens of a block.
"""

import bisect
import itertools
from typing import Any, Iterable, List, NamedTuple, Sequence, Tuple

import numpy as np

from albert.pretraining_data.flags import DataFlags
from albert.pretraining_data.random_keys import below, fold, seed_key, uniform

# The streams of random numbers of the key of a pass over a document, and of the key of a pair.
_DRAW_IS_SHORT, _DRAW_LENGTH, _PAIRS = range(3)
_DRAW_CUT, _DRAW_LABEL, _DRAW_DOCUMENT, _DRAW_START, _DRAW_FRONT, PAIR_DRAWS = range(6)


class DocumentSpan(NamedTuple):
    """The position of a document in a TokenizedBlock."""

    index: int  # type: ignore[assignment]  # the key of its random numbers
    source: int  # equal for the parts of one long document
    first: int  # the number of the first sentence in the block
    last: int  # one past the number of the last sentence


class TokenizedBlock(NamedTuple):
    """The tokens of documents, one document after another."""

    ids: np.ndarray  # int32 [T]
    word_starts: np.ndarray  # bool [T]: whether a token starts a word
    borders: np.ndarray  # int64 [sentences + 1]: the first token of each sentence; T
    documents: List[DocumentSpan]


class Pairs(NamedTuple):
    """N pairs: A = ids[start_a : start_a + length_a], B likewise. All but `key` are int64 [N]."""

    start_a: np.ndarray
    length_a: np.ndarray
    start_b: np.ndarray
    length_b: np.ndarray
    label: np.ndarray  # 1: swapped, or B is from another document
    key: np.ndarray  # uint64 [N]: the keys for more random numbers

    def take(self, rows: Any) -> "Pairs":
        """Returns the pairs that `rows` selects: a slice, indices or a mask."""
        return Pairs(*(column[rows] for column in self))


def tokenized_block(
    texts: Iterable[Tuple[int, int, Iterable[List[int]]]], word_starts: Any
) -> TokenizedBlock:
    """Returns the block of the documents `texts`: (index, source, ids of each sentence)."""
    documents: List[DocumentSpan] = []
    sentences: List[List[int]] = []
    for index, source, tokenized in texts:
        first = len(sentences)
        sentences += filter(None, tokenized)
        documents.append(DocumentSpan(index, source, first, len(sentences)))
    ids = np.fromiter(itertools.chain.from_iterable(sentences), np.int32)
    borders = np.cumsum([0, *map(len, sentences)])
    return TokenizedBlock(ids, np.array(word_starts, bool), borders, documents)


def longest(flags: DataFlags) -> int:
    """Returns the maximum tokens of a pair: a sequence without [CLS] and each [SEP]."""
    return flags.max_seq_length - (3 if flags.sentence_order else 2)


def make_pairs(block: TokenizedBlock, flags: DataFlags, own: int) -> Tuple[Pairs, int]:
    """Returns the pairs of all passes over the first `own` documents of `block`, cut to fit.

    random_next_sentence also takes segments B from the other documents. The second value is the
    number of chunks without a pair: single tokens at the end of a document.
    """
    most = longest(flags)
    # A key for each (random_seed, document, pass): uint64 [D, dupe_factor].
    documents = np.array([document.index for document in block.documents[:own]])
    passes = fold(
        fold(seed_key(flags.random_seed), documents)[:, None], np.arange(flags.dupe_factor)
    )
    # The length of each pass's chunks. A fraction short_seq_prob is random and shorter.
    shorter = 2 + below(fold(passes, _DRAW_LENGTH), most - 1)
    is_short = uniform(fold(passes, _DRAW_IS_SHORT)) < flags.short_seq_prob
    targets = np.where(is_short, shorter, most)

    first, last, first_b, last_b, key = _chunks(
        block, fold(passes, _PAIRS), targets, has_random_next=flags.random_next_sentence
    )
    spans = block.borders[np.array([[first, last], [first_b, last_b]])]  # [A or B, start or end, N]
    label = first != first_b
    # If A and B are the same sentences, A ends and B begins at `cut`.
    cut = _cut(block, first, last, keys=key) if flags.sentence_order else spans[0, 1]
    spans[0, 1], spans[1, 0] = np.where(label, [spans[0, 1], spans[1, 0]], cut)
    if flags.sentence_order and not flags.random_next_sentence:
        label = uniform(fold(key, _DRAW_LABEL)) < 0.5
        spans[:, :, label] = spans[::-1, :, label]
    (start_a, end_a), (start_b, end_b) = spans
    pairs = Pairs(start_a, end_a - start_a, start_b, end_b - start_b, label.astype(np.int64), key)
    usable = pairs.length_a + pairs.length_b > 1  # a single token cannot be cut
    return truncate(pairs.take(usable), most), int((~usable).sum())


def _chunks(
    block: TokenizedBlock, passes: np.ndarray, targets: np.ndarray, *, has_random_next: bool
) -> Tuple[np.ndarray, ...]:
    """Returns the chunks of all passes: first_a, last_a, first_b, last_b and the pair's key.

    A and B are the sentences [first, last). If both are the same, the chunk is still to be cut.
    """
    borders = block.borders.tolist()
    texts = [text for text in block.documents if has_random_next and text.last > text.first]
    texts.sort(key=lambda document: document.source)
    sources = [document.source for document in texts]
    rows: List[Tuple[int, ...]] = []
    numbers: List[int] = []  # the number of each chunk in its pass
    counts = []
    for document, keys, targets_of_passes in zip(block.documents, passes, targets.tolist()):
        before = bisect.bisect_left(sources, document.source)
        others = texts[:before] + texts[bisect.bisect(sources, document.source) :]
        for key, target in zip(keys, targets_of_passes):
            chunks = _chunks_of_pass(document, others, borders=borders, target=target, key=key)
            rows += chunks
            numbers += range(len(chunks))
            counts.append(len(chunks))
    keys = fold(np.repeat(passes.reshape(-1), counts), np.array(numbers, np.int64))
    return (*np.array(rows, np.int64).reshape(-1, 4).T, keys)


def _chunks_of_pass(
    document: DocumentSpan,
    others: Sequence[DocumentSpan],
    *,
    borders: List[int],
    target: int,
    key: np.ndarray,
) -> List[Tuple[int, ...]]:
    """Returns the chunks (first_a, last_a, first_b, last_b) of one pass over a document.

    If there are `others`, half of the chunks have B from them. Then the sentences of the chunk that
    A does not use begin the next chunk.
    """

    def end(first: int, tokens: int, last: int) -> int:
        """The end of the fewest sentences from `first` on with `tokens` tokens; at most `last`."""
        return bisect.bisect_left(borders, borders[first] + tokens, first + 1, last)

    draws: Iterable[Any] = itertools.repeat([0, 1, 0, 0])  # no B from another document
    if others:
        # A chunk uses at least one sentence, so this is enough.
        keys = fold(key, np.arange(document.last - document.first))
        draws = uniform(fold(keys[:, None], np.arange(_DRAW_FRONT))).tolist()
    rows: List[Tuple[int, ...]] = []
    first = document.first
    for cut, label, choice, start in draws:
        if first == document.last:
            break
        last = end(first, target, document.last)
        first_b, last_b = first, last
        if label < 0.5 and borders[last] - borders[first] > 1:
            last = first + 1 + int(cut * (last - first - 1))  # a single sentence stays whole
            other = others[int(choice * len(others))]
            first_b = other.first + int(start * (other.last - other.first))
            last_b = end(first_b, target - borders[last] + borders[first], other.last)
        rows.append((first, last, first_b, last_b))
        first = last
    return rows


def _cut(
    block: TokenizedBlock, first: np.ndarray, last: np.ndarray, *, keys: np.ndarray
) -> np.ndarray:
    """Returns the tokens at which B begins in chunks of the sentences [first, last): int64 [N].

    A single sentence is cut at an inner word start, or else between two tokens. A single token
    cannot be cut: the result is the token itself.
    """
    draw = fold(keys, _DRAW_CUT)
    cut = block.borders[np.minimum(first + 1 + below(draw, np.maximum(last - first - 1, 1)), last)]
    single = np.flatnonzero(last - first == 1)
    start, end, draw = block.borders[first[single]], block.borders[last[single]], draw[single]
    positions = np.flatnonzero(np.append(block.word_starts, True))
    first_inner = np.searchsorted(positions, start + 1)
    count = np.searchsorted(positions, end) - first_inner
    at_word = positions[first_inner + below(draw, np.maximum(count, 1))]
    at_token = start + 1 + below(draw, np.maximum(end - start - 1, 1))
    cut[single] = np.where(count > 0, at_word, np.where(end - start > 1, at_token, start))
    return cut


def truncate(pairs: Pairs, longest: int) -> Pairs:
    """Returns pairs that are cut until A and B together have at most `longest` tokens.

    The public code removes one token at a time from the longer segment (from B if both are equally
    long), at its start or end, by chance. This leaves A with
    min(length_a, max(longest - length_b, ceil(longest / 2))) tokens, and B with the rest.
    """
    half = (longest + 1) // 2
    length_a = np.minimum(pairs.length_a, np.maximum(longest - pairs.length_b, half))
    length_b = np.minimum(pairs.length_b, longest - length_a)
    keys = fold(pairs.key, _DRAW_FRONT)
    front_a = _binomial(pairs.length_a - length_a, fold(keys, 0))
    front_b = _binomial(pairs.length_b - length_b, fold(keys, 1))
    return pairs._replace(
        start_a=pairs.start_a + front_a,
        length_a=length_a,
        start_b=pairs.start_b + front_b,
        length_b=length_b,
    )


def _binomial(flips: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Returns how many of `flips` fair coins show heads, int64 [N].

    Each random number gives 64 coins.
    """
    heads = np.zeros(len(flips), np.int64)
    for number in range(-(-flips.max(initial=0) // 64)):
        rows = np.flatnonzero(flips > 64 * number)
        unused = np.maximum(64 * (number + 1) - flips[rows], 0).astype(np.uint64)
        coins = fold(keys[rows], number) >> unused
        bits = np.unpackbits(coins.view(np.uint8)).reshape(-1, 64)
        heads[rows] += bits.sum(axis=1, dtype=np.int64)
    return heads
