# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Masks drawn anew in each pass over the data, in place of those in the records.

The original pieces are put back, the words are parted into n-grams of one to three words with
p(n) proportional to 1/n (arXiv:1909.11942, section 3.1), and n-grams in random order are masked
until the budget is used up; the last one is shortened to what fits. Of the chosen pieces 80% become
[MASK], 10% stay, and 10% become a random piece. All of it is a function of the seed and of the
record's position in the stream.

Dimensions: S sequence, P predictions, V vocabulary, W words.
"""

import collections
from typing import Callable, Dict, Mapping, NamedTuple, Sequence

import numpy as np
import tensorflow.compat.v1 as tf

MAX_NGRAM = 3
MASKED_SHARE, KEPT_SHARE = 0.8, 0.1

Features = Mapping[str, tf.Tensor]


class Vocabulary(NamedTuple):
    """What masking has to know of the vocabulary."""

    mask_id: int
    first_ordinary_id: int  # this one and all after it are ordinary pieces
    size: int  # V


def vocabulary_of(examples: Sequence[tf.train.Example], vocab_size: int) -> Vocabulary:
    """Reads off the records which piece is [MASK], and where ordinary pieces begin.

    Four in five masked positions hold [MASK]; [CLS] and [SEP] are first and last. In all published
    vocabularies the control pieces come before every ordinary piece.

    Args:
      examples: some pretraining records.
      vocab_size: V.

    Raises:
      ValueError: the records hold no masked pieces, or lack the boundaries of words.
    """
    at_masked, special = collections.Counter(), set()
    boundaries = 0
    for example in examples:
        values = example.features.feature
        ids = values["input_ids"].int64_list.value
        weights = values["masked_lm_weights"].float_list.value
        positions = values["masked_lm_positions"].int64_list.value
        at_masked.update(ids[place] for place, weight in zip(positions, weights) if weight > 0)
        special.update((ids[0], ids[sum(values["input_mask"].int64_list.value) - 1]))
        boundaries += sum(values["token_boundary"].int64_list.value)
    if not at_masked:
        raise ValueError(
            "--masked_lm_budget needs records with masked pieces, to learn from them which piece "
            "is [MASK]. Create the records with a masked_lm_prob above 0."
        )
    if not boundaries:
        raise ValueError(
            "--masked_lm_budget needs records with token_boundary, which says where words begin. "
            "Create the records anew with create_pretraining_data."
        )
    mask_id = at_masked.most_common(1)[0][0]
    return Vocabulary(mask_id, max(special | {mask_id}) + 1, vocab_size)


class _Random:
    """Independent random numbers for each purpose, as functions of the seed and the record."""

    def __init__(self, seed: int, position: tf.Tensor):
        self._seed = seed
        self._position = position
        self._purpose = 0

    def uniform(self, count: tf.Tensor) -> tf.Tensor:
        """Returns float32 [count] in [0, 1)."""
        self._purpose += 1
        # Far from the keys the order of records is drawn with.
        key = (self._seed * 0x2545F491 + self._purpose * 0x9E3779B1 + 1) % (1 << 62)
        seed = tf.stack([tf.constant(key, tf.int64), self._position])
        return tf.random.stateless_uniform([count], seed=seed)


def masking(*, budget: float, seed: int, vocabulary: Vocabulary) -> Callable:
    """Returns a transform for input_pipeline.seeded_batches: (features, position) -> features.

    Args:
      budget: the ratio of masked to unmasked; a share budget / (1 + budget) of the pieces is
        masked, at least one piece and at most P.
      seed: any integer.
      vocabulary: see `vocabulary_of`.
    """

    def transform(features: Features, position: tf.Tensor) -> Dict[str, tf.Tensor]:
        """Replaces the masks of one record."""
        random = _Random(seed, position)
        originals = _unmasked(features)
        length = tf.reduce_sum(features["input_mask"])
        share = budget / (1.0 + budget)
        limit = tf.cast(tf.round(tf.cast(length, tf.float32) * share), tf.int32)
        slots = features["masked_lm_positions"].shape.as_list()[0]  # P
        limit = tf.minimum(slots, tf.maximum(1, limit))
        chosen = _chosen_pieces(_word_numbers(features), limit, random)  # [S]
        replaced = _replacements(originals, vocabulary, random)
        places = tf.cast(tf.reshape(tf.where(chosen), [-1]), tf.int32)
        used = tf.size(places)
        positions = tf.pad(places, [[0, slots - used]])
        positions.set_shape([slots])
        weights = tf.sequence_mask(used, slots, tf.float32)
        labels = tf.gather(originals, positions) * tf.cast(weights, tf.int32)
        return dict(
            features,
            input_ids=tf.where(chosen, replaced, originals),
            masked_lm_positions=positions,
            masked_lm_ids=labels,
            masked_lm_weights=weights,
        )

    return transform


def _unmasked(features: Features) -> tf.Tensor:
    """Puts the pieces back that the record's own masks hide; [S]."""
    is_used = features["masked_lm_weights"] > 0
    places = tf.boolean_mask(features["masked_lm_positions"], is_used)
    pieces = tf.boolean_mask(features["masked_lm_ids"], is_used)
    return tf.tensor_scatter_nd_update(features["input_ids"], places[:, tf.newaxis], pieces)


