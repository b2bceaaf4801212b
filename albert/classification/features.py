# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From examples of a classification task to the model's inputs.

A sequence is [CLS] a [SEP] or [CLS] a [SEP] b [SEP], cut to max_seq_length and padded with zeros;
segment 0 is a with [CLS] and its [SEP], segment 1 is b with its own (BERT, arXiv:1810.04805,
section 3).

Legend: S sequence, max_seq_length.
"""

import hashlib
import os
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.classification import tasks
from albert.classification.examples import InputExample, TaskData
from albert.data import batches, feature_cache
from albert.data.records import InputFeatures, PaddingInputExample, record_of
from albert.util.errors import UserError

_FORMAT_VERSION = 1
_USES = {"train": "train", "dev": "eval", "test": "predict"}

Example = Union[InputExample, PaddingInputExample]


def feature_spec(max_seq_length: int, is_regression: bool) -> batches.FeatureSpec:
    """Returns the declaration of the records.

    input_ids, input_mask, segment_ids are int64 [S], label_ids int64 [] (regression: float32 []),
    is_real_example int64 [].
    """
    sequences = ("input_ids", "input_mask", "segment_ids")
    features = [batches.Feature(name, (max_seq_length,)) for name in sequences]
    label = batches.Feature("label_ids", (), tf.float32 if is_regression else tf.int64)
    return batches.FeatureSpec([*features, label, batches.Feature("is_real_example", ())])


# ------------------------------------------------------------------------------------- conversion


def truncated_lengths(length_a: int, length_b: int, available: int) -> Tuple[int, int]:
    """Returns what is left of a pair when tokens go one by one from the longer text (a tie: b)."""
    excess = length_a + length_b - available
    if excess <= 0:
        return length_a, length_b
    from_longer = min(excess, abs(length_a - length_b))
    if length_a > length_b:
        length_a -= from_longer
    else:
        length_b -= from_longer
    rest = excess - from_longer  # the texts are equally long now: in turn, b first
    return length_a - rest // 2, length_b - (rest + 1) // 2


class _Encoded(NamedTuple):
    features: InputFeatures
    is_cut: bool  # whether the texts were too long


class _Encoder:
    """Makes features of tokenised examples."""

    def __init__(
        self,
        tokenizer: tokenization.FullTokenizer,
        max_seq_length: int,
        label_list: Sequence[Optional[str]],
    ):
        if max_seq_length < 4:
            raise UserError(
                f"max_seq_length is {max_seq_length}; a pair of texts needs at least 4: "
                "[CLS] a [SEP] [SEP]. Usual are 128 to 512."
            )
        self._tokenizer, self.length, self._labels = tokenizer, max_seq_length, list(label_list)
        self._first, self._separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    def encode_all(self, examples: Sequence[Example]) -> Iterator[_Encoded]:
        """Encodes unprepared texts; all are tokenised in one call, each different one once."""
        pairs = [(getattr(item, "text_a", ""), getattr(item, "text_b", None)) for item in examples]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if text is not None))
        ids = dict(zip(texts, self._tokenizer.encode_ids_batch(texts)))
        for example, (text_a, text_b) in zip(examples, pairs):
            yield self.encode(example, ids[text_a], ids.get(text_b))

    def encode(
        self, example: Example, ids_a: Sequence[int], ids_b: Optional[Sequence[int]]
    ) -> _Encoded:
        """Encodes an example, given the ids of its texts."""
        if isinstance(example, PaddingInputExample):
            zeros = [0] * self.length
            filler = InputFeatures(zeros, zeros, zeros, label_id=0, is_real_example=False)
            return _Encoded(filler, False)
        if ids_b is None:
            first = [self._first] + list(ids_a[: self.length - 2]) + [self._separator]
            second: List[int] = []
            is_cut = len(ids_a) > self.length - 2
        else:
            length_a, length_b = truncated_lengths(len(ids_a), len(ids_b), self.length - 3)
            first = [self._first] + list(ids_a[:length_a]) + [self._separator]
            second = list(ids_b[:length_b]) + [self._separator]
            is_cut = len(ids_a) + len(ids_b) > self.length - 3
        used = len(first) + len(second)
        padding = [0] * (self.length - used)
        features = InputFeatures(
            input_ids=first + second + padding,
            input_mask=[1] * used + padding,
            segment_ids=[0] * len(first) + [1] * len(second) + padding,
            label_id=self._label_id(example),
        )
        return _Encoded(features, is_cut)

    def _label_id(self, example: InputExample) -> Union[int, float]:
        """The label's number (regression: the label); 0 for an example without one."""
        if self._labels == [None]:
            return float(example.label or 0)
        if example.label is None:
            return 0
        if example.label not in self._labels:
            raise UserError(
                f"Example {example.guid}: unknown label {example.label!r}; the labels are "
                f"{', '.join(map(str, self._labels))}."
            )
        return self._labels.index(example.label)


