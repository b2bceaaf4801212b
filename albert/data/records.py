# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""An example as the model's inputs, and many records at once in tf.train.Example's wire format.

Building and serialising one message after another takes longer than making pretraining data. All
examples of a batch have features of the same shapes, so that only the varints differ in length:
they are laid out as one byte matrix with a row for each example and a mask of the bytes that are
really there. The bytes are those of `FeatureSpec.encode`, which is faster for one record of lists.

Legend: N examples, L values of a feature, K bytes of the longest row.
"""

import dataclasses
from typing import Any, List, Mapping, NamedTuple, Optional, Union

import numpy as np

from albert.util.errors import UserError

# Tags of length-delimited fields: Example.features = 1, Features.feature = 1 (a map: key = 1,
# value = 2), Feature.float_list = 2, Feature.int64_list = 3, {Float,Int64}List.value = 1 (packed).
FIELD_1, FIELD_2, FIELD_3 = b"\x0a", b"\x12", b"\x1a"


class PaddingInputExample:
    """Fills the last batch where all batches must have one size (TPU); it counts for nothing."""


@dataclasses.dataclass(eq=False)
class InputFeatures:
    """The model's inputs for one example of classification or multiple choice.

    Attributes:
      input_ids, input_mask, segment_ids: lists of S ints; of multiple choice a list of them for
        each option.
      label_id: the label's number; for regression the label itself.
      guid, example_id: the example's name, or None; of multiple choice example_id is the passage's.
      is_real_example: False if it only fills a batch.
      is_cut: whether the texts were too long.
    """

    input_ids: List[Any]
    input_mask: List[Any]
    segment_ids: List[Any]
    label_id: Union[int, float]
    guid: Optional[str] = None
    example_id: Any = None
    is_real_example: bool = True
    is_cut: bool = False


def record_of(features: InputFeatures) -> Mapping[str, Any]:
    """Returns what a record holds of an example's features."""
    return {
        "input_ids": features.input_ids,
        "input_mask": features.input_mask,
        "segment_ids": features.segment_ids,
        "label_ids": [features.label_id],
        "is_real_example": [int(features.is_real_example)],
    }


class EncodedExamples(NamedTuple):
    """N serialised examples: the n-th is data[ends[n - 1] : ends[n]]."""

    data: bytes
    ends: np.ndarray  # int64 [N]


class _Bytes(NamedTuple):
    """A part of each of N rows: the bytes `values[n][is_there[n]]`."""

    values: np.ndarray  # uint8 [N, K]
    is_there: np.ndarray  # bool [N, K]

    def lengths(self) -> np.ndarray:
        return self.is_there.sum(axis=1)


def encode_examples(features: Mapping[str, np.ndarray]) -> EncodedExamples:
    """Returns N examples of name -> [N, L], float32 or integers; ValueError if one is negative."""
    count = len(next(iter(features.values())))
    entries: List[_Bytes] = []
    for name in sorted(features, key=lambda name: name.encode("utf-8")):
        key = name.encode("utf-8")
        head = _constant(FIELD_1 + bytes([len(key)]) + key, count)
        entry = [head] + _delimited(FIELD_2, _feature(name, features[name]))
        entries += _delimited(FIELD_1, entry)
    parts = _delimited(FIELD_1, entries)
    is_there = np.concatenate([part.is_there for part in parts], axis=1)  # [N, K]
    values = np.concatenate([part.values for part in parts], axis=1)
    return EncodedExamples(values[is_there].tobytes(), np.cumsum(is_there.sum(axis=1)))


def _feature(name: str, values: np.ndarray) -> List[_Bytes]:
    """A Feature message: a packed list inside a list message inside the feature."""
    if values.dtype == np.float32:
        raw = np.ascontiguousarray(values, "<f4").view(np.uint8)
        packed = _Bytes(raw, np.ones(raw.shape, bool))
        return _delimited(FIELD_2, _delimited(FIELD_1, [packed]))
    if values.size and values.min() < 0:
        raise UserError(f"Feature '{name}' holds {values.min()}; only integers from 0 on fit.")
    return _delimited(FIELD_3, _delimited(FIELD_1, [_varints(values)]))


def _delimited(tag: bytes, parts: List[_Bytes]) -> List[_Bytes]:
    """`parts` as one field: the tag and the length in front."""
    lengths: Any = sum(part.lengths() for part in parts)
    return [_constant(tag, len(lengths)), _varints(lengths[:, None])] + parts


def _constant(content: bytes, count: int) -> _Bytes:
    """The same bytes in each row."""
    row = np.frombuffer(content, np.uint8)[None, :]
    shape = (count, row.shape[1])
    return _Bytes(np.broadcast_to(row, shape), np.broadcast_to(np.True_, shape))


def _varints(values: np.ndarray) -> _Bytes:
    """Seven bits a byte, the lowest first; every byte but the last of a value has bit 7 set."""
    longest = int(values.max()) if values.size else 0
    width = max(1, (longest.bit_length() + 6) // 7)
    if width == 1:
        return _Bytes(values.astype(np.uint8), np.ones(values.shape, bool))
    shape = (*values.shape, width)
    encoded = np.empty(shape, np.uint8)
    is_there = np.empty(shape, bool)
    for byte in range(width):
        rest = values >> (7 * byte)
        encoded[:, :, byte] = (rest & 0x7F) | ((rest > 0x7F) << 7)
        is_there[:, :, byte] = (rest > 0) if byte else True
    return _Bytes(encoded.reshape(len(values), -1), is_there.reshape(len(values), -1))
