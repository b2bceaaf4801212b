# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masking n-grams of whole words: when data is made, and on the fly while a model trains.

For one sequence, the public create_pretraining_data.py works like this (arXiv:1909.11942, section
4.1): visit the words in random order; at each draw a length n in 1 .. ngram with p(n) proportional
to 1/n (or reversed); take as many of the n words from there on as still fit the number of tokens to
predict; pass on if none fits or if one of them is taken already; stop when the number is reached.
Of the tokens taken 80% become [MASK], 10% stay, 10% become a random token.

Here the k-th visited word of all sequences is treated in one step with arrays, which gives each
sequence exactly what it would get alone: its random numbers come from its own key. Two differences:

* [CLS] and [SEP] end words: a continuation that truncation left at the start of B does not belong
  to the last word of A.
* Random replacements are ordinary tokens: never padding, unknown, control or unused ones.

On the fly the key of a record is a function of the seed and of the record's position in the endless
stream of shuffled records: it does not depend on the number of readers, and is another one in every
pass.

Legend: N sequences, S their length, W words of a sequence at most, P predictions at most.
"""

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretraining import pairs as segment_pairs
from albert.pretraining import random_keys
from albert.pretraining.settings import DataSettings
from albert.pretraining.words import PieceTable, Vocabulary

# Of the chosen tokens these shares become [MASK], and become [MASK] or stay.
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
    settings: DataSettings,
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
    column = np.arange(settings.max_seq_length)[None, :]
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
    if settings.masked_lm_prob == 0:
        return features
    return draw_masks(features, is_token, keys=pairs.key, vocabulary=table, settings=settings)


class _Words(NamedTuple):
    """The words of N sequences; the rank of a token is the number of tokens in front of it."""

    is_token: np.ndarray  # bool [N, S]: neither padding nor [CLS] nor [SEP]
    rank: np.ndarray  # int [N, S]
    of_token: np.ndarray  # int [N, S]: the word a token belongs to
    number: np.ndarray  # int [N]: how many there are
    start: np.ndarray  # int [N, W + ngram]: rank of the first token; from `number` on, of the end

    def tokens(self, chosen: np.ndarray) -> np.ndarray:
        """Returns which tokens, bool [N, S], belong to the `chosen` words, bool [N, W + ngram]."""
        rows = np.arange(len(chosen))[:, None]
        return chosen[rows, self.of_token] & self.is_token


def draw_masks(
    features: Mapping[str, np.ndarray],
    is_token: np.ndarray,
    *,
    keys: np.ndarray,
    vocabulary: Any,
    settings: DataSettings,
) -> Dict[str, np.ndarray]:
    """Returns features of N sequences with masks in input_ids, and with masked_lm_*.

    Args:
      features: input_ids, input_mask, token_boundary [N, S], and what else stays as it is.
      is_token: bool [N, S]: neither padding nor [CLS] nor [SEP].
      keys: uint64 [N].
      vocabulary: a words.Vocabulary or PieceTable.
    """
    ids = features["input_ids"]
    words = _words(is_token, features["token_boundary"] > 0, settings)
    wanted = _number_to_predict(features["input_mask"].sum(axis=1, dtype=np.int64), settings)
    choice = {"wanted": wanted, "settings": settings}
    masked_words = _choose_words(words, random_keys.fold(keys, WORDS), **choice)
    chosen = words.tokens(masked_words)  # bool [N, S]
    output = _replaced(ids, chosen, words.rank, keys=keys, vocabulary=vocabulary)
    if settings.do_permutation:
        order = random_keys.fold(keys, _PERMUTED_WORDS)
        moved_words = _choose_words(words, order, taken=masked_words, **choice)
        moved = words.tokens(moved_words & ~masked_words)
        _permute(output, moved, words.rank, random_keys.fold(keys, _PERMUTATION))
        chosen |= moved
    rows, columns = np.nonzero(chosen)
    slots = np.cumsum(chosen, axis=1)[rows, columns] - 1
    positions, labels = np.zeros([2, len(ids), settings.slots], np.int32)
    weights = np.zeros(positions.shape, np.float32)
    positions[rows, slots], labels[rows, slots] = columns, ids[rows, columns]
    weights[rows, slots] = 1.0
    return dict(
        features,
        input_ids=output,
        masked_lm_positions=positions,
        masked_lm_ids=labels,
        masked_lm_weights=weights,
    )


def count_predictions(features: Mapping[str, np.ndarray]) -> int:
    """Returns how many tokens the features of `masked_features` predict."""
    return int(features["masked_lm_weights"].sum()) if "masked_lm_weights" in features else 0


# ----------------------------------------------------------------------------------------- choosing


def _words(is_token: np.ndarray, starts_word: np.ndarray, settings: DataSettings) -> _Words:
    """Words open at word starts and behind [CLS] and [SEP]; without whole words, anywhere."""
    opens = is_token.copy()
    if settings.do_whole_word_mask:
        opens[:, 1:] &= starts_word[:, 1:] | ~is_token[:, :-1]
    of_token = np.cumsum(opens, axis=1, dtype=np.int32) - 1
    until = np.cumsum(is_token, axis=1, dtype=np.int32)
    rank, number = until - is_token, of_token[:, -1] + 1
    start = np.repeat(until[:, -1:], number.max() + settings.ngram, axis=1)
    rows, columns = np.nonzero(opens)
    start[rows, of_token[rows, columns]] = rank[rows, columns]
    return _Words(is_token, rank, of_token, number, start)


def _number_to_predict(length: np.ndarray, settings: DataSettings) -> np.ndarray:
    """int64 [N]; the length that counts includes [CLS] and [SEP]. Rounds halves to even."""
    number = np.rint(length * settings.masked_lm_prob).astype(np.int64)
    return np.minimum(settings.max_predictions_per_seq, np.maximum(1, number))


def ngram_thresholds(settings: DataSettings) -> np.ndarray:
    """float64 [ngram - 1]: u below the first means n = 1, below the second n = 2, and so on."""
    weights = [1.0 / n for n in range(1, settings.ngram + 1)]
    if not settings.favor_shorter_ngram:
        weights.reverse()
    total = sum(weights)
    return np.array([sum(weights[:n]) / total for n in range(1, settings.ngram)])


def _visits(words: _Words, keys: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Random orders of the words, and a random number in [0, 1) for each visit, both [N, W].

    One 64-bit number for each word: the upper bits order the words, 24 bits in the middle are the
    random number, the lowest name the word, so that one sort brings everything into place.
    """
    # As for the longest sequence, so that no number depends on the other sequences.
    index_bits = words.is_token.shape[1].bit_length()
    shift, low = np.uint64(index_bits), np.uint64((1 << index_bits) - 1)
    index = np.arange(words.number.max())[None, :]
    visits = random_keys.fold(keys[:, None], index) & ~low | index.astype(np.uint64)
    visits[index >= words.number[:, None]] = _LAST
    visits.sort(axis=1)
    draws = (visits >> shift).astype(np.uint32) & np.uint32(0xFFFFFF)
    return (visits & low).astype(np.int32), draws * 2.0**-24


