# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions on paragraphs to the model's inputs, and back to the paragraph's characters.

A sequence is [CLS] question [SEP] window [SEP], padded with zeros. A paragraph that is too long is
cut into windows that overlap: each begins doc_stride tokens behind the one before it (BERT,
arXiv:1810.04805, and its public run_squad.py). The tokenizer gives each token's character span.

Dimensions: F features (windows), S sequence, P tokens of a paragraph.
"""

import bisect
import collections
import copy
import dataclasses
import hashlib
import os
from functools import lru_cache
from typing import (
    Any,
    Counter,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import numpy as np

from albert import tokenization
from albert.data import batches, feature_cache
from albert.squad.examples import SquadData, SquadExample
from albert.util import parallel
from albert.util.errors import UserError

SEQUENCES = ("input_ids", "input_mask", "segment_ids", "p_mask")

_FORMAT_VERSION = 1
_FIRST_UNIQUE_ID = 1000000000
_CHUNK_EXAMPLES = 256  # that a worker takes at a time

Span = Tuple[int, int]  # the first token, and the one after the last


class Layout(NamedTuple):
    """How questions and paragraphs are laid out."""

    max_seq_length: int  # S
    doc_stride: int
    max_query_length: int
    is_training: bool  # whether to say where the answer is


# ---- an example in tokens ----


class Paragraph(NamedTuple):
    """The tokens of a text; token n stands for the characters text[starts[n] : lasts[n] + 1]."""

    ids: np.ndarray  # int32 [P]
    starts: np.ndarray  # int32 [P]
    lasts: np.ndarray  # int32 [P]


class Question(NamedTuple):
    """An example in tokens."""

    ids: List[int]  # of the question, cut to max_query_length
    is_cut: bool
    paragraph: Paragraph
    answer: Optional[Span]  # the tokens of the paragraph to learn; an empty span: none covers it
    windows: Sequence[Span]
    example_index: int = 0
    number: int = 0  # of its first window among all


def align(text: str, encoding: tokenization.Encoding) -> Paragraph:
    """Returns the tokens of `text`; each stands for one character at least."""
    starts, lasts, end = [], [], 0
    for piece, start, piece_end in zip(encoding.pieces, encoding.starts, encoding.ends):
        if piece.startswith(tokenization.SPIECE_UNDERLINE):
            start = min(start, end + len(text[end:start].rstrip()))
        end = piece_end
        starts.append(start)
        lasts.append(max(start, end - 1))
    return Paragraph(*(np.array(column, np.int32) for column in (encoding.ids, starts, lasts)))


def answer_tokens(example: SquadExample, encoding: tokenization.Encoding) -> Optional[Span]:
    """Returns the tokens that cover the answer to learn; None if there is none."""
    first, last = example.start_position, example.end_position
    if example.is_impossible or first is None:
        return None
    if last is None:
        last = first + len(example.orig_answer_text or "") - 1
    return bisect.bisect_right(encoding.ends, first), bisect.bisect_right(encoding.starts, last)


@lru_cache(maxsize=4096)
def _windows_over(tokens: int, room: int, stride: int) -> Sequence[Span]:
    """The windows of a paragraph, of at most `room` tokens each; one if it has none."""
    step = min(room, stride)
    firsts = range(0, max(tokens - room, 0) + step, step)
    return tuple((first, min(first + room, tokens)) for first in firsts)


def _tokenize(
    examples: Sequence[SquadExample], tokenizer: tokenization.FullTokenizer, layout: Layout
) -> List[Question]:
    """The examples in tokens; each paragraph is encoded once, and all questions together."""

    @lru_cache(maxsize=None)
    def encode(text: str) -> Tuple[tokenization.Encoding, Paragraph]:
        encoding = tokenizer.encode_with_offsets(text)
        return encoding, align(text, encoding)

    questions = []
    asked = tokenizer.encode_ids_batch([example.question_text for example in examples])
    for example, all_ids in zip(examples, asked):
        encoding, paragraph = encode(tokenization.convert_to_unicode(example.paragraph_text))
        ids = all_ids[: layout.max_query_length]
        room = layout.max_seq_length - len(ids) - 3  # [CLS] and twice [SEP]
        if min(room, layout.doc_stride) < 1:
            raise UserError(
                f"{layout} leaves no room for the paragraph of a question of {len(ids)} tokens. "
                "Raise max_seq_length or lower max_query_length; doc_stride must be at least 1."
            )
        windows = _windows_over(len(paragraph.ids), room, layout.doc_stride)
        answer = answer_tokens(example, encoding)
        questions.append(Question(ids, len(ids) < len(all_ids), paragraph, answer, windows))
    return questions


def _questions(
    examples: Sequence[SquadExample],
    tokenizer: tokenization.FullTokenizer,
    layout: Layout,
    *,
    num_processes: int = 1,
) -> Iterator[Question]:
    """The examples in tokens, in order."""

    def tokenize(first: int) -> List[Question]:
        return _tokenize(examples[first : first + _CHUNK_EXAMPLES], tokenizer, layout)

    index = number = 0
    chunks = range(0, len(examples), _CHUNK_EXAMPLES)
    for chunk in parallel.ordered_map(tokenize, chunks, num_processes):
        for question in chunk:
            yield question._replace(example_index=index, number=number)
            index += 1
            number += len(question.windows)


# ---- a window ----


@dataclasses.dataclass(eq=False)
class InputFeatures:
    """The model's inputs for one window, and how its tokens relate to the paragraph."""

    unique_id: int  # 1000000000 + the number of the window among all
    example_index: Optional[int]  # None in training
    doc_span_index: int  # the number of the window in its paragraph
    # The first and the last character of the paragraph that each token of the window stands for.
    # A token that stands for a space too begins with the white space before it.
    tok_start_to_orig_index: Sequence[int]
    tok_end_to_orig_index: Sequence[int]
    # Position in the sequence -> whether no other window shows that token in more context.
    token_is_max_context: Mapping[int, bool]
    tokens: Sequence[str]  # of the positions in use
    input_ids: Sequence[int]  # S
    input_mask: Sequence[int]  # S
    segment_ids: Sequence[int]  # S; 1 from the window's first token to the last [SEP]
    paragraph_len: int  # positions in use
    p_mask: Optional[Sequence[int]] = None  # S; 0 where an answer may begin or end, else 1
    start_position: Optional[int] = None  # 0 if no answer is in this window; None in prediction
    end_position: Optional[int] = None
    is_impossible: Optional[bool] = None  # no answer in this window; False in prediction


