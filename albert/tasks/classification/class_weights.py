# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights of labels in the training loss.

label_weights("yes:3", ["no", "yes"], [])                            # [1.0, 3.0]
label_weights("balanced", ["no", "yes"], ["no", "no", "no", "yes"])  # [2/3, 2.0]
"""

import collections
from typing import Any, List, Sequence

from albert.tasks.classification.examples import parse_label
from albert.util import UserError, wording


def label_weights(
    text: str, labels: Sequence[Any], examples: Sequence[Any], *, is_multi_label: bool = False
) -> List[Any]:
    """Returns the weight of each label; of several labels, those of its absence and its presence.

    Args:
      text: weights such as "yes:3,no:1", where other labels weigh 1; or "balanced": the weights of
        scikit-learn, N / (labels that occur * examples of the label), so that each label counts
        the same. Labels that do not occur weigh 1.
      labels: the labels.
      examples: the label of each of N examples; with is_multi_label, its labels.
      is_multi_label: "balanced" then makes a label's absence and presence count the same.

    Raises:
      UserError: there are no labels, an unknown label, or a weight that is not a positive number.
    """
    if not labels:
        raise UserError("--class_weights needs labels, but the task predicts numbers.")
    weights = dict.fromkeys(labels, 1.0)
    if text == "balanced":
        if is_multi_label:
            columns = ([label in present for present in examples] for label in labels)
            return [label_weights(text, (False, True), column) for column in columns]
        counts = collections.Counter(examples)
        for label, count in counts.items():
            weights[label] = len(examples) / (len(counts) * count)
        return [*weights.values()]
    for part in text.split(","):
        label, _, number = part.strip().rpartition(":")
        weight: Any = parse_label(number, {}) or 0
        if label not in weights or weight <= 0:
            raise UserError(
                f"--class_weights={text}: {part!r} is not a label with a weight, such as "
                f"{labels[0]}:3. Labels: {wording.listed(labels)}. Or give balanced."
            )
        weights[label] = weight
    return [[1.0, weight] if is_multi_label else weight for weight in weights.values()]
