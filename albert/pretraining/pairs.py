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
from typing import Any, Iterable, List, NamedTuple, Optional, Sequence, Tuple

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


def tokenized_block(
    texts: Iterable[Tuple[int, int, Sequence[Sequence[Any]]]],
    ids: np.ndarray,
    word_starts: np.ndarray,
) -> TokenizedBlock:
    """Returns the block of documents given as index, source and tokenized sentences of each."""
    documents: List[Document] = []
    lengths = [0]
    for index, source, sentences in texts:
        first = len(lengths) - 1
        lengths += filter(None, map(len, sentences))
        documents.append(Document(index, source, first, len(lengths) - 1))
    return TokenizedBlock(ids, word_starts, np.cumsum(lengths), tuple(documents))


def make_pairs(
    block: TokenizedBlock, settings: DataSettings, own: Optional[int] = None
) -> Tuple[Pairs, int]:
    """Returns the pairs of all passes over all documents of `block`, truncated to fit.

    With `own` only the first documents get pairs: the others are there for random_next_sentence.
    The second value is the number of chunks without a pair: single tokens at a document's end.
    """
    longest = settings.max_seq_length - 3  # without [CLS] and two [SEP]
    # A key for each (random_seed, document, pass): uint64 [D, dupe_factor].
    seed = random_keys.seed_key(settings.random_seed)
    documents = random_keys.fold(
        seed, np.array([document.index for document in block.documents[:own]])
    )
    passes = random_keys.fold(documents[:, None], np.arange(settings.dupe_factor)[None, :])
    # The length of a pass's chunks: now and then a random shorter one.
    shorter = 2 + random_keys.below(random_keys.fold(passes, _DRAW_LENGTH), longest - 1)
    is_short = _uniform(passes, _DRAW_IS_SHORT) < settings.short_seq_prob
    targets = np.where(is_short, shorter, longest)
    make = _pairs_with_random_next if settings.random_next_sentence else _swapped_pairs
    pairs = make(block, random_keys.fold(passes, _PAIRS), targets)
    usable = (pairs.length_a > 0) & (pairs.length_b > 0)  # a single token cannot be cut
    return truncate(pairs.take(usable), longest), int((~usable).sum())


def _uniform(keys: np.ndarray, draw: int) -> np.ndarray:
    return random_keys.uniform(random_keys.fold(keys, draw))


def _chunk_end(borders: List[int], first: int, *, target: int, last: int) -> int:
    """The first border behind sentence `first`, at most `last`, with `target` tokens before it."""
    return bisect.bisect_left(borders, borders[first] + target, first + 1, last)


def _cut(
    block: TokenizedBlock, first: np.ndarray, last: np.ndarray, *, keys: np.ndarray
) -> np.ndarray:
    """Where chunks of the sentences [first, last) are cut into A and B: int64 [N].

    A sentence alone is cut at an inner word start, or else between two tokens; a single token is
    not cut: the result is its start.
    """
    draw = random_keys.fold(keys, _DRAW_CUT)
    inner = random_keys.below(draw, np.maximum(last - first - 1, 1))
    cut = block.borders[np.minimum(first + 1 + inner, last)]
    single = np.flatnonzero(last - first == 1)
    start, end, draw = block.borders[first[single]], block.borders[last[single]], draw[single]
    positions = np.flatnonzero(np.append(block.word_starts, True))
    first_inner = np.searchsorted(positions, start + 1)
    count = np.searchsorted(positions, end) - first_inner
    at_word = positions[first_inner + random_keys.below(draw, np.maximum(count, 1))]
    at_token = start + 1 + random_keys.below(draw, np.maximum(end - start - 1, 1))
    cut[single] = np.where(count > 0, at_word, np.where(end - start > 1, at_token, start))
    return cut


# ---------------------------------------------------------------------------------- sentence order


def _swapped_pairs(block: TokenizedBlock, passes: np.ndarray, targets: np.ndarray) -> Pairs:
    """B follows A in the text, and half of the pairs are swapped."""
    first, last, keys = _chunks(block, passes, targets)
    start, end, cut = block.borders[first], block.borders[last], _cut(block, first, last, keys=keys)
    swap = _uniform(keys, _DRAW_LABEL) < 0.5
    return Pairs(
        start_a=np.where(swap, cut, start),
        length_a=np.where(swap, end - cut, cut - start),
        start_b=np.where(swap, start, cut),
        length_b=np.where(swap, cut - start, end - cut),
        label=swap.astype(np.int64),
        key=keys,
    )