def _choose_words(
    words: _Words,
    keys: np.ndarray,
    *,
    wanted: np.ndarray,
    settings: DataSettings,
    taken: Optional[np.ndarray] = None,
) -> np.ndarray:
    """bool [N, W + ngram]: words chosen n-gram by n-gram until `wanted` tokens are reached.

    The words in `taken` are chosen from the start but do not add to the number.
    """
    order, draws = _visits(words, keys)
    thresholds = ngram_thresholds(settings)
    chosen = np.zeros(words.start.shape, bool) if taken is None else taken.copy()
    # Flattened arrays, indexed by row offset + column: one lookup instead of two.
    flat_start, flat_chosen = words.start.reshape(-1), chosen.reshape(-1)
    steps = np.arange(settings.ngram + 1)
    row, room = np.arange(len(wanted)), wanted  # tokens still to be chosen
    for visit in range(order.shape[1]):
        active = (room > 0) & (visit < words.number[row])
        row, room = row[active], room[active]
        if not len(row):
            break
        # The n words from here on and what follows them.
        places = (row * chosen.shape[1] + order[row, visit])[:, None] + steps  # [rows, ngram + 1]
        starts = flat_start[places]
        drawn = 1 + np.searchsorted(thresholds, draws[row, visit], side="right")
        fitting = (starts[:, 1:] - starts[:, :1] <= room[:, None]).sum(axis=1)
        inside = steps[:-1] < np.minimum(drawn, fitting)[:, None]  # [rows, ngram]
        inside &= ~(inside & flat_chosen[places[:, :-1]]).any(axis=1)[:, None]
        flat_chosen[places[:, :-1][inside]] = True
        room = room - (np.diff(starts) * inside).sum(axis=1)
    return chosen


