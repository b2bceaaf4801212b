# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tables of test cases whose cells are all words: names, flags, patterns of messages."""


def table(text):
    """The rows of a text, whose cells have bars between them; "" for a cell that is left out."""
    return [tuple(map(str.strip, line.split("|"))) for line in text.strip().splitlines()]
