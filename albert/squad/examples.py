# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Questions on paragraphs, from the files of SQuAD v1.1 and v2.0 and of what is laid out like them.

    data = read_dataset("train-v2.0.json", is_training=True)
    data.examples[0].question_text, data.notes

A file is one JSON object:

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 0}],
         "is_impossible": false}]}]}]}

"is_impossible" is version 2's; without "answers" there is nothing to learn or to compare with.
Texts stay as they were written. TensorFlow is imported only to open a file.
"""

import collections
import dataclasses
import logging
import re
from typing import Any, Counter, Dict, Iterator, List, NamedTuple, Optional, Sequence

from albert.util import files

_LOGGER = logging.getLogger(__name__)

_SHOWN = 3  # faults that a message spells out

_SEVERAL = "question with several answers, of which the first is learnt"
_REPAIRED = "answer that was written with other white space or case, repaired"
_MISALIGNED = "question left out, as its answer is not where it is said to be"
_LAYOUT = (
    'The layout is that of SQuAD: {"data": [{"paragraphs": [{"context": "...", "qas": [{"id": '
    '"...", "question": "...", "answers": [{"text": "...", "answer_start": 0}]}]}]}]}.'
)


@dataclasses.dataclass(eq=False)
class SquadExample:
    """A question on a paragraph.

    Attributes:
      qas_id: the question's id.
      question_text, paragraph_text: as they were written.
      orig_answer_text: the answer to learn, as it stands in the paragraph; None if none is given.
      start_position, end_position: the first and last character of it in the paragraph. Without
        end_position the length of orig_answer_text decides.
      is_impossible: whether the paragraph does not answer the question.
      answers: the texts of all answers that count as right; none for an impossible question.
      has_gold: False if nothing is known: neither answers nor that there is none.
    """

    qas_id: str
    question_text: str
    paragraph_text: str
    orig_answer_text: Optional[str] = None
    start_position: Optional[int] = None
    end_position: Optional[int] = None
    is_impossible: bool = False
    answers: Sequence[str] = ()
    has_gold: bool = True


class SquadData(NamedTuple):
    """The questions of a file."""

    examples: List[SquadExample]
    path: str
    notes: List[str]  # what was repaired or left out, in words, with counts


def read_squad_examples(input_file, is_training) -> List[SquadExample]:
    """Returns the questions of a file; see `read_dataset`.

    Args:
      input_file: a SQuAD file.
      is_training: whether each question needs an answer. Of several answers the first one is
        learnt, and how many questions have several is logged.

    Raises:
      ValueError: as `read_dataset`.
    """
    return read_dataset(input_file, is_training).examples


def read_dataset(path: str, is_training: bool, *, max_misaligned: float = 0.01) -> SquadData:
    """Reads a SQuAD file and logs one line on what was found.

    For training, an answer has to stand in the paragraph where "answer_start" says. If only white
    space or case differ there, the paragraph's own words are taken, and counted; any other question
    is left out, and counted.

    A question without answers is one that has none if the file has answers to others, and
    otherwise one whose answers are not known.

    Args:
      path: the file.
      is_training: whether each question needs an answer (or to be impossible).
      max_misaligned: the share of answers that may be left out before the file is refused.

    Raises:
      ValueError: the file is missing or not JSON; something is missing in it or of another type
        (the message says in which article, paragraph and question); an id occurs twice; there is
        no question; or too many answers are not where they should be.
    """
    path = str(path)
    examples, faults, seen, without, answered = [], [], set(), [], 0
    counts = collections.Counter()
    for question in _questions(path):
        example = question.example
        if example.qas_id in seen:
            raise ValueError(
                f"{question.where}: the id '{example.qas_id}' occurs twice. Results go by ids: "
                "each question needs one of its own."
            )
        seen.add(example.qas_id)
        if question.has_list and not question.answers:
            without.append(example)
        answered += bool(question.answers)
        fault = _prepare_for_training(question, counts) if is_training else ""
        (faults if fault else examples).append(fault or example)
    _check_faults(path, faults, answered=answered, limit=max_misaligned)
    counts[_MISALIGNED] = len(faults)
    for example in without if any(example.answers for example in examples) else ():
        example.has_gold = True
    if not examples:
        raise ValueError(f"'{path}' holds no question. {_LAYOUT}")
    notes = [f"{number} x {what}" for what, number in counts.items() if number]
    details = f" ({'; '.join(notes)})" if notes else ""
    _LOGGER.info("%d questions from %s%s", len(examples), path, details)
    return SquadData(examples, path, notes)


# --------------------------------------------------------------------------------------- reading


class _Question(NamedTuple):
    """A question as the file has it, checked."""

    where: str  # file, article, paragraph and question, for messages
    example: SquadExample  # but for what only training needs
    answers: List[Dict[str, Any]]
    has_list: bool  # of answers, though it may be empty


def _questions(path: str) -> Iterator[_Question]:
    """The questions in the order of the file."""
    content = _load(path)
    if not isinstance(content, dict) or "data" not in content:
        raise ValueError(f"'{path}' has no \"data\". {_LAYOUT}")
    for article_number, article in enumerate(_list(content, "data", path)):
        title = article.get("title") if isinstance(article, dict) else None
        named = f" ('{title}')" if title else ""
        where = f"{path}, article {article_number + 1}{named}"
        for number, paragraph in enumerate(_list(article, "paragraphs", where)):
            inner = f"{where}, paragraph {number + 1}"
            context = _get(paragraph, "context", inner, kind=str)
            for index, question in enumerate(_list(paragraph, "qas", inner)):
                yield _question(question, context, f"{inner}, question {index + 1}")


def _load(path: str) -> Any:
    """The file's JSON value."""
    import tensorflow.compat.v1 as tf

    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise ValueError(f"File '{path}' does not exist. Check the path.")
    try:
        return files.read_json(path)
    except ValueError as error:
        raise ValueError(f"{error} {_LAYOUT}") from None


