# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From questions on paragraphs to the model's inputs.

A sequence is [CLS] question [SEP] window [SEP], padded with zeros. A paragraph that is too long is
cut into windows that overlap: each begins doc_stride tokens behind the one before it (BERT,
arXiv:1810.04805, and its public run_squad.py).

Dimensions: S sequence, P tokens of a paragraph.
"""

import bisect
import collections
import copy
import dataclasses
import itertools
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
from albert.squad.examples import SquadExample
from albert.util import parallel
from albert.util.errors import UserError

SEQUENCES = ("input_ids", "input_mask", "segment_ids", "p_mask")

_FIRST_UNIQUE_ID = 1000000000
_CHUNK_EXAMPLES = 256  # that a worker takes at a time

Span = Tuple[int, int]  # the first token, and the one after the last


class Layout(NamedTuple):
    """How questions and paragraphs are laid out."""

    max_seq_length: int  # S
    doc_stride: int
    max_query_length: int
    is_training: bool  # whether to say where the answer is


# ---- windows ----


class Window(NamedTuple):
    """A window over an example's paragraph; what decoding reads has the names of InputFeatures."""

    layout: Layout
    unique_id: int
    example_index: int
    doc_span_index: int
    question: List[int]  # [CLS] question [SEP]
    is_cut: bool  # the question
    paragraph: np.ndarray  # int32 [3, P]: ids, first and last character of each token
    answer: Optional[Span]  # tokens of the paragraph to learn; an empty span: none covers it
    spans: Sequence[Span]  # all windows over this paragraph

    @property
    def tok_start_to_orig_index(self) -> np.ndarray:
        """The first character of each token."""
        return self.paragraph[1, slice(*self.spans[self.doc_span_index])]

    @property
    def tok_end_to_orig_index(self) -> np.ndarray:
        """The last character of each token."""
        return self.paragraph[2, slice(*self.spans[self.doc_span_index])]

    @property
    def token_is_max_context(self) -> Dict[int, bool]:
        """Position in the sequence -> whether no other window shows the token in more context."""
        flags = _max_context(self.spans)[self.doc_span_index]
        return dict(enumerate(flags.tolist(), start=len(self.question)))

    def holds_answer(self, number: int) -> bool:
        """Returns whether a window over this paragraph holds the whole answer."""
        first, end = self.spans[number]
        return bool(self.answer) and first <= self.answer[0] < self.answer[1] <= end

    def record(self) -> Dict[str, Any]:
        """Returns the values of `feature_spec`."""
        begin, (first, end) = self.question, self.spans[self.doc_span_index]
        used = len(begin) + end - first + 1
        zeros = [0] * (self.layout.max_seq_length - used)
        record = {
            "unique_ids": self.unique_id,
            "input_ids": [*begin, *self.paragraph[0, first:end].tolist(), begin[-1], *zeros],
            "input_mask": [1] * used + zeros,
            "segment_ids": [0] * len(begin) + [1] * (used - len(begin)) + zeros,
            # [CLS] stands for no answer.
            "p_mask": [0] + [1] * (len(begin) - 1) + [0] * (end - first) + [1] * (len(zeros) + 1),
        }
        if self.layout.is_training:
            record.update(start_positions=0, end_positions=0, is_impossible=True)
            if self.holds_answer(self.doc_span_index):
                shift = len(begin) - first
                record["start_positions"] = self.answer[0] + shift
                record["end_positions"] = self.answer[1] - 1 + shift
                record["is_impossible"] = False
        return record


@lru_cache(maxsize=4096)
def _spans(tokens: int, room: int, stride: int) -> Sequence[Span]:
    """The windows of a paragraph, of at most `room` tokens each; one if it has none."""
    step = min(room, stride)
    firsts = range(0, max(tokens - room, 0) + step, step)
    return tuple((first, min(first + room, tokens)) for first in firsts)


@lru_cache(maxsize=4096)
def _max_context(spans: Sequence[Span]) -> Sequence[np.ndarray]:
    """For each token of each window, whether this window shows it with the most around it.

    A token's score is that of the shorter side, plus a hundredth of the window's length; of equal
    scores the first window's counts (the rule of the public run_squad.py).
    """
    scores = np.full([len(spans), spans[-1][1]], -1.0)
    for row, (first, end) in zip(scores, spans):
        left = np.arange(end - first)
        row[first:end] = np.minimum(left, left[::-1]) + 0.01 * len(left)
    best = scores.argmax(axis=0)  # [P]
    return [best[slice(*span)] == number for number, span in enumerate(spans)]


