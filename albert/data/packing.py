# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Puts tokens between [CLS] and [SEP]."""

from typing import Dict, List, Mapping, Sequence

import numpy as np

# The inputs of the encoder, int32 [B, S], and of the masked-word head, int32 [B, P].
SEQUENCES = ("input_ids", "input_mask", "segment_ids")
POSITIONS = "mlm_positions"

Arrays = Mapping[str, np.ndarray]  # inputs or outputs of a model


def pack(segments: Sequence[Sequence[int]], ends: Sequence[int], length: int = 0) -> Dict:
    """Returns {input name: list} for [CLS] a [SEP], or [CLS] a [SEP] b [SEP].

    Segment 0 is [CLS] a [SEP], and segment 1 is b [SEP] (BERT, arXiv:1810.04805, section 3).

    Args:
      segments: the token ids of a, or of a and b. They must fit into the length.
      ends: the ids of [CLS] and [SEP].
      length: S; shorter sequences are padded with zeros.
    """
    first, separator = ends
    ids, types = [first], [0]
    for number, segment in enumerate(segments):
        ids += [*segment, separator]
        types += [number] * (len(segment) + 1)
    padding: List[int] = [0] * (length - len(ids))
    return {
        "input_ids": ids + padding,
        "input_mask": [1] * len(ids) + padding,
        "segment_ids": types + padding,
    }
