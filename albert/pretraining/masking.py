# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masking n-grams of whole words: in NumPy when data is made, in the graph while a model trains.

For one sequence, the public create_pretraining_data.py works like this (arXiv:1909.11942, section
4.1): visit the words in random order; at each draw a length n in 1 .. ngram with p(n) proportional
to 1/n (or reversed); take as many of the n words from there on as still fit the number of tokens to
predict; pass on if none fits or if one of them is taken already; stop when the number is reached.
Of the tokens taken 80% become [MASK], 10% stay, 10% become a random token.

Here the k-th visited word of all sequences is treated in one step with arrays, which gives each
sequence exactly what it would get alone: its random numbers come from its own key. Two differences:

* The border between the segments ends a word: a continuation that truncation left at the start of
  B does not belong to the last word of A.
* Random replacements are ordinary tokens: never padding, unknown, control or unused ones.

The second half of this file does the same by TensorFlow operations on a batch of records, for
masks that are drawn on the fly, also on a TPU's host, where no Python runs. A record with a given
key gets the same masks from both, bit for bit. The key is a function of the seed and of the
record's position in the endless stream of shuffled records: it does not depend on the number of
readers, and is another one in every pass.

Legend: N or B sequences, S their length, M = S - 3 tokens of both segments at most, W words of a
sequence at most, n words of an n-gram at most, P predictions at most.
"""

from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

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


# --------------------------------------------------------------------------------------- sequences


class _Sequences(NamedTuple):
    """N sequences before masking, without [CLS] and [SEP]."""

    ids: np.ndarray  # int32 [N, M]
    is_piece: np.ndarray  # bool [N, M]: not padding
    starts_word: np.ndarray  # bool [N, M]: as the records say
    opens_word: np.ndarray  # bool [N, M]: where masking begins a word
    length: np.ndarray  # int64 [N]


class _Words(NamedTuple):
    """The words of N sequences."""

    of_piece: np.ndarray  # int [N, M]: the word a token belongs to
    count: np.ndarray  # type: ignore[assignment]  # int [N]
    start: np.ndarray  # int [N, W + ngram]: first token; from `count` on, the sequence's length


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
    sequences = _gather(block, pairs, settings)
    wanted = _number_to_predict(sequences.length, settings)
    output, chosen = _mask(sequences, wanted, keys=pairs.key, table=table, settings=settings)
    features = _lay_out(output, sequences, length_a=pairs.length_a, table=table, settings=settings)
    if settings.masked_lm_prob > 0:
        features.update(
            _predictions(chosen, sequences.ids, length_a=pairs.length_a, slots=settings.slots)
        )
    features["next_sentence_labels"] = pairs.label[:, None]
    return features


def mask_sequence(
    ids: np.ndarray,
    starts_word: np.ndarray,
    *,
    key: np.ndarray,
    table: PieceTable,
    settings: DataSettings,
) -> Tuple[np.ndarray, np.ndarray]:
    """Masks one sequence of any layout, as `masked_features` does it with pairs.

    Args:
      ids: int32 [S]; [CLS] and [SEP] end words and stay.
      starts_word: bool [S].
      key: uint64 [1], of the random numbers.
      table: mask_id, cls_id, sep_id and ordinary count.
      settings: max_seq_length does not matter.

    Returns:
      The ids after masking, int32 [S], and the positions to predict, ascending.
    """
    place = np.flatnonzero((ids != table.cls_id) & (ids != table.sep_id))  # [M]
    if not len(place):
        return ids, place
    # A gap in the places is a [CLS] or [SEP]: there a word ends.
    opens = (
        starts_word[place] | (np.diff(place, prepend=-2) > 1) | (not settings.do_whole_word_mask)
    )
    is_piece, length = np.ones([1, len(place)], bool), np.array([len(place)])
    sequence = _Sequences(ids[place][None], is_piece, is_piece, opens[None], length)
    settings = settings.replace(max_seq_length=len(ids))
    wanted = _number_to_predict(np.array([len(ids) - 3]), settings)
    output, chosen = _mask(sequence, wanted, keys=key, table=table, settings=settings)
    result = ids.copy()
    result[place] = output[0]
    return result, place[chosen[0]]


def _mask(
    sequences: _Sequences,
    wanted: np.ndarray,
    *,
    keys: np.ndarray,
    table: PieceTable,
    settings: DataSettings,
) -> Tuple[np.ndarray, np.ndarray]:
    """The ids after masking and which tokens are to be predicted, [N, M] both."""
    words = _words(sequences, settings)
    order = random_keys.fold(keys, WORDS)
    masked_words = _choose_words(words, wanted, keys=order, settings=settings)
    output = sequences.ids.copy()
    chosen = _pieces_of(words, masked_words, sequences.is_piece)  # bool [N, M]
    _replace(output, chosen, keys=keys, table=table)
    if settings.do_permutation:
        order = random_keys.fold(keys, _PERMUTED_WORDS)
        moved_words = _choose_words(
            words, wanted, keys=order, settings=settings, taken=masked_words
        )
        moved = _pieces_of(words, moved_words, sequences.is_piece)
        _permute(output, moved, random_keys.fold(keys, _PERMUTATION))
        chosen = chosen | moved
    return output, chosen


def count_predictions(features: Dict[str, np.ndarray]) -> int:
    """Returns how many tokens the features of `masked_features` predict."""
    return int(features["masked_lm_weights"].sum()) if "masked_lm_weights" in features else 0


def _gather(
    block: segment_pairs.TokenizedBlock, pairs: segment_pairs.Pairs, settings: DataSettings
) -> _Sequences:
    """A and B one after the other.

    Words open at word starts and at the start of a segment; without whole words, anywhere.
    """
    position = np.arange(settings.max_seq_length - 3)[None, :]  # [1, M]
    length_a, length = pairs.length_a, pairs.length_a + pairs.length_b
    source = position + np.where(
        position < length_a[:, None],
        pairs.start_a[:, None],
        (pairs.start_b - length_a)[:, None],
    )
    is_piece = position < length[:, None]
    source = np.where(is_piece, source, 0)
    ids = np.where(is_piece, block.ids[source], 0)  # [N, M]
    starts_word = block.word_starts[source] & is_piece
    is_start = is_piece
    if settings.do_whole_word_mask:
        is_start = starts_word.copy()
        is_start[:, 0] = True
        rows = np.flatnonzero(length_a < length)
        is_start[rows, length_a[rows]] = True
    return _Sequences(ids, is_piece, starts_word, is_start, length)


def _words(sequences: _Sequences, settings: DataSettings) -> _Words:
    of_piece = np.cumsum(sequences.opens_word, axis=1, dtype=np.int32) - 1
    count = of_piece[:, -1].astype(np.int64) + 1
    start = np.repeat(sequences.length[:, None], count.max() + settings.ngram, axis=1)
    rows, columns = np.nonzero(sequences.opens_word)
    start[rows, of_piece[rows, columns]] = columns
    return _Words(of_piece, count, start)


def _number_to_predict(length: np.ndarray, settings: DataSettings) -> np.ndarray:
    """int64 [N]; the length that counts includes [CLS] and [SEP]. Rounds halves to even."""
    if settings.masked_lm_prob == 0:
        return np.zeros_like(length)
    number = np.rint((length + 3) * settings.masked_lm_prob).astype(np.int64)
    return np.minimum(settings.max_predictions_per_seq, np.maximum(1, number))


# ----------------------------------------------------------------------------------------- choosing


def ngram_thresholds(settings: DataSettings) -> np.ndarray:
    """float64 [ngram - 1]: u below the first means n = 1, below the second n = 2, and so on."""
    weights = [1.0 / n for n in range(1, settings.ngram + 1)]
    if not settings.favor_shorter_ngram:
        weights.reverse()
    total = sum(weights)
    return np.array([sum(weights[:n]) / total for n in range(1, settings.ngram)])


def _visits(keys: np.ndarray, words: _Words, longest: int) -> Tuple[np.ndarray, np.ndarray]:
    """Random orders of the words, and a random number in [0, 1) for each visit, both [N, W].

    One 64-bit number for each word: the upper bits order the words, 24 bits in the middle are the
    random number, the lowest name the word, so that one sort brings everything into place.
    """
    width = int(words.count.max())
    # As for the longest sequence, so that no number depends on the other sequences.
    index_bits = np.uint64(int(longest).bit_length())
    index = np.arange(width, dtype=np.uint64)[None, :]
    visits = random_keys.fold(keys[:, None], index)
    visits = (visits >> index_bits) << index_bits | index
    visits[index >= words.count[:, None].astype(np.uint64)] = _LAST
    visits.sort(axis=1)
    word = (visits & np.uint64((1 << int(index_bits)) - 1)).astype(np.int32)
    draw = (visits >> index_bits).astype(np.uint32) & np.uint32(0xFFFFFF)
    return word, draw * 2.0**-24


def _choose_words(
    words: _Words,
    wanted: np.ndarray,
    *,
    keys: np.ndarray,
    settings: DataSettings,
    taken: Optional[np.ndarray] = None,
) -> np.ndarray:
    """bool [N, W + ngram]: words chosen n-gram by n-gram until `wanted` tokens are reached.

    Words in `taken` count as chosen already but do not add to the number.
    """
    order, draws = _visits(keys, words, settings.max_seq_length)
    thresholds = ngram_thresholds(settings)
    chosen = np.zeros(words.start.shape, bool)
    blocked = chosen if taken is None else taken.copy()
    width, visits_width = words.start.shape[1], order.shape[1]
    # Everything below indexes flattened arrays by row offset + column: one lookup instead of two.
    flat_start, flat_blocked = words.start.reshape(-1), blocked.reshape(-1)
    flat_chosen, flat_order, flat_draws = chosen.reshape(-1), order.reshape(-1), draws.reshape(-1)
    row = np.flatnonzero(wanted > 0)
    room = wanted[row]  # tokens still to be chosen
    for visit in range(visits_width):
        active = (room > 0) & (visit < words.count[row])
        row, room = row[active], room[active]
        if not len(row):
            break
        at = row * visits_width + visit
        word = row * width + flat_order[at]
        first = flat_start[word]
        drawn = 1 + (flat_draws[at][:, None] >= thresholds).sum(axis=1)
        fitting = np.zeros(len(row), np.int64)  # how many of the words from here on fit
        for n in range(settings.ngram):
            fitting += flat_start[word + n + 1] - first <= room
        length = np.minimum(drawn, fitting)
        is_taken = np.zeros(len(row), bool)
        for n in range(settings.ngram):
            is_taken |= (n < length) & flat_blocked[word + n]
        length[is_taken] = 0
        room = room - (flat_start[word + length] - first)
        for n in range(settings.ngram):
            inside = word[n < length] + n
            flat_chosen[inside] = True
            flat_blocked[inside] = True
    return chosen


def _pieces_of(words: _Words, chosen: np.ndarray, is_piece: np.ndarray) -> np.ndarray:
    """bool [N, M]: the tokens of the chosen words."""
    rows = np.arange(len(chosen))[:, None]
    return chosen[rows, words.of_piece] & is_piece


def _replace(
    output: np.ndarray, chosen: np.ndarray, *, keys: np.ndarray, table: PieceTable
) -> None:
    """80% [MASK], 10% unchanged, 10% a random ordinary token, in place."""
    rows, columns = np.nonzero(chosen)
    keys = random_keys.fold(random_keys.fold(keys, ACTIONS)[rows], columns)
    action = (keys >> np.uint64(32)).astype(np.float64) * 2.0**-32
    other = ((keys & np.uint64(0xFFFFFFFF)) * np.uint64(len(table.ordinary))) >> np.uint64(32)
    values = output[rows, columns]
    values[action < MASKED] = table.mask_id
    is_random = action >= MASKED_OR_KEPT
    values[is_random] = table.ordinary[other[is_random].astype(np.int64)]
    output[rows, columns] = values


def _permute(output: np.ndarray, moved: np.ndarray, keys: np.ndarray) -> None:
    """Shuffles the tokens at the `moved` positions of each row among themselves, in place."""
    rows, columns = np.nonzero(moved)
    draws = random_keys.fold(keys[rows], columns)
    shuffled = np.lexsort((draws, rows))  # within each row, the positions in random order
    output[rows, columns] = output[rows, columns[shuffled]]


# ------------------------------------------------------------------------------------------ layout


def _lay_out(
    output: np.ndarray,
    sequences: _Sequences,
    *,
    length_a: np.ndarray,
    table: PieceTable,
    settings: DataSettings,
) -> Dict[str, np.ndarray]:
    """[CLS] A [SEP] B [SEP] and what goes with it, [N, S]."""
    count, width = len(output), settings.max_seq_length
    row = np.arange(count)
    rows, columns = np.nonzero(sequences.is_piece)
    target = columns + 1 + (columns >= length_a[rows])
    input_ids = np.zeros([count, width], np.int32)
    boundary = np.zeros([count, width], np.uint8)
    input_ids[rows, target] = output[rows, columns]
    boundary[rows, target] = sequences.starts_word[rows, columns]
    for position, piece in (
        (0, table.cls_id),
        (length_a + 1, table.sep_id),
        (sequences.length + 2, table.sep_id),
    ):
        input_ids[row, position] = piece
        boundary[row, position] = 1
    place = np.arange(width)[None, :]
    in_sequence = place < sequences.length[:, None] + 3
    return {
        "input_ids": input_ids,
        "input_mask": in_sequence.astype(np.uint8),
        "segment_ids": (in_sequence & (place >= length_a[:, None] + 2)).astype(np.uint8),
        "token_boundary": boundary,
    }


def _predictions(
    chosen: np.ndarray, labels: np.ndarray, *, length_a: np.ndarray, slots: int
) -> Dict[str, np.ndarray]:
    """The masked_lm_* features: positions in ascending order, what stood there, weight one."""
    rows, columns = np.nonzero(chosen)
    per_row = chosen.sum(axis=1)
    slot = np.arange(len(rows)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    positions, ids = np.zeros([2, len(chosen), slots], np.int32)
    weights = np.zeros([len(chosen), slots], np.float32)
    positions[rows, slot] = columns + 1 + (columns >= length_a[rows])
    ids[rows, slot] = labels[rows, columns]
    weights[rows, slot] = 1.0
    return {
        "masked_lm_positions": positions,
        "masked_lm_ids": ids,
        "masked_lm_weights": weights,
    }


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
