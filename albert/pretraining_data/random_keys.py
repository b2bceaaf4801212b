# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random numbers that depend only on a key. They are the same on every runtime, in any order.

A key is a uint64. `fold` derives a key from a key and a number. The bits of a key are random, so a
key that no other key is derived from can be used as a random number:

    document = fold(seed_key(12345), document_index)
    coin = uniform(fold(document, pass_number)) < 0.5

The mixing function is SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
Generators", OOPSLA 2014), applied to a counter.
"""

from typing import Union

import numpy as np

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd
_FACTOR_1, _FACTOR_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def bits(keys: np.ndarray) -> np.ndarray:
    """Returns 64 random bits for each key (uint64, any shape except a scalar)."""
    mixed = keys + _INCREMENT
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FACTOR_1
    mixed ^= mixed >> np.uint64(27)
    mixed *= _FACTOR_2
    mixed ^= mixed >> np.uint64(31)
    return mixed


def seed_key(seed: int) -> np.ndarray:
    """Returns the key, uint64 [1], of a seed, which may be any Python integer."""
    return bits(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64))


def fold(keys: np.ndarray, numbers: Union[int, np.ndarray]) -> np.ndarray:
    """Returns keys that are derived from `keys` and `numbers` (0 or more), with broadcasting."""
    steps = np.asarray(numbers).astype(np.uint64).reshape(np.shape(numbers) or (1,))
    return bits(keys + steps * _INCREMENT)


def uniform(random_bits: np.ndarray) -> np.ndarray:
    """Returns float64 in [0, 1), from the upper 53 of 64 random bits."""
    return (random_bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(random_bits: np.ndarray, bounds: Union[int, np.ndarray]) -> np.ndarray:
    """Returns int64 in [0, bounds), all equally likely. Bounds are at least 1."""
    return (uniform(random_bits) * bounds).astype(np.int64)
