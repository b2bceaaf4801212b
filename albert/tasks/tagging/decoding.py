# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the most probable valid sequence of tags.

    costs = transition_costs(scheme, ["O", "B-PER", "I-PER"])
    tags = best_tags(logits, costs)

Dimensions: W words of a sentence, L labels.
"""

import collections
from typing import Sequence

import numpy as np

from albert.tasks.tagging.schemes import OUTSIDE, Scheme

# More than the logits of a sentence differ. Finite, because labels without O may allow no sequence.
_FORBIDDEN = 1e9
_SMALL_PART = 0.1  # training data have a few wrong tags


def transition_costs(scheme: Scheme, labels: Sequence[str]) -> np.ndarray:
    """Returns the cost [L + 1, L + 1] of a label after another; 0: allowed.

    Row and column 0 stand for the start and the end of a sentence.
    """
    tags = (OUTSIDE, *labels)
    allowed = [[scheme.allows(before, tag) for tag in tags] for before in tags]
    return np.where(allowed, 0.0, _FORBIDDEN)


def follow(sentences: Sequence[Sequence[str]], scheme: Scheme) -> bool:
    """Returns whether the scheme forbids at most a tenth of the entities' tags where they are."""
    pairs = collections.Counter(
        pair for tags in sentences for pair in zip((OUTSIDE, *tags), (*tags, OUTSIDE))
    )
    wrong = sum(count for pair, count in pairs.items() if not scheme.allows(*pair))
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
