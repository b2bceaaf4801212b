# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The model's inputs for examples of classification and multiple choice.

Dimensions: R rows, C options, S sequence.
"""

import dataclasses
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from albert.data import feature_cache
from albert.data.packing import SEQUENCES, pack
from albert.data.truncation import NUM_WINDOWS
from albert.util import parallel


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
    label_id: Any
    guid: Optional[str] = None
    example_id: Any = None
    is_real_example: bool = True


class EncodedExample(NamedTuple):
    """An example as token ids.

    Attributes:
      windows: the inputs of the example. An input has, for each option, the token ids of one or two
        texts: [[([1, 2], [3])]] is one input of classification, which has one option, of a pair.
      label_id, is_real_example: see InputFeatures.
      is_cut: whether tokens of the texts are missing.
    """

    windows: Sequence[Any]
    label_id: Any
    is_cut: bool = False
    is_real_example: bool = True


def ids_of_texts(tokenizer: Any, texts: Iterable[Any], is_raw: bool) -> Dict[Any, List[int]]:
    """Returns the token ids of each text. With `is_raw`, the tokenizer prepares the texts."""
    distinct = list(set(texts) - {None})
    if is_raw:
        ids = tokenizer.encode_ids_batch(distinct, num_threads=parallel.default_processes())
    else:
        ids = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)) for text in distinct]
    return dict(zip(distinct, ids))


def convert(
    examples: Sequence[Any],
    encode: Callable[[Any], EncodedExample],
    tokenizer: Any,
    *,
    shape: Sequence[int],
    limits: str,
) -> feature_cache.Conversion:
    """Returns a record for each window of each example.

    Args:
      examples: examples for `encode`, and PaddingInputExamples.
      encode: returns the token ids of an example.
      tokenizer: FullTokenizer.
      shape: the shape of a record's input_ids: (S,), or (C, S). Padding replaces missing options.
      limits: what texts are cut to, for the log.

    Raises:
      UserError: the vocabulary has no [CLS] or [SEP].
    """
    padding = EncodedExample([[()]], 0, is_real_example=False)
    encoded = [
        padding if isinstance(example, PaddingInputExample) else encode(example)
        for example in examples
    ]
    rows = [(example, window) for example in encoded for window in example.windows]
    count = int(np.prod(shape[:-1]))
    options: List = []
    for _, window in rows:
        options += window
        options += [() for _ in range(count - len(window))]
    packed = pack(options, tokenizer.required_ids(["[CLS]", "[SEP]"]), shape[-1])
    records: Dict[str, Any] = {
        name: values.reshape([-1, *shape]) for name, values in packed.items()
    }
    records["label_ids"] = [example.label_id for example, _ in rows]
    records["is_real_example"] = [example.is_real_example for example, _ in rows]
    records[NUM_WINDOWS] = [len(example.windows) for example, _ in rows]
    notes = {
        f"cut to {limits}": sum(example.is_cut for example in encoded),
        "empty": sum(not all(map(all, example.windows[0])) for example in encoded),
        "read in windows": sum(len(example.windows) > 1 for example in encoded),
    }
    return feature_cache.Conversion(records, notes)


def features_of(records: Mapping[str, Any]) -> List[InputFeatures]:
    """Returns the records of `convert` as one object per row, with lists."""
    sequences = (records[name].tolist() for name in SEQUENCES)
    columns = zip(*sequences, records["label_ids"], records["is_real_example"])
    return [InputFeatures(*values, is_real_example=is_real) for *values, is_real in columns]  # type: ignore
