# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From examples of a classification task to the model's inputs.

A sequence is [CLS] a [SEP] or [CLS] a [SEP] b [SEP], cut to max_seq_length and padded with zeros;
segment 0 is a with [CLS] and its [SEP], segment 1 is b with its own (BERT, arXiv:1810.04805,
section 3).

    data = read_examples(task, data_dir, "train")
    record_file = write_features(
        task, data, output_file=path, max_seq_length=128, tokenizer=tokenizer
    )

Legend: S sequence.
"""

import functools
import hashlib
import os
from typing import List, NamedTuple, Optional, Sequence, Union

import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.classification import tasks as classifier_tasks
from albert.classification.examples import InputExample, TaskData
from albert.data import batches as input_pipeline
from albert.data import feature_cache
from albert.data.records import InputFeatures, PaddingInputExample, record_of

_FORMAT_VERSION = 1

Example = Union[InputExample, PaddingInputExample]


def feature_spec(max_seq_length: int, is_regression: bool) -> input_pipeline.FeatureSpec:
    """Returns the declaration of the records.

    input_ids, input_mask, segment_ids are int64 [S], label_ids int64 [] (regression: float32 []),
    is_real_example int64 [].
    """
    shapes = dict.fromkeys(("input_ids", "input_mask", "segment_ids"), (max_seq_length,))
    shapes.update(label_ids=(), is_real_example=())
    kinds = {"label_ids": tf.float32 if is_regression else tf.int64}
    features = [
        input_pipeline.Feature(name, shape, kinds.get(name, tf.int64))
        for name, shape in shapes.items()
    ]
    return input_pipeline.FeatureSpec(features)


# ------------------------------------------------------------------------------------- conversion


class PairLengths(NamedTuple):
    """How many tokens of each text are kept."""

    text_a: int
    text_b: int


def truncated_lengths(length_a: int, length_b: int, available: int) -> PairLengths:
    """Returns what is left of a pair when tokens go one by one from the longer text (a tie: b)."""
    excess = length_a + length_b - available
    if excess <= 0:
        return PairLengths(length_a, length_b)
    from_longer = min(excess, abs(length_a - length_b))
    if length_a > length_b:
        length_a -= from_longer
    else:
        length_b -= from_longer
    rest = excess - from_longer  # the texts are equally long now: in turn, b first
    return PairLengths(length_a - rest // 2, length_b - (rest + 1) // 2)


class _Encoder:
    """Puts the ids of texts together; knows the special tokens and the length."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, max_seq_length: int):
        if max_seq_length < 4:
            raise ValueError(
                f"max_seq_length is {max_seq_length}; a pair of texts needs at least 4 places: "
                "[CLS] a [SEP] [SEP]. Usual are 128 to 512."
            )
        self.length = max_seq_length
        self._first, self._separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    def padding(self) -> InputFeatures:
        """What fills a batch."""
        zeros = [0] * self.length
        return InputFeatures(zeros, zeros, zeros, label_id=0, is_real_example=False)

    def is_cut(self, ids_a: Sequence[int], ids_b: Optional[Sequence[int]]) -> bool:
        """Whether the texts do not fit."""
        special = 2 if ids_b is None else 3
        return len(ids_a) + len(ids_b or ()) + special > self.length

    def features(
        self, ids_a: Sequence[int], ids_b: Optional[Sequence[int]], label: Union[int, float]
    ) -> InputFeatures:
        """Builds the sequence of one example."""
        if ids_b is None:
            first = [self._first] + list(ids_a[: self.length - 2]) + [self._separator]
            second = []
        else:
            kept = truncated_lengths(len(ids_a), len(ids_b), self.length - 3)
            first = [self._first] + list(ids_a[: kept.text_a]) + [self._separator]
            second = list(ids_b[: kept.text_b]) + [self._separator]
        used = len(first) + len(second)
        padding = [0] * (self.length - used)
        return InputFeatures(
            input_ids=first + second + padding,
            input_mask=[1] * used + padding,
            segment_ids=[0] * len(first) + [1] * len(second) + padding,
            label_id=label,
        )


