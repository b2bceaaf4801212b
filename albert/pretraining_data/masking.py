# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masks n-grams of whole words, in data creation and on the fly during training.

For each sequence, the public create_pretraining_data.py works like this (arXiv:1909.11942, section
4.1):

1. Visit the words in random order.
2. At each word, draw a length n from 1 to ngram, with p(n) proportional to 1/n (or reversed).
3. Choose the n words that begin here, or the first of them, if more would exceed the number of
   tokens to predict. Choose none if one of these words is chosen already.
4. Stop when there are enough tokens to predict.
5. 80% of the chosen tokens become [MASK], 10% stay, 10% become a random token.

This module visits the k-th word of all sequences in one step, with arrays. A sequence gets the same
masks as it would alone, because its random numbers depend only on its own key. There are two
differences:

* [CLS] and [SEP] end words. If truncation left only the end of a word at the start of B, this end
  does not belong to the last word of A.
* Random replacements are ordinary tokens: never padding, unknown, control or unused tokens.

On the fly, the key of a record depends only on the seed and on the position of the record in the
endless stream of shuffled records. So each pass has new masks, with any number of readers.

Legend: N sequences, S sequence length, P maximum predictions per sequence.
"""

from typing import Dict, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from albert.pretraining_data import pairs as segment_pairs
from albert.pretraining_data.flags import DataFlags
from albert.pretraining_data.random_keys import fold, seed_key
from albert.pretraining_data.words import PieceTable

# The fraction of chosen tokens to replace with [MASK], and the fraction to replace or keep.
MASKED, MASKED_OR_KEPT = 0.8, 0.9

_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)  # sorts after all words

# The streams of random numbers of a pair's key; pairs.py uses the streams with lower numbers.
WORDS, ACTIONS, _PERMUTED_WORDS, _PERMUTATION, PAIR_DRAWS = range(
    segment_pairs.PAIR_DRAWS, segment_pairs.PAIR_DRAWS + 5
)
_MASKS = 0x6D61736B  # the stream of the seed's key that only masking on the fly uses

Features = Mapping[str, np.ndarray]


# ------------------------------------------------------------------------------------------ records


def masked_features(
    block: segment_pairs.TokenizedBlock,
    pairs: segment_pairs.Pairs,
    *,
    table: PieceTable,
    flags: DataFlags,
) -> Dict[str, np.ndarray]:
    """Returns the features of N pretraining records, padded with zeros.

    Args:
      pairs: N pairs of `block`, at most `pairs.longest` tokens each.

    Returns:
      input_ids, input_mask, segment_ids, token_boundary [N, S]; masked_lm_positions,
      masked_lm_ids, masked_lm_weights (float32) [N, P] (2 P with do_permutation) in ascending
      order of position; next_sentence_labels [N, 1]. If masked_lm_prob is 0, there are no
      masked_lm_* features: training masks such records on the fly, see `redraw`.
    """
    end_a = pairs.length_a[:, None] + 1  # the column of the first [SEP]
    # The column of the last [SEP]. An empty B has none.
    end = end_a + np.where(pairs.length_b > 0, pairs.length_b + 1, 0)[:, None]
    column = np.arange(flags.max_seq_length)
    in_use, in_b = column <= end, column > end_a
    is_token = in_use & (column > 0) & (column != end_a) & (column != end)
    source = column + np.where(in_b, pairs.start_b[:, None] - end_a, pairs.start_a[:, None]) - 1
    source = np.where(is_token, source, 0)
    ids = np.where(is_token, block.ids[source], in_use * np.int32(table.sep_id))
    ids[:, 0] = table.cls_id
    features = {
        "input_ids": ids,
        "input_mask": in_use.astype(np.uint8),
        "segment_ids": (in_use & in_b).astype(np.uint8),
        "token_boundary": (in_use & (block.word_starts[source] | ~is_token)).astype(np.uint8),
        "next_sentence_labels": pairs.label[:, None],
    }
    if flags.masked_lm_prob == 0:
        return features
    return draw_masks(features, is_token, keys=pairs.key, vocabulary=table, flags=flags)


def draw_masks(
    features: Mapping[str, np.ndarray],
    is_token: np.ndarray,
    *,
    keys: np.ndarray,
    vocabulary: PieceTable,
    flags: DataFlags,
) -> Dict[str, np.ndarray]:
    """Returns features of N sequences with masks in input_ids, and with masked_lm_*.

    Args:
      features: input_ids, input_mask, token_boundary [N, S]. Other features stay as they are.
      is_token: bool [N, S], False for padding, [CLS] and [SEP].
      keys: uint64 [N], the keys of the sequences.
    """
    ids = features["input_ids"]
    length = features["input_mask"].sum(axis=1, dtype=np.int64)  # [CLS] and [SEP] count
    number = np.rint(length * flags.masked_lm_prob)  # halves become even
    count = np.clip(number, 1, flags.max_predictions_per_seq).astype(np.int64)
    words = _words(is_token, features["token_boundary"] > 0, flags)
    rank = np.cumsum(is_token, axis=1) - is_token  # the number of tokens before a token

    def draws(stream: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Draws 64 random bits for each of the tokens at (rows, columns)."""
        return fold(fold(keys, stream)[rows], rank[rows, columns])

    masked_words = _choose_words(words, fold(keys, WORDS), count, flags=flags)
    is_predicted = masked_words[words.of_token] & is_token
    masked = np.nonzero(is_predicted)
    output = ids.copy()
    output[masked] = _replaced(ids[masked], draws(ACTIONS, *masked), vocabulary)
    if flags.do_permutation:
        word_keys = fold(keys, _PERMUTED_WORDS)
        all_words = _choose_words(words, word_keys, count, flags=flags, masked=masked_words)
        is_masked = is_predicted
        is_predicted = all_words[words.of_token] & is_token
        permuted = np.nonzero(is_predicted & ~is_masked)
        # Sorts the tokens of each row by random numbers.
        order = np.lexsort((draws(_PERMUTATION, *permuted), permuted[0]))
        output[permuted] = ids[permuted][order]
    rows, columns = np.nonzero(is_predicted)
    index = np.cumsum(is_predicted, axis=1)[rows, columns] - 1
    positions, labels = np.zeros([2, len(ids), flags.slots], np.int32)
    weights = np.zeros(positions.shape, np.float32)
    positions[rows, index], labels[rows, index] = columns, ids[rows, columns]
    weights[rows, index] = 1.0
    return dict(
        features,
        input_ids=output,
        masked_lm_positions=positions,
        masked_lm_ids=labels,
        masked_lm_weights=weights,
    )


