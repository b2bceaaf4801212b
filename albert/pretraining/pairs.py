# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From tokenized documents to pairs of segments with a sentence-order label.

A document is cut into chunks of whole sentences, each as long as fits a sequence; a chunk is cut in
two, A and B, and half of the pairs are swapped (label 1). Paper: arXiv:1909.11942, section 3.1;
the cutting is that of the public create_pretraining_data.py, with these differences:

* A chunk of one sentence (a long sentence, or the last of a document) is split inside the sentence,
  at a random word start, or between two tokens where there is no inner word start. It stays text of
  one document, in order or swapped like any other chunk. (Carrying the sentence on into the next
  chunk would make chunks longer than fits, and lose the excess.) A single token left alone at a
  document's end has nothing to be paired with and is left out.
* With `random_next_sentence` (BERT's next-sentence task) such a chunk, too, gets text of another
  document for half of the pairs only. The other document is one of the same block of text.

Pairs are offsets into one array of ids; nothing here loops over tokens.

Legend: D documents, N pairs, T tokens of a block.
"""

import bisect
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from albert.pretraining import random_keys
from albert.pretraining.settings import DataSettings

# What is drawn from the key of a pass over a document, and from the key of a pair.
_DRAW_IS_SHORT, _DRAW_LENGTH, _PAIRS = 0, 1, 2
_DRAW_CUT, _DRAW_LABEL, _DRAW_DOCUMENT, _DRAW_START, _DRAW_FRONT, PAIR_DRAWS = range(6)


class Document(NamedTuple):
    """Where a document lies in a TokenizedBlock."""

    index: int  # type: ignore[assignment]  # in the corpus: the key of its random numbers
    source: int  # equal for the parts of one long document
    first: int  # its first sentence
    last: int  # one past its last sentence


class TokenizedBlock(NamedTuple):
    """The tokens of some documents, one after another."""

    ids: np.ndarray  # int32 [T]
    word_starts: np.ndarray  # bool [T]: whether a token starts a word
    borders: np.ndarray  # int64 [sentences + 1]: where each sentence starts; the end of the last
    documents: Tuple[Document, ...]
    # Documents that only serve as the other one of `random_next_sentence`.
    neighbours: Tuple[Document, ...] = ()


class Pairs(NamedTuple):
    """N pairs: A = ids[start_a : start_a + length_a], B likewise; int64 [N] except for the keys."""

    start_a: np.ndarray
    length_a: np.ndarray
    start_b: np.ndarray
    length_b: np.ndarray
    label: np.ndarray  # 1: swapped, or B is from another document
    key: np.ndarray  # uint64 [N]: of the pair's further random numbers

    def take(self, rows: Any) -> "Pairs":
        """Returns the pairs that `rows` selects: a slice, indices or a mask."""
        return Pairs(*(column[rows] for column in self))


class MadePairs(NamedTuple):
    """The pairs, and the number of chunks without one: single tokens at a document's end."""

    pairs: Pairs
    left_out: int


def make_pairs(block: TokenizedBlock, settings: DataSettings) -> MadePairs:
    """Returns the pairs of all passes over all documents of `block`, truncated to fit."""
    make = _pairs_with_random_next if settings.random_next_sentence else _swapped_pairs
    pairs, left_out = make(block, settings)
    return MadePairs(truncate(pairs, settings.max_seq_length - 3), left_out)


# --------------------------------------------------------------------------------------- chunking


def _pass_keys(documents: Sequence[Document], settings: DataSettings) -> np.ndarray:
    """uint64 [D, dupe_factor]: a key for each (random_seed, document, pass)."""
    seed = random_keys.seed_key(settings.random_seed)
    keys = random_keys.fold(seed, np.array([document.index for document in documents]))
    return random_keys.fold(keys[:, None], np.arange(settings.dupe_factor)[None, :])


def _target_lengths(pass_keys: np.ndarray, settings: DataSettings) -> np.ndarray:
    """int64, shape of the keys: the length of this pass's chunks; now and then a random shorter."""
    longest = settings.max_seq_length - 3  # without [CLS] and two [SEP]
    draw = random_keys.fold(pass_keys, _DRAW_IS_SHORT)
    shorter = 2 + random_keys.below(
        random_keys.fold(pass_keys, _DRAW_LENGTH), longest - 1
    )  # 2 .. longest
    is_short = random_keys.uniform(draw) < settings.short_seq_prob
    return np.where(is_short, shorter, longest)


def _end(borders: List[int], first: int, *, target: int, document: Document) -> int:
    """The first sentence border behind `first` at which there are `target` tokens."""
    return bisect.bisect_left(borders, borders[first] + target, first + 1, document.last)


def _chunk_ends(borders: List[int], document: Document, target: int) -> List[int]:
    """The sentences at which chunks of at least `target` tokens end (exclusive)."""
    ends = [document.first]
    while ends[-1] < document.last:
        ends.append(_end(borders, ends[-1], target=target, document=document))
    return ends[1:]


def _chunks(
    block: TokenizedBlock, settings: DataSettings
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All chunks of all passes: sentences [first, last) and the key of the pair, [N] each.

    Passes with the same target share one search.
    """
    borders = block.borders.tolist()
    pass_keys = _pass_keys(block.documents, settings)  # [D, dupe_factor]
    firsts: List[int] = []
    lasts: List[int] = []
    lengths = []
    for document, targets in zip(block.documents, _target_lengths(pass_keys, settings).tolist()):
        known: Dict[int, List[int]] = {}
        for target in targets:
            if target not in known:
                known[target] = _chunk_ends(borders, document, target)
            ends = known[target]
            firsts.append(document.first)
            firsts += ends[:-1]
            lasts += ends
            lengths.append(len(ends))
    counts = np.array(lengths, np.int64)
    keys = np.repeat(pass_keys.reshape(-1), counts)
    in_pass = np.arange(len(lasts)) - np.repeat(np.cumsum(counts) - counts, counts)
    keys = random_keys.fold(random_keys.fold(keys, _PAIRS), in_pass)
    return np.array(firsts, np.int64), np.array(lasts, np.int64), keys


def _cut_inside(
    start: np.ndarray, end: np.ndarray, *, block: TokenizedBlock, draw: np.ndarray
) -> np.ndarray:
    """Cuts the sentences [start, end) at an inner word start, or else between two tokens."""
    positions = np.flatnonzero(block.word_starts)
    first = np.searchsorted(positions, start + 1)  # the first inner word start
    count = np.searchsorted(positions, end) - first
    at_word = first + random_keys.below(draw, np.maximum(count, 1))
    at_word = positions[np.minimum(at_word, len(positions) - 1)] if len(positions) else start
    at_piece = start + 1 + random_keys.below(draw, np.maximum(end - start - 1, 1))
    return np.where(count > 0, at_word, np.where(end - start > 1, at_piece, start))


def _swapped_pairs(block: TokenizedBlock, settings: DataSettings) -> MadePairs:
    """Sentence order: B follows A in the text, and half of the pairs are swapped."""
    first, last, keys = _chunks(block, settings)
    start, end = block.borders[first], block.borders[last]
    draw = random_keys.fold(keys, _DRAW_CUT)
    inner = random_keys.below(draw, np.maximum(last - first - 1, 1))
    cut = block.borders[np.minimum(first + 1 + inner, last)]  # int64 [N]
    single = np.flatnonzero(last - first == 1)
    cut[single] = _cut_inside(start[single], end[single], block=block, draw=draw[single])
    swap = random_keys.uniform(random_keys.fold(keys, _DRAW_LABEL)) < 0.5
    pairs = Pairs(
        start_a=np.where(swap, cut, start),
        length_a=np.where(swap, end - cut, cut - start),
        start_b=np.where(swap, start, cut),
        length_b=np.where(swap, cut - start, end - cut),
        label=swap.astype(np.int64),
        key=keys,
    )
    usable = cut > start  # a single token cannot be cut
    return MadePairs(pairs.take(usable), left_out=int((~usable).sum()))


# ------------------------------------------------------------------------- BERT's next sentence


def _pairs_with_random_next(block: TokenizedBlock, settings: DataSettings) -> MadePairs:
    """Next sentence: half the time B is from another document and A's rest is used again.

    What is used again moves the chunks that follow, so they are cut one after another; only the
    random numbers are drawn for all of them together.
    """
    pass_keys = _pass_keys(block.documents, settings)
    targets = _target_lengths(pass_keys, settings)
    cutter = _SequentialCutter(block)
    for number, document in enumerate(block.documents):
        for key, target in zip(pass_keys[number], targets[number].tolist()):
            # A chunk uses up at least one sentence.
            count = document.last - document.first
            keys = random_keys.fold(random_keys.fold(key[None], _PAIRS), np.arange(count))
            cutter.cut_document(document, target, keys)
    return cutter.made()


class _SequentialCutter:
    """Collects the pairs of one document after another."""

    def __init__(self, block: TokenizedBlock):
        self._block = block
        self._borders = block.borders.tolist()
        # The parts of one long document are neighbours: source -> [first part, one past the last).
        self._parts: Dict[int, Tuple[int, int]] = {}
        for number, document in enumerate(block.documents):
            first, _ = self._parts.get(document.source, (number, number))
            self._parts[document.source] = (first, number + 1)
        # Start and end of A, start and end of B, label. A sentence to be split has no end of A yet.
        self._rows: List[Tuple[int, int, int, int, int]] = []
        self._keys: List[np.ndarray] = [np.zeros([0], np.uint64)]
        self._left_out = 0

    def cut_document(self, document: Document, target: int, keys: np.ndarray) -> None:
        """Adds the pairs of one pass over `document`; `keys` are those of its pairs, or more."""
        cuts, labels, choices, starts = (
            random_keys.uniform(random_keys.fold(keys, draw)).tolist()
            for draw in (_DRAW_CUT, _DRAW_LABEL, _DRAW_DOCUMENT, _DRAW_START)
        )
        borders = self._borders
        others = self._count_others(document)
        first, used = document.first, []
        for number in range(len(keys)):
            if first == document.last:
                break
            last = _end(borders, first, target=target, document=document)
            start, end = borders[first], borders[last]
            is_single = last == first + 1
            if is_single and end - start < 2:
                self._left_out += 1
                first = last
                continue
            used.append(number)
            middle = first + 1 + int(cuts[number] * (last - first - 1))
            if labels[number] < 0.5 and others:
                # A sentence alone stays whole: `middle` is its end then.
                other = self._other(document, int(choices[number] * others))
                b_first = other.first + int(starts[number] * (other.last - other.first))
                rest = target - (borders[middle] - start)
                b_last = _end(borders, b_first, target=rest, document=other)
                self._rows.append((start, borders[middle], borders[b_first], borders[b_last], 1))
                first = middle
            else:
                cut = -1 if is_single else borders[middle]
                self._rows.append((start, cut, cut, end, 0))
                first = last
        self._keys.append(keys[used])

    def _count_others(self, document: Document) -> int:
        """How many documents B may come from: the block's, or its neighbours if it has but one."""
        first, last = self._parts[document.source]
        return len(self._block.documents) - (last - first) or len(self._block.neighbours)

    def _other(self, document: Document, number: int) -> Document:
        """The `number`-th of these documents."""
        first, last = self._parts[document.source]
        if len(self._block.documents) == last - first:
            return self._block.neighbours[number]
        return self._block.documents[number if number < first else number + last - first]

    def made(self) -> MadePairs:
        """Returns all pairs."""
        start_a, end_a, start_b, end_b, label = np.array(self._rows, np.int64).reshape(-1, 5).T
        keys = np.concatenate(self._keys)
        single = np.flatnonzero(end_a < 0)
        draw = random_keys.fold(keys[single], _DRAW_CUT)
        cut = _cut_inside(start_a[single], end_b[single], block=self._block, draw=draw)
        end_a[single] = start_b[single] = cut
        pairs = Pairs(start_a, end_a - start_a, start_b, end_b - start_b, label, keys)
        return MadePairs(pairs, self._left_out)


# -------------------------------------------------------------------------------------- truncation


def truncate(pairs: Pairs, longest: int) -> Pairs:
    """Returns pairs cut at the longer segment until A and B together have `longest` tokens.

    Each token goes at front or back. Taking one token at a time from the longer segment (from B
    where they are equal) leaves A with min(length_a, max(longest - length_b, ceil(longest / 2)))
    tokens and B with the rest.
    """
    fits = pairs.length_a + pairs.length_b <= longest
    half = (longest + 1) // 2
    length_a = np.minimum(pairs.length_a, np.maximum(longest - pairs.length_b, half))
    length_a = np.where(fits, pairs.length_a, length_a)
    length_b = np.where(fits, pairs.length_b, longest - length_a)
    keys = random_keys.fold(pairs.key, _DRAW_FRONT)
    front_a = _binomial(pairs.length_a - length_a, random_keys.fold(keys, 0))
    front_b = _binomial(pairs.length_b - length_b, random_keys.fold(keys, 1))
    return pairs._replace(
        start_a=pairs.start_a + front_a,
        length_a=length_a,
        start_b=pairs.start_b + front_b,
        length_b=length_b,
    )


def _binomial(flips: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """int64 [N]: how many of `flips` fair coins show heads; 64 coins are one random number."""
    heads = np.zeros(len(flips), np.int64)
    rows = np.flatnonzero(flips > 0)
    number = 0
    while len(rows):
        rest = flips[rows] - 64 * number
        coins = random_keys.fold(keys[rows], number)
        unused = np.maximum(64 - rest, 0).astype(np.uint64)
        coins = (coins >> unused).astype("<u8")
        set_bits = np.unpackbits(coins.view(np.uint8).reshape(-1, 8), axis=1)
        heads[rows] += set_bits.sum(axis=1, dtype=np.int64)
        rows = rows[rest > 64]
        number += 1
    return heads