def _replaced(
    ids: np.ndarray, chosen: np.ndarray, rank: np.ndarray, *, keys: np.ndarray, vocabulary: Any
) -> np.ndarray:
    """80% [MASK], 10% unchanged, 10% a random ordinary token."""
    rows, columns = np.nonzero(chosen)
    keys = random_keys.fold(random_keys.fold(keys, ACTIONS)[rows], rank[rows, columns])
    action = (keys >> np.uint64(32)) * 2.0**-32
    lower = keys & np.uint64(0xFFFFFFFF)
    other = lower * np.uint64(len(vocabulary.ordinary)) >> np.uint64(32)
    values = ids[rows, columns]
    values[action < MASKED] = vocabulary.mask_id
    is_random = action >= MASKED_OR_KEPT
    values[is_random] = vocabulary.ordinary[other[is_random].astype(np.int64)]
    output = ids.copy()
    output[rows, columns] = values
    return output


def _permute(output: np.ndarray, moved: np.ndarray, rank: np.ndarray, keys: np.ndarray) -> None:
    """Shuffles the tokens at the `moved` positions of each row among themselves, in place."""
    rows, columns = np.nonzero(moved)
    draws = random_keys.fold(keys[rows], rank[rows, columns])
    shuffled = np.lexsort((draws, rows))  # within each row, the positions in random order
    output[rows, columns] = output[rows, columns[shuffled]]


# ------------------------------------------------------------------------- the same in the graph


def masking(
    *, settings: DataSettings, seed: int, vocabulary: Vocabulary
) -> Callable[[Features, tf.Tensor], Dict[str, tf.Tensor]]:
    """Returns a transform for data.batches.seeded_batches.

    It takes the features of B records, [B, ...], and their positions in the stream, int64 [B], and
    returns the features with new input_ids [B, S] and masked_lm_positions, masked_lm_ids,
    masked_lm_weights [B, P]. `settings` are those of data creation, without do_permutation.
    """

    return lambda features, positions: masked(
        features, keys_of(seed, positions), settings, vocabulary=vocabulary
    )


def keys_of(seed: int, positions: tf.Tensor) -> tf.Tensor:
    """Returns the keys of the records at `positions` (int64 [B]): uint64 bits as int64 [B]."""
    base = random_keys.fold(random_keys.seed_key(seed), _MASKS)
    return random_keys.graph_fold(tf.constant(base.astype(np.int64)), positions)


def masked(
    features: Features, keys: tf.Tensor, settings: DataSettings, *, vocabulary: Vocabulary
) -> Dict[str, tf.Tensor]:
    """Returns the features with the masks that `masked_features` gives records of these keys.

    Args:
      features: of B records; their own masks are undone first.
      keys: int64 [B], the bits of uint64 keys.
    """
    originals = _unmasked(features)
    words = _graph_words(features, settings)
    chosen = _graph_chosen(words, keys, settings)  # bool [B, S]
    output = _graph_replaced(originals, chosen, words.rank, keys=keys, vocabulary=vocabulary)
    result = dict(features, input_ids=output)
    result.update(_graph_predictions(originals, chosen, settings.max_predictions_per_seq))
    return result


def _unmasked(features: Features) -> tf.Tensor:
    """Puts the tokens back that the records' own masks hide; [B, S]."""
    is_used = features["masked_lm_weights"] > 0
    places = tf.cast(tf.where(is_used), tf.int32)  # row and slot
    positions = tf.boolean_mask(features["masked_lm_positions"], is_used)
    tokens = tf.boolean_mask(features["masked_lm_ids"], is_used)
    where = tf.stack([places[:, 0], positions], axis=1)
    return tf.tensor_scatter_nd_update(features["input_ids"], where, tokens)