def _replaced(values: np.ndarray, draws: np.ndarray, vocabulary: PieceTable) -> np.ndarray:
    """Returns 80% [MASK], 10% unchanged values, 10% random ordinary tokens.

    `draws`: 64 random bits per value. The upper half chooses the action, the lower half the token.
    """
    action = (draws >> np.uint64(32)) * 2.0**-32
    index = (draws & np.uint64(0xFFFFFFFF)) * np.uint64(len(vocabulary.ordinary)) >> np.uint64(32)
    values = np.where(action < MASKED, np.int32(vocabulary.mask_id), values)
    is_random = action >= MASKED_OR_KEPT
    return np.where(is_random, vocabulary.ordinary[index.astype(np.int64)], values)


# ----------------------------------------------------------------------------------------- choosing


class _Words(NamedTuple):
    """The words of N sequences, one sequence after another."""

    of_token: np.ndarray  # int [N, S]: the word that a token belongs to
    start: np.ndarray  # int [words + 1]: the number of tokens before each word; of all tokens
    first: np.ndarray  # int [N + 1]: the number of words before each sequence; of all words


def _words(is_token: np.ndarray, starts_word: np.ndarray, flags: DataFlags) -> _Words:
    """Finds the words. They begin at word starts, and after [CLS] and [SEP].

    Without do_whole_word_mask, each token is a word.
    """
    begins = is_token.copy()
    if flags.do_whole_word_mask:
        begins[:, 1:] &= starts_word[:, 1:] | ~is_token[:, :-1]
    of_token = np.cumsum(begins).reshape(begins.shape) - 1
    start = np.append(np.flatnonzero(begins[is_token]), is_token.sum())
    return _Words(of_token, start, np.append(0, np.cumsum(begins.sum(axis=1))))


