# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masks drawn anew in each pass over the data, in place of those in the records.

The pieces that the records' own masks hide are put back, and `ngram_masking`'s procedure is run as
TensorFlow operations on a batch of records: words in random order, n-grams of them, 80% [MASK],
10% unchanged, 10% random. It is the same procedure with the same streams of random numbers: a
record with a given key gets the same masks from both, bit for bit. The key is a function of the
seed and of the record's position in the endless stream of shuffled records, so that it is the same
whatever the number of readers, and another one in every pass.

Dimensions: B batch, S sequence, P predictions, W words (at most S), n words of an n-gram at most.
Columns number the pieces of both segments, without [CLS] and [SEP], from 0.
"""

import collections
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.pretraining import masking as ngram_masking
from albert.pretraining import random_keys as random_streams

# What is drawn from the seed: nothing else may use this stream of it.
_MASKS = 0x6D61736B

Features = Mapping[str, tf.Tensor]


class Vocabulary(NamedTuple):
    """What masking has to know of the vocabulary."""

    mask_id: int
    ordinary: np.ndarray  # int32: ids that may replace a piece at random


def are_equal(one: Vocabulary, other: Vocabulary) -> bool:
    """Returns whether masking would do the same by both."""
    return one.mask_id == other.mask_id and np.array_equal(one.ordinary, other.ordinary)


def vocabulary_of_table(table: ngram_masking.PieceTable) -> Vocabulary:
    """Returns what a tokenizer's table says."""
    return Vocabulary(table.mask_id, table.ordinary)


def vocabulary_of_description(description: Mapping[str, Any]) -> Vocabulary:
    """Returns what `ngram_masking.describe_vocabulary` wrote."""
    ranges = [np.arange(first, last, dtype=np.int32) for first, last in description["ordinary"]]
    return Vocabulary(int(description["mask_id"]), np.concatenate(ranges))


def vocabulary_of_records(examples: Sequence[tf.train.Example], vocab_size: int) -> Vocabulary:
    """Reads off masked records which piece is [MASK], and where ordinary pieces begin.

    Four in five masked positions hold [MASK]; [CLS] and [SEP] are first and last. In all published
    vocabularies the control pieces come before every ordinary piece.

    Args:
      examples: some pretraining records.
      vocab_size: pieces in the vocabulary.

    Raises:
      ValueError: the records hold no masked pieces.
    """
    at_masked, special = collections.Counter(), set()
    for example in examples:
        values = example.features.feature
        ids = values["input_ids"].int64_list.value
        weights = values["masked_lm_weights"].float_list.value
        positions = values["masked_lm_positions"].int64_list.value
        at_masked.update(ids[place] for place, weight in zip(positions, weights) if weight > 0)
        special.update((ids[0], ids[sum(values["input_mask"].int64_list.value) - 1]))
    if not at_masked:
        raise ValueError(
            "--masked_lm_budget cannot tell which piece is [MASK]: the records hold no masks, and "
            "the hidden file that create_pretraining_data wrote beside them (.NAME.meta.json) is "
            "missing. Copy it too, or name the records' vocabulary by --spm_model_file or "
            "--vocab_file."
        )
    mask_id = at_masked.most_common(1)[0][0]
    first = max(special | {mask_id}) + 1
    return Vocabulary(mask_id, np.arange(first, vocab_size, dtype=np.int32))


def check_boundaries(file: str, examples: Iterable[tf.train.Example]):
    """Checks that the records of a file say where words begin.

    Raises:
      ValueError: they do not.
    """
    if not any(
        sum(example.features.feature["token_boundary"].int64_list.value) for example in examples
    ):
        raise ValueError(
            f"--masked_lm_budget needs records with token_boundary, which says where words begin; "
            f"{file} has none. Create the records anew with create_pretraining_data."
        )


def masking(
    *, settings: ngram_masking.MaskSettings, seed: int, vocabulary: Vocabulary
) -> Callable[[Features, tf.Tensor], Dict[str, tf.Tensor]]:
    """Returns a transform for data.batches.seeded_batches.

    Args:
      settings: as for the masks that records are created with; do_permutation must be off.
      seed: any integer.
      vocabulary: one of the functions above returns it.

    Returns:
      (features of B records, [B, ...]; their positions int64 [B]) -> features with new input_ids
      [B, S] and masked_lm_positions, masked_lm_ids, masked_lm_weights [B, P].
    """

    def transform(features: Features, positions: tf.Tensor) -> Dict[str, tf.Tensor]:
        """Replaces the masks of a batch."""
        return masked(features, keys_of(seed, positions), settings, vocabulary=vocabulary)

    return transform


def keys_of(seed: int, positions: tf.Tensor) -> tf.Tensor:
    """Returns the keys of the records at `positions` (int64 [B]): uint64 bits as int64 [B]."""
    base = random_streams.fold(random_streams.seed_key(seed), _MASKS)
    return _fold(tf.constant(base.astype(np.int64)), positions)


