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
    labels, is_multi_label = merged["label_ids"], outputs["predictions"].ndim == 2
    maxima = ["logits", "probabilities", "predictions"] if is_multi_label else ["layers"]
    for name in outputs.keys() & maxima:
        merged[name] = np.maximum.reduceat(outputs[name], starts)
    if is_multi_label:
        logits = merged["logits"]  # [N, C]
        merged["per_example_loss"] = (np.logaddexp(0, logits) - labels * logits).mean(axis=-1)
        return merged
    sizes = counts[starts, np.newaxis].astype(np.float32)
    merged["logits"] = logits = np.add.reduceat(outputs["logits"], starts) / sizes  # [N, C]
    if outputs["predictions"].dtype.kind == "f":
        merged["probabilities"], merged["predictions"] = logits, logits[:, 0]
        merged["per_example_loss"] = (logits[:, 0] - labels) ** 2
        return merged
    log_probabilities = logits - special.logsumexp(logits, axis=-1, keepdims=True)
    merged["probabilities"] = np.exp(log_probabilities)
    merged["predictions"] = logits.argmax(axis=-1)
    merged["per_example_loss"] = -log_probabilities[range(len(labels)), labels]
    return merged
