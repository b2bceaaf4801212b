# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model's inputs for an example, and a fast writer of tf.train.Example's wire format.

The bytes equal tf.train.Example.SerializeToString(deterministic=True), which takes longer than all
other work on pretraining data.

Legend: N examples, R rows, L values of a feature.
"""

import dataclasses
import functools
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from albert.data.packing import Arrays
from albert.data.truncation import NUM_WINDOWS

# Field numbers of the messages: Example.features = 1; Features.feature = 1, a map with key = 1 and
# value = 2. A Feature has one of these lists, whose packed values are field 1.
_FLOAT_LIST, _INT64_LIST = 2, 3


class PaddingInputExample:
    """Fills the last batch, because on a TPU all batches have the same size. Its weight is 0."""


@dataclasses.dataclass(eq=False)
class InputFeatures:
    """The model's inputs for one example of classification or multiple choice.

    Attributes:
      input_ids, input_mask, segment_ids: lists of S ints; for multiple choice, one list per option.
      label_id: the label's number; for regression, the label itself; of several labels, 0 or 1 for
        each.
      guid, example_id: the example's name, or None. For multiple choice, example_id names the
        passage.
      is_real_example: False if the example only fills a batch.
    """

    input_ids: List[Any]
    input_mask: List[Any]
    segment_ids: List[Any]
    label_id: Union[int, float, List[int]]
    guid: Optional[str] = None
    example_id: Any = None
    is_real_example: bool = True


class InputRow(NamedTuple):
    """An input of an example, before `packing.pack`.

    Attributes:
      segments: the token ids of one or two texts; for multiple choice, these of each option.
      label_id, is_real_example: see InputFeatures.
      is_cut: whether tokens of the texts are missing.
      is_empty: whether a text has no tokens.
      num_windows: the number of inputs that the example has.
      window: the number of this input, from 0.
    """

    segments: Sequence[Any]
    label_id: Union[int, float, List[int]]
    is_real_example: bool = True
    is_cut: bool = False
    is_empty: bool = False
    num_windows: int = 1
    window: int = 0


def records_of(rows: Sequence[InputRow], packed: Arrays) -> Dict[str, Any]:
    """Returns the records of R rows: values [R, ...] by feature name. `packed`: see pack."""
    return {
        **packed,
        "label_ids": [row.label_id for row in rows],
        "is_real_example": [row.is_real_example for row in rows],
        NUM_WINDOWS: [row.num_windows for row in rows],
    }


def encode_examples(features: Mapping[str, np.ndarray]) -> List[bytes]:
    """Serialises N examples, from name -> [N, L] in float32 or integers."""
    entries: List[List[bytes]] = []  # one list per feature, with one entry per example
    for name in sorted(features, key=str.encode):
        values = features[name]
        kind, lists = _INT64_LIST, _varints
        if values.dtype == np.float32:
            kind, lists = _FLOAT_LIST, _floats
        entries.append([_feature_head(name, kind, len(row)) + row for row in lists(values)])
    examples = map(b"".join, zip(*entries))
    return [_head(1, len(example)) + example for example in examples]


@functools.lru_cache(maxsize=None)
def _feature_head(name: str, kind: int, length: int) -> bytes:
    """Returns the bytes before a feature's packed values, which have `length` bytes."""
    head, key = b"", name.encode()
    for number in (1, kind, 2):
        head = _head(number, len(head) + length) + head
    head = _head(1, len(key)) + key + head
    return _head(1, len(head) + length) + head


@functools.lru_cache(maxsize=None)
def _head(number: int, length: int) -> bytes:
    """Returns the bytes before a field's content: its tag and its length."""
    return bytes([number << 3 | 2]) + _varints(np.array([[length]]))[0]


def _floats(values: np.ndarray) -> List[bytes]:
    return [row.tobytes() for row in values.astype("<f4")]


def _varints(values: np.ndarray) -> List[bytes]:
    """Encodes integers with seven bits per byte, lowest first. Bit 7 says that a byte follows."""
    bits = int(values.max(initial=1)).bit_length() if values.min(initial=0) >= 0 else 64
    if bits <= 7:
        return [row.tobytes() for row in values.astype(np.uint8)]
    rest: Any = values.astype(np.uint32 if bits <= 32 else np.uint64)
    groups = np.zeros([*values.shape, -(-bits // 7)], np.uint8)  # [N, L, bytes]
    is_used = np.zeros(groups.shape, bool)
    for number in range(groups.shape[2]):
        groups[:, :, number] = rest | (rest > 0x7F).astype(np.uint8) << 7
        is_used[:, :, number] = rest > 0
        rest >>= 7
    is_used[:, :, 0] = True
    content = groups[is_used].tobytes()
    ends = np.cumsum(np.count_nonzero(is_used.reshape([len(values), -1]), axis=1)).tolist()
    return [content[start:end] for start, end in zip([0, *ends], ends)]