def masked(
    features: Features,
    keys: tf.Tensor,
    settings: ngram_masking.MaskSettings,
    *,
    vocabulary: Vocabulary,
) -> Dict[str, tf.Tensor]:
    """Returns the features with the masks that ngram_masking gives records of these keys.

    Args:
      features: of B records.
      keys: int64 [B], the bits of uint64 keys.
      settings: see `masking`.
      vocabulary: see `masking`.
    """
    width = features["input_ids"].shape.as_list()[1]  # S
    settings = settings._replace(max_seq_length=width)
    originals = _unmasked(features)
    columns = _columns(features)
    words = _find_words(features, columns, settings)
    chosen = _chosen_pieces(words, _fold(keys, ngram_masking.WORDS), settings)  # [B, S], columns
    replaced = _replaced(_at_columns(originals, columns), chosen, keys, vocabulary=vocabulary)
    back = tf.maximum(columns.of_position, 0)
    output = tf.where(columns.is_piece, tf.gather(replaced, back, batch_dims=1), originals)
    result = dict(features, input_ids=output)
    result.update(_predictions(originals, chosen, columns, slots=settings.max_predictions_per_seq))
    return result


# ---------------------------------------------------------------------------------------------
# Random numbers: random_streams on int64 tensors, whose products wrap as those of uint64 do.


def _signed(number: int) -> np.int64:
    """The same 64 bits as a signed number."""
    return np.array([number & 0xFFFFFFFFFFFFFFFF], np.uint64).astype(np.int64)[0]


def _shifted(values: tf.Tensor, count: int) -> tf.Tensor:
    """Shifts to the right, zeros coming in."""
    shifted = tf.bitwise.right_shift(values, np.int64(count))
    return tf.bitwise.bitwise_and(shifted, _signed((1 << (64 - count)) - 1))


def _bits(keys: tf.Tensor) -> tf.Tensor:
    """random_streams.bits."""
    shift_1, shift_2, shift_3 = random_streams.SHIFTS
    factor_1, factor_2 = random_streams.FACTORS
    mixed = keys + _signed(random_streams.INCREMENT)
    mixed = tf.bitwise.bitwise_xor(mixed, _shifted(mixed, shift_1)) * _signed(factor_1)
    mixed = tf.bitwise.bitwise_xor(mixed, _shifted(mixed, shift_2)) * _signed(factor_2)
    return tf.bitwise.bitwise_xor(mixed, _shifted(mixed, shift_3))


def _fold(keys: tf.Tensor, numbers: Any) -> tf.Tensor:
    """random_streams.fold."""
    return _bits(keys + tf.cast(numbers, tf.int64) * _signed(random_streams.INCREMENT))


# ---------------------------------------------------------------------------------------------
# Words.


def _unmasked(features: Features) -> tf.Tensor:
    """Puts the pieces back that the records' own masks hide; [B, S]."""
    is_used = features["masked_lm_weights"] > 0
    places = tf.cast(tf.where(is_used), tf.int32)  # row and slot
    positions = tf.boolean_mask(features["masked_lm_positions"], is_used)
    pieces = tf.boolean_mask(features["masked_lm_ids"], is_used)
    where = tf.stack([places[:, 0], positions], axis=1)
    return tf.tensor_scatter_nd_update(features["input_ids"], where, pieces)


class _Columns(NamedTuple):
    """Where the pieces of the segments are."""

    is_piece: tf.Tensor  # bool [B, S], by position
    of_position: tf.Tensor  # int32 [B, S]: the column of each position; -1 before the first piece
    position: tf.Tensor  # int32 [B, S]: the position of each column; S from `count` on
    count: tf.Tensor  # int32 [B]: pieces
    after_special: tf.Tensor  # bool [B, S], by position: the first piece of a segment


def _columns(features: Features) -> _Columns:
    """Finds the pieces: [CLS] is the first of a sequence, [SEP] the last of its segment."""
    in_use = features["input_mask"] > 0
    segments = features["segment_ids"]
    size, width = tf.shape(segments)[0], segments.shape.as_list()[1]
    ends = tf.logical_or(
        tf.not_equal(segments[:, :-1], segments[:, 1:]), tf.logical_not(in_use[:, 1:])
    )
    is_last = tf.concat([ends, tf.ones([size, 1], tf.bool)], axis=1)
    is_first = tf.tile(tf.expand_dims(tf.range(width) < 1, 0), [size, 1])
    is_special = tf.logical_or(is_first, is_last)
    is_piece = tf.logical_and(in_use, tf.logical_not(is_special))
    ranks = tf.cumsum(tf.cast(is_piece, tf.int32), axis=1)  # 1 at the first piece
    wanted = tf.tile(tf.expand_dims(tf.range(1, width + 1), 0), [size, 1])
    before = tf.concat([tf.zeros([size, 1], tf.bool), is_special[:, :-1]], axis=1)
    return _Columns(
        is_piece=is_piece,
        of_position=ranks - 1,
        position=tf.searchsorted(ranks, wanted, side="left"),
        count=ranks[:, -1],
        after_special=tf.logical_and(before, is_piece),
    )