class _Words(NamedTuple):
    """The words of a sequence, numbered from 0 through both segments."""

    of_pieces: tf.Tensor  # int32 [S]: the word of each piece; -1 for [CLS], [SEP] and padding
    segments: tf.Tensor  # int32 [W]: the segment of each word


def _word_numbers(features: Features) -> _Words:
    """Numbers the words; a word ends where its segment does."""
    in_use = features["input_mask"] > 0
    segments = features["segment_ids"]
    following = tf.concat([segments[1:], [0]], axis=0)
    following_in_use = tf.concat([in_use[1:], [False]], axis=0)
    # [SEP] is the last piece of its segment, and [CLS] the first of all.
    is_last = tf.logical_or(tf.not_equal(segments, following), tf.logical_not(following_in_use))
    is_first = tf.one_hot(0, tf.size(segments), on_value=True, off_value=False, dtype=tf.bool)
    is_special = tf.logical_or(is_first, is_last)
    is_piece = tf.logical_and(in_use, tf.logical_not(is_special))
    after_special = tf.concat([[False], is_special[:-1]], axis=0)
    starts = tf.logical_or(features["token_boundary"] > 0, after_special)
    starts = tf.logical_and(starts, is_piece)
    numbers = tf.cumsum(tf.cast(starts, tf.int32)) - 1
    return _Words(
        of_pieces=tf.where(is_piece, numbers, -tf.ones_like(numbers)),
        segments=tf.boolean_mask(segments, starts),
    )


def _ngram_numbers(words: _Words, random: _Random) -> tf.Tensor:
    """Parts the words into n-grams at random; returns the n-gram of each word, int32 [W]."""
    count = tf.size(words.segments)
    chances = np.array([1.0 / n for n in range(1, MAX_NGRAM + 1)])
    limits = np.cumsum(chances / chances.sum())[:-1].astype(np.float32)
    draws = tf.searchsorted(tf.constant(limits), random.uniform(count), side="right")
    ends = tf.cumsum(draws + 1)  # of the n-grams, in words
    ngrams = tf.searchsorted(ends, tf.range(count), side="right")  # [W]
    # An n-gram across the border of the segments becomes two.
    is_border = tf.not_equal(words.segments[1:], words.segments[:-1])
    return ngrams + tf.cumsum(tf.pad(tf.cast(is_border, tf.int32), [[1, 0]]))


def _chosen_pieces(words: _Words, limit: tf.Tensor, random: _Random) -> tf.Tensor:
    """Returns which pieces to predict, bool [S]: whole words, at most `limit` pieces."""
    count = tf.size(words.segments)
    ngrams = _ngram_numbers(words, random)
    sizes = tf.math.unsorted_segment_sum(
        tf.ones_like(words.of_pieces), words.of_pieces, count
    )  # [W], pieces
    # The words of an n-gram have the same priority: sorting keeps them together and in order.
    priorities = tf.gather(random.uniform(2 * count), ngrams)
    order = tf.argsort(priorities, stable=True)  # [W]
    ordered_sizes = tf.gather(sizes, order)
    is_taken = tf.cumsum(ordered_sizes) <= limit
    # What is left is too small for the next word: give it to a later one that fits.
    for _ in range(MAX_NGRAM):
        left = limit - tf.reduce_sum(tf.where(is_taken, ordered_sizes, tf.zeros_like(sizes)))
        fits = tf.logical_and(ordered_sizes <= left, tf.logical_not(is_taken))
        first = tf.argmax(tf.cast(fits, tf.int32), output_type=tf.int32)
        is_taken = tf.logical_or(is_taken, tf.logical_and(fits, tf.equal(tf.range(count), first)))
    taken = tf.scatter_nd(order[:, tf.newaxis], tf.cast(is_taken, tf.int32), [count])  # [W]
    # Pieces of no word look up the element in front of the first one.
    return tf.gather(tf.concat([[0], taken], axis=0), words.of_pieces + 1) > 0


def _replacements(originals: tf.Tensor, vocabulary: Vocabulary, random: _Random) -> tf.Tensor:
    """Returns what each piece becomes if it is chosen; int32 [S]."""
    length = tf.size(originals)
    ordinary = vocabulary.size - vocabulary.first_ordinary_id
    offsets = tf.cast(random.uniform(length) * float(ordinary), tf.int32)
    others = vocabulary.first_ordinary_id + tf.minimum(offsets, ordinary - 1)
    draw = random.uniform(length)
    replaced = tf.where(draw < MASKED_SHARE + KEPT_SHARE, originals, others)
    return tf.where(draw < MASKED_SHARE, tf.fill([length], vocabulary.mask_id), replaced)
