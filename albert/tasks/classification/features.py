# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts examples of a classification task to the model's inputs.

A sequence is [CLS] a [SEP] or [CLS] a [SEP] b [SEP], truncated to max_seq_length and padded with
zeros; see data/truncation.py.

Legend: S sequence, max_seq_length.
"""

import itertools
from typing import Any, List, Mapping, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert import tokenization
from albert.configs.shared_flags import END, WINDOWS
from albert.data import feature_cache, inputs
from albert.data.inputs import InputFeatures
from albert.data.packing import SEQUENCES
from albert.data.record_format import Feature, FeatureSpec
from albert.data.truncation import NUM_WINDOWS, parts_of
from albert.tasks.classification.examples import InputExample
from albert.util import UserError, wording


def feature_spec(
    max_seq_length: int,
    is_regression: bool,
    *,
    truncation: str = END,
    label_shape: Tuple[int, ...] = (),
) -> FeatureSpec:
    """Returns the declaration of the records.

    input_ids, input_mask and segment_ids are int64 [S]; label_ids is int64 [] (for regression,
    float32 []; of several labels, 0 or 1 for each); is_real_example and, for windows, num_windows
    are int64 [].
    """
    features = [Feature(name, (max_seq_length,)) for name in SEQUENCES]
    label = Feature("label_ids", label_shape, tf.float32 if is_regression else tf.int64)
    features += [label, Feature("is_real_example", ())]
    if truncation == WINDOWS:
        features.append(Feature(NUM_WINDOWS, ()))
    return FeatureSpec(features)


def truncated_lengths(length_a: int, length_b: int, available: int) -> Tuple[int, int]:
    """Returns the lengths after dropping tokens from the longer text, or from b in a tie."""
    kept_b = min(length_b, max(available - length_a, available // 2))
    return min(length_a, available - kept_b), kept_b


def _windows(
    texts: Sequence[Sequence[int]], room: int, truncation: str
) -> Tuple[List[Sequence[Sequence[int]]], bool]:
    """Returns the segments of each input of an example, and whether a token is in none of them.

    In windows, the longer text of a pair moves, and the other one keeps its first tokens.

    Args:
      texts: the token ids of one or two texts.
      room: how many fit into an input.
      truncation: see data/truncation.py.
    """
    if sum(map(len, texts)) <= room:
        return [texts], False
    kept = truncated_lengths(len(texts[0]), sum(map(len, texts[1:])), room)
    parts = [parts_of(text, length, truncation) for text, length in zip(texts, kept)]
    is_cut = [len(text) > length for text, length in zip(texts, kept)]
    if truncation == WINDOWS:
        longer = int(len(texts[-1]) > len(texts[0]))
        is_cut[longer] = False
        parts = [part if number == longer else part[:1] for number, part in enumerate(parts)]
    return list(itertools.product(*parts)), any(is_cut)


def convert(
    examples: Sequence[Any],
    label_list: Any,
    tokenizer: tokenization.FullTokenizer,
    *,
    max_seq_length: int,
    is_raw: bool = False,
    truncation: str = END,
    is_multi_label: bool = False,
) -> feature_cache.Conversion:
    """Returns the records of examples, in windows those of each window.

    Args:
      examples: InputExample or PaddingInputExample objects.
      label_list: labels in the order of their ids, or a dict label -> id; [None] for regression.
      tokenizer: its `tokenize` must accept the texts, which a DataProcessor has prepared.
      max_seq_length: S, at least 4.
      is_raw: whether the texts are unprepared, so that the tokenizer prepares them; much faster.
      truncation: what becomes of long texts; see data/truncation.py.
      is_multi_label: whether an example's label is a tuple of any number of labels.

    Raises:
      ValueError: a label is unknown, or the vocabulary lacks [CLS] or [SEP].
    """
    label_ids = label_list
    if not isinstance(label_list, dict):
        label_ids = {label: number for number, label in enumerate(label_list)}
    texts = (getattr(item, name, None) for item in examples for name in ("text_a", "text_b"))
    ids = inputs.ids_of_texts(tokenizer, texts, is_raw)

    def encode(example: InputExample) -> inputs.EncodedExample:
        segments = [ids[example.text_a]]
        if example.text_b is not None:
            segments.append(ids[example.text_b])
        windows, is_cut = _windows(segments, max_seq_length - 1 - len(segments), truncation)
        label_id = _label_id(example, label_ids, is_multi_label)
        return inputs.EncodedExample([[window] for window in windows], label_id, is_cut)

    return inputs.convert(
        examples,
        encode,
        tokenizer,
        shape=[max_seq_length],
        limits=f"{max_seq_length} tokens",
    )


def convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, task_name, **options
) -> List[InputFeatures]:
    """Returns the features of examples; see `convert`. Ignores task_name."""
    records, _ = convert(
        list(examples), label_list, tokenizer, max_seq_length=max_seq_length, **options
    )
    return inputs.features_of(records)


def _label_id(example: InputExample, label_ids: Mapping[Any, int], is_multi_label: bool) -> Any:
    """Returns the label's id (for regression, the label; of several, 0 or 1 for each label).

    Without a label it is 0.
    """
    if is_multi_label:
        return [int(label in (example.label or ())) for label in label_ids]
    if None in label_ids:
        return float(example.label or 0)
    if example.label is None:
        return 0
    if example.label not in label_ids:
        raise UserError(
            f"Example {example.guid}: unknown label {example.label!r}. Labels: "
            f"{wording.listed(list(label_ids))}."
        )
    return label_ids[example.label]


def convert_single_example(
    ex_index, example, label_list, max_seq_length, tokenizer, task_name
) -> InputFeatures:
    """Returns the features of one example; see `convert_examples_to_features`. Ignores ex_index."""
    return convert_examples_to_features(
        [example], label_list, max_seq_length, tokenizer, task_name
    )[0]


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file, task_name
) -> None:
    """Writes the features to a record file; see `convert_examples_to_features`."""
    feature_cache.write_records(
        output_file,
        feature_spec(max_seq_length, is_regression=list(label_list) == [None]),
        list(examples),
        convert=lambda group: convert(group, label_list, tokenizer, max_seq_length=max_seq_length),
    )
