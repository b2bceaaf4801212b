# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Puts tokens between [CLS] and [SEP].

Dimensions: R rows, S sequence, P predictions.
"""

from typing import Any, Dict, Mapping, Sequence

import numpy as np

# The inputs of the encoder, int32 [R, S], and of the masked-word head, int32 [R, P].
SEQUENCES = ("input_ids", "input_mask", "segment_ids")
POSITIONS = "mlm_positions"

Arrays = Mapping[str, np.ndarray]  # inputs or outputs of a model


def pack(
    rows: Sequence[Sequence[Any]], ends: Sequence[int], length: int = 0
) -> Dict[str, np.ndarray]:
    """Returns {input name: int32 [R, S]}; a row is [CLS] a [SEP], or [CLS] a [SEP] b [SEP].

    Segment 0 is [CLS] a [SEP], and segment 1 is b [SEP] (BERT, arXiv:1810.04805, section 3).

    Args:
      rows: the token ids of a, or of a and b. They must fit into the length. () gives only padding.
      ends: the ids of [CLS] and [SEP].
      length: S; shorter rows are padded with zeros. 0: the length of the longest row.
    """
    first, separator = ends
    length = length or max(sum(map(len, row)) + len(row) + 1 for row in rows)
    ids, masks, types = (np.zeros([len(rows), length], np.int32) for _ in SEQUENCES)
    for number, row in enumerate(rows):
        end = min(1, len(row))
        ids[number, :end] = first
        for segment, tokens in enumerate(row):
            start, end = end, end + len(tokens) + 1
            ids[number, start : end - 1] = tokens
            ids[number, end - 1] = separator
            types[number, start:end] = segment
        masks[number, :end] = 1
    return dict(zip(SEQUENCES, (ids, masks, types)))
