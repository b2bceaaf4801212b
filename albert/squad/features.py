# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions on paragraphs to the model's inputs, and back to the paragraph's characters.

A sequence is [CLS] question [SEP] window [SEP], padded with zeros. A paragraph that is too long is
cut into windows that overlap: each begins doc_stride tokens behind the one before it (BERT,
arXiv:1810.04805, and its public run_squad.py). The tokenizer gives each token's character span.

Legend: F features (windows), S sequence, P tokens of a paragraph.
"""

import bisect
import collections
import copy
import dataclasses
import functools
import hashlib
import os
from typing import Any, Counter, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from albert import tokenization
from albert.data import batches, feature_cache
from albert.squad.examples import SquadData, SquadExample
from albert.util import files, parallel, progress
from albert.util.errors import UserError

SEQUENCES = ("input_ids", "input_mask", "segment_ids", "p_mask")

_FORMAT_VERSION = 1
_FIRST_UNIQUE_ID = 1000000000
_SPECIAL_TOKENS = 3  # [CLS] and twice [SEP]
_CHUNK_EXAMPLES = 1000  # whose tokens are in memory where features go out one by one
_CHUNK_PARAGRAPHS = 32  # that a worker takes at a time


@dataclasses.dataclass(eq=False)
class InputFeatures:
    """The model's inputs for one window, and how its tokens relate to the paragraph.

    tok_start_to_orig_index and tok_end_to_orig_index give for each token of the window the first
    and the last character of the paragraph that it stands for. A token that stands for a space too
    begins with the white space before it.
    """

    unique_id: int  # 1000000000 + the number of the window among all
    example_index: Optional[int]  # None in training
    doc_span_index: int  # the number of the window in its paragraph
    tok_start_to_orig_index: List[int]
    tok_end_to_orig_index: List[int]
    # Position in the sequence -> whether no other window shows that token with more around it.
    token_is_max_context: Dict[int, bool]
    tokens: List[str]  # of the positions in use
    input_ids: List[int]  # S
    input_mask: List[int]  # S
    segment_ids: List[int]  # S
    paragraph_len: int  # positions in use
    p_mask: Optional[List[int]] = None  # S; 0 where an answer may begin or end, else 1
    start_position: Optional[int] = None  # 0 if no answer is in this window; None in prediction
    end_position: Optional[int] = None
    is_impossible: Optional[bool] = None  # no answer in this window; False in prediction


def feature_spec(max_seq_length: int, is_training: bool) -> batches.FeatureSpec:
    """Returns the declaration of the records: int64 [S] for SEQUENCES, [] for the others."""
    shapes = {"unique_ids": (), **dict.fromkeys(SEQUENCES, (max_seq_length,))}
    if is_training:
        shapes.update(start_positions=(), end_positions=(), is_impossible=())
    return batches.FeatureSpec([batches.Feature(*item) for item in shapes.items()])


# ----------------------------------------------------------------------------------- alignment


class Span(NamedTuple):
    """Something from its first to its last element."""

    first: int
    last: int


class Alignment(NamedTuple):
    """The tokens of a text; token n stands for the characters text[starts[n] : lasts[n] + 1].

    A token with SentencePiece's underline begins with the white space before it. Each token stands
    for one character at least.
    """

    ids: np.ndarray  # int32 [P]
    starts: np.ndarray  # int32 [P]
    lasts: np.ndarray  # int32 [P]


def align(text: str, encoding: tokenization.Encoding) -> Alignment:
    """Returns the tokens of `text` with the characters they stand for."""
    starts = list(encoding.starts)
    previous_end = 0
    for number, token in enumerate(encoding.pieces):
        if token.startswith(tokenization.SPIECE_UNDERLINE):
            while starts[number] > previous_end and text[starts[number] - 1].isspace():
                starts[number] -= 1
        previous_end = encoding.ends[number]
    lasts = [max(first, end - 1) for first, end in zip(starts, encoding.ends)]
    return Alignment(*(np.array(column, np.int32) for column in (encoding.ids, starts, lasts)))


def tokens_of(answer: Span, encoding: tokenization.Encoding) -> Optional[Span]:
    """Returns the tokens that cover the characters `answer`; None if no token stands for any."""
    first = bisect.bisect_right(encoding.ends, answer.first)
    last = bisect.bisect_right(encoding.starts, answer.last) - 1
    return Span(first, last) if first <= last else None


def answer_of(example: SquadExample) -> Optional[Span]:
    """Returns the characters of the answer to learn; None if there is none."""
    if example.is_impossible or example.start_position is None:
        return None
    last = example.end_position
    if last is None:
        last = example.start_position + len(example.orig_answer_text or "") - 1
    return Span(example.start_position, last)


# ------------------------------------------------------------------------------------- windows


class Layout(NamedTuple):
    """How questions and paragraphs are laid out."""

    max_seq_length: int  # S
    doc_stride: int
    max_query_length: int

    def check(self) -> None:
        """Raises ValueError for numbers that no question fits."""
        limits = Layout(_SPECIAL_TOKENS + 1, 1, 0)
        for name, value, least, usual in zip(self._fields, self, limits, (384, 128, 64)):
            if value < least:
                raise UserError(f"{name} is {value}; at least {least} is needed, {usual} is usual.")

    def windows(self, question: int, paragraph: int) -> Sequence["_Window"]:
        """Returns the windows of a paragraph of so many tokens; one if it has none.

        Raises:
          ValueError: the question leaves no place for a single token.
        """
        room = self.max_seq_length - question - _SPECIAL_TOKENS
        if room < 1:
            raise UserError(
                f"A question of {question} tokens leaves no place for its paragraph in "
                f"{self.max_seq_length}. Lower max_query_length (it is {self.max_query_length}) or "
                "raise max_seq_length."
            )
        return _windows_over(paragraph, room, self.doc_stride)


class _Window(NamedTuple):
    """Some consecutive tokens of a paragraph."""

    first: int
    count: int  # type: ignore[assignment]

    @property
    def here(self) -> slice:
        """Returns their places in the paragraph."""
        return slice(self.first, self.first + self.count)


@functools.lru_cache(maxsize=4096)
def _windows_over(tokens: int, room: int, stride: int) -> Sequence[_Window]:
    windows = []
    first = 0
    while True:
        count = min(tokens - first, room)
        windows.append(_Window(first, count))
        if first + count >= tokens:
            return tuple(windows)
        first += min(count, stride)


@functools.lru_cache(maxsize=4096)
def _max_context(windows: Sequence[_Window]) -> Sequence[np.ndarray]:
    """For each window, bool [its tokens]: whether it shows the token with the most around it.

    A token's score is that of the shorter side, plus a hundredth of the window's length; of equal
    scores the first window's counts (the rule of the public run_squad.py).
    """
    tokens = windows[-1].first + windows[-1].count  # P
    best, best_score = np.zeros(tokens, np.int32), np.full(tokens, -1.0)
    for number, window in enumerate(windows):
        here = window.here
        left = np.arange(window.count)
        score = np.minimum(left, left[::-1]) + 0.01 * window.count
        is_better = score > best_score[here]
        best[here][is_better] = number
        best_score[here][is_better] = score[is_better]
    return tuple(best[window.here] == number for number, window in enumerate(windows))


# ------------------------------------------------------------------------- questions in tokens


class Question(NamedTuple):
    """An example in tokens."""

    ids: List[int]  # of the question, cut to max_query_length
    paragraph: Alignment
    answer: Optional[Span]  # the tokens of the paragraph to learn; None: there are none
    windows: Sequence[_Window]
    notes: Sequence[str]  # what is worth counting
    index: int  # type: ignore[assignment]  # of the example
    number: int  # of its first window among all


def encode_questions(
    examples: Sequence[SquadExample],
    tokenizer: tokenization.FullTokenizer,
    layout: Layout,
    *,
    num_processes: Optional[int] = None,
    description: str = "questions",
    first_index: int = 0,
    first_number: int = 0,
) -> List[Question]:
    """Returns the examples in tokens; a paragraph that occurs several times is encoded once.

    Args:
      examples: in any order.
      tokenizer: prepares the texts and cuts them.
      layout: see `Layout`.
      num_processes: see `feature_cache.processes_for`.
      description: what the progress bar calls the examples.
      first_index, first_number: of the first example and its first window among all.

    Raises:
      ValueError: num_processes is below 1, or a question leaves no place for its paragraph.
      OSError: a worker process was killed.
    """
    by_text: Dict[str, List[int]] = {}
    for index, example in enumerate(examples):
        text = tokenization.convert_to_unicode(example.paragraph_text)
        by_text.setdefault(text, []).append(index)
    texts = list(by_text)
    # The workers are forked and have the texts already: they take a number.
    chunks = range(0, len(texts), _CHUNK_PARAGRAPHS)

    def encode(first: int) -> List[Question]:
        chunk = {text: by_text[text] for text in texts[first : first + _CHUNK_PARAGRAPHS]}
        return _encode_chunk(chunk, examples, tokenizer, layout=layout)

    processes = feature_cache.processes_for(num_processes, len(examples))
    found: List[Any] = [None] * len(examples)
    with progress.Progress(f"{description}: tokens", len(examples), unit="examples") as bar:
        for questions in parallel.ordered_map(encode, chunks, processes):
            for question in questions:
                found[question.index] = question
            bar.update(len(questions), "")
    number = first_number
    for index, question in enumerate(found):
        found[index] = question._replace(index=first_index + index, number=number)
        number += len(question.windows)
    return found


def _encode_chunk(
    chunk: Mapping[str, Sequence[int]],
    examples: Sequence[SquadExample],
    tokenizer: tokenization.FullTokenizer,
    *,
    layout: Layout,
) -> List[Question]:
    """The examples of some paragraphs; all questions are cut in one call, for speed."""
    indices = [index for of_text in chunk.values() for index in of_text]
    asked_texts = [examples[index].question_text for index in indices]
    ids = dict(zip(indices, tokenizer.encode_ids_batch(asked_texts)))
    questions = []
    for text, of_text in chunk.items():
        encoding = tokenizer.encode_with_offsets(text)
        paragraph = align(text, encoding)
        for index in of_text:
            asked = ids[index][: layout.max_query_length]
            notes = []
            if len(asked) < len(ids[index]):
                notes.append(f"question cut to {layout.max_query_length} tokens")
            answer = answer_of(examples[index])
            covering = answer and tokens_of(answer, encoding)
            if answer and not covering:
                notes.append("answer that no token stands for")
            windows = layout.windows(len(asked), len(paragraph.ids))
            questions.append(Question(asked, paragraph, covering, windows, notes, index, 0))
    return questions


class _Builder:
    """Builds records; knows the special tokens, the length, and what they are for."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, layout: Layout, is_training: bool):
        layout.check()
        self._length = layout.max_seq_length
        self._is_training = is_training
        self._first, self._separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    def records(self, question: Question) -> List[Dict[str, Any]]:
        """The records of a question's windows, by the names of `feature_spec`."""
        begin = [self._first, *question.ids, self._separator]
        allowed = [0] + [1] * (len(begin) - 1)  # [CLS] stands for no answer
        ids = question.paragraph.ids.tolist()
        records = []
        for number, window in enumerate(question.windows, start=_FIRST_UNIQUE_ID + question.number):
            used = len(begin) + window.count + 1
            zeros = [0] * (self._length - used)
            record = {
                "unique_ids": number,
                "input_ids": [*begin, *ids[window.here], self._separator, *zeros],
                "input_mask": [1] * used + zeros,
                "segment_ids": [0] * len(begin) + [1] * (used - len(begin)) + zeros,
                "p_mask": [*allowed, *[0] * window.count, 1, *[1] * len(zeros)],
            }
            if self._is_training:
                record.update(_target(question.answer, window, len(begin)))
            records.append(record)
        return records

    def features(self, question: Question) -> Iterator[InputFeatures]:
        """The features of a question's windows, but for the tokens' names."""
        offset = len(question.ids) + 2
        starts, lasts = question.paragraph.starts.tolist(), question.paragraph.lasts.tolist()
        parts = zip(self.records(question), question.windows, _max_context(question.windows))
        for number, (record, window, flags) in enumerate(parts):
            yield InputFeatures(
                record["unique_ids"],
                None if self._is_training else question.index,
                number,
                starts[window.here],
                lasts[window.here],
                {offset + place: flag for place, flag in enumerate(flags.tolist())},
                tokens=[],
                paragraph_len=offset + window.count + 1,
                start_position=record.get("start_positions"),
                end_position=record.get("end_positions"),
                is_impossible=bool(record.get("is_impossible", 0)),
                **{name: record[name] for name in SEQUENCES},
            )