def make_windows(
    examples: Sequence[SquadExample],
    tokenizer: tokenization.FullTokenizer,
    layout: Layout,
    *,
    num_processes: int = 1,
) -> Iterator[Window]:
    """Yields the windows of examples, in order.

    Raises:
      UserError: lengths that leave no room, or a vocabulary without [CLS] or [SEP].
    """
    begin, separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    @lru_cache(maxsize=1)  # the questions on a paragraph follow each other
    def encode(text: str) -> Tuple[tokenization.Encoding, np.ndarray]:
        encoding = tokenizer.encode_with_offsets(text)
        return encoding, _characters(text, encoding)

    def convert(first: int) -> List[Window]:
        chunk, windows = examples[first : first + _CHUNK_EXAMPLES], []
        questions = tokenizer.encode_ids_batch([example.question_text for example in chunk])
        for number, (example, question) in enumerate(zip(chunk, questions), start=first):
            encoding, paragraph = encode(tokenization.convert_to_unicode(example.paragraph_text))
            ids = question[: layout.max_query_length]
            room = layout.max_seq_length - len(ids) - 3  # [CLS] and twice [SEP]
            if min(room, layout.doc_stride) < 1:
                raise UserError(
                    f"{layout} leaves no room for a paragraph after a question of {len(ids)} "
                    "tokens. Raise max_seq_length or lower max_query_length; doc_stride must be "
                    "at least 1."
                )
            window = Window(
                layout,
                unique_id=0,  # see below
                example_index=number,
                doc_span_index=0,
                question=[begin, *ids, separator],
                is_cut=len(ids) < len(question),
                paragraph=paragraph,
                answer=_answer_tokens(example, encoding) if layout.is_training else None,
                spans=_spans(len(encoding.ids), room, layout.doc_stride),
            )
            windows += [window._replace(doc_span_index=n) for n in range(len(window.spans))]
        return windows

    chunks = range(0, len(examples), _CHUNK_EXAMPLES)
    converted = parallel.ordered_map(convert, chunks, num_processes)
    for number, window in enumerate(itertools.chain.from_iterable(converted)):
        yield window._replace(unique_id=_FIRST_UNIQUE_ID + number)


def _characters(text: str, encoding: tokenization.Encoding) -> np.ndarray:
    """Window.paragraph of a text: a token that stands for a space has all white space before it."""
    starts, lasts, end = [], [], 0
    for piece, start, piece_end in zip(encoding.pieces, encoding.starts, encoding.ends):
        if piece.startswith(tokenization.SPIECE_UNDERLINE):
            start = min(start, end + len(text[end:start].rstrip()))
        end = piece_end
        starts.append(start)
        lasts.append(max(start, end - 1))
    return np.array([encoding.ids, starts, lasts], np.int32)


def _answer_tokens(example: SquadExample, encoding: tokenization.Encoding) -> Optional[Span]:
    """The tokens that cover the answer to learn; None if there is none."""
    first, last = example.start_position, example.end_position
    if example.is_impossible or first is None:
        return None
    if last is None:
        last = first + len(example.orig_answer_text or "") - 1
    return bisect.bisect_right(encoding.ends, first), bisect.bisect_right(encoding.starts, last)


# ---- features, by the names that programs use ----


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
      UserError: as `make_windows`, or do_lower_case is not the WordPiece tokenizer's.
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
    for window in make_windows(examples, tokenizer, layout):
        record = window.record()
        used = sum(record["input_mask"])
        features = InputFeatures(
            window.unique_id,
            None if is_training else window.example_index,
            window.doc_span_index,
            window.tok_start_to_orig_index.tolist(),
            window.tok_end_to_orig_index.tolist(),
            window.token_is_max_context,
            tokenizer.convert_ids_to_tokens(record["input_ids"][:used]),
            paragraph_len=used,
            start_position=record.get("start_positions"),
            end_position=record.get("end_positions"),
            is_impossible=record.get("is_impossible", False),
            **{name: record[name] for name in SEQUENCES},
        )
        output_fn(features)


# ---- records ----


def feature_spec(max_seq_length: int, is_training: bool) -> batches.FeatureSpec:
    """Returns the declaration of the records: int64 [S] for SEQUENCES, [] for the others."""
    shapes = {"unique_ids": (), **dict.fromkeys(SEQUENCES, (max_seq_length,))}
    if is_training:
        shapes.update(start_positions=(), end_positions=(), is_impossible=())
    return batches.FeatureSpec([batches.Feature(*item) for item in shapes.items()])


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
        fields = {"unique_ids": "unique_id", "start_positions": "start_position"}
        fields["end_positions"] = "end_position"
        values = {name: getattr(feature, fields.get(name, name)) for name in spec.names}
        self._writer.write(spec.encode(values))
        self.num_features += 1

    def close(self) -> None:
        """Finishes the file."""
        self._writer.__exit__(None, None, None)


def records_of(windows: Sequence[Window]) -> feature_cache.Conversion:
    """Returns the records of windows, and what is worth counting of their examples."""
    notes: Counter[str] = collections.Counter()
    for window in windows:
        if not window.doc_span_index:
            notes[f"question cut to {window.layout.max_query_length} tokens"] += window.is_cut
            is_lost = window.answer and not any(map(window.holds_answer, range(len(window.spans))))
            notes["answer that no window holds whole"] += bool(is_lost)
    return feature_cache.Conversion([window.record() for window in windows], notes)
