# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts questions on paragraphs to the model's inputs.

A sequence is [CLS] question [SEP] window [SEP], padded with zeros. A paragraph that is too long is
split into overlapping windows: each starts doc_stride tokens after the start of the previous one
(BERT, arXiv:1810.04805, and its public run_squad.py).

Dimensions: S max_seq_length, T tokens of a window, P tokens of a paragraph.
"""

import bisect
import copy
import dataclasses
import itertools
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert import tokenization
from albert.data import record_files
from albert.data.packing import pack
from albert.data.record_format import Feature, FeatureSpec
from albert.tasks.squad.examples import SquadExample
from albert.util import UserError, parallel

SQUAD_SEQUENCES = ("input_ids", "input_mask", "segment_ids", "p_mask")

_FIRST_UNIQUE_ID = 1000000000
_CHUNK_EXAMPLES = 256  # a worker's unit of work

# ---- windows ----


class Window(NamedTuple):
    """A window over an example's paragraph. Decoding takes it in place of InputFeatures."""

    unique_id: int
    example_index: int
    doc_span_index: int
    question: List[int]  # [CLS] question [SEP]
    ids: np.ndarray  # int32 [T]
    tok_start_to_orig_index: np.ndarray  # int32 [T]
    tok_end_to_orig_index: np.ndarray  # int32 [T]
    has_max_context: np.ndarray  # bool [T]
    # First and last position of the answer to learn; (0, 0) if it is not in this window.
    answer: Tuple[int, int]
    is_cut: bool  # whether the question was too long

    @property
    def is_empty(self) -> bool:
        """Whether the question or the window has no tokens."""
        return len(self.question) == 2 or not len(self.ids)

    @property
    def token_is_max_context(self) -> Dict[int, bool]:
        """Position -> whether this window shows the token in more context than all others."""
        return dict(enumerate(self.has_max_context.tolist(), start=len(self.question)))


def records_of(
    windows: Sequence[Window], max_seq_length: int, is_training: bool
) -> Dict[str, np.ndarray]:
    """Returns the records of R windows: the values [R, ...] of `feature_spec` by name."""
    first, *_, separator = windows[0].question
    segments = [(window.question[1:-1], window.ids) for window in windows]
    records = pack(segments, (first, separator), max_seq_length)
    p_mask = 1 - records["segment_ids"]
    p_mask[:, 0] = 0  # [CLS] means "no answer".
    p_mask[np.arange(len(windows)), records["input_mask"].sum(axis=1) - 1] = 1  # the last [SEP]
    records.update(p_mask=p_mask, unique_ids=np.array([window.unique_id for window in windows]))
    if is_training:
        starts, ends = np.array([window.answer for window in windows]).T
        records.update(start_positions=starts, end_positions=ends, is_impossible=ends == 0)
    return records


@lru_cache(maxsize=4096)
def paragraph_spans(tokens: int, room: int, stride: int) -> List[Tuple[slice, np.ndarray]]:
    """Returns (slice of tokens, has_max_context) for each window of a paragraph.

    A window has at most `room` tokens. An empty paragraph has one window. has_max_context, bool
    [T], says whether no other window shows a token with more context. As in the public
    run_squad.py, a token's context is the number of tokens on its shorter side, plus 1% of the
    window's length. In a tie, the first window wins.
    """
    step = min(room, stride)
    firsts = range(0, max(tokens - room, 0) + step, step)
    spans = [slice(first, min(first + room, tokens)) for first in firsts]
    scores = np.full([len(spans), tokens], -1.0)
    for row, span in zip(scores, spans):
        left = np.arange(span.stop - span.start)
        row[span] = np.minimum(left, left[::-1]) + 0.01 * len(left)
    best = scores.argmax(axis=0)  # [P]
    return [(span, best[span] == number) for number, span in enumerate(spans)]


def make_windows(
    examples: Sequence[SquadExample],
    tokenizer: tokenization.FullTokenizer,
    is_training: bool,
    *,
    max_seq_length: int,
    doc_stride: int,
    max_query_length: int,
) -> Iterator[Window]:
    """Yields the windows of examples, in order; in training, with the answer's position.

    Raises:
      UserError: the lengths leave no room, or the vocabulary has no [CLS] or [SEP].
    """
    begin, separator = tokenizer.required_ids(["[CLS]", "[SEP]"])

    @lru_cache(maxsize=1)  # the questions on a paragraph follow each other
    def encode(text: str) -> Tuple[tokenization.Encoding, np.ndarray]:
        encoding = tokenizer.encode_with_offsets(text)
        return encoding, np.array([encoding.ids, *_characters(text, encoding)], np.int32)

    def convert(first: int) -> Any:
        """Returns each example's question, paragraph [3, P], and (first, end) of the answer."""
        chunk, converted = examples[first : first + _CHUNK_EXAMPLES], []
        questions = tokenizer.encode_ids_batch([example.question_text for example in chunk])
        for example, ids in zip(chunk, questions):
            encoding, paragraph = encode(example.paragraph_text)
            answer = _answer_tokens(example, encoding) if is_training else (0, 0)
            converted.append((ids, paragraph, answer))
        return converted

    # A program that predicts may have threads, so it should not fork.
    apply = parallel.adaptive_map if is_training else map
    chunks = apply(convert, range(0, len(examples), _CHUNK_EXAMPLES))
    unique_ids = itertools.count(_FIRST_UNIQUE_ID)
    for number, (ids, paragraph, (first_token, end_token)) in enumerate(
        itertools.chain.from_iterable(chunks)
    ):
        question = [begin, *ids[:max_query_length], separator]
        room = max_seq_length - len(question) - 1
        if min(room, doc_stride) < 1:
            raise UserError(
                f"max_seq_length={max_seq_length} leaves no room for a paragraph after "
                f"max_query_length={max_query_length} tokens, or doc_stride={doc_stride} is "
                "below 1."
            )
        is_cut = len(ids) > max_query_length
        spans = paragraph_spans(paragraph.shape[1], room, doc_stride)
        for index, (span, is_max) in enumerate(spans):
            answer = (0, 0)
            if span.start <= first_token < end_token <= span.stop:
                shift = len(question) - span.start
                answer = (first_token + shift, end_token - 1 + shift)
            tokens, starts, lasts = paragraph[:, span]
            unique_id = next(unique_ids)
            yield Window(
                unique_id, number, index, question, tokens, starts, lasts, is_max, answer, is_cut
            )


