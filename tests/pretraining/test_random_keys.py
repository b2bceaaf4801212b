# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random numbers as a function of a key."""

import numpy as np

from albert.pretraining import random_keys


def test_bits_are_those_of_splitmix64():
    # The published test vector: the generator with the state 1234567.
    increment = 0x9E3779B97F4A7C15
    states = [(1234567 + step * increment) % 2**64 for step in range(3)]
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert random_keys.bits(np.array(states, np.uint64)).tolist() == expected


def test_below_reaches_each_number_and_never_the_bound():
    draws = random_keys.fold(random_keys.seed_key(1), np.arange(60000))
    counts = np.bincount(random_keys.below(draws, 6))
    assert counts.shape == (6,) and abs(counts - 10000).max() < 500
    assert random_keys.below(np.array([2**64 - 1], np.uint64), 7) == [6]
