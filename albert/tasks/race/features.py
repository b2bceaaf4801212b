# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts multiple-choice questions to the model's inputs.

A question becomes one sequence per option: [CLS] article [SEP] question and option [SEP]. Question
and option keep their last max_qa_length tokens together. The article loses tokens at its end until
the sequence fits (RACE in ALBERT, arXiv:1909.11942, section 4.1), or as data/truncation.py says.

Dimensions: C options, S sequence.
"""

from typing import Any, Callable, List, Sequence, Tuple

from albert import tokenization
from albert.configs.shared_flags import END, WINDOWS
from albert.data import feature_cache, record_files
from albert.data.packing import SEQUENCES, pack
from albert.data.record_format import Feature, FeatureSpec
from albert.data.records import InputFeatures, InputRow, PaddingInputExample, records_of
from albert.data.truncation import NUM_WINDOWS, parts_of
from albert.tasks.race.examples import LETTERS, InputExample
from albert.util import UserError

NUM_CHOICES = len(LETTERS)


def feature_spec(
    max_seq_length: int, num_choices: int = NUM_CHOICES, *, truncation: str = END
) -> FeatureSpec:
    """Returns the declaration of the records.

    input_ids, input_mask, segment_ids are int64 [C, S], label_ids, is_real_example and, for
    windows, num_windows int64 [].
    """
    features = [Feature(name, (num_choices, max_seq_length)) for name in SEQUENCES]
    features += [Feature(name, ()) for name in ("label_ids", "is_real_example")]
    if truncation == WINDOWS:
        features.append(Feature(NUM_WINDOWS, ()))
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
) -> InputFeatures:
    """Returns the features of one question; an unknown answer becomes 0.

    Args:
      example_index: ignored.
      example: InputExample with texts as RaceProcessor prepares them, or PaddingInputExample.
      label_size: C.
      max_seq_length: S.
      tokenizer: FullTokenizer.
      max_qa_length: maximum tokens of question plus option.

    Raises:
      UserError: the lengths do not fit each other, or the vocabulary has no [CLS] or [SEP].
    """
    del example_index
    check_lengths(max_seq_length, max_qa_length)
    if isinstance(example, PaddingInputExample):
        row, example_id = InputRow([()] * label_size, 0, is_real_example=False), 0
    else:
        lengths, example_id = (max_seq_length, max_qa_length), example.example_id
        row = _input_rows(
            example,
            lengths,
            ids_of=lambda text: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)),
        )[0]
    ends = tokenizer.required_ids(["[CLS]", "[SEP]"])
    packed = pack(row.segments, ends, max_seq_length)
    return InputFeatures(
        **{name: values.tolist() for name, values in packed.items()},
        label_id=row.label_id,
        example_id=example_id,
        is_real_example=row.is_real_example,
    )


def _input_rows(
    example: InputExample,
    lengths: Tuple[int, int],
    *,
    ids_of: Callable[[str], List[int]],
    truncation: str = END,
) -> List[InputRow]:
    """Returns the input of a question; for windows, with each window of the article.

    `lengths` are max_seq_length and max_qa_length, and `ids_of` is a function from text to ids.
    """
    max_seq_length, max_qa_length = lengths
    article = ids_of(example.context_sentence)
    start = ids_of(example.start_ending) if example.start_ending else []
    wholes = [start + ids_of(ending) for ending in example.endings]
    questions = [whole[-max_qa_length:] for whole in wholes]
    rooms = [max_seq_length - 3 - len(question) for question in questions]
    is_cut = truncation != WINDOWS and len(article) > min(rooms)
    if truncation == WINDOWS:  # The longest option decides, so that all have the same windows.
        rooms = [min(rooms) for _ in rooms]
    windows = list(zip(*(parts_of(article, room, truncation) for room in rooms)))
    rows = []
    for number, parts in enumerate(windows):
        segments = list(zip(parts, questions))
        row = InputRow(
            segments,
            example.label or 0,
            is_cut=is_cut or questions != wholes,
            is_empty=not all(map(all, segments)),
            num_windows=len(windows),
            window=number,
        )
        rows.append(row)
    return rows


def convert_examples(
    examples: Sequence[InputExample],
    tokenizer: tokenization.FullTokenizer,
    flags: Any,
    *,
    num_choices: int = 0,
) -> feature_cache.Conversion:
    """Returns the records of questions or, for windows, of their windows. Tokenizes each text once.

    A record has as many sequences as the question with the most options has, at least
    `num_choices`. `flags` must have max_seq_length, max_qa_length and truncation.
    """
    check_lengths(flags.max_seq_length, flags.max_qa_length)
    texts = {example.context_sentence for example in examples}
    texts.update(ending for example in examples for ending in example.endings)
    ids = dict(zip(texts, tokenizer.encode_ids_batch(list(texts))))
    lengths = (flags.max_seq_length, flags.max_qa_length)
    rows: List[InputRow] = []
    for example in examples:
        rows += _input_rows(example, lengths, ids_of=ids.__getitem__, truncation=flags.truncation)
    most = max([num_choices, *(len(row.segments) for row in rows)])
    options = [segments for row in rows for segments in [*row.segments, *[()] * most][:most]]
    ends = tokenizer.required_ids(["[CLS]", "[SEP]"])
    packed = {
        name: values.reshape([len(rows), most, flags.max_seq_length])
        for name, values in pack(options, ends, flags.max_seq_length).items()
    }
    limits = f"{flags.max_seq_length} tokens (the question: {flags.max_qa_length})"
    return feature_cache.Conversion(records_of(rows, packed), feature_cache.notes_on(rows, limits))


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
        rows = (dict(vars(features), label_ids=features.label_id) for features in converted)
        for record in spec.encode_each(rows):
            file.write(record)