@lru_cache(maxsize=4096)
def _max_context(windows: Sequence[Span]) -> Sequence[np.ndarray]:
    """For each token of each window, whether this window shows it with the most around it.

    A token's score is that of the shorter side, plus a hundredth of the window's length; of equal
    scores the first window's counts (the rule of the public run_squad.py).
    """
    scores = np.full([len(windows), windows[-1][1]], -1.0)
    for row, (first, end) in zip(scores, windows):
        left = np.arange(end - first)
        row[first:end] = np.minimum(left, left[::-1]) + 0.01 * len(left)
    best = scores.argmax(axis=0)  # [P]
    return [best[slice(*window)] == number for number, window in enumerate(windows)]


class _Place(NamedTuple):
    """Where a window's tokens lie, in the sequence and in the paragraph."""

    unique_id: int
    example_index: Optional[int]
    first: int  # position of the first token in the sequence
    starts: np.ndarray  # the first character of each token
    lasts: np.ndarray
    is_max_context: np.ndarray


def _places(question: Question) -> Iterator[_Place]:
    pairs = zip(question.windows, _max_context(question.windows))
    for unique_id, ((first, end), flags) in enumerate(pairs, _FIRST_UNIQUE_ID + question.number):
        _, starts, lasts = (column[first:end] for column in question.paragraph)
        yield _Place(unique_id, question.example_index, len(question.ids) + 2, starts, lasts, flags)


