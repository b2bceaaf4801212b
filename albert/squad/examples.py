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

# How far from where it should be an answer is looked for. Offsets that count bytes, or line ends
# twice, are off by a few; further away the same words may well mean something else.
_NEARBY = 32
# What does not go on a word: letters of scripts that are written without spaces may.
_LETTER = re.compile(r"[^\W\u2e80-\U0010ffff]")
_SPACE = re.compile(r"\s*")
_SHOWN = 3  # faults that a message spells out

_SEVERAL = "question with several answers, of which the first is learnt"
_REPAIRED = "answer that was written with other white space or case, repaired"
_MOVED = "answer that stands elsewhere than answer_start says, moved"
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
    space or case differ there, the paragraph's own words are taken, and counted. If it stands
    exactly once, in whole words, within 32 characters of that place, it is moved there, and
    counted; any other question is left out, and counted.

    A question without answers is one that has none if the file has answers to others, and
    otherwise one whose answers are not known.

    Args:
      path: the file.
      is_training: whether each question needs an answer (or to be impossible).
      max_misaligned: the share of answers that may be moved or left out before the file is
        refused.

    Raises:
      ValueError: the file is missing or not JSON; something is missing in it or of another type
        (the message says in which article, paragraph and question); an id occurs twice; there is
        no question; or too many answers are not where they should be.
    """
    path = str(path)
    examples, faults, moved = [], [], []
    counts = collections.Counter()
    seen, without = set(), []
    for question in _questions(path):
        if question.id in seen:
            raise ValueError(
                f"{question.where}: the id '{question.id}' occurs twice. Results go by ids: each "
                "question needs one of its own."
            )
        seen.add(question.id)
        example = _example_of(question)
        if question.has_list and not question.answers:
            without.append(example)
        if is_training:
            found = _prepare_for_training(example, question, counts)
            (faults if found.is_lost else moved).extend(found.faults)
            if found.is_lost:
                continue
        examples.append(example)
    wrong = faults + moved
    _check_faults(path, wrong, answered=counts["answered"], limit=max_misaligned)
    del counts["answered"]
    counts[_MOVED], counts[_MISALIGNED] = len(moved), len(faults)
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
    id: str
    text: str
    context: str
    answers: List[Dict[str, Any]]
    has_list: bool  # of answers, though it may be empty
    is_impossible: Optional[bool]  # None: the file does not say


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
    is_impossible = None
    if value.get("is_impossible") is not None:
        is_impossible = _get(value, "is_impossible", where, kind=bool)
    if is_impossible and answers:
        raise ValueError(
            f'{where}: "is_impossible" is true, but there are answers. Answers that only seem to '
            'be right belong into "plausible_answers".'
        )
    has_list = value.get("answers") is not None
    return _Question(where, name, text, context, answers, has_list, is_impossible)


def _example_of(question: _Question) -> SquadExample:
    """The example but for what only training needs."""
    return SquadExample(
        question.id,
        question.text,
        question.context,
        is_impossible=bool(question.is_impossible),
        answers=tuple(answer["text"] for answer in question.answers),
        has_gold=bool(question.answers or question.is_impossible),
    )


# ------------------------------------------------------------------------------ answers to learn


class _Found(NamedTuple):
    """What looking for an answer came to."""

    faults: List[str]
    is_lost: bool


def _prepare_for_training(
    example: SquadExample, question: _Question, counts: Counter[str]
) -> _Found:
    """Sets the answer to learn, if it can be found."""
    if example.is_impossible:
        example.orig_answer_text, example.start_position = "", -1
        return _Found([], False)
    if not question.answers:
        raise ValueError(
            f"{question.where} has no answer. To learn from, each question needs one (or "
            '"is_impossible": true); files without answers are for prediction.'
        )
    answer = question.answers[0]
    start = _get(answer, "answer_start", question.where, kind=int)
    place = _find_answer(answer["text"], example.paragraph_text, start)
    counts["answered"] += 1
    there = example.paragraph_text[max(start, 0) :][: max(len(answer["text"]), 1)]
    fault = f"{question.id}: {answer['text'][:60]!r} at {start}, where {there[:60]!r} stands"
    if place is None:
        return _Found([fault], True)
    text = example.paragraph_text[place.first : place.end]
    counts[_SEVERAL] += len(question.answers) > 1
    counts[_REPAIRED] += not place.is_moved and text != answer["text"]
    example.orig_answer_text = text
    example.start_position, example.end_position = place.first, place.end - 1
    return _Found([fault] if place.is_moved else [], False)


class _Place(NamedTuple):
    """Where an answer stands."""

    first: int
    end: int
    is_moved: bool  # elsewhere than it should


def _find_answer(text: str, paragraph: str, start: int) -> Optional[_Place]:
    """Where in the paragraph the answer stands; None: nowhere, or who knows where."""
    words = text.split()
    if not words:
        return None
    if start >= 0 and paragraph.startswith(text, start):
        return _Place(start, start + len(text), False)
    if 0 <= start <= len(paragraph):
        first = _SPACE.match(paragraph, start).end()
        end = _end_of(words, paragraph, first)
        if end:
            return _Place(first, end, False)
    places = _nearby(words, paragraph, start=start, length=len(text))
    exact = [place for place in places if paragraph[place.first : place.end].split() == words]
    for found in (exact, places):
        if len(found) == 1:
            return found[0]
    return None


def _nearby(words: List[str], paragraph: str, *, start: int, length: int) -> List[_Place]:
    """Where the words stand whole, in any case, not far from where they should be."""
    sought = " ".join(words).casefold()
    last = start + length + _NEARBY
    places = []
    # The paragraph may write the answer with less white space, and so it may begin later.
    for first in range(max(start - _NEARBY, 0), min(start + 2 * _NEARBY, len(paragraph)) + 1):
        # Most places are ruled out without a loop over the words.
        if not " ".join(paragraph[first : max(last, 0)].split()).casefold().startswith(sought):
            continue
        end = _end_of(words, paragraph, first)
        if end and end <= last and not _is_in_a_word(paragraph, first, end):
            places.append(_Place(first, end, True))
    return places


def _end_of(words: List[str], paragraph: str, first: int) -> Optional[int]:
    """Where words that begin at `first` end, whatever their case and the white space between."""
    end = first
    for number, word in enumerate(words):
        begin = _SPACE.match(paragraph, end).end() if number else first
        is_apart = begin > end or not number
        end = begin + len(word)
        if not is_apart or paragraph[begin:end].casefold() != word.casefold():
            return None
    return end


def _is_in_a_word(paragraph: str, first: int, end: int) -> bool:
    """Whether a letter stands before or behind."""
    before = first > 0 and _LETTER.match(paragraph, first - 1)
    return bool(before or _LETTER.match(paragraph, end))


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