def _chunks(
    block: TokenizedBlock, passes: np.ndarray, targets: np.ndarray
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All chunks of all passes: sentences [first, last) and the key of the pair, [N] each."""
    borders = block.borders.tolist()
    firsts: List[int] = []
    lasts: List[int] = []
    counts: List[int] = []
    for document, row in zip(block.documents, targets.tolist()):
        # Passes with the same target share one search.
        chunks = {target: _chunk_borders(borders, document, target) for target in set(row)}
        for target in row:
            firsts += chunks[target][:-1]
            lasts += chunks[target][1:]
            counts.append(len(chunks[target]) - 1)
    number = np.concatenate([np.zeros(0, np.int64), *map(np.arange, counts)])
    keys = random_keys.fold(np.repeat(passes.reshape(-1), counts), number)
    return np.array(firsts, np.int64), np.array(lasts, np.int64), keys


def _chunk_borders(borders: List[int], document: Document, target: int) -> List[int]:
    """The sentences at which chunks of at least `target` tokens begin, and the document's end."""
    chunks = [document.first]
    while chunks[-1] < document.last:
        chunks.append(_chunk_end(borders, chunks[-1], target=target, last=document.last))
    return chunks


# ------------------------------------------------------------------------- BERT's next sentence


def _pairs_with_random_next(
    block: TokenizedBlock, passes: np.ndarray, targets: np.ndarray
) -> Pairs:
    """Half the time B is from another document, and the rest of A's chunk is used again."""
    borders = block.borders.tolist()
    with_text = (document for document in block.documents if document.last > document.first)
    documents = sorted(with_text, key=lambda document: document.source)
    sources = [document.source for document in documents]
    rows: List[Tuple[int, ...]] = []
    keys = [np.zeros([0], np.uint64)]
    for document, own_passes, own_targets in zip(block.documents, passes, targets.tolist()):
        before = bisect.bisect_left(sources, document.source)
        after = bisect.bisect(sources, document.source)
        others = documents[:before] + documents[after:]
        for key, target in zip(own_passes, own_targets):
            # A chunk uses up at least one sentence.
            own_keys = random_keys.fold(key[None], np.arange(document.last - document.first))
            chunks = _chunks_in_turn(
                document, others, borders=borders, target=target, keys=own_keys
            )
            rows += chunks
            keys.append(own_keys[: len(chunks)])
    first, last, first_b, last_b, label = np.array(rows, np.int64).reshape(-1, 5).T
    key = np.concatenate(keys)
    start, end_a, start_b, end_b = block.borders[np.array([first, last, first_b, last_b])]
    same = label == 0
    start_b[same] = end_a[same] = _cut(block, first[same], last[same], keys=key[same])
    return Pairs(start, end_a - start, start_b, end_b - start_b, label, key)


def _chunks_in_turn(
    document: Document,
    others: Sequence[Document],
    *,
    borders: List[int],
    target: int,
    keys: np.ndarray,
) -> List[Tuple[int, ...]]:
    """The sentences [first, last) of A, those of B, and label 1; or twice the chunk's, and 0.

    What is used again moves the chunks that follow, so they are cut one after another.
    """
    draws = (_DRAW_CUT, _DRAW_LABEL, _DRAW_DOCUMENT, _DRAW_START)
    rows: List[Tuple[int, ...]] = []
    first = document.first
    for cut, label, choice, start in zip(*(_uniform(keys, draw).tolist() for draw in draws)):
        if first == document.last:
            break
        last = _chunk_end(borders, first, target=target, last=document.last)
        if label < 0.5 and others and borders[last] - borders[first] > 1:
            # A sentence alone stays whole.
            last = first + 1 + int(cut * (last - first - 1))
            other = others[int(choice * len(others))]
            first_b = other.first + int(start * (other.last - other.first))
            rest = target - (borders[last] - borders[first])
            last_b = _chunk_end(borders, first_b, target=rest, last=other.last)
            rows.append((first, last, first_b, last_b, 1))
        else:
            rows.append((first, last, first, last, 0))
        first = last
    return rows


# -------------------------------------------------------------------------------------- truncation


def truncate(pairs: Pairs, longest: int) -> Pairs:
    """Returns pairs cut at the longer segment until A and B together have `longest` tokens.

    Each token goes at front or back. Taking one token at a time from the longer segment (from B
    where they are equal) leaves A with min(length_a, max(longest - length_b, ceil(longest / 2)))
    tokens and B with the rest.
    """
    half = (longest + 1) // 2
    length_a = np.minimum(pairs.length_a, np.maximum(longest - pairs.length_b, half))
    length_b = np.minimum(pairs.length_b, longest - length_a)
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
    for number in range(-(-flips.max(initial=0) // 64)):
        rows = np.flatnonzero(flips > 64 * number)
        unused = np.maximum(64 * (number + 1) - flips[rows], 0).astype(np.uint64)
        coins = random_keys.fold(keys[rows], number) >> unused
        bits = np.unpackbits(coins.view(np.uint8)).reshape(-1, 64)
        heads[rows] += bits.sum(axis=1, dtype=np.int64)
    return heads