class _GraphWords(NamedTuple):
    """The words of B sequences; the rank of a token is its column in _Sequences."""

    is_token: tf.Tensor  # bool [B, S]: neither padding nor [CLS] nor [SEP]
    rank: tf.Tensor  # int32 [B, S]: how many tokens lie before
    length: tf.Tensor  # int32 [B]: how many there are
    of_token: tf.Tensor  # int32 [B, S]: the word of each token
    count: tf.Tensor  # int32 [B]
    start: tf.Tensor  # int32 [B, S + n]: rank of the first token; from `count` on, the length


def _graph_words(features: Features, settings: DataSettings) -> _GraphWords:
    """Words open where they do in `_gather`."""
    in_use, segments = features["input_mask"] > 0, features["segment_ids"]
    size, width = tf.shape(segments)[0], segments.shape.as_list()[1]
    # [CLS] is the first of a sequence, [SEP] the last of its segment.
    is_last = tf.not_equal(segments[:, :-1], segments[:, 1:]) | ~in_use[:, 1:]
    no, yes = tf.zeros([size, 1], tf.bool), tf.ones([size, 1], tf.bool)
    is_special = tf.concat([yes, is_last[:, 1:], yes], axis=1)
    is_token = in_use & ~is_special
    through = tf.cumsum(tf.cast(is_token, tf.int32), axis=1)
    rank, length = through - tf.cast(is_token, tf.int32), through[:, -1]
    opens = is_token
    if settings.do_whole_word_mask:
        after_special = tf.concat([no, is_special[:, :-1]], axis=1)
        opens = is_token & ((features["token_boundary"] > 0) | after_special)
    of_token = tf.cumsum(tf.cast(opens, tf.int32), axis=1) - 1
    numbers = tf.tile(tf.range(width + settings.ngram)[tf.newaxis, :], [size, 1])
    first = tf.searchsorted(of_token, numbers, side="left")  # S where there is no such word
    ranks = tf.concat([rank, length[:, tf.newaxis]], axis=1)
    start = tf.gather(ranks, first, batch_dims=1)
    return _GraphWords(is_token, rank, length, of_token, of_token[:, -1] + 1, start)


def _graph_visits(
    words: _GraphWords, keys: tf.Tensor, settings: DataSettings
) -> Tuple[tf.Tensor, tf.Tensor]:
    """As `_visits`: the words in random order, and the n drawn at each visit; int32 [B, S]."""
    width = words.of_token.shape.as_list()[1]
    index_bits = int(width).bit_length()
    index = tf.range(width, dtype=tf.int64)[tf.newaxis, :]
    visits = random_keys.graph_fold(keys[:, tf.newaxis], index)
    visits = tf.bitwise.bitwise_and(visits, np.int64(-1 << index_bits)) + index
    absent = tf.cast(index, tf.int32) >= words.count[:, tf.newaxis]
    visits = tf.where(absent, -tf.ones_like(visits), visits)
    # Ascending as unsigned numbers: descending when all bits but the sign are turned over.
    turn = np.int64((1 << 63) - 1)
    visits = tf.math.top_k(tf.bitwise.bitwise_xor(visits, turn), k=width).values
    visits = tf.bitwise.bitwise_xor(visits, turn)
    order = tf.cast(tf.bitwise.bitwise_and(visits, np.int64((1 << index_bits) - 1)), tf.int32)
    draws = random_keys.graph_shifted(visits, index_bits)
    draws = tf.cast(tf.bitwise.bitwise_and(draws, np.int64(0xFFFFFF)), tf.float64) * 2.0**-24
    lengths = tf.ones_like(order)
    for threshold in ngram_thresholds(settings):
        lengths += tf.cast(draws >= threshold, tf.int32)
    return tf.minimum(order, width - 1), lengths  # absent words have the highest number there is