def _target(answer: Optional[Span], window: _Window, offset: int) -> Dict[str, int]:
    """What to learn: the answer's place in the window, whose first token is at `offset`."""
    if answer is None or answer.first < window.first or answer.last >= window.first + window.count:
        return {"start_positions": 0, "end_positions": 0, "is_impossible": 1}
    shift = offset - window.first
    places = {"start_positions": answer.first + shift, "end_positions": answer.last + shift}
    return dict(places, is_impossible=0)


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
      ValueError: a number is too small, or the vocabulary lacks [CLS] or [SEP], or do_lower_case
        is not the WordPiece tokenizer's.
    """
    tokenizer = _cased_tokenizer(tokenizer, bool(do_lower_case))
    layout = Layout(max_seq_length, doc_stride, max_query_length)
    builder = _Builder(tokenizer, layout, is_training)
    number = 0
    for first in range(0, len(examples), _CHUNK_EXAMPLES):
        chunk = examples[first : first + _CHUNK_EXAMPLES]
        place: Dict[str, Any] = {"first_index": first, "first_number": number}
        for question in encode_questions(chunk, tokenizer, layout, num_processes=1, **place):
            for features in builder.features(question):
                used = features.input_ids[: features.paragraph_len]
                features.tokens = tokenizer.convert_ids_to_tokens(used)
                output_fn(features)
                number += 1


def _cased_tokenizer(
    tokenizer: tokenization.FullTokenizer, do_lower_case: bool
) -> tokenization.FullTokenizer:
    """The tokenizer with this rule of case."""
    if tokenizer.do_lower_case == do_lower_case:
        return tokenizer
    if tokenizer.sp_model is None:
        raise UserError(
            f"do_lower_case is {do_lower_case}, but the tokenizer was made with "
            f"do_lower_case={tokenizer.do_lower_case}. Give both the same."
        )
    tokenizer = copy.copy(tokenizer)
    tokenizer.do_lower_case = do_lower_case
    return tokenizer


class FeatureWriter:
    """Writes features to a record file, which appears when the writer is closed."""

    def __init__(self, filename, is_training):
        self.filename = filename
        self.is_training = is_training
        self.num_features = 0  # written
        self._writer = batches.AtomicRecordWriter(filename, {"is_training": is_training})
        self._writer.__enter__()
        self._spec: Optional[batches.FeatureSpec] = None

    def process_feature(self, feature: InputFeatures) -> None:
        """Writes the features of one window."""
        record = {name: getattr(feature, name) for name in SEQUENCES}
        record["unique_ids"] = feature.unique_id
        if self.is_training:
            record["start_positions"] = feature.start_position
            record["end_positions"] = feature.end_position
            record["is_impossible"] = int(feature.is_impossible)
        self._spec = self._spec or feature_spec(len(feature.input_ids), self.is_training)
        self._writer.write(self._spec.encode(record))
        self.num_features += 1

    def close(self) -> None:
        """Finishes the file."""
        self._writer.__exit__(None, None, None)


# ------------------------------------------------------------------------------------- decoding


class Windows(NamedTuple):
    """Where the positions of each window lie in its paragraph."""

    unique_ids: np.ndarray  # int64 [F], as in the records
    example_index: np.ndarray  # int32 [F]; -1: not known
    # int32 [F, S], the first and the last character that a position stands for; -1: not of the
    # paragraph
    start_chars: np.ndarray
    end_chars: np.ndarray
    is_max_context: np.ndarray  # bool [F, S]: no other window shows that token with more around it


def empty_windows(count: int, max_seq_length: int) -> Windows:
    """Returns arrays for windows that hold nothing of any paragraph yet."""
    shape = (count, max_seq_length)
    return Windows(
        unique_ids=np.zeros(count, np.int64),
        example_index=np.full(count, -1, np.int32),
        start_chars=np.full(shape, -1, np.int32),
        end_chars=np.full(shape, -1, np.int32),
        is_max_context=np.zeros(shape, bool),
    )


def windows_of(features: Sequence[InputFeatures], max_seq_length: int) -> Windows:
    """Returns what decoding needs of features as arrays, in their order."""
    windows = empty_windows(len(features), max_seq_length)
    for row, feature in enumerate(features):
        windows.unique_ids[row] = feature.unique_id
        if feature.example_index is not None:
            windows.example_index[row] = feature.example_index
        places = sorted(feature.token_is_max_context)
        windows.start_chars[row, places] = feature.tok_start_to_orig_index
        windows.end_chars[row, places] = feature.tok_end_to_orig_index
        flags = [feature.token_is_max_context[place] for place in places]
        windows.is_max_context[row, places] = flags
    return windows


def _windows_of_questions(questions: Sequence[Question], max_seq_length: int) -> Windows:
    """The same without InputFeatures, for speed."""
    count = sum(len(question.windows) for question in questions)
    result = empty_windows(count, max_seq_length)
    result.unique_ids[:] = _FIRST_UNIQUE_ID + np.arange(count)
    for question in questions:
        offset = len(question.ids) + 2
        parts = zip(question.windows, _max_context(question.windows))
        for row, (window, flags) in enumerate(parts, start=question.number):
            there = slice(offset, offset + window.count)
            result.example_index[row] = question.index
            result.start_chars[row, there] = question.paragraph.starts[window.here]
            result.end_chars[row, there] = question.paragraph.lasts[window.here]
            result.is_max_context[row, there] = flags
    return result


# -------------------------------------------------------------------------------------- writing


class SquadFeatures(NamedTuple):
    """The features of a file of questions."""

    data: SquadData
    records: feature_cache.RecordFile
    windows: Optional[Windows]  # None for training


def write_features(
    data: SquadData,
    *,
    output_file: str,
    exact_path: bool = True,
    max_seq_length: int,
    doc_stride: int,
    max_query_length: int,
    tokenizer: tokenization.FullTokenizer,
    is_training: bool,
    num_processes: Optional[int] = None,
    description: str = "",
) -> SquadFeatures:
    """Writes the features of questions unless they are there, made from the same things.

    Args:
      data: the questions and the file they come from.
      output_file: the record file.
      max_seq_length, doc_stride, max_query_length: see `convert_examples_to_features`.
      tokenizer: prepares the texts and cuts them into tokens.
      is_training: whether to write where the answers are.
      exact_path, num_processes, description: see `feature_cache.build_records`.

    Raises:
      ValueError: as `convert_examples_to_features`, or num_processes is below 1.
      OSError: a worker process was killed, or a file cannot be written.
    """
    layout = Layout(max_seq_length, doc_stride, max_query_length)
    builder = _Builder(tokenizer, layout, is_training)
    description = description or os.path.basename(str(output_file))
    options: Dict[str, Any] = {"num_processes": num_processes, "description": description}

    @functools.lru_cache(maxsize=1)  # the records and the windows need them
    def questions() -> List[Question]:
        return encode_questions(data.examples, tokenizer, layout, **options)

    records = feature_cache.build_records(
        output_file,
        fingerprint={
            "format_version": _FORMAT_VERSION,
            **({"file": files.file_fingerprint(data.path)} if data.path else {}),
            **layout._asdict(),
            "is_training": is_training,
            "examples": _digest(data.examples),
            "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
        },
        spec=feature_spec(max_seq_length, is_training),
        items=questions,
        convert=functools.partial(_convert, builder),
        exact_path=exact_path,
        **options,
    )
    windows = None if is_training else _windows_of_questions(questions(), max_seq_length)
    return SquadFeatures(data, records, windows)


def _convert(builder: _Builder, chunk: Sequence[Question]) -> feature_cache.Conversion:
    """The records of some questions, and what is worth counting of them."""
    notes: Counter[str] = collections.Counter()
    records = []
    for question in chunk:
        of_question = builder.records(question)
        records.extend(of_question)
        notes.update(question.notes)
        notes["paragraph longer than a window"] += len(of_question) > 1
        if question.answer is not None:
            notes["answer that no window holds whole"] += all(
                record.get("is_impossible", 0) for record in of_question
            )
    return feature_cache.Conversion(records, notes)


def _digest(examples: Sequence[SquadExample]) -> str:
    """A hash of what features are made from, in order."""
    digest = hashlib.sha256()
    paragraph = None
    for example in examples:
        fields = [example.question_text, answer_of(example)]
        if example.paragraph_text != paragraph:
            paragraph = example.paragraph_text
            fields.append(paragraph)
        digest.update(repr(fields).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:16]