def _at_columns(by_position: tf.Tensor, columns: _Columns) -> tf.Tensor:
    """Puts values [B, S] from positions to columns; what lies behind the last is of no meaning."""
    width = by_position.shape.as_list()[1]
    return tf.gather(by_position, tf.minimum(columns.position, width - 1), batch_dims=1)


class _Words(NamedTuple):
    """The words of B sequences."""

    of_piece: tf.Tensor  # int32 [B, S], by column
    count: tf.Tensor  # int32 [B]
    start: tf.Tensor  # int32 [B, W + n]: first column; from `count` on, that behind the last
    is_piece: tf.Tensor  # bool [B, S], by column


def _find_words(
    features: Features, columns: _Columns, settings: ngram_masking.MaskSettings
) -> _Words:
    """Words open at word starts and at the start of a segment; without whole words, anywhere."""
    width = features["input_ids"].shape.as_list()[1]
    is_piece = tf.expand_dims(tf.range(width), 0) < columns.count[:, tf.newaxis]  # [B, S]
    is_start = is_piece
    if settings.do_whole_word_mask:
        opens = tf.logical_or(features["token_boundary"] > 0, columns.after_special)
        is_start = tf.logical_and(_at_columns(opens, columns), is_piece)
    of_piece = tf.cumsum(tf.cast(is_start, tf.int32), axis=1) - 1
    numbers = tf.tile(
        tf.expand_dims(tf.range(width + settings.ngram), 0), [tf.shape(of_piece)[0], 1]
    )
    start = tf.searchsorted(of_piece, numbers, side="left")
    return _Words(
        of_piece=of_piece,
        count=of_piece[:, -1] + 1,
        start=tf.minimum(start, columns.count[:, tf.newaxis]),
        is_piece=is_piece,
    )


# ---------------------------------------------------------------------------------------------
# Choosing.


def _visits(
    words: _Words, keys: tf.Tensor, settings: ngram_masking.MaskSettings
) -> Tuple[tf.Tensor, tf.Tensor]:
    """The words in random order, int32 [B, W], and the n drawn at each visit, int32 [B, W]."""
    width = words.of_piece.shape.as_list()[1]
    index_bits = int(settings.max_seq_length).bit_length()
    index = tf.expand_dims(tf.range(width, dtype=tf.int64), 0)
    mixed = _fold(keys[:, tf.newaxis], index)
    visits = tf.bitwise.bitwise_and(mixed, _signed(-1 << index_bits)) + index
    last = tf.fill(tf.shape(visits), np.int64(-1))
    absent = tf.cast(index, tf.int32) >= words.count[:, tf.newaxis]
    visits = tf.where(absent, last, visits)
    # Ascending as unsigned numbers: descending when all bits but the sign are turned over.
    turned = tf.bitwise.bitwise_xor(visits, np.int64((1 << 63) - 1))
    ordered = tf.math.top_k(turned, k=width).values
    visits = tf.bitwise.bitwise_xor(ordered, np.int64((1 << 63) - 1))
    order = tf.cast(tf.bitwise.bitwise_and(visits, np.int64((1 << index_bits) - 1)), tf.int32)
    order = tf.minimum(order, width - 1)  # absent words have the highest number there is
    draws = tf.bitwise.bitwise_and(_shifted(visits, index_bits), np.int64(0xFFFFFF))
    draws = tf.cast(draws, tf.float64) * 2.0**-24
    thresholds = ngram_masking.ngram_thresholds(settings)
    lengths = tf.ones_like(order)
    for threshold in thresholds:
        lengths += tf.cast(draws >= threshold, tf.int32)
    return order, lengths


def _number_to_predict(words: _Words, settings: ngram_masking.MaskSettings) -> tf.Tensor:
    """int32 [B]; as ngram_masking counts, with [CLS] and two [SEP]."""
    length = tf.reduce_sum(tf.cast(words.is_piece, tf.int32), axis=1) + 3
    number = tf.round(tf.cast(length, tf.float64) * settings.masked_lm_prob)
    number = tf.maximum(1, tf.cast(number, tf.int32))
    return tf.minimum(settings.max_predictions_per_seq, number)