def _labels_of(label_list: Sequence[Optional[str]], task_name: str) -> Sequence[Optional[str]]:
    """The labels; [None] for regression, which either of the arguments may tell."""
    return [None] if classifier_tasks.is_regression(task_name) else list(label_list)


def _label_id(example: InputExample, label_list: Sequence[Optional[str]]) -> Union[int, float]:
    """The label's number; 0 for an example that is to be predicted."""
    is_regression = list(label_list) == [None]
    if example.label is None:
        return 0.0 if is_regression else 0
    if is_regression:
        return float(example.label)
    try:
        return list(label_list).index(example.label)
    except ValueError:
        raise ValueError(
            f"Example {example.guid}: unknown label {example.label!r}; the labels are "
            f"{', '.join(map(str, label_list))}."
        ) from None


def convert_single_example(
    ex_index, example, label_list, max_seq_length, tokenizer, task_name
) -> InputFeatures:
    """Returns the features of one example whose texts are prepared, as processors make them.

    Args:
      ex_index: without effect; there for callers that pass it.
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
    encoder = _Encoder(tokenizer, max_seq_length)
    if isinstance(example, PaddingInputExample):
        return encoder.padding()
    ids = [
        None if text is None else tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
        for text in (example.text_a, example.text_b)
    ]
    return encoder.features(*ids, _label_id(example, _labels_of(label_list, task_name)))


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
    """Returns the features of examples whose texts are as they were written, in the fastest way.

    Args:
      examples: InputExample or PaddingInputExample; text_b may be None for some.
      label_list: labels in the order of their ids; [None] for regression.
      max_seq_length: S.
      tokenizer: prepares the texts and cuts them into tokens.

    Raises:
      ValueError: as `convert_single_example`.
    """
    encoder = _Encoder(tokenizer, max_seq_length)
    return [
        _features_of(example, ids, encoder=encoder, label_list=label_list)
        for example, ids in zip(examples, _encode_all(examples, tokenizer))
    ]


class _PairIds(NamedTuple):
    """The ids of an example's texts; text_b None where there is one text."""

    text_a: Sequence[int]
    text_b: Optional[Sequence[int]]


def _encode_all(
    examples: Sequence[Example], tokenizer: tokenization.FullTokenizer
) -> List[_PairIds]:
    """Tokenises all texts in one call, each different one once."""
    pairs = [(getattr(item, "text_a", ""), getattr(item, "text_b", None)) for item in examples]
    texts = list(dict.fromkeys(text for pair in pairs for text in pair if text is not None))
    ids = dict(zip(texts, tokenizer.encode_ids_batch(texts)))
    return [_PairIds(ids[text_a], ids.get(text_b)) for text_a, text_b in pairs]


def _features_of(
    example: Example,
    ids: _PairIds,
    *,
    encoder: _Encoder,
    label_list: Sequence[Optional[str]],
) -> InputFeatures:
    """The features of an example whose ids are known."""
    if isinstance(example, PaddingInputExample):
        return encoder.padding()
    return encoder.features(ids.text_a, ids.text_b, _label_id(example, label_list))


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
        "examples": examples_digest(examples),
        "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
    }
    with input_pipeline.AtomicRecordWriter(output_file, fingerprint) as writer:
        for index, example in enumerate(examples):
            features = convert_single_example(
                index, example, label_list, max_seq_length, tokenizer, task_name
            )
            writer.write(spec.encode(record_of(features)))


def examples_digest(examples: Sequence[Example]) -> str:
    """Returns a hash of the examples' texts and labels in order."""
    digest = hashlib.sha256()
    for example in examples:
        fields = [getattr(example, name, "padding") for name in ("text_a", "text_b", "label")]
        digest.update(repr(fields).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:16]