class _Builder:
    """Makes the windows of questions."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, layout: Layout):
        self._layout = layout
        self._tokenizer = tokenizer
        self._first_id, self._separator_id = tokenizer.required_ids(["[CLS]", "[SEP]"])

    def records(self, question: Question) -> Iterator[Dict[str, Any]]:
        """The records of a question's windows, by the names of `feature_spec`."""
        begin = [self._first_id, *question.ids, self._separator_id]
        allowed = [0] + [1] * (len(begin) - 1)  # [CLS] stands for no answer
        ids, answer = question.paragraph.ids.tolist(), question.answer
        for number, (first, end) in enumerate(question.windows):
            used = len(begin) + end - first + 1
            zeros = [0] * (self._layout.max_seq_length - used)
            record = {
                "unique_ids": _FIRST_UNIQUE_ID + question.number + number,
                "input_ids": [*begin, *ids[first:end], self._separator_id, *zeros],
                "input_mask": [1] * used + zeros,
                "segment_ids": [0] * len(begin) + [1] * (used - len(begin)) + zeros,
                "p_mask": [*allowed, *[0] * (end - first), 1, *[1] * len(zeros)],
            }
            if self._layout.is_training:
                is_here = answer and first <= answer[0] < answer[1] <= end
                shift = len(begin) - first
                target = (answer[0] + shift, answer[1] - 1 + shift) if is_here else (0, 0)
                record["start_positions"], record["end_positions"] = target
                record["is_impossible"] = not is_here
            yield record

    def features(self, question: Question) -> Iterator[InputFeatures]:
        """The windows of a question."""
        pairs = zip(self.records(question), _places(question))
        for number, (record, place) in enumerate(pairs):
            used = place.first + len(place.starts) + 1
            yield InputFeatures(
                place.unique_id,
                None if self._layout.is_training else place.example_index,
                number,
                place.starts.tolist(),
                place.lasts.tolist(),
                dict(enumerate(place.is_max_context.tolist(), start=place.first)),
                self._tokenizer.convert_ids_to_tokens(record["input_ids"][:used]),
                input_ids=record["input_ids"],
                input_mask=record["input_mask"],
                segment_ids=record["segment_ids"],
                paragraph_len=used,
                p_mask=record["p_mask"],
                start_position=record.get("start_positions"),
                end_position=record.get("end_positions"),
                is_impossible=record.get("is_impossible", False),
            )

    def convert(self, questions: Sequence[Question]) -> feature_cache.Conversion:
        """The records of some questions, and what is worth counting of them."""
        notes: Counter[str] = collections.Counter()
        records = []
        for question in questions:
            made = list(self.records(question))
            records += made
            notes[f"question cut to {self._layout.max_query_length} tokens"] += question.is_cut
            is_lost = question.answer and all(record.get("is_impossible") for record in made)
            notes["answer that no window holds whole"] += bool(is_lost)
        return feature_cache.Conversion(records, notes)


def convert_examples_to_features(
    examples,
    tokenizer,
    max_seq_length,
    doc_stride,
    max_query_length,
    is_training,
    output_fn,
    do_lower_case,
) -> None:
    """Calls output_fn(InputFeatures) for each window of each SquadExample, in order.

    Args:
      max_seq_length: S.
      doc_stride: how many tokens a window begins behind the one before it.
      max_query_length: how many tokens of a question are kept.
      is_training: whether to say where the answer is.
      do_lower_case: whether to make the texts lower case, for SentencePiece; for WordPiece it has
        to be what the tokenizer was made with.

    Raises:
      UserError: lengths that leave no room, a vocabulary without [CLS] or [SEP], or do_lower_case
        is not the WordPiece tokenizer's.
    """
    if tokenizer.do_lower_case != bool(do_lower_case):
        if tokenizer.sp_model is None:
            raise UserError(
                f"do_lower_case is {do_lower_case}, but the tokenizer was made with "
                f"do_lower_case={tokenizer.do_lower_case}. Give both the same."
            )
        tokenizer = copy.copy(tokenizer)
        tokenizer.do_lower_case = bool(do_lower_case)
    layout = Layout(max_seq_length, doc_stride, max_query_length, is_training)
    builder = _Builder(tokenizer, layout)
    for question in _questions(examples, tokenizer, layout):
        for feature in builder.features(question):
            output_fn(feature)


# ---- records ----


def feature_spec(max_seq_length: int, is_training: bool) -> batches.FeatureSpec:
    """Returns the declaration of the records: int64 [S] for SEQUENCES, [] for the others."""
    shapes = {"unique_ids": (), **dict.fromkeys(SEQUENCES, (max_seq_length,))}
    if is_training:
        shapes.update(start_positions=(), end_positions=(), is_impossible=())
    return batches.FeatureSpec([batches.Feature(*item) for item in shapes.items()])


def record_of(feature: InputFeatures, is_training: bool) -> Dict[str, Any]:
    """Returns the record of a window, by the names of `feature_spec`."""
    record = {name: getattr(feature, name) for name in SEQUENCES}
    record["unique_ids"] = feature.unique_id
    if is_training:
        record["start_positions"] = feature.start_position
        record["end_positions"] = feature.end_position
        record["is_impossible"] = bool(feature.is_impossible)
    return record