def _chosen_pieces(
    words: _Words, keys: tf.Tensor, settings: ngram_masking.MaskSettings
) -> tf.Tensor:
    """Returns which pieces to predict, bool [B, S] by column.

    One visit after another, as in ngram_masking: each takes an n-gram, or as many of its words as
    fit, or nothing if one of them is taken already.
    """
    order, lengths = _visits(words, keys, settings)
    width = order.shape.as_list()[1]
    numbers = tf.expand_dims(tf.range(width + settings.ngram), 0)  # [1, W + n]

    def visit(step: tf.Tensor, room: tf.Tensor, chosen: tf.Tensor) -> List[tf.Tensor]:
        first = order[:, step][:, tf.newaxis]  # [B, 1]
        # The places of the n words from here on, and of what follows them.
        places = first + tf.expand_dims(tf.range(settings.ngram + 1), 0)  # [B, n + 1]
        starts = tf.gather(words.start, places, batch_dims=1)  # [B, n + 1]
        sizes = starts[:, 1:] - starts[:, :1]  # of 1, 2, ... n words, in pieces
        fitting = tf.reduce_sum(tf.cast(sizes <= room[:, tf.newaxis], tf.int32), axis=1)
        length = tf.minimum(lengths[:, step], fitting)  # [B]
        is_active = tf.logical_and(room > 0, step < words.count)
        length = tf.where(is_active, length, tf.zeros_like(length))
        inside = tf.logical_and(numbers >= first, numbers < first + length[:, tf.newaxis])
        is_taken = tf.reduce_any(tf.logical_and(inside, chosen), axis=1)
        length = tf.where(is_taken, tf.zeros_like(length), length)
        inside = tf.logical_and(inside, tf.logical_not(is_taken)[:, tf.newaxis])
        used = tf.gather(starts, length[:, tf.newaxis], batch_dims=1)[:, 0] - starts[:, 0]
        return [step + 1, room - used, tf.logical_or(chosen, inside)]

    def goes_on(step: tf.Tensor, room: tf.Tensor, chosen: tf.Tensor) -> tf.Tensor:
        del chosen
        return tf.reduce_any(tf.logical_and(room > 0, step < words.count))

    nothing = tf.zeros_like(words.start, tf.bool)  # [B, W + n]
    start = [tf.constant(0), _number_to_predict(words, settings), nothing]
    chosen = tf.while_loop(goes_on, visit, start)[2]
    by_piece = tf.gather(chosen, tf.maximum(words.of_piece, 0), batch_dims=1)
    return tf.logical_and(by_piece, words.is_piece)


# ---------------------------------------------------------------------------------------------
# Replacing.


def _replaced(
    pieces: tf.Tensor, chosen: tf.Tensor, keys: tf.Tensor, *, vocabulary: Vocabulary
) -> tf.Tensor:
    """80% [MASK], 10% unchanged, 10% a random ordinary piece; int32 [B, S] by column."""
    columns = tf.expand_dims(tf.range(pieces.shape.as_list()[1], dtype=tf.int64), 0)
    draws = _fold(_fold(keys, ngram_masking.ACTIONS)[:, tf.newaxis], columns)  # [B, S]
    action = tf.cast(_shifted(draws, 32), tf.float64) * 2.0**-32
    lower = tf.bitwise.bitwise_and(draws, np.int64(0xFFFFFFFF))
    other = _shifted(lower * np.int64(len(vocabulary.ordinary)), 32)
    others = tf.gather(tf.constant(vocabulary.ordinary), other)
    changed = tf.where(action >= ngram_masking.MASKED_OR_KEPT, others, pieces)
    masks = tf.fill(tf.shape(pieces), np.int32(vocabulary.mask_id))
    changed = tf.where(action < ngram_masking.MASKED, masks, changed)
    return tf.where(chosen, changed, pieces)


def _predictions(
    originals: tf.Tensor, chosen: tf.Tensor, columns: _Columns, *, slots: int
) -> Dict[str, tf.Tensor]:
    """The masked_lm_* features, [B, P]: positions in ascending order, what stood there, one."""
    width = originals.shape.as_list()[1]
    numbers = tf.expand_dims(tf.range(width), 0)
    # The lowest columns come first, then those that are not chosen.
    ranks = tf.where(chosen, width - numbers + tf.zeros_like(originals), tf.zeros_like(originals))
    ranks = tf.math.top_k(ranks, k=min(slots, width)).values
    ranks = tf.pad(ranks, [[0, 0], [0, max(0, slots - width)]])
    is_used = ranks > 0
    column = tf.minimum(width - ranks, width - 1)
    none = tf.zeros_like(ranks)
    positions = tf.where(is_used, tf.gather(columns.position, column, batch_dims=1), none)
    labels = tf.where(is_used, tf.gather(originals, positions, batch_dims=1), none)
    return {
        "masked_lm_positions": positions,
        "masked_lm_ids": labels,
        "masked_lm_weights": tf.cast(is_used, tf.float32),
    }
