# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights of labels in the training loss.

parse("yes:3", ["no", "yes"])                       # [1.0, 3.0]
balanced(["no", "no", "no", "yes"], ["no", "yes"])  # [2/3, 2.0]
"""

import collections
import math
from typing import Any, List, Sequence

from albert.util import wording
from albert.util.errors import UserError

BALANCED = "balanced"


def parse(text: str, labels: Sequence[str]) -> List[float]:
    """Returns the weight of each label in a text such as "yes:3,no:1"; 1 for labels not in it.

    Raises:
      UserError: an unknown label, or a weight that is not a positive number.
    """
    weights = dict.fromkeys(labels, 1.0)
    for part in text.split(","):
        label, _, number = part.strip().rpartition(":")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if label not in weights or not 0 < weight < math.inf:
            raise UserError(
                f"--class_weights={text}: {part!r} is not a label with a weight, such as "
                f"{labels[0]}:3. Labels: {wording.listed(labels)}. Or give {BALANCED}."
            )
        weights[label] = weight
    return list(weights.values())


def balanced_presence(examples: Sequence[Sequence[str]], labels: Sequence[str]) -> List[float]:
    """Returns, for each label, examples without it / examples with it; 1 if all or none have it.

    Examples have tuples of labels.
    """
    counts = collections.Counter(label for present in examples for label in set(present))
    return [(len(examples) - counts[label]) / (counts[label] or 1) or 1.0 for label in labels]


def balanced(examples: Sequence[Any], labels: Sequence[str]) -> List[float]:
    """Returns scikit-learn's weights for the labels of N examples, so that each counts the same.

    They are N / (labels that occur * examples of the label); 1 for a label that does not occur.
    """
    counts = collections.Counter(examples)
    return [
        len(examples) / (len(counts) * counts[label]) if label in counts else 1.0
        for label in labels
    ]
