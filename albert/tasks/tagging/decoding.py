# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the most probable tags of sentences that form valid sequences.

    costs = transition_costs(scheme, ["O", "B-PER", "I-PER"])
    tags = valid_tags(logits.argmax(axis=1), logits, costs, lengths=[5, 3])

Dimensions: W words of all sentences, L labels.
"""

from typing import List, Sequence, Tuple

import numpy as np

from albert.tasks.tagging.schemes import OUTSIDE, Scheme

# More than the logits of a sentence differ. Finite, because few labels may allow no sequence.
_FORBIDDEN = 1e9
_SMALL_PART = 0.1  # training data have a few wrong tags


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


def follow(sentences: Sequence[Sequence[str]], labels: Sequence[str], costs: np.ndarray) -> bool:
    """Returns whether at least nine of ten sentences with entities are valid, by their tags."""
    numbers = {label: number for number, label in enumerate(labels)}
    with_entities = [tags for tags in sentences if {*tags} - {OUTSIDE}]
    tags = np.array([numbers[tag] for sentence in with_entities for tag in sentence], int)
    wrong = invalid_sentences(tags, list(map(len, with_entities)), costs)
    return len(wrong) <= _SMALL_PART * len(with_entities)


def invalid_sentences(tags: np.ndarray, lengths: Sequence[int], costs: np.ndarray) -> List[int]:
    """Returns the indices of the sentences with a forbidden transition.

    Args:
      tags: labels' indices of all sentences, int [W].
      lengths: the number of words of each sentence.
      costs: the result of `transition_costs`.
    """
    with_ends = np.insert(tags + 1, [0, *np.cumsum(lengths)], 0)
    is_wrong = costs[with_ends[:-1], with_ends[1:]] > 0
    sentence_of = np.repeat(np.arange(len(lengths)), np.array(lengths, int) + 1)
    return np.unique(sentence_of[is_wrong]).tolist()


def valid_tags(
    tags: np.ndarray, logits: np.ndarray, costs: np.ndarray, *, lengths: Sequence[int]
) -> np.ndarray:
    """Returns the tags of all sentences, with new tags for those that are invalid.

    `tags` are the best labels, int [W], and logits [W, L]; see `invalid_sentences`.
    """
    tags, ends = tags.copy(), np.cumsum(lengths)
    for sentence in invalid_sentences(tags, lengths, costs):
        words = slice(ends[sentence] - lengths[sentence], ends[sentence])
        tags[words] = best_path(logits[words], costs)
    return tags


def best_path(logits: np.ndarray, costs: np.ndarray) -> List[int]:
    """Returns the valid sequence with the highest sum of logits [W, L], by the Viterbi algorithm.

    Logits differ from log-probabilities by a constant for each word, so both have the same best
    sequence. If no sequence is valid, returns one with the fewest forbidden transitions.
    """
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
    return best[::-1]
