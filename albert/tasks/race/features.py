# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts multiple-choice questions to the model's inputs.

A question becomes one sequence per option: [CLS] article [SEP] question and option [SEP]. Question
and option keep their last max_qa_length tokens together. The article loses tokens at its end until
the sequence fits (RACE in ALBERT, arXiv:1909.11942, section 4.1), or as data/truncation.py says.

Dimensions: C options, S sequence.
"""

from typing import Any, Sequence

from albert import tokenization
from albert.configs.shared_flags import END, WINDOWS
from albert.data import feature_cache, inputs
from albert.data.inputs import InputFeatures, PaddingInputExample
from albert.data.packing import SEQUENCES
from albert.data.record_format import Feature, FeatureSpec
from albert.data.truncation import NUM_WINDOWS, parts_of
from albert.tasks.race.examples import LETTERS, InputExample
from albert.tasks.race.flags import RaceFlags
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


def check_lengths(flags: Any) -> None:
    """Raises UserError if there is no room for the article."""
    if not 0 < flags.max_qa_length < flags.max_seq_length - 3:
        raise UserError(
            f"--max_qa_length={flags.max_qa_length} must be at least 1, and at most "
            f"--max_seq_length={flags.max_seq_length} minus 4. Usual values are 128 and "
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
    flags = RaceFlags(max_seq_length=max_seq_length, max_qa_length=max_qa_length)
    records, _ = convert_examples([example], tokenizer, flags, is_raw=False, num_choices=label_size)
    (features,) = inputs.features_of(records)
    features.example_id = getattr(example, "example_id", 0)
    return features


def convert_examples(
    examples: Sequence[Any],
    tokenizer: tokenization.FullTokenizer,
    flags: Any,
    *,
    is_raw: bool = True,
    num_choices: int = 0,
) -> feature_cache.Conversion:
    """Returns the records of questions or, for windows, of their windows. Tokenizes each text once.

    A record has as many sequences as the question with the most options has, at least
    `num_choices`. `flags` must have max_seq_length, max_qa_length and truncation. `is_raw`: the
    tokenizer prepares the texts.
    """
    check_lengths(flags)
    max_seq_length, max_qa_length = flags.max_seq_length, flags.max_qa_length
    is_windows = flags.truncation == WINDOWS
    real = [item for item in examples if not isinstance(item, PaddingInputExample)]
    texts = [item.context_sentence for item in real]
    texts += [text for item in real for text in (item.start_ending, *item.endings)]
    ids = inputs.ids_of_texts(tokenizer, texts, is_raw)

    def encode(example: InputExample) -> inputs.EncodedExample:
        article, start = ids[example.context_sentence], ids.get(example.start_ending, ())
        wholes = [[*start, *ids[ending]] for ending in example.endings]
        questions = [whole[-max_qa_length:] for whole in wholes]
        rooms = [max_seq_length - 3 - len(question) for question in questions]
        is_cut = not is_windows and len(article) > min(rooms)
        if is_windows:  # The longest option decides, so that all have the same windows.
            rooms = [min(rooms) for _ in rooms]
        windows = list(zip(*(parts_of(article, room, flags.truncation) for room in rooms)))
        return inputs.EncodedExample(
            [list(zip(parts, questions)) for parts in windows],
            example.label or 0,
            is_cut or questions != wholes,
        )

    most = max([num_choices, *(len(item.endings) for item in real)])
    return inputs.convert(
        examples,
        encode,
        tokenizer,
        shape=[most, max_seq_length],
        limits=f"{max_seq_length} tokens (the question: {max_qa_length})",
    )


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file, max_qa_length
) -> None:
    """Writes the features of prepared examples, as RaceProcessor makes them, to a record file.

    Replaces an existing file. label_list has a label per option. For the other arguments, see
    `convert_single_example`.
    """
    flags = RaceFlags(max_seq_length=max_seq_length, max_qa_length=max_qa_length)
    count = len(label_list)
    feature_cache.write_records(
        output_file,
        feature_spec(max_seq_length, count),
        examples,
        convert=lambda group: convert_examples(
            group, tokenizer, flags, is_raw=False, num_choices=count
        ),
    )