class FeatureWriter:
    """Writes features to a record file, which appears when the writer is closed."""

    def __init__(self, filename, is_training):
        self.filename = filename
        self.is_training = is_training
        self.num_features = 0  # written
        self._writer = batches.AtomicRecordWriter(filename, {"is_training": is_training})
        self._writer.__enter__()

    def process_feature(self, feature: InputFeatures) -> None:
        """Writes the features of one window."""
        spec = feature_spec(len(feature.input_ids), self.is_training)
        self._writer.write(spec.encode(record_of(feature, self.is_training)))
        self.num_features += 1

    def close(self) -> None:
        """Finishes the file."""
        self._writer.__exit__(None, None, None)


# ---- what decoding needs ----


class Windows(NamedTuple):
    """Where the positions of each window lie in its paragraph."""

    unique_ids: np.ndarray  # int64 [F], as in the records
    example_index: np.ndarray  # int32 [F]
    # int32 [F, S], the first and the last character that a position stands for; -1: not of the
    # paragraph
    start_chars: np.ndarray
    end_chars: np.ndarray
    is_max_context: np.ndarray  # bool [F, S]: no other window shows that token with more around it


def windows_of(features: Sequence[InputFeatures], max_seq_length: int) -> Windows:
    """Returns what decoding needs of features as arrays, in their order."""
    places = []
    for item in features:
        first, starts = int(np.argmax(item.segment_ids)), item.tok_start_to_orig_index
        flags = [item.token_is_max_context.get(first + n, False) for n in range(len(starts))]
        columns = map(np.array, (starts, item.tok_end_to_orig_index, flags))
        places.append(_Place(item.unique_id, item.example_index, first, *columns))
    return _windows(places, max_seq_length)


def _windows(places: Sequence[_Place], max_seq_length: int) -> Windows:
    shape = (len(places), max_seq_length)
    starts, lasts = np.full((2, *shape), -1, np.int32)
    flags = np.zeros(shape, bool)
    for row, place in enumerate(places):
        here = slice(place.first, place.first + len(place.starts))
        starts[row, here], lasts[row, here] = place.starts, place.lasts
        flags[row, here] = place.is_max_context
    ids = np.array([place.unique_id for place in places], np.int64)
    examples = np.array([place.example_index for place in places], np.int32)
    return Windows(ids, examples, starts, lasts, flags)


# ---- a file of records ----


class SquadFeatures(NamedTuple):
    """The features of a file of questions."""

    data: SquadData
    records: feature_cache.RecordFile
    windows: Optional[Windows]  # None for training


def write_features(
    data: SquadData,
    *,
    output_file: str,
    tokenizer: tokenization.FullTokenizer,
    exact_path: bool = True,
    num_processes: Optional[int] = None,
    description: str = "",
    **layout: Any,
) -> SquadFeatures:
    """Writes the features of questions unless they are there, made from the same things.

    Args:
      data: the questions.
      output_file: the record file.
      tokenizer: prepares the texts and cuts them into tokens.
      exact_path, num_processes, description: see `feature_cache.build_records`.
      **layout: the fields of `Layout`.

    Raises:
      UserError: as `convert_examples_to_features`.
    """
    examples, lengths = data.examples, Layout(**layout)
    builder = _Builder(tokenizer, lengths)
    processes = feature_cache.processes_for(num_processes, len(examples))

    @lru_cache(maxsize=1)  # the records and the windows need them
    def questions() -> List[Question]:
        return list(_questions(examples, tokenizer, lengths, num_processes=processes))

    records = feature_cache.build_records(
        output_file,
        fingerprint={
            "format_version": _FORMAT_VERSION,
            **lengths._asdict(),
            "examples": _digest(examples),
            "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
        },
        spec=feature_spec(lengths.max_seq_length, lengths.is_training),
        items=questions,
        convert=builder.convert,
        exact_path=exact_path,
        num_processes=num_processes,
        description=description or os.path.basename(str(output_file)),
    )
    windows = None
    if not lengths.is_training:
        places = [place for question in questions() for place in _places(question)]
        windows = _windows(places, lengths.max_seq_length)
    return SquadFeatures(data, records, windows)


def _digest(examples: Sequence[SquadExample]) -> str:
    """A hash of the examples in order; a paragraph is read once, for speed."""
    digest, paragraph = hashlib.sha256(), None
    for example in examples:
        fields = dict(vars(example))
        if example.paragraph_text == paragraph:
            del fields["paragraph_text"]
        paragraph = example.paragraph_text
        digest.update(repr(fields).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:16]
