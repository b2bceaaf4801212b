# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pieces of paragraphs and questions, and which characters of a paragraph a piece stands for.

The tokenizer itself says where each piece comes from, so that the work grows with the text's length
and every text can be aligned. A paragraph is cut into pieces once for all of its questions; many
paragraphs are shared among all processors.

Legend: P pieces of a paragraph.
"""

import bisect
import itertools
from typing import Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from albert import tokenization
from albert.data import feature_cache
from albert.squad.examples import SquadExample
from albert.util import parallel as worker_pool
from albert.util import progress

_CHUNK_PARAGRAPHS = 32  # that a worker takes at a time


class Span(NamedTuple):
    """Something from its first to its last element."""

    first: int
    last: int


class Alignment(NamedTuple):
    """The pieces of a text; piece n stands for the characters text[starts[n] : lasts[n] + 1].

    A piece that begins with SentencePiece's underline, which stands for a space, begins with the
    white space before it, if there is any. Each piece stands for one character at least.
    """

    ids: np.ndarray  # int32 [P]
    starts: np.ndarray  # int32 [P]
    lasts: np.ndarray  # int32 [P]


class Question(NamedTuple):
    """An example in pieces."""

    ids: List[int]  # of the question
    paragraph: Alignment
    answer: Optional[Span]  # the pieces of the paragraph to learn; None: there are none
    is_answered: bool  # whether there is an answer to learn at all


def align(text: str, encoding: tokenization.Encoding) -> Alignment:
    """Returns the pieces of `text` with the characters they stand for."""
    starts = list(encoding.starts)
    behind = 0  # the piece before
    for number, piece in enumerate(encoding.pieces):
        if piece.startswith(tokenization.SPIECE_UNDERLINE):
            starts[number] = _before_space(text, starts[number], behind)
        behind = encoding.ends[number]
    lasts = [max(first, end - 1) for first, end in zip(starts, encoding.ends)]
    return Alignment(*(np.array(column, np.int32) for column in (encoding.ids, starts, lasts)))


def _before_space(text: str, place: int, lowest: int) -> int:
    """Where the white space in front of `place` begins; at `lowest` something else ends."""
    while place > lowest and text[place - 1].isspace():
        place -= 1
    return place


def pieces_of(answer: Span, encoding: tokenization.Encoding) -> Optional[Span]:
    """Returns the pieces that cover an answer; None if no piece stands for any of it.

    Args:
      answer: characters of the text.
      encoding: the pieces of the text.
    """
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


class _Task(NamedTuple):
    """A paragraph and what belongs to it."""

    paragraph: str
    questions: List[str]
    answers: List[Optional[Span]]  # in characters
    numbers: List[int]  # of the examples


class _Aligned(NamedTuple):
    """A task's paragraph, questions and answers in pieces."""

    paragraph: Alignment
    questions: List[List[int]]
    answers: List[Optional[Span]]


def encode_questions(
    examples: Sequence[SquadExample],
    tokenizer: tokenization.FullTokenizer,
    *,
    num_processes: Optional[int] = None,
    description: str = "questions",
) -> List[Question]:
    """Returns the examples in pieces, each different paragraph cut only once.

    Args:
      examples: in any order; the questions of a paragraph need not follow each other.
      tokenizer: prepares the texts and cuts them.
      num_processes: by default as many as there are processors, and 1 for a few examples.
      description: what the progress bar calls the examples.

    Raises:
      ValueError: num_processes is below 1.
      OSError: a worker process was killed.
    """
    tasks = _tasks(examples)
    chunks = [
        tasks[first : first + _CHUNK_PARAGRAPHS]
        for first in range(0, len(tasks), _CHUNK_PARAGRAPHS)
    ]
    processes = feature_cache.processes_for(num_processes, len(examples))
    # The workers are forked: what they take is a number, and the texts are there already.
    results = worker_pool.ordered_map(
        lambda number: _aligned(chunks[number], tokenizer),
        range(len(chunks)),
        processes,
    )
    found: List[Optional[Question]] = [None] * len(examples)
    with progress.Progress(f"{description}: pieces", len(examples), unit="examples") as bar:
        for chunk, aligned in zip(chunks, results):
            for task, parts in zip(chunk, aligned):
                _hand_out(task, parts, found)
            bar.update(sum(len(task.numbers) for task in chunk), "")
    return found


def _hand_out(task: _Task, parts: _Aligned, found: List[Optional[Question]]) -> None:
    """Puts the examples of a paragraph where they belong."""
    for place, number in enumerate(task.numbers):
        found[number] = Question(
            parts.questions[place],
            parts.paragraph,
            parts.answers[place],
            is_answered=task.answers[place] is not None,
        )


def _tasks(examples: Sequence[SquadExample]) -> List[_Task]:
    """The examples by paragraph."""
    tasks: Dict[str, _Task] = {}
    for number, example in enumerate(examples):
        text = tokenization.convert_to_unicode(example.paragraph_text)
        task = tasks.setdefault(text, _Task(text, [], [], []))
        task.questions.append(example.question_text)
        task.answers.append(answer_of(example))
        task.numbers.append(number)
    return list(tasks.values())


def _aligned(tasks: Sequence[_Task], tokenizer: tokenization.FullTokenizer) -> List[_Aligned]:
    """What a worker does with some paragraphs; one call for all questions is the fastest."""
    questions = iter(
        tokenizer.encode_ids_batch([text for task in tasks for text in task.questions])
    )
    aligned = []
    for task in tasks:
        encoding = tokenizer.encode_with_offsets(task.paragraph)
        answers = [answer and pieces_of(answer, encoding) for answer in task.answers]
        ids = list(itertools.islice(questions, len(task.questions)))
        aligned.append(_Aligned(align(task.paragraph, encoding), ids, answers))
    return aligned
