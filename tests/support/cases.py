# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Test cases: tables whose cells are all words, and cases of which most are slow."""

import pytest


def table(text):
    """The rows of a text, whose cells have bars between them; "" for a cell that is left out."""
    return [tuple(map(str.strip, line.split("|"))) for line in text.strip().splitlines()]


def slow_but(quick, names):
    """The names as parameters of a test, slow but for the quick ones."""
    slow = pytest.mark.slow
    return [name if name in quick else pytest.param(name, marks=slow) for name in names]
