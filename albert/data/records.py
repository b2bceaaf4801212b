# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""An example as the model's inputs, and many records at once in tf.train.Example's wire format.

Building and serialising one message after another takes longer than making pretraining data. The
bytes are those of tf.train.Example.SerializeToString(deterministic=True).

Legend: N examples, L values of a feature.
"""

import dataclasses
import functools
from typing import Any, List, Mapping, Optional, Union

import numpy as np

# Fields of the messages: Example.features = 1; Features.feature = 1, a map with key = 1, value = 2;
# Feature has one of these lists, whose values are packed in a field 1.
_FLOAT_LIST, _INT64_LIST = 2, 3


class PaddingInputExample:
    """Fills the last batch if all batches must have one size (TPU); has weight 0."""


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
      is_empty: whether a text has no tokens.
    """

    input_ids: List[Any]
    input_mask: List[Any]
    segment_ids: List[Any]
    label_id: Union[int, float]
    guid: Optional[str] = None
    example_id: Any = None
    is_real_example: bool = True
    is_cut: bool = False
    is_empty: bool = False


def record_of(features: InputFeatures) -> Mapping[str, Any]:
    """Returns what a record holds of an example's features."""
    return {
        "input_ids": features.input_ids,
        "input_mask": features.input_mask,
        "segment_ids": features.segment_ids,
        "label_ids": [features.label_id],
        "is_real_example": [int(features.is_real_example)],
    }


def encode_examples(features: Mapping[str, np.ndarray]) -> List[bytes]:
    """Returns N serialised examples of name -> [N, L], float32 or integers."""
    entries: List[List[bytes]] = []  # of each feature one for each example
    for name in sorted(features, key=str.encode):
        values = features[name]
        kind, lists = _INT64_LIST, _varints
        if values.dtype == np.float32:
            kind, lists = _FLOAT_LIST, _floats
        key = _field(1, name.encode())
        entries.append(
            [_field(1, key + _field(2, _field(kind, _field(1, row)))) for row in lists(values)]
        )
    return [_field(1, b"".join(example)) for example in zip(*entries)]


def _field(number: int, content: bytes) -> bytes:
    """A field of a message: its tag, its length, and the content."""
    return _head(number, len(content)) + content


@functools.lru_cache(maxsize=None)
def _head(number: int, length: int) -> bytes:
    return bytes([number << 3 | 2]) + _varints(np.array([[length]]))[0]


def _floats(values: np.ndarray) -> List[bytes]:
    return [row.tobytes() for row in values.astype("<f4")]


def _varints(values: np.ndarray) -> List[bytes]:
    """Seven bits a byte, the lowest first; every byte but the last of a value has bit 7 set."""
    bits = int(values.max(initial=1)).bit_length() if values.min(initial=0) >= 0 else 64
    if bits <= 7:
        return [row.tobytes() for row in values.astype(np.uint8)]
    dtype: Any = np.uint32 if bits <= 32 else np.uint64
    shifts = np.arange(0, bits, 7).astype(dtype)
    rest = values.astype(dtype)[:, :, None] >> shifts  # [N, L, bytes]
    groups = (rest | (rest > 0x7F).astype(np.uint8) << 7).astype(np.uint8)
    is_there = (rest > 0) | (shifts == 0)
    return [row[used].tobytes() for row, used in zip(groups, is_there)]