def _graph_chosen(words: _GraphWords, keys: tf.Tensor, settings: DataSettings) -> tf.Tensor:
    """bool [B, S]: the tokens to predict, chosen by visits as in `_choose_words`."""
    order, lengths = _graph_visits(words, random_keys.graph_fold(keys, WORDS), settings)
    numbers = tf.range(words.start.shape.as_list()[1])[tf.newaxis, :]  # [1, S + n]

    def visit(step: tf.Tensor, room: tf.Tensor, chosen: tf.Tensor) -> List[tf.Tensor]:
        first = order[:, step][:, tf.newaxis]  # [B, 1]
        # Where the n words from here on start, and what follows them.
        places = first + tf.range(settings.ngram + 1)[tf.newaxis, :]
        starts = tf.gather(words.start, places, batch_dims=1)  # [B, n + 1]
        sizes = starts[:, 1:] - starts[:, :1]  # of 1, 2, ... n words, in tokens
        fitting = tf.reduce_sum(tf.cast(sizes <= room[:, tf.newaxis], tf.int32), axis=1)
        is_active = (room > 0) & (step < words.count)
        length = tf.minimum(lengths[:, step], fitting) * tf.cast(is_active, tf.int32)  # [B]
        inside = (numbers >= first) & (numbers < first + length[:, tf.newaxis])
        is_taken = tf.reduce_any(tf.logical_and(inside, chosen), axis=1)
        length = tf.where(is_taken, tf.zeros_like(length), length)
        inside = inside & ~is_taken[:, tf.newaxis]
        used = tf.gather(starts, length[:, tf.newaxis], batch_dims=1)[:, 0] - starts[:, 0]
        return [step + 1, room - used, chosen | inside]

    def goes_on(step: tf.Tensor, room: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any((room > 0) & (step < words.count))

    number = tf.round(tf.cast(words.length + 3, tf.float64) * settings.masked_lm_prob)
    number = tf.maximum(1, tf.cast(number, tf.int32))
    wanted = tf.minimum(settings.max_predictions_per_seq, number)  # as `_number_to_predict`
    start = [tf.constant(0), wanted, tf.zeros_like(words.start, tf.bool)]
    chosen = tf.while_loop(goes_on, visit, start)[2]  # [B, S + n]
    return tf.gather(chosen, tf.maximum(words.of_token, 0), batch_dims=1) & words.is_token


def _graph_replaced(
    tokens: tf.Tensor,
    chosen: tf.Tensor,
    rank: tf.Tensor,
    *,
    keys: tf.Tensor,
    vocabulary: Vocabulary,
) -> tf.Tensor:
    """As `_replace`: 80% [MASK], 10% unchanged, 10% a random ordinary token; int32 [B, S]."""
    keys = random_keys.graph_fold(keys, ACTIONS)
    draws = random_keys.graph_fold(keys[:, tf.newaxis], rank)  # [B, S]
    action = tf.cast(random_keys.graph_shifted(draws, 32), tf.float64) * 2.0**-32
    lower = tf.bitwise.bitwise_and(draws, np.int64(0xFFFFFFFF))
    other = random_keys.graph_shifted(lower * np.int64(len(vocabulary.ordinary)), 32)
    others = tf.gather(tf.constant(vocabulary.ordinary), other)
    changed = tf.where(action >= MASKED_OR_KEPT, others, tokens)
    masks = tf.fill(tf.shape(tokens), np.int32(vocabulary.mask_id))
    changed = tf.where(action < MASKED, masks, changed)
    return tf.where(chosen, changed, tokens)


def _graph_predictions(originals: tf.Tensor, chosen: tf.Tensor, slots: int) -> Dict[str, tf.Tensor]:
    """The masked_lm_* features, [B, P]: positions in ascending order, what stood there, one."""
    width = originals.shape.as_list()[1]
    # The lowest positions come first, then those that are not chosen.
    order = tf.cast(chosen, tf.int32) * (width - tf.range(width)[tf.newaxis, :])
    order = tf.math.top_k(order, k=min(slots, width)).values
    order = tf.pad(order, [[0, 0], [0, max(0, slots - width)]])
    is_used = tf.cast(order > 0, tf.int32)
    positions = is_used * (width - order)
    return {
        "masked_lm_positions": positions,
        "masked_lm_ids": is_used * tf.gather(originals, positions, batch_dims=1),
        "masked_lm_weights": tf.cast(is_used, tf.float32),
    }
