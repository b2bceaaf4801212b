# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What becomes of texts with more tokens than an input has.

  end        the first tokens are kept
  head_tail  the first 128 tokens (at most half) and the last ones are kept (arXiv:1905.05583)
  windows    each part of the text is an input of its own; parts overlap by a quarter. Each of the
             N windows of an example is a record with the example's label and the feature
             num_windows, N. Its weight in training is 1 / N.

Dimensions: R records, N examples.
"""

from typing import Dict, List, Sequence

import numpy as np
from scipy import special

from albert.configs.shared_flags import HEAD_TAIL, WINDOWS
from albert.data.packing import Arrays

NUM_WINDOWS = "num_windows"
_HEAD_TOKENS = 128


def parts_of(ids: Sequence[int], length: int, truncation: str) -> List[Sequence[int]]:
    """Returns the parts of a text that are read, of at most `length` token ids; usually one."""
    last = len(ids) - length
    if last <= 0 or length <= 0:
        return [ids[:length]]
    if truncation == WINDOWS:
        starts = [*range(0, last, length - length // 4), last]
        return [ids[start : start + length] for start in starts]
    head = length
    if truncation == HEAD_TAIL:
        head = min(_HEAD_TOKENS, length // 2)
    return [[*ids[:head], *ids[last + head :]]]


def merge_windows(outputs: Arrays) -> Arrays:
    """Returns outputs [N, ...] of examples, from those of their windows [R, ...], if there are any.

    Logits are the means over the windows, and probabilities and predictions follow from them. If an
    example can have several labels, all three are the maxima. The loss is the mean, as in training.
    """
    if NUM_WINDOWS not in outputs:
        return outputs
    counts, starts = outputs[NUM_WINDOWS], []
    first = 0
    while first < len(counts):
        starts.append(first)
        first += counts[first]
    predictions, maxima = outputs["predictions"], ["layers"]
    if predictions.ndim == 2:  # several labels
        maxima += ["logits", "probabilities", "predictions"]
    merged: Dict[str, np.ndarray] = {}
    for name, values in outputs.items():
        if name in maxima:
            merged[name] = np.maximum.reduceat(values, starts)
        elif name in ("label_ids", NUM_WINDOWS) or values.dtype.kind != "f":
            merged[name] = values[starts]
        else:
            shares = (values.T / counts.astype(np.float32)).T
            merged[name] = np.add.reduceat(shares, starts)
    if predictions.ndim == 1 and predictions.dtype.kind != "f":  # classes
        merged["probabilities"] = special.softmax(merged["logits"], axis=-1)
        merged["predictions"] = merged["logits"].argmax(axis=-1)
    return merged
