# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions on paragraphs to the model's inputs, and back to the paragraph's characters.

A sequence is [CLS] question [SEP] window [SEP], padded with zeros. A paragraph that is too long is
cut into windows that overlap: each begins doc_stride pieces behind the one before it (BERT,
arXiv:1810.04805, and its public run_squad.py). Which characters a piece stands for is told by the
tokenizer, in time proportional to the text, so that every question has features.

    data = squad_examples.read_dataset("dev-v2.0.json", is_training=False)
    features = write_features(
        data, output_file="predict.tf_record", left_file="predict.left.npz", max_seq_length=384,
        doc_stride=128, max_query_length=64, tokenizer=tokenizer, is_training=False
    )
    features.records.path, features.windows.start_chars

Legend: F features (windows), S sequence, P pieces of a paragraph, K windows of a paragraph.
"""

import collections
import copy
import functools
import hashlib
import os
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
)

import numpy as np

from albert import tokenization
from albert.data import batches as input_pipeline
from albert.data import feature_cache
from albert.squad import alignment as squad_alignment
from albert.squad import windows as squad_windows
from albert.squad.alignment import Alignment, Question, Span
from albert.squad.examples import SquadData, SquadExample
from albert.squad.windows import Windows
from albert.util import files

_FORMAT_VERSION = 1
_FIRST_UNIQUE_ID = 1000000000
_MARKS = 3  # [CLS] and twice [SEP]
SEQUENCES = ("input_ids", "input_mask", "segment_ids", "p_mask")
_CHUNK_EXAMPLES = 1000  # whose pieces are held in memory where features go out one by one


class InputFeatures:
    """The model's inputs for one window, and how its pieces relate to the paragraph.

    Attributes:
      unique_id: 1000000000 + the number of the window among all.
      example_index: which example it is of; None in training.
      doc_span_index: which window of the paragraph it is.
      tok_start_to_orig_index, tok_end_to_orig_index: for each piece of the window the first and the
        last character of the paragraph that it stands for. A piece that stands for a space too
        begins with the white space before it.
      token_is_max_context: {position in the sequence: whether no other window shows that piece with
        more around it}.
      tokens: the pieces of the positions in use.
      input_ids, input_mask, segment_ids: lists of S ints.
      paragraph_len: how many positions are in use.
      p_mask: S ints; 0 where an answer may begin or end ([CLS] and the window), else 1.
      start_position, end_position: where the answer to learn is; 0 if it is not in this window.
        None if not for training.
      is_impossible: whether there is no answer in this window; False if not for training.
    """

    def __init__(
        self,
        unique_id,
        example_index,
        doc_span_index,
        tok_start_to_orig_index,
        tok_end_to_orig_index,
        token_is_max_context,
        tokens,
        input_ids,
        input_mask,
        segment_ids,
        paragraph_len,
        p_mask=None,
        start_position=None,
        end_position=None,
        is_impossible=None,
    ):
        self.unique_id = unique_id
        self.example_index = example_index
        self.doc_span_index = doc_span_index
        self.tok_start_to_orig_index = tok_start_to_orig_index
        self.tok_end_to_orig_index = tok_end_to_orig_index
        self.token_is_max_context = token_is_max_context
        self.tokens = tokens
        self.input_ids = input_ids
        self.input_mask = input_mask
        self.segment_ids = segment_ids
        self.paragraph_len = paragraph_len
        self.p_mask = p_mask
        self.start_position = start_position
        self.end_position = end_position
        self.is_impossible = is_impossible


def feature_spec(max_seq_length: int, is_training: bool) -> input_pipeline.FeatureSpec:
    """Returns the declaration of the records.

    unique_ids int64 [], input_ids, input_mask, segment_ids and p_mask int64 [S]; for training
    start_positions, end_positions and is_impossible int64 [].
    """
    sequence = (max_seq_length,)
    features = [input_pipeline.Feature("unique_ids", ())]
    features += [input_pipeline.Feature(name, sequence) for name in SEQUENCES]
    if is_training:
        numbers = ["start_positions", "end_positions", "is_impossible"]
        features += [input_pipeline.Feature(name, ()) for name in numbers]
    return input_pipeline.FeatureSpec(features)


# --------------------------------------------------------------------------------------- windows


class Layout(NamedTuple):
    """How questions and paragraphs are laid out."""

    max_seq_length: int  # S
    doc_stride: int
    max_query_length: int

    def check(self) -> None:
        """Raises ValueError for numbers that no question fits."""
        if self.max_seq_length < _MARKS + 1:
            raise ValueError(
                f"max_seq_length is {self.max_seq_length}; a question on a paragraph needs at "
                "least 4 places: [CLS] question [SEP] window [SEP]. Usual is 384."
            )
        if self.doc_stride < 1:
            raise ValueError(
                f"doc_stride is {self.doc_stride}; each window must begin at least 1 piece behind "
                "the one before it. Usual is 128."
            )
        if self.max_query_length < 0:
            raise ValueError(
                f"max_query_length is {self.max_query_length}; a question cannot have fewer than "
                "0 pieces. Usual is 64."
            )

    def room(self, question: int) -> int:
        """Returns how many pieces of a paragraph fit beside a question of so many.

        Raises:
          ValueError: not a single one.
        """
        room = self.max_seq_length - question - _MARKS
        if room < 1:
            raise ValueError(
                f"A question of {question} pieces leaves no place for its paragraph in "
                f"{self.max_seq_length}. Lower max_query_length (it is {self.max_query_length}) or "
                "raise max_seq_length."
            )
        return room


class _Window(NamedTuple):
    """Some consecutive pieces of a paragraph."""

    first: int
    count: int


@functools.lru_cache(maxsize=4096)
def _windows_over(pieces: int, room: int, stride: int) -> Sequence[_Window]:
    """The windows of a paragraph; one without pieces if it has none."""
    windows = []
    first = 0
    while True:
        count = min(pieces - first, room)
        windows.append(_Window(first, count))
        if first + count >= pieces:
            return tuple(windows)
        first += min(count, stride)


@functools.lru_cache(maxsize=4096)
def _max_context(windows: Sequence[_Window]) -> Sequence[np.ndarray]:
    """For each window, bool [its pieces]: whether it shows the piece with the most around it.

    A piece's score is that of the shorter side, plus a hundredth of the window's length; of equal
    scores the first window's counts (the rule of the public run_squad.py).
    """
    pieces = windows[-1].first + windows[-1].count  # P
    best, best_score = np.zeros(pieces, np.int32), np.full(pieces, -1.0)
    for number, window in enumerate(windows):
        here = slice(window.first, window.first + window.count)
        left = np.arange(window.count)
        score = np.minimum(left, left[::-1]) + 0.01 * window.count
        is_better = score > best_score[here]
        best[here][is_better] = number
        best_score[here][is_better] = score[is_better]
    return tuple(
        best[window.first : window.first + window.count] == number
        for number, window in enumerate(windows)
    )


class _Target(NamedTuple):
    """What is to be learnt from a window: positions in the sequence."""

    start: int
    end: int
    is_impossible: bool


_NOTHING = _Target(0, 0, True)


def _target(answer: Optional[Span], window: _Window, offset: int) -> _Target:
    """The answer's place in the window, whose first piece is at `offset`."""
    if answer is None or answer.first < window.first or answer.last >= window.first + window.count:
        return _NOTHING
    shift = offset - window.first
    return _Target(answer.first + shift, answer.last + shift, False)


