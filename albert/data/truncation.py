# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What becomes of texts with more tokens than an input has.

  end        the first tokens are kept
  head_tail  the first 128 tokens (at most half) and the last ones are kept (arXiv:1905.05583)
  windows    each part of the text is an input of its own; parts overlap by a quarter. Each of the
             N windows of an example is a record with the example's label and the feature
             num_windows, N. Its weight in training is 1 / N.

Dimensions: R records, N examples, C classes.
"""

from typing import Dict, List, Sequence

import numpy as np

from albert.configs.shared_flags import HEAD_TAIL
from albert.data.packing import Arrays

NUM_WINDOWS = "num_windows"
_HEAD_TOKENS = 128


def shorten(ids: Sequence[int], length: int, truncation: str) -> List[int]:
    """Returns at most `length` token ids: the first ones or, for head_tail, those of both ends."""
    tail = 0
    if truncation == HEAD_TAIL and len(ids) > length:
        tail = length - min(_HEAD_TOKENS, length // 2)
    return [*ids[: length - tail], *ids[len(ids) - tail :]]


def window_starts(count: int, length: int) -> List[int]:
    """Returns the starts of the windows over `count` tokens. The last window ends at the end."""
    last = count - length
    if last <= 0 or length <= 0:
        return [0]
    return [*range(0, last, length - length // 4), last]


def merge_windows(outputs: Arrays) -> Dict[str, np.ndarray]:
    """Returns outputs [N, ...] of examples, from those of their windows [R, ...].

    Logits are the means over the windows or, if an example can have several labels, the maxima.
    Predictions, probabilities and losses follow from them. The number of layers is the highest.
    """
    counts, starts = outputs[NUM_WINDOWS], []
    first = 0
    while first < len(counts):
        starts.append(first)
        first += counts[first]
    merged = {name: value[starts] for name, value in outputs.items() if name != NUM_WINDOWS}
    labels, predictions = merged.get("label_ids"), outputs["predictions"]
    if predictions.ndim == 2:  # several labels
        merged["logits"] = logits = np.maximum.reduceat(outputs["logits"], starts)  # [N, C]
        merged["probabilities"] = np.maximum.reduceat(outputs["probabilities"], starts)
        merged["predictions"] = np.maximum.reduceat(predictions, starts)
        if labels is not None:
            losses = np.logaddexp(0, logits) - labels * logits
            merged["per_example_loss"] = losses.mean(axis=-1)
        return merged
    sizes = counts[starts, np.newaxis].astype(np.float32)
    merged["logits"] = logits = np.add.reduceat(outputs["logits"], starts) / sizes  # [N, C]
    if "layers" in outputs:
        merged["layers"] = np.maximum.reduceat(outputs["layers"], starts)
    if predictions.dtype.kind == "f":
        merged["probabilities"], merged["predictions"] = logits, logits[:, 0]
        if labels is not None:
            merged["per_example_loss"] = (logits[:, 0] - labels) ** 2
        return merged
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    merged["probabilities"] = np.exp(log_probabilities)
    merged["predictions"] = logits.argmax(-1).astype(np.int32)
    if labels is not None:
        merged["per_example_loss"] = -log_probabilities[range(len(labels)), labels]
    return merged
