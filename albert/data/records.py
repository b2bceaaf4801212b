# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fast writer of tf.train.Example's wire format.

The bytes equal tf.train.Example.SerializeToString(deterministic=True), which takes longer than all
other work on pretraining data.

Legend: N examples, L values of a feature.
"""

import functools
from typing import List, Mapping

import numpy as np

# Field numbers of the messages: Example.features = 1; Features.feature = 1, a map with key = 1 and
# value = 2. A Feature has one of these lists, whose packed values are field 1.
_FLOAT_LIST, _INT64_LIST = 2, 3


def encode_examples(features: Mapping[str, np.ndarray]) -> List[bytes]:
    """Serialises N examples, from name -> [N, L] in float32 or integers."""
    entries: List[List[bytes]] = []  # one list per feature, with one entry per example
    for name in sorted(features, key=str.encode):
        values = features[name]
        kind, lists = _INT64_LIST, _varints
        if values.dtype == np.float32:
            kind, lists = _FLOAT_LIST, _floats
        entries.append([_feature_head(name, kind, len(row)) + row for row in lists(values)])
    return [_field(1, b"".join(example)) for example in zip(*entries)]


@functools.lru_cache(maxsize=None)
def _feature_head(name: str, kind: int, length: int) -> bytes:
    """Returns the bytes before a feature's packed values, which have `length` bytes."""
    values = _field(2, _field(kind, _field(1, bytes(length))))
    feature = _field(1, _field(1, name.encode()) + values)
    return feature[: len(feature) - length]


def _field(number: int, content: bytes) -> bytes:
    """Returns a field of a message: its tag, its length, and the content."""
    return _head(number, len(content)) + content


@functools.lru_cache(maxsize=None)
def _head(number: int, length: int) -> bytes:
    return bytes([number << 3 | 2]) + _varints(np.array([[length]]))[0]


def _floats(values: np.ndarray) -> List[bytes]:
    return [row.tobytes() for row in values.astype("<f4")]


def _varints(values: np.ndarray) -> List[bytes]:
    """Encodes integers with seven bits per byte, lowest first. Bit 7 says that a byte follows."""
    bits = int(values.max(initial=1)).bit_length() if values.min(initial=0) >= 0 else 64
    if bits <= 7:
        return [row.tobytes() for row in values.astype(np.uint8)]
    rest = values.astype(np.min_scalar_type(2**bits - 1))
    groups = np.zeros([*values.shape, -(-bits // 7)], np.uint8)  # [N, L, bytes]
    is_used = np.zeros(groups.shape, bool)
    for number in range(groups.shape[2]):
        groups[:, :, number] = rest | (rest > 0x7F).astype(np.uint8) << 7
        is_used[:, :, number] = rest > 0
        rest >>= 7
    is_used[:, :, 0] = True
    content = groups[is_used].tobytes()
    ends = np.cumsum(np.count_nonzero(is_used, axis=(1, 2))).tolist()
    return [content[start:end] for start, end in zip([0, *ends], ends)]