# ----------------------------------------------------------------------------------- conversion


class _Item(NamedTuple):
    """An example in pieces, and which windows are its."""

    first_number: int  # of its first window among all
    example_index: int
    question: List[int]
    ids: np.ndarray  # int32 [P], of the paragraph
    answer: Optional[Span]  # in pieces
    notes: Sequence[str]  # what is worth knowing of it

    def windows(self, layout: Layout) -> Sequence[_Window]:
        return _windows_over(len(self.ids), layout.room(len(self.question)), layout.doc_stride)


def _items(
    questions: Iterable[Question], layout: Layout, *, first_number: int = 0, first_index: int = 0
) -> List[_Item]:
    """Cuts the questions to length and numbers the windows."""
    items = []
    for index, question in enumerate(questions, start=first_index):
        ids = question.ids[: layout.max_query_length]
        notes = []
        if len(ids) < len(question.ids):
            notes.append(f"question cut to {layout.max_query_length} pieces")
        if question.is_answered and question.answer is None:
            notes.append("answer that no piece stands for")
        item = _Item(first_number, index, ids, question.paragraph.ids, question.answer, notes)
        items.append(item)
        first_number += len(item.windows(layout))
    return items


class _Builder:
    """Puts sequences together; knows the vocabulary's marks, the length, and what they are for."""

    def __init__(self, tokenizer: tokenization.FullTokenizer, layout: Layout, is_training: bool):
        layout.check()
        self._layout = layout
        self._is_training = is_training
        self._first, self._separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    def records(self, item: _Item) -> List[Mapping[str, Any]]:
        """The records of an example's windows, by the names of `feature_spec`."""
        offset = len(item.question) + 2
        ids = item.ids.tolist()
        records = []
        for number, window in enumerate(item.windows(self._layout)):
            record = self._sequence(item.question, ids[window.first :][: window.count])
            record["unique_ids"] = _FIRST_UNIQUE_ID + item.first_number + number
            if self._is_training:
                target = _target(item.answer, window, offset)
                record["start_positions"] = target.start
                record["end_positions"] = target.end
                record["is_impossible"] = int(target.is_impossible)
            records.append(record)
        return records

    def _sequence(self, question: List[int], window: List[int]) -> Dict[str, Any]:
        """The four lists of S."""
        begin = [self._first, *question, self._separator]
        used = len(begin) + len(window) + 1
        padding = self._layout.max_seq_length - used
        zeros = [0] * padding
        return {
            "input_ids": [*begin, *window, self._separator, *zeros],
            "input_mask": [1] * used + zeros,
            "segment_ids": [0] * len(begin) + [1] * (used - len(begin)) + zeros,
            "p_mask": [0] + [1] * (len(begin) - 1) + [0] * len(window) + [1] * (1 + padding),
        }

    def features(self, item: _Item, paragraph: Alignment) -> Iterator[InputFeatures]:
        """The features of an example's windows, but for the pieces' names."""
        offset = len(item.question) + 2
        starts, lasts = paragraph.starts.tolist(), paragraph.lasts.tolist()
        windows = item.windows(self._layout)
        flags = _max_context(windows)
        for number, (record, window) in enumerate(zip(self.records(item), windows)):
            here = slice(window.first, window.first + window.count)
            is_max = {offset + place: flag for place, flag in enumerate(flags[number].tolist())}
            target = [record.get(f"{name}_positions") for name in ("start", "end")]
            yield InputFeatures(
                record["unique_ids"],
                None if self._is_training else item.example_index,
                number,
                starts[here],
                lasts[here],
                is_max,
                tokens=[],
                input_ids=record["input_ids"],
                input_mask=record["input_mask"],
                segment_ids=record["segment_ids"],
                paragraph_len=offset + window.count + 1,
                p_mask=record["p_mask"],
                start_position=target[0],
                end_position=target[1],
                is_impossible=bool(record.get("is_impossible", 0)),
            )


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
    """Calls output_fn(InputFeatures) for each window of each example, in order.

    Args:
      examples: SquadExamples.
      tokenizer: prepares the texts and cuts them into pieces.
      max_seq_length: S.
      doc_stride: how many pieces a window begins behind the one before it.
      max_query_length: how many pieces of a question are kept.
      is_training: whether to say where the answer is.
      output_fn: takes an InputFeatures; what it returns does not matter.
      do_lower_case: whether to make the texts lower case, for SentencePiece; for WordPiece the
        tokenizer has decided.

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
        questions = squad_alignment.encode_questions(chunk, tokenizer, num_processes=1)
        items = _items(questions, layout, first_number=number, first_index=first)
        for item, question in zip(items, questions):
            for features in builder.features(item, question.paragraph):
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
        raise ValueError(
            f"do_lower_case is {do_lower_case}, but the tokenizer was made with "
            f"do_lower_case={tokenizer.do_lower_case}. Give both the same."
        )
    tokenizer = copy.copy(tokenizer)
    tokenizer.do_lower_case = do_lower_case
    return tokenizer


class FeatureWriter:
    """Writes features to a record file, which appears when the writer is closed.

    Attributes:
      filename: the file.
      is_training: whether the answers' places are written.
      num_features: how many were written.
    """

    def __init__(self, filename, is_training):
        self.filename = filename
        self.is_training = is_training
        self.num_features = 0
        self._writer = input_pipeline.AtomicRecordWriter(filename, {"is_training": is_training})
        self._writer.__enter__()
        self._spec = None

    def process_feature(self, feature: InputFeatures) -> None:
        """Writes the features of one window."""
        if self._spec is None:
            self._spec = feature_spec(len(feature.input_ids), self.is_training)
        record = {name: getattr(feature, name) for name in SEQUENCES}
        record["unique_ids"] = feature.unique_id
        if self.is_training:
            record["start_positions"] = feature.start_position
            record["end_positions"] = feature.end_position
            record["is_impossible"] = int(feature.is_impossible)
        self._writer.write(self._spec.encode(record))
        self.num_features += 1

    def close(self) -> None:
        """Finishes the file."""
        self._writer.__exit__(None, None, None)


# ------------------------------------------------------------------------------------- decoding


def windows_of(features: Sequence[InputFeatures], max_seq_length: int) -> Windows:
    """Returns what decoding needs of features as arrays, in their order."""
    windows = squad_windows.empty_windows(len(features), max_seq_length)
    for row, feature in enumerate(features):
        windows.unique_ids[row] = feature.unique_id
        if feature.example_index is not None:
            windows.example_index[row] = feature.example_index
        if feature.token_is_max_context:
            places = sorted(feature.token_is_max_context)
            windows.start_chars[row, places] = feature.tok_start_to_orig_index
            windows.end_chars[row, places] = feature.tok_end_to_orig_index
            flags = [feature.token_is_max_context[place] for place in places]
            windows.is_max_context[row, places] = flags
    return windows


def _windows(items: Sequence[_Item], questions: Sequence[Question], layout: Layout) -> Windows:
    """The same straight from the pieces."""
    count = items[-1].first_number + len(items[-1].windows(layout)) if items else 0
    result = squad_windows.empty_windows(count, layout.max_seq_length)
    result.unique_ids[:] = _FIRST_UNIQUE_ID + np.arange(count)
    for item, question in zip(items, questions):
        offset = len(item.question) + 2
        windows = item.windows(layout)
        for number, (window, flags) in enumerate(zip(windows, _max_context(windows))):
            row = item.first_number + number
            there = slice(offset, offset + window.count)
            here = slice(window.first, window.first + window.count)
            result.example_index[row] = item.example_index
            result.start_chars[row, there] = question.paragraph.starts[here]
            result.end_chars[row, there] = question.paragraph.lasts[here]
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
    left_file: Optional[str] = None,
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

    What was made from something else is replaced, which one log line says.

    Args:
      data: the questions and the file they come from.
      output_file: the record file.
      left_file: for what decoding needs (`albert.squad.windows`); None: beside the record file.
      max_seq_length, doc_stride, max_query_length: see `convert_examples_to_features`.
      tokenizer: prepares the texts and cuts them into pieces.
      is_training: whether to write where the answers are.
      exact_path, num_processes, description: see `feature_cache.build_records`.

    Raises:
      ValueError: as `convert_examples_to_features`, or num_processes is below 1.
      OSError: a worker process was killed, or a file cannot be written.
    """
    layout = Layout(max_seq_length, doc_stride, max_query_length)
    builder = _Builder(tokenizer, layout, is_training)
    description = description or os.path.basename(str(output_file))
    fingerprint = _fingerprint(data, layout, tokenizer=tokenizer, is_training=is_training)

    encode = functools.partial(
        squad_alignment.encode_questions, data.examples, tokenizer, num_processes=num_processes
    )
    questions = functools.lru_cache(maxsize=1)(lambda: encode(description=description))
    records = feature_cache.build_records(
        output_file,
        fingerprint=fingerprint,
        spec=feature_spec(max_seq_length, is_training),
        items=lambda: _items(questions(), layout),
        convert=functools.partial(_convert, builder, layout),
        exact_path=exact_path,
        num_processes=num_processes,
        description=description,
    )
    if is_training:
        return SquadFeatures(data, records, None)
    windows = squad_windows.cached_windows(
        left_file or f"{records.path}.windows.npz",
        fingerprint,
        lambda: _windows(_items(questions(), layout), questions(), layout),
        description=description,
    )
    return SquadFeatures(data, records, windows)


