# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts multiple-choice questions to the model's inputs.

A question becomes one sequence per option: [CLS] article [SEP] question and option [SEP]. Question
and option keep their last max_qa_length tokens together. The article loses tokens at its end until
the sequence fits (RACE in ALBERT, arXiv:1909.11942, section 4.1).

Dimensions: C options, S sequence.
"""

from typing import Any, Callable, List, Optional, Sequence

from albert import tokenization
from albert.data import feature_cache, record_files
from albert.data.packing import SEQUENCES, pack
from albert.data.record_format import Feature, FeatureSpec
from albert.data.records import InputFeatures, PaddingInputExample, record_of
from albert.tasks.race.examples import LETTERS, InputExample
from albert.util.errors import UserError

NUM_CHOICES = len(LETTERS)


def feature_spec(max_seq_length: int, num_choices: int = NUM_CHOICES) -> FeatureSpec:
    """Returns the declaration of the records.

    input_ids, input_mask, segment_ids are int64 [C, S], label_ids and is_real_example int64 [].
    """
    features = [Feature(name, (num_choices, max_seq_length)) for name in SEQUENCES]
    features += [Feature(name, ()) for name in ("label_ids", "is_real_example")]
    return FeatureSpec(features)


def check_lengths(max_seq_length: int, max_qa_length: int) -> None:
    """Raises UserError if there is no room for the article."""
    if not 0 < max_qa_length < max_seq_length - 3:
        raise UserError(
            f"--max_qa_length={max_qa_length} must be at least 1, and at most "
            f"--max_seq_length={max_seq_length} minus 4. Usual values are 128 and "
            "512."
        )


def convert_single_example(
    example_index,
    example,
    label_size,
    max_seq_length,
    tokenizer,
    max_qa_length,
    *,
    ids_of: Optional[Callable[[str], List[int]]] = None,
) -> InputFeatures:
    """Returns the features of one question; an unknown answer becomes 0.

    Args:
      example_index: ignored.
      example: InputExample with texts as RaceProcessor prepares them, or PaddingInputExample.
      label_size: C.
      max_seq_length: S.
      tokenizer: FullTokenizer.
      max_qa_length: maximum tokens of question plus option.
      ids_of: a function from text to ids, instead of the tokenizer.

    Raises:
      UserError: the lengths do not fit each other, or the vocabulary has no [CLS] or [SEP].
    """
    del example_index
    check_lengths(max_seq_length, max_qa_length)
    if isinstance(example, PaddingInputExample):
        zeros = [[0] * max_seq_length] * label_size
        return InputFeatures(zeros, zeros, zeros, 0, example_id=0, is_real_example=False)
    ends = tokenizer.required_ids(["[CLS]", "[SEP]"])
    ids_of = ids_of or (lambda text: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)))
    article = ids_of(example.context_sentence)
    start = ids_of(example.start_ending) if example.start_ending else []
    rows, is_cut, is_empty = [], False, False
    for ending in example.endings:
        whole = start + ids_of(ending)
        question = whole[-max_qa_length:]
        segments = [article[: max_seq_length - 3 - len(question)], question]
        is_cut = is_cut or segments != [article, whole]
        is_empty = is_empty or not all(segments)
        rows.append(pack(segments, ends, max_seq_length).values())
    ids, masks, types = map(list, zip(*rows))
    return InputFeatures(
        ids,
        masks,
        types,
        example.label or 0,
        example_id=example.example_id,
        is_cut=is_cut,
        is_empty=is_empty,
    )


def convert_examples(
    examples: Sequence[InputExample], tokenizer: tokenization.FullTokenizer, flags: Any
) -> feature_cache.Conversion:
    """Returns the records of questions. Tokenizes each text once.

    `flags` must have max_seq_length and max_qa_length.
    """
    texts = {example.context_sentence for example in examples}
    texts.update(ending for example in examples for ending in example.endings)
    ids = dict(zip(texts, tokenizer.encode_ids_batch(list(texts))))
    sizes = (flags.max_seq_length, tokenizer, flags.max_qa_length)
    features = [
        convert_single_example(0, example, NUM_CHOICES, *sizes, ids_of=ids.__getitem__)
        for example in examples
    ]
    limits = f"{flags.max_seq_length} tokens (the question: {flags.max_qa_length})"
    notes = feature_cache.notes_on(features, limits)
    return feature_cache.Conversion(list(map(record_of, features)), notes)


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file, max_qa_length
) -> None:
    """Writes the features of prepared examples, as RaceProcessor makes them, to a record file.

    Replaces an existing file. label_list has a label per option. For the other arguments, see
    `convert_single_example`.
    """
    sizes, count = (max_seq_length, tokenizer, max_qa_length), len(label_list)
    spec = feature_spec(max_seq_length, count)
    converted = (convert_single_example(0, example, count, *sizes) for example in examples)
    with record_files.create(output_file) as file:
        for record in spec.encode_each(map(record_of, converted)):
            file.write(record)