def _characters(text: str, encoding: tokenization.Encoding) -> List:
    """Returns the first and last character of each token; a word includes white space before it."""
    starts = [
        end + len(text[end:start].rstrip())
        if start > end and piece.startswith(tokenization.SPIECE_UNDERLINE)
        else start
        for piece, start, end in zip(encoding.pieces, encoding.starts, [0, *encoding.ends])
    ]
    return [starts, np.maximum(starts, np.array(encoding.ends, int) - 1)]


def _answer_tokens(example: SquadExample, encoding: tokenization.Encoding) -> Tuple[int, int]:
    """Returns (first, end) of the tokens that cover the answer to learn; (0, 0) for no answer."""
    if example.is_impossible or example.start_position is None:
        return 0, 0
    first, last = example.start_position, example.start_position + len(example.orig_answer_text) - 1
    return bisect.bisect_right(encoding.ends, first), bisect.bisect_right(encoding.starts, last)


# ---- features, by the names that programs use ----


@dataclasses.dataclass(eq=False)
class InputFeatures:
    """The model's inputs for one window, and how its tokens relate to the paragraph."""

    unique_id: int  # 1000000000 + index of the window
    example_index: Optional[int]  # None in training
    doc_span_index: int  # index of the window in its paragraph
    # The position in the paragraph of each window token's first and last character. A token that
    # includes a space begins with all white space before it.
    tok_start_to_orig_index: Sequence[int]
    tok_end_to_orig_index: Sequence[int]
    # Position in the sequence -> whether no other window shows that token in more context.
    token_is_max_context: Mapping[int, bool]
    tokens: Sequence[str]  # without padding
    input_ids: Sequence[int]  # S
    input_mask: Sequence[int]  # S
    segment_ids: Sequence[int]  # S; 1 from the window's first token to the last [SEP]
    paragraph_len: int  # number of tokens
    p_mask: Optional[Sequence[int]] = None  # S; 0 if an answer can start or end there, else 1
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
      doc_stride: tokens between the starts of two windows.
      max_query_length: maximum tokens of a question; the rest is cut.
      is_training: whether to return the answer's position.
      do_lower_case: whether to lower-case the texts for SentencePiece. A WordPiece tokenizer uses
        its own setting.

    Raises:
      UserError: as `make_windows`.
    """
    tokenizer = copy.copy(tokenizer)
    tokenizer.do_lower_case = do_lower_case
    windows = make_windows(
        examples,
        tokenizer,
        is_training,
        max_seq_length=max_seq_length,
        doc_stride=doc_stride,
        max_query_length=max_query_length,
    )
    for window in windows:
        records = records_of([window], max_seq_length, is_training)
        record = {name: values[0].tolist() for name, values in records.items()}
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
            **{name: record[name] for name in SQUAD_SEQUENCES},
        )
        output_fn(features)


# ---- records ----


def feature_spec(max_seq_length: int, is_training: bool) -> FeatureSpec:
    """Returns the declaration of the records: int64 [S] for SQUAD_SEQUENCES, [] for the others."""
    shapes = {"unique_ids": (), **dict.fromkeys(SQUAD_SEQUENCES, (max_seq_length,))}
    if is_training:
        shapes.update(start_positions=(), end_positions=(), is_impossible=())
    return FeatureSpec([Feature(*item) for item in shapes.items()])


class FeatureWriter:
    """Writes features to a record file, which appears when the writer is closed."""

    def __init__(self, filename, is_training):
        self.filename = filename
        self.is_training = is_training
        self.num_features = 0
        self._writer = record_files.create(filename)
        self._file = self._writer.__enter__()

    def process_feature(self, feature: InputFeatures) -> None:
        """Writes the features of one window."""
        values, spec = vars(feature), feature_spec(len(feature.input_ids), self.is_training)
        # The records have unique_ids, start_positions and end_positions; features have no plural.
        row = {name: values.get(name, values.get(name[:-1])) for name in spec.names}
        self._file.write(spec.encode(row))
        self.num_features += 1

    def close(self) -> None:
        """Finishes the file."""
        self._writer.__exit__(None, None, None)