def _convert(builder: _Builder, layout: Layout, chunk: Sequence[_Item]) -> feature_cache.Conversion:
    """The records of some examples, and what is worth knowing of them."""
    notes = collections.Counter()
    records = []
    for item in chunk:
        of_item = builder.records(item)
        records.extend(of_item)
        notes.update(item.notes)
        notes["paragraph longer than a window"] += len(of_item) > 1
        if item.answer is not None:
            notes["answer that no window holds whole"] += all(
                record.get("is_impossible", 0) for record in of_item
            )
    return feature_cache.Conversion(records, notes)


def _fingerprint(
    data: SquadData,
    layout: Layout,
    *,
    tokenizer: tokenization.FullTokenizer,
    is_training: bool,
) -> Mapping[str, Any]:
    """All that decides the features."""
    source = {"file": files.file_fingerprint(data.path)} if data.path else {}
    return {
        "format_version": _FORMAT_VERSION,
        **source,
        **layout._asdict(),
        "is_training": is_training,
        "examples": examples_digest(data.examples),
        "tokenizer": feature_cache.tokenizer_fingerprint(tokenizer),
    }


def examples_digest(examples: Sequence[SquadExample]) -> str:
    """Returns a hash of what features are made from, in order."""
    digest = hashlib.sha256()
    paragraph = None
    for example in examples:
        fields = [example.question_text, squad_alignment.answer_of(example)]
        if example.paragraph_text != paragraph:
            paragraph = example.paragraph_text
            fields.append(paragraph)
        digest.update(repr(fields).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:16]
