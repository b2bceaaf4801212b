# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions of multiple choice to the model's inputs.

A question is one sequence for each option: [CLS] article [SEP] question and option [SEP]. Of the
question with its option the last max_qa_length tokens are kept, and the article is cut at its end
to what is left (RACE in ALBERT, arXiv:1909.11942, section 4.1).

Dimensions: C options, S sequence.
"""

import functools
from typing import Any, List, Optional, Sequence

from albert import tokenization
from albert.data import batches, feature_cache
from albert.data.records import InputFeatures, PaddingInputExample, record_of
from albert.race import examples as race_examples
from albert.util.errors import UserError

_FORMAT_VERSION = 1
NUM_CHOICES = len(race_examples.LETTERS)


def feature_spec(max_seq_length: int, num_choices: int = NUM_CHOICES) -> batches.FeatureSpec:
    """Returns the declaration of the records.

    input_ids, input_mask, segment_ids are int64 [C, S], label_ids and is_real_example int64 [].
    """
    sequences = ("input_ids", "input_mask", "segment_ids")
    shape = (num_choices, max_seq_length)
    features = [batches.Feature(name, shape) for name in sequences]
    features += [batches.Feature(name, ()) for name in ("label_ids", "is_real_example")]
    return batches.FeatureSpec(features)


def check_lengths(max_seq_length: int, max_qa_length: int) -> None:
    """Raises ValueError if there is no room for the article."""
    if not 0 < max_qa_length < max_seq_length - 3:
        raise UserError(
            f"--max_qa_length={max_qa_length} must be at least 1 and leave room for the article in "
            f"--max_seq_length={max_seq_length}, besides three special tokens. Usual are 128 and "
            "512."
        )


# ------------------------------------------------------------------------------------- conversion


class Encoder:
    """Makes features of the ids of an article and of a question with its options."""

    def __init__(
        self, tokenizer: tokenization.FullTokenizer, max_seq_length: int, max_qa_length: int
    ):
        check_lengths(max_seq_length, max_qa_length)
        self._length = max_seq_length
        self._qa_length = max_qa_length
        self._first, self._separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    def is_article_cut(self, article: Sequence[int], ending: Sequence[int]) -> bool:
        """Returns whether the article is too long."""
        return len(article) + min(len(ending), self._qa_length) + 3 > self._length

    def is_ending_cut(self, ending: Sequence[int]) -> bool:
        """Returns whether the question with its option is too long."""
        return len(ending) > self._qa_length

    def features(
        self,
        example_id: str,
        article: Sequence[int],
        endings: Sequence[Sequence[int]],
        *,
        label: Any,
    ) -> InputFeatures:
        """Returns the C sequences of a question; an unknown answer becomes 0."""
        rows = [self._row(article, ending) for ending in endings]
        ids, masks, segments = (list(part) for part in zip(*rows))
        return InputFeatures(ids, masks, segments, label or 0, example_id=example_id)

    def _row(self, article: Sequence[int], ending: Sequence[int]) -> List[List[int]]:
        """Ids, mask and segments of one sequence."""
        second = list(ending[-self._qa_length :]) + [self._separator]
        room = self._length - 2 - len(second)
        first = [self._first, *article[:room], self._separator]
        used = len(first) + len(second)
        padding = [0] * (self._length - used)
        segments = [0] * len(first) + [1] * len(second) + padding
        return [first + second + padding, [1] * used + padding, segments]


def convert_single_example(
    example_index, example, label_size, max_seq_length, tokenizer, max_qa_length
) -> InputFeatures:
    """Returns the features of one question whose texts are prepared, as RaceProcessor makes them.

    Args:
      example_index: ignored.
      example: examples.InputExample, or PaddingInputExample.
      label_size: C.
      max_seq_length: S.
      tokenizer: its `tokenize` is applied to the texts as they are.
      max_qa_length: most tokens of the question with its option.

    Raises:
      ValueError: lengths that do not fit each other, another number of endings, or a vocabulary
        that lacks [CLS] or [SEP].
    """
    del example_index
    encoder = Encoder(tokenizer, max_seq_length, max_qa_length)
    if isinstance(example, PaddingInputExample):
        zeros = [[0] * max_seq_length] * label_size
        return InputFeatures(zeros, zeros, zeros, 0, example_id=0, is_real_example=False)
    if len(example.endings) != label_size:
        raise UserError(
            f"Example {example.example_id}: it has {len(example.endings)} endings where "
            f"{label_size} are needed."
        )

    def ids(text: str) -> List[int]:
        return tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))

    start = [] if example.start_ending is None else ids(example.start_ending)
    endings = [start + ids(ending) for ending in example.endings]
    return encoder.features(
        example.example_id, ids(example.context_sentence), endings, label=example.label
    )


def convert_passages(
    passages: Sequence[race_examples.Passage],
    encoder: Encoder,
    tokenizer: tokenization.FullTokenizer,
) -> feature_cache.Conversion:
    """Returns the records of all questions on some passages; each text is tokenised once."""
    questions = [(passage, item) for passage in passages for item in passage.questions]
    texts = [passage.article for passage in passages]
    texts += [ending for _, item in questions for ending in item.endings()]
    texts = list(dict.fromkeys(texts))
    ids = dict(zip(texts, tokenizer.encode_ids_batch(texts)))
    records, cut_articles, cut_endings = [], 0, 0
    for passage, item in questions:
        article, endings = ids[passage.article], [ids[text] for text in item.endings()]
        features = encoder.features(passage.identity, article, endings, label=item.answer)
        records.append(record_of(features))
        cut_articles += any(encoder.is_article_cut(article, ending) for ending in endings)
        cut_endings += any(encoder.is_ending_cut(ending) for ending in endings)
    notes = {"question whose article was cut": cut_articles, "cut question": cut_endings}
    return feature_cache.Conversion(records, notes)


# --------------------------------------------------------------------------------------- writing


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file, max_qa_length
) -> None:
    """Writes the features of prepared examples, as RaceProcessor makes them, to a record file.

    The file is always written anew. Arguments as of `convert_single_example`; label_list names the
    options.
    """
    spec = feature_spec(max_seq_length, len(label_list))
    fingerprint = {
        "max_seq_length": max_seq_length,
        "max_qa_length": max_qa_length,
        "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
    }
    with batches.AtomicRecordWriter(output_file, fingerprint) as writer:
        for index, example in enumerate(examples):
            features = convert_single_example(
                index, example, len(label_list), max_seq_length, tokenizer, max_qa_length
            )
            writer.write(spec.encode(record_of(features)))


def write_features(
    split: race_examples.RaceSplit,
    *,
    output_file: str,
    max_seq_length: int,
    max_qa_length: int,
    tokenizer: tokenization.FullTokenizer,
    exact_path: bool = False,
    num_processes: Optional[int] = None,
    description: str = "features",
) -> feature_cache.RecordFile:
    """Writes the features of a split unless they exist already, made from the same things.

    The other arguments are those of `feature_cache.build_records`; errors are those of
    `convert_single_example`.
    """
    encoder = Encoder(tokenizer, max_seq_length, max_qa_length)
    return feature_cache.build_records(
        output_file,
        fingerprint={
            "format_version": _FORMAT_VERSION,
            "max_seq_length": max_seq_length,
            "max_qa_length": max_qa_length,
            "passages": split.digest,
            "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
        },
        spec=feature_spec(max_seq_length),
        items=split.passages,
        convert=functools.partial(convert_passages, encoder=encoder, tokenizer=tokenizer),
        exact_path=exact_path,
        num_processes=num_processes,
        description=description,
    )