def write_features(
    task: classifier_tasks.Task,
    data: TaskData,
    *,
    output_file: str,
    max_seq_length: int,
    tokenizer: tokenization.FullTokenizer,
    num_processes: Optional[int] = None,
    description: str = "",
) -> feature_cache.RecordFile:
    """Writes the features of a split unless they are there already, made from the same things.

    Args:
      task: gives the labels.
      data: the examples, with texts as they were written, and the files they come from.
      output_file: the record file, into whose name some digits are put that stand for all that
        it is made from; see `feature_cache.build_records`.
      max_seq_length: S.
      tokenizer: prepares the texts and cuts them into tokens.
      num_processes: see `feature_cache.build_records`.
      description: for the log; "mrpc train" or the like.

    Raises:
      ValueError: max_seq_length is too small, or the vocabulary lacks [CLS] or [SEP].
    """
    label_list = task.label_list
    encoder = _Encoder(tokenizer, max_seq_length)

    def convert(chunk: Sequence[Example]) -> feature_cache.Conversion:
        pairs = _encode_all(chunk, tokenizer)
        build = functools.partial(_features_of, encoder=encoder, label_list=label_list)
        records = [record_of(build(example, ids)) for example, ids in zip(chunk, pairs)]
        cut = sum(encoder.is_cut(*ids) for ids in pairs)
        return feature_cache.Conversion(records, {f"cut to {max_seq_length} tokens": cut})

    return feature_cache.build_records(
        output_file,
        fingerprint={
            "format_version": _FORMAT_VERSION,
            "max_seq_length": max_seq_length,
            "labels": label_list,
            "files": [input_pipeline.file_fingerprint(path) for path in data.files],
            "examples": examples_digest(data.examples),
            "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
        },
        spec=feature_spec(max_seq_length, task.is_regression),
        items=data.examples,
        convert=convert,
        num_processes=num_processes,
        description=description or os.path.basename(str(output_file)),
    )


# -------------------------------------------------------------------------------------- the cache

_USES = {"train": "train", "dev": "eval", "test": "predict"}


class SplitFeatures(NamedTuple):
    """A split's examples and the file with their features."""

    data: TaskData
    records: feature_cache.RecordFile


def cache_path(
    cached_dir: str, task: classifier_tasks.Task, split: str, *, max_seq_length: int
) -> str:
    """Returns the name for the features of a split, e.g. mrpc_train.128.tf_record in `cached_dir`.

    The uses are called train, eval and predict; of several splits with one use, those after the
    first carry their own name too (mnli_eval_mismatched.128.tf_record). The length is in the name
    so that people can tell the files of a shared folder apart; `write_features` adds some digits.
    """
    declared = task.split(split)
    use = _USES[declared.role]
    if declared.name != task.split(declared.role).name:
        use += declared.name[len(declared.role) :]
    return os.path.join(str(cached_dir), f"{task.name}_{use}.{max_seq_length}.tf_record")


def cached_features(
    task: classifier_tasks.Task,
    data_dir: str,
    split: str,
    *,
    cached_dir: str,
    max_seq_length: int,
    tokenizer: tokenization.FullTokenizer,
    num_processes: Optional[int] = None,
) -> SplitFeatures:
    """Reads a split and returns its examples with the record file of their features.

    Args:
      task, data_dir, split: as `classifier_tasks.read_examples` takes them.
      cached_dir: folder of the record files, shared by runs; see `cache_path`.
      max_seq_length, tokenizer, num_processes: as of `write_features`.

    Raises:
      ValueError: the data cannot be read, or as `write_features`.
    """
    data = classifier_tasks.read_examples(task, data_dir, split)
    records = write_features(
        task,
        data,
        output_file=cache_path(cached_dir, task, split, max_seq_length=max_seq_length),
        max_seq_length=max_seq_length,
        tokenizer=tokenizer,
        num_processes=num_processes,
        description=f"{task.name} {split}",
    )
    return SplitFeatures(data, records)