def _choose_words(
    words: _Words,
    keys: np.ndarray,
    count: np.ndarray,
    *,
    flags: DataFlags,
    masked: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Chooses words, n-gram by n-gram, until they have `count` tokens: bool [words + 1].

    The result includes the words in `masked`, which do not count.
    """
    weights = 1.0 / np.arange(1, flags.ngram + 1)
    if not flags.favor_shorter_ngram:
        weights = weights[::-1]
    sums = np.cumsum(weights)
    # A draw below the first threshold means n = 1, below the second n = 2, and so on.
    thresholds = sums[:-1] / sums[-1]
    order, draws = _visits(np.diff(words.first), keys, words.of_token.shape[1].bit_length())
    chosen = np.zeros(words.start.shape, bool) if masked is None else masked.copy()
    steps = np.arange(flags.ngram + 1)
    row, room = np.arange(len(count)), count  # room: tokens still to choose
    for visit in range(order.shape[1]):
        active = (room > 0) & (words.first[row] + visit < words.first[row + 1])
        row, room = row[active], room[active]
        if not len(row):
            break
        # The visited word and the `ngram` words after it, at most up to the sequence's end.
        end = words.first[row + 1, None]
        candidates = np.minimum((words.first[row] + order[row, visit])[:, None] + steps, end)
        starts = words.start[candidates]  # [rows, ngram + 1]
        drawn = 1 + np.searchsorted(thresholds, draws[row, visit], side="right")
        fitting = (starts[:, 1:] - starts[:, :1] <= room[:, None]).sum(axis=1)
        inside = steps[:-1] < np.minimum(drawn, fitting)[:, None]  # [rows, ngram]
        inside &= candidates[:, :-1] < end
        inside &= ~(inside & chosen[candidates[:, :-1]]).any(axis=1)[:, None]
        chosen[candidates[:, :-1][inside]] = True
        room = room - (np.diff(starts) * inside).sum(axis=1)
    return chosen


def _visits(count: np.ndarray, keys: np.ndarray, index_bits: int) -> Tuple[np.ndarray, np.ndarray]:
    """Draws an order of the words and a number in [0, 1) for each visit, both [N, words].

    Each word gets a 64-bit number. Its lowest bits are the index of the word, the next 24 bits are
    the number in [0, 1), and the bits above decide the order. So one sort is enough.

    Args:
      count: the number of words of each sequence.
      index_bits: enough bits for the longest possible sequence, so that the numbers of a sequence
        do not depend on the others.
    """
    shift, low = np.uint64(index_bits), np.uint64((1 << index_bits) - 1)
    index = np.arange(count.max())
    visits = fold(keys[:, None], index) & ~low | index.astype(np.uint64)
    visits[index >= count[:, None]] = _LAST
    visits.sort(axis=1)
    draws = (visits >> shift).astype(np.uint32) & np.uint32(0xFFFFFF)
    return (visits & low).astype(np.int32), draws * 2.0**-24


# -------------------------------------------------------------------------------------- on the fly


def redraw(
    features: Features,
    positions: np.ndarray,
    *,
    flags: DataFlags,
    seed: int,
    vocabulary: PieceTable,
) -> Dict[str, np.ndarray]:
    """Returns the features of N records, [N, ...], with new masks.

    The masks are in input_ids [N, S] and masked_lm_positions, masked_lm_ids, masked_lm_weights
    [N, P].

    Args:
      positions: the records' positions in the stream, int64 [N].
      flags: flags of data creation, without do_permutation.
    """
    keys = fold(fold(seed_key(seed), _MASKS), positions)
    return draw_masks(*_without_masks(features), keys=keys, vocabulary=vocabulary, flags=flags)


def _without_masks(
    features: Features,
) -> Tuple[Dict[str, np.ndarray], np.ndarray]:
    """Returns the features as they were before masking, and is_token for `draw_masks`."""
    ids, segments = features["input_ids"].copy(), features["segment_ids"]
    masks = np.nonzero(features["masked_lm_weights"])
    ids[masks[0], features["masked_lm_positions"][masks]] = features["masked_lm_ids"][masks]
    # [CLS] is the first token of a sequence, [SEP] the last token of each segment.
    is_token = features["input_mask"] > 0
    is_token[:, :-1] &= (segments[:, :-1] == segments[:, 1:]) & is_token[:, 1:]
    is_token[:, 0] = is_token[:, -1] = False
    return dict(features, input_ids=ids), is_token