def _get(value: Any, key: str, where: str, *, kind: type) -> Any:
    """value[key], if it is what it should be."""
    if not isinstance(value, dict):
        raise ValueError(f"{where}: {str(value)[:60]!r} is not a JSON object. {_LAYOUT}")
    if key not in value:
        raise ValueError(f'{where}: "{key}" is missing; there are {sorted(value)}. {_LAYOUT}')
    found = value[key]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        words = {str: "text", list: "a list", int: "a whole number", bool: "true or false"}
        raise ValueError(f'{where}: "{key}" is {str(found)[:60]!r}; it must be {words[kind]}.')
    return found


def _list(value: Any, key: str, where: str) -> List[Any]:
    """value[key], a list."""
    return _get(value, key, where, kind=list)


def _question(value: Any, context: str, where: str) -> _Question:
    """Checks a question's parts."""
    if isinstance(value, dict) and isinstance(value.get("id"), int):
        value = dict(value, id=str(value["id"]))
    name = _get(value, "id", where, kind=str)
    where = f"{where} (id '{name}')"
    text = _get(value, "question", where, kind=str)
    answers = _list(value, "answers", where) if value.get("answers") is not None else []
    for answer in answers:
        _get(answer, "text", where, kind=str)
    has_list = value.get("answers") is not None
    is_impossible = False
    if value.get("is_impossible") is not None:
        is_impossible = _get(value, "is_impossible", where, kind=bool)
    if is_impossible and answers:
        raise ValueError(
            f'{where}: "is_impossible" is true, but there are answers. Answers that only seem to '
            'be right belong into "plausible_answers".'
        )
    example = SquadExample(
        name,
        text,
        context,
        is_impossible=is_impossible,
        answers=tuple(answer["text"] for answer in answers),
        has_gold=bool(answers or is_impossible),
    )
    return _Question(where, example, answers, has_list)


# ------------------------------------------------------------------------------ answers to learn


def _prepare_for_training(question: _Question, counts: Counter[str]) -> str:
    """Sets the answer to learn; returns what is wrong if it is not where it should be."""
    example = question.example
    if example.is_impossible:
        example.orig_answer_text, example.start_position = "", -1
        return ""
    if not question.answers:
        raise ValueError(
            f"{question.where} has no answer. To learn from, each question needs one (or "
            '"is_impossible": true); files without answers are for prediction.'
        )
    answer, paragraph = question.answers[0]["text"], example.paragraph_text
    start = _get(question.answers[0], "answer_start", question.where, kind=int)
    found = _find_answer(answer, paragraph, start)
    if found is None:
        there = paragraph[max(start, 0) :][: max(len(answer), 1)]
        return f"{example.qas_id}: {answer[:60]!r} at {start}, where {there[:60]!r} stands"
    example.orig_answer_text = paragraph[found]
    example.start_position, example.end_position = found.start, found.stop - 1
    counts[_SEVERAL] += len(question.answers) > 1
    counts[_REPAIRED] += paragraph[found] != answer
    return ""


def _find_answer(answer: str, paragraph: str, start: int) -> Optional[slice]:
    """The answer in its place, if need be with other white space or case."""
    words = answer.split()
    if not words or not 0 <= start <= len(paragraph):
        return None
    if paragraph.startswith(answer, start):
        return slice(start, start + len(answer))
    pattern = r"\s*(" + r"\s+".join(map(re.escape, words)) + ")"
    found = re.compile(pattern, re.IGNORECASE).match(paragraph, start)
    return found and slice(*found.span(1))


def _check_faults(path: str, faults: List[str], *, answered: int, limit: float) -> None:
    """Refuses a file with many answers that are not where they should be."""
    if len(faults) > limit * answered:
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise ValueError(
            f"'{path}': {len(faults)} of {answered} answers are not where answer_start says "
            f"(more than {limit:.0%}): {'; '.join(faults[:_SHOWN])}{more}. answer_start counts "
            "the characters of the context (not bytes) from 0, before any change to the text; "
            "--max_misaligned_answers sets the limit."
        )
