# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masking n-grams of whole words: when data is made, and on the fly while a model trains.

For one sequence, the public create_pretraining_data.py works like this (arXiv:1909.11942, section
4.1): visit the words in random order; at each draw a length n in 1 .. ngram with p(n) proportional
to 1/n (or reversed); take as many of the n words from there on as still fit the number of tokens to
predict; pass on if none fits or if one of them is taken already; stop when the number is reached.
80% of the tokens taken become [MASK], 10% stay, 10% become a random token.

Here the k-th visited word of all sequences is treated in one step with arrays, which gives each
sequence exactly what it would get alone: its random numbers come from its own key. Two differences:

* [CLS] and [SEP] end words: a continuation that truncation left at the start of B does not belong
  to the last word of A.
* Random replacements are ordinary tokens: never padding, unknown, control or unused ones.

On the fly, the key of a record is a function of the seed and of the record's position in the
endless stream of shuffled records. It does not depend on the number of readers, and changes in each
pass.

Legend: N sequences, S their length, T tokens of all, P predictions of a sequence at most.
"""

from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretraining_data import pairs as segment_pairs
from albert.pretraining_data.flags import DataFlags
from albert.pretraining_data.random_keys import fold, seed_key
from albert.pretraining_data.words import PieceTable

# The shares of chosen tokens that become [MASK], and that become [MASK] or stay.
MASKED, MASKED_OR_KEPT = 0.8, 0.9

_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)

# What is drawn from the key of a pair; pairs.py draws the numbers below.
WORDS, ACTIONS, _PERMUTED_WORDS, _PERMUTATION, PAIR_DRAWS = range(
    segment_pairs.PAIR_DRAWS, segment_pairs.PAIR_DRAWS + 5
)
_MASKS = 0x6D61736B  # drawn from the seed: nothing else may use this stream of it

Features = Mapping[str, tf.Tensor]


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
      pairs: N pairs of `block`, at most S - 3 tokens each.

    Returns:
      input_ids, input_mask, segment_ids, token_boundary [N, S]; masked_lm_positions,
      masked_lm_ids, masked_lm_weights (float32) [N, P] (2 P with do_permutation) in ascending
      order of position; next_sentence_labels [N, 1]. Without the masked_lm_* features where
      masked_lm_prob is 0: such records are masked on the fly, see `masking`.
    """
    end_a = pairs.length_a[:, None] + 1  # the first [SEP]
    end = end_a + pairs.length_b[:, None] + 1  # the second
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
      features: input_ids, input_mask, token_boundary [N, S], and what else stays as it is.
      is_token: bool [N, S]: neither padding nor [CLS] nor [SEP].
      keys: uint64 [N].
    """
    ids = features["input_ids"]
    length = features["input_mask"].sum(axis=1, dtype=np.int64)  # [CLS] and [SEP] count
    number = np.rint(length * flags.masked_lm_prob)  # halves become even
    count = np.clip(number, 1, flags.max_predictions_per_seq).astype(np.int64)
    words = _words(is_token, features["token_boundary"] > 0, flags)
    rank = np.cumsum(is_token, axis=1) - is_token  # the number of tokens in front of a token

    def draws(of: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """64 random bits for each of some tokens."""
        return fold(fold(keys, of)[rows], rank[rows, columns])

    chosen_words = _choose_words(words, fold(keys, WORDS), count, flags=flags)
    chosen = chosen_words[words.of_token] & is_token
    where = np.nonzero(chosen)
    output = ids.copy()
    output[where] = _replaced(ids[where], draws(ACTIONS, *where), vocabulary)
    if flags.do_permutation:
        order = fold(keys, _PERMUTED_WORDS)
        both = _choose_words(words, order, count, flags=flags, taken=chosen_words)
        both = both[words.of_token] & is_token
        where = np.nonzero(both & ~chosen)
        # Within each row, the positions in random order.
        shuffled = np.lexsort((draws(_PERMUTATION, *where), where[0]))
        output[where] = ids[where][shuffled]
        chosen = both
    rows, columns = np.nonzero(chosen)
    index = np.cumsum(chosen, axis=1)[rows, columns] - 1
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
    """80% [MASK], 10% unchanged, 10% a random ordinary token: `draws` has 64 bits for each."""
    action = (draws >> np.uint64(32)) * 2.0**-32
    other = (draws & np.uint64(0xFFFFFFFF)) * np.uint64(len(vocabulary.ordinary)) >> np.uint64(32)
    values = np.where(action < MASKED, np.int32(vocabulary.mask_id), values)
    is_random = action >= MASKED_OR_KEPT
    return np.where(is_random, vocabulary.ordinary[other.astype(np.int64)], values)


# ----------------------------------------------------------------------------------------- choosing


class _Words(NamedTuple):
    """The words of N sequences, one sequence after another."""

    of_token: np.ndarray  # int [N, S]: the word that a token belongs to
    start: np.ndarray  # int [words + 1]: the tokens in front of each word; all tokens
    first: np.ndarray  # int [N + 1]: the words in front of each sequence; all words


def _words(is_token: np.ndarray, starts_word: np.ndarray, flags: DataFlags) -> _Words:
    """Words open at word starts and behind [CLS] and [SEP]; without whole words, anywhere."""
    opens = is_token.copy()
    if flags.do_whole_word_mask:
        opens[:, 1:] &= starts_word[:, 1:] | ~is_token[:, :-1]
    of_token = np.cumsum(opens).reshape(opens.shape) - 1
    start = np.append(np.flatnonzero(opens[is_token]), is_token.sum())
    return _Words(of_token, start, np.append(0, np.cumsum(opens.sum(axis=1))))


def _choose_words(
    words: _Words,
    keys: np.ndarray,
    count: np.ndarray,
    *,
    flags: DataFlags,
    taken: Optional[np.ndarray] = None,
) -> np.ndarray:
    """bool [words + 1]: words chosen n-gram by n-gram until `count` tokens are reached.

    The words in `taken` are chosen from the start but do not add to the number.
    """
    weights = 1.0 / np.arange(1, flags.ngram + 1)
    if not flags.favor_shorter_ngram:
        weights = weights[::-1]
    sums = np.cumsum(weights)
    # A draw below the first means n = 1, below the second n = 2, and so on.
    thresholds = sums[:-1] / sums[-1]
    order, draws = _visits(np.diff(words.first), keys, words.of_token.shape[1].bit_length())
    chosen = np.zeros(words.start.shape, bool) if taken is None else taken.copy()
    steps = np.arange(flags.ngram + 1)
    row, room = np.arange(len(count)), count  # tokens still to be chosen
    for visit in range(order.shape[1]):
        active = (room > 0) & (words.first[row] + visit < words.first[row + 1])
        row, room = row[active], room[active]
        if not len(row):
            break
        # The n words from here on and what follows them, but no further than the sequence's end.
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


def _visits(number: np.ndarray, keys: np.ndarray, index_bits: int) -> Tuple[np.ndarray, np.ndarray]:
    """Random orders of the words, and a random number in [0, 1) for each visit, both [N, words].

    One 64-bit number for each word: the upper bits order the words, 24 bits in the middle are the
    random number, the lowest name the word, so that one sort brings everything into place.
    `index_bits` is enough for the longest sequence, so that no number depends on the others.
    """
    shift, low = np.uint64(index_bits), np.uint64((1 << index_bits) - 1)
    index = np.arange(number.max())
    visits = fold(keys[:, None], index) & ~low | index.astype(np.uint64)
    visits[index >= number[:, None]] = _LAST
    visits.sort(axis=1)
    draws = (visits >> shift).astype(np.uint32) & np.uint32(0xFFFFFF)
    return (visits & low).astype(np.int32), draws * 2.0**-24


# -------------------------------------------------------------------------------------- on the fly


def masking(
    *, flags: DataFlags, seed: int, vocabulary: PieceTable
) -> Callable[[Features, tf.Tensor], Dict[str, tf.Tensor]]:
    """Returns a transform for data.shuffling.seeded_batches.

    It takes the features of N records, [N, ...], and their positions in the stream, int64 [N], and
    returns the features with new input_ids [N, S] and masked_lm_positions, masked_lm_ids,
    masked_lm_weights [N, P]. `flags` are those of data creation, without do_permutation.
    """
    seed_keys = fold(seed_key(seed), _MASKS)

    def transform(features: Features, positions: tf.Tensor) -> Dict[str, tf.Tensor]:
        def in_python(positions: np.ndarray, *values: np.ndarray) -> List[np.ndarray]:
            plain = _without_masks(dict(zip(features, values)))
            keys = fold(seed_keys, positions)
            drawn = draw_masks(*plain, keys=keys, vocabulary=vocabulary, flags=flags)
            return [drawn[name] for name in features]

        columns = features.values()
        types = [column.dtype for column in columns]
        results = tf.numpy_function(in_python, [positions, *columns], types)
        for result, column in zip(results, columns):
            result.set_shape(column.shape)
        return dict(zip(features, results))

    return transform


def _without_masks(
    features: Mapping[str, np.ndarray],
) -> Tuple[Dict[str, np.ndarray], np.ndarray]:
    """The features as they were before masking, and is_token, as `draw_masks` takes them."""
    ids, segments = features["input_ids"].copy(), features["segment_ids"]
    masks = np.nonzero(features["masked_lm_weights"])
    ids[masks[0], features["masked_lm_positions"][masks]] = features["masked_lm_ids"][masks]
    # [CLS] is the first of a sequence, [SEP] the last of its segment.
    is_token = features["input_mask"] > 0
    is_token[:, :-1] &= (segments[:, :-1] == segments[:, 1:]) & is_token[:, 1:]
    is_token[:, 0] = is_token[:, -1] = False
    return dict(features, input_ids=ids), is_token
