# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the most probable tags of a sentence that form a valid sequence.

    costs = transition_costs(scheme, ["O", "B-PER", "I-PER"])
    tags = valid_tags(logits.argmax(axis=1), logits, costs)

Dimensions: W words, L labels.
"""

from typing import Sequence, Tuple

import numpy as np

from albert.tasks.tagging.schemes import OUTSIDE, Scheme

# More than the logits of a sentence differ. Finite, because few labels may allow no sequence.
_FORBIDDEN = 1e9
_LARGE_PART = 0.9  # training data have a few wrong tags


def transition_costs(scheme: Scheme, labels: Sequence[str]) -> np.ndarray:
    """Returns the cost [L + 1, L + 1] of a label after another; 0: allowed.

    Row and column 0 stand for the start and the end of a sentence. An entity begins with B (or S),
    if its type has a label with B, and ends with E (or S), if its type has a label with E. So no
    label is impossible.
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


def is_valid(tags: np.ndarray, costs: np.ndarray) -> bool:
    """Returns whether all transitions are allowed. `tags`: labels' indices, int [W]."""
    with_ends = np.pad(tags + 1, 1, "constant")
    return not costs[with_ends[:-1], with_ends[1:]].any()


def follow(sentences: Sequence[Sequence[str]], labels: Sequence[str], costs: np.ndarray) -> bool:
    """Returns whether at least nine of ten sentences with entities are valid, by their tags."""
    numbers = {label: number for number, label in enumerate(labels)}
    with_entities = [tags for tags in sentences if {*tags} - {OUTSIDE}]
    count = sum(is_valid(np.array([numbers[tag] for tag in tags]), costs) for tags in with_entities)
    return count >= _LARGE_PART * len(with_entities)


def valid_tags(tags: np.ndarray, logits: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Returns the valid sequence with the highest sum of logits, by the Viterbi algorithm.

    Logits differ from log-probabilities by a constant for each word, so both have the same best
    sequence. If no sequence is valid, returns one with the fewest forbidden transitions.

    Args:
      tags: the best label of each word, int [W]; if they are valid, they are the result.
      logits: [W, L].
      costs: the result of `transition_costs`.
    """
    if is_valid(tags, costs):
        return tags
    scores, *others = logits.astype(np.float64)
    scores = scores - costs[0, 1:]
    best_before = []
    for word_logits in others:
        sums = scores[:, np.newaxis] - costs[1:, 1:]  # [L, L]
        best_before.append(sums.argmax(axis=0))
        scores = sums.max(axis=0) + word_logits
    best = [(scores - costs[1:, 0]).argmax()]
    for before in reversed(best_before):
        best.append(before[best[-1]])
    return np.array(best[::-1])
