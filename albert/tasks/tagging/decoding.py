# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the most probable valid sequence of tags.

    costs = transition_costs(scheme, ["O", "B-PER", "I-PER"])
    tags = best_tags(logits, costs)

Dimensions: W words of a sentence, L labels.
"""

import collections
from typing import Sequence, Tuple

import numpy as np

from albert.tasks.tagging.schemes import OUTSIDE, Scheme

# More than the logits of a sentence differ. Finite, because labels without O may allow no sequence.
_FORBIDDEN = 1e9
_SMALL_PART = 0.1  # training data have a few wrong tags


def transition_costs(scheme: Scheme, labels: Sequence[str]) -> np.ndarray:
    """Returns the cost [L + 1, L + 1] of a label after another; 0: allowed.

    Row and column 0 stand for the start and the end of a sentence. An entity must begin with B (or
    S) only if its type has a label with B, and end with E (or S) only if its type has a label with
    E. So no label is impossible.
    """
    tags = [scheme.parse(label) for label in (OUTSIDE, *labels)]
    with_begin, with_end = (
        {entity_type for position, entity_type in tags if position == letter} for letter in "BE"
    )

    def is_allowed(before: Tuple[str, str], after: Tuple[str, str]) -> bool:
        (position_before, type_before), (position, entity_type) = before, after
        is_open, continues = position_before in "BI", position in "IE"
        if is_open and continues and type_before == entity_type:
            return True
        ends_early = is_open and type_before in with_end
        return not ends_early and not (continues and entity_type in with_begin)

    allowed = [[is_allowed(before, after) for after in tags] for before in tags]
    return np.where(allowed, 0.0, _FORBIDDEN)


def follow(sentences: Sequence[Sequence[str]], labels: Sequence[str], costs: np.ndarray) -> bool:
    """Returns whether at most a tenth of the entities' tags are forbidden where they are."""
    numbers = {tag: number for number, tag in enumerate((OUTSIDE, *labels))}
    pairs = collections.Counter(
        pair for tags in sentences for pair in zip((OUTSIDE, *tags), (*tags, OUTSIDE))
    )
    wrong = sum(
        count for (before, tag), count in pairs.items() if costs[numbers[before], numbers[tag]]
    )
    total = sum(count for (_, tag), count in pairs.items() if tag != OUTSIDE)
    return wrong <= _SMALL_PART * total


def best_tags(logits: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Returns the valid sequence [W] with the highest sum of logits [W, L] (Viterbi algorithm).

    Logits differ from log-probabilities by a constant for each word, so both have the same best
    sequence. If no sequence is valid, returns one with the fewest forbidden transitions.
    """
    best = logits.argmax(axis=1)
    path = np.concatenate([[0], best + 1, [0]])
    if not costs[path[:-1], path[1:]].any():
        return best
    scores = logits[0] - costs[0, 1:]
    best_before = []
    for word_logits in logits[1:]:
        sums = scores[:, np.newaxis] - costs[1:, 1:]  # [L, L]
        best_before.append(sums.argmax(axis=0))
        scores = sums.max(axis=0) + word_logits
    tags = [(scores - costs[1:, 0]).argmax()]
    for before in reversed(best_before):
        tags.append(before[tags[-1]])
    return np.array(tags[::-1])
