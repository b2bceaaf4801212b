# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random numbers that are a function of a key: the same on every runtime, in any order of work.

A key is a uint64. `fold` derives keys from keys, `bits` draws 64 random bits for a key:

    document = fold(seed_key(12345), document_index)
    coin = uniform(bits(fold(document, pass_number))) < 0.5

The mixing function is SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
Generators", OOPSLA 2014), applied to a counter.
"""

from typing import Any, Union

import numpy as np
import tensorflow.compat.v1 as tf

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd
_FACTOR_1, _FACTOR_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = map(np.uint64, (30, 27, 31))
_TO_UNIT = 2.0**-53


def bits(keys: np.ndarray) -> np.ndarray:
    """Returns 64 random bits for each key (uint64, any shape but a bare scalar)."""
    mixed = keys + _INCREMENT
    mixed ^= mixed >> _SHIFT_1
    mixed *= _FACTOR_1
    mixed ^= mixed >> _SHIFT_2
    mixed *= _FACTOR_2
    mixed ^= mixed >> _SHIFT_3
    return mixed


def seed_key(seed: int) -> np.ndarray:
    """Returns the key (uint64 [1]) of a seed, any Python integer."""
    return bits(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64))


def fold(keys: np.ndarray, numbers: Union[int, np.ndarray]) -> np.ndarray:
    """Returns the keys of the streams `numbers` (not negative) below `keys`, with broadcasting."""
    steps = np.asarray(numbers).astype(np.uint64).reshape(np.shape(numbers) or (1,))
    return bits(keys + steps * _INCREMENT)


def uniform(random_bits: np.ndarray) -> np.ndarray:
    """Returns float64 in [0, 1), from the upper 53 of 64 random bits."""
    return (random_bits >> np.uint64(11)).astype(np.float64) * _TO_UNIT


def below(random_bits: np.ndarray, bounds: Union[int, np.ndarray]) -> np.ndarray:
    """Returns int64 in [0, bounds), evenly; bounds are at least 1."""
    return (uniform(random_bits) * bounds).astype(np.int64)


# In the graph: on int64 tensors, whose products wrap as those of uint64 do.


def graph_shifted(values: tf.Tensor, count: int) -> tf.Tensor:
    """Returns int64 `values` shifted to the right, with zeros coming in."""
    shifted = tf.bitwise.right_shift(values, np.int64(count))
    return tf.bitwise.bitwise_and(shifted, np.int64((1 << (64 - count)) - 1))


def graph_fold(keys: tf.Tensor, numbers: Any) -> tf.Tensor:
    """Returns what `fold` does: the bits of uint64 keys as int64, with broadcasting."""
    increment, factor_1, factor_2 = np.array([_INCREMENT, _FACTOR_1, _FACTOR_2]).astype(np.int64)

    def mixed_with(values: tf.Tensor, shift: np.uint64) -> tf.Tensor:
        return tf.bitwise.bitwise_xor(values, graph_shifted(values, int(shift)))

    keys += tf.cast(numbers, tf.int64) * increment
    mixed = mixed_with(keys + increment, _SHIFT_1) * factor_1
    return mixed_with(mixed_with(mixed, _SHIFT_2) * factor_2, _SHIFT_3)