def _labels_of(label_list: Sequence[Optional[str]], task_name: str) -> Sequence[Optional[str]]:
    """The labels; [None] for regression, which either of the arguments may say."""
    return [None] if tasks.is_regression(task_name) else list(label_list)


def convert_single_example(
    ex_index, example, label_list, max_seq_length, tokenizer, task_name
) -> InputFeatures:
    """Returns the features of one example whose texts are prepared, as processors make them.

    Args:
      ex_index: ignored.
      example: InputExample or PaddingInputExample.
      label_list: labels in the order of their ids; [None] for regression.
      max_seq_length: S.
      tokenizer: its `tokenize` is applied to the texts as they are.
      task_name: that of a regression makes label_list [None].

    Raises:
      ValueError: max_seq_length is too small, the label is unknown, or the vocabulary lacks [CLS]
        or [SEP].
    """
    del ex_index
    encoder = _Encoder(tokenizer, max_seq_length, _labels_of(label_list, task_name))
    texts = (getattr(example, "text_a", None), getattr(example, "text_b", None))
    ids = [
        None if text is None else tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
        for text in texts
    ]
    return encoder.encode(example, *ids).features


def convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, task_name
) -> List[InputFeatures]:
    """Returns the features of prepared examples; arguments as of `convert_single_example`."""
    return [
        convert_single_example(index, example, label_list, max_seq_length, tokenizer, task_name)
        for index, example in enumerate(examples)
    ]


def convert_examples(
    examples: Sequence[Example],
    label_list: Sequence[Optional[str]],
    *,
    max_seq_length: int,
    tokenizer: tokenization.FullTokenizer,
) -> List[InputFeatures]:
    """Returns the features of examples with texts as written; errors as `convert_single_example`.

    Much faster than one example after another: texts are tokenised together.
    """
    encoder = _Encoder(tokenizer, max_seq_length, label_list)
    return [encoded.features for encoded in encoder.encode_all(examples)]


# --------------------------------------------------------------------------------------- writing


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file, task_name
) -> None:
    """Writes the features of prepared examples, as processors make them, to a record file.

    The file is always written anew. Arguments as of `convert_single_example`.
    """
    label_list = _labels_of(label_list, task_name)
    spec = feature_spec(max_seq_length, is_regression=label_list == [None])
    fingerprint = {
        "max_seq_length": max_seq_length,
        "labels": label_list,
        "examples": _digest(examples),
        "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
    }
    with batches.AtomicRecordWriter(output_file, fingerprint) as writer:
        for index, example in enumerate(examples):
            features = convert_single_example(
                index, example, label_list, max_seq_length, tokenizer, task_name
            )
            writer.write(spec.encode(record_of(features)))


def _digest(examples: Sequence[Example]) -> str:
    """A hash of the examples' texts and labels in order."""
    digest = hashlib.sha256()
    for example in examples:
        fields = [getattr(example, name, "padding") for name in ("text_a", "text_b", "label")]
        digest.update(repr(fields).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:16]


def write_features(
    task: tasks.Task,
    data: TaskData,
    *,
    output_file: str,
    max_seq_length: int,
    tokenizer: tokenization.FullTokenizer,
    num_processes: Optional[int] = None,
    description: str = "features",
) -> feature_cache.RecordFile:
    """Writes the features of a split unless they exist already, made from the same things.

    `output_file`, `num_processes` and `description` are those of `feature_cache.build_records`;
    errors are those of `convert_single_example`.
    """
    encoder = _Encoder(tokenizer, max_seq_length, task.label_list)

    def convert(chunk: Sequence[Example]) -> feature_cache.Conversion:
        encoded = list(encoder.encode_all(chunk))
        records = [record_of(item.features) for item in encoded]
        cut = sum(item.is_cut for item in encoded)
        return feature_cache.Conversion(records, {f"cut to {max_seq_length} tokens": cut})

    return feature_cache.build_records(
        output_file,
        fingerprint={
            "format_version": _FORMAT_VERSION,
            "max_seq_length": max_seq_length,
            "labels": task.label_list,
            "files": [batches.file_fingerprint(path) for path in data.files],
            "examples": _digest(data.examples),
            "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
        },
        spec=feature_spec(max_seq_length, task.is_regression),
        items=data.examples,
        convert=convert,
        num_processes=num_processes,
        description=description,
    )


def cache_path(cached_dir: str, task: tasks.Task, split: str, *, max_seq_length: int) -> str:
    """Returns the file for the features of a split, e.g. mrpc_train.128.tf_record in `cached_dir`.

    Uses are called train, eval and predict; of several splits with one use, those after the first
    add their own name (mnli_eval_mismatched.128.tf_record).
    """
    use = _USES[task.split(split).role] + task.suffix(split)
    return os.path.join(cached_dir, f"{task.name}_{use}.{max_seq_length}.tf_record")
