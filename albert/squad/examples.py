# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Questions on paragraphs, from files laid out like SQuAD v1.1 and v2.0.

    data = read_dataset("train-v2.0.json", is_training=True)
    data.examples[0].question_text, data.notes

A file is one JSON object:

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 0}],
         "is_impossible": false}]}]}]}

"is_impossible" comes with version 2. TensorFlow is imported only to open a file. The hubs keep the
same as a Parquet file with a row for each question; there the one of version 2 that has no answer
is impossible.
"""

import collections
import dataclasses
import logging
import os
import re
from typing import Any, Counter, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from albert.data import parquet
from albert.datasets import table
from albert.util import files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger(__name__)

_SHOWN = 3  # faults that a message spells out

_LAYOUT = (
    'The layout is that of SQuAD: {"data": [{"paragraphs": [{"context": "...", "qas": [{"id": '
    '"...", "question": "...", "answers": [{"text": "...", "answer_start": 0}]}]}]}]}.'
)
_KINDS = {str: "text", list: "a list", dict: "an object", int: "a whole number"}
_KINDS[bool] = "true or false"


@dataclasses.dataclass(eq=False)
class SquadExample:
    """A question on a paragraph."""

    qas_id: str
    question_text: str
    paragraph_text: str
    orig_answer_text: Optional[str] = None  # to learn, as it stands in the paragraph
    start_position: Optional[int] = None  # its first character
    end_position: Optional[int] = None  # its last one; None: the length of the text decides
    is_impossible: bool = False
    answers: Sequence[str] = ()  # all that count as right; none for an impossible question
    has_gold: bool = True  # False: no gold label, not even "no answer"


class SquadData(NamedTuple):
    """The questions of a file."""

    examples: List[SquadExample]
    path: str
    notes: List[str]  # what was repaired or left out, in words, with counts


def read_squad_examples(input_file, is_training) -> List[SquadExample]:
    """Returns the questions of a file; see `read_dataset`."""
    return read_dataset(input_file, is_training).examples


def read_dataset(path: str, is_training: bool, *, max_misaligned: float = 0.01) -> SquadData:
    """Reads a SQuAD file and logs one line on what was found.

    For training, an answer has to stand in the paragraph where "answer_start" says. Where only
    white space or case differ, the paragraph's own words are taken, and counted; other questions
    are left out, and counted. Of several answers the first is learnt.

    A question without answers is impossible if the file has answers to others; otherwise its
    answers are unknown.

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
    examples: List[SquadExample] = []
    faults: List[str] = []
    seen, without, answered = set(), [], 0
    counts: Counter[str] = collections.Counter()
    for where, question, context in _questions(path):
        example, where = _example(question, context, where)
        if example.qas_id in seen:
            raise UserError(f"{where}: the id '{example.qas_id}' occurs twice. Ids must differ.")
        seen.add(example.qas_id)
        if question.get("answers") == []:
            without.append(example)
        answered += bool(example.answers)
        fault = _set_answer(example, question, where, counts=counts) if is_training else ""
        if fault:
            faults.append(fault)
        else:
            examples.append(example)
    _check_faults(path, faults, answered=answered, limit=max_misaligned)
    counts["question left out, as its answer is not where it is said to be"] = len(faults)
    if any(example.answers for example in examples):
        for example in without:
            example.has_gold = True
    if not examples:
        raise UserError(f"'{path}' holds no question. {_LAYOUT}")
    notes = [f"{number} x {what}" for what, number in counts.items() if number]
    details = f" ({'; '.join(notes)})" if notes else ""
    _LOGGER.info("%s from %s%s", wording.counted(len(examples), "question"), path, details)
    return SquadData(examples, path, notes)


# --------------------------------------------------------------------------------------- reading


def _questions(path: str) -> Iterator[Tuple[str, Any, str]]:
    """Each question's place (for messages), its JSON value and its context."""
    if not files.gfile().exists(path) or files.gfile().isdir(path):
        folder, name = os.path.split(path)
        published = [item for item in table.DATA_SETS.values() if item.group == "squad"]
        hint = table.how_to_get([x.folder for x in published if name in x.files], folder)
        raise UserError(f"File '{path}' does not exist. Check the path.{hint}")
    if path.endswith(parquet.ENDING):
        yield from _rows(path)
        return
    content = _load(path)
    if not isinstance(content, dict) or "data" not in content:
        raise UserError(f"'{path}' has no \"data\". {_LAYOUT}")
    for article_number, article in enumerate(_get(content, "data", path, kind=list), start=1):
        title = article.get("title") if isinstance(article, dict) else None
        where = f"{path}, article {article_number}" + (f" ('{title}')" if title else "")
        for number, paragraph in enumerate(_get(article, "paragraphs", where, kind=list), start=1):
            inner = f"{where}, paragraph {number}"
            context = _get(paragraph, "context", inner, kind=str)
            for index, question in enumerate(_get(paragraph, "qas", inner, kind=list), start=1):
                yield f"{inner}, question {index}", question, context


def _rows(path: str) -> Iterator[Tuple[str, Any, str]]:
    """What `_questions` yields, of a Parquet file."""
    for number, row in enumerate(parquet.read_rows(path), start=1):
        where = f"{path}, row {number}"
        found = _get(row, "answers", where, kind=dict)
        texts, starts = (_get(found, key, where, kind=list) for key in ("text", "answer_start"))
        if len(texts) != len(starts):
            raise UserError(f"{where}: there are {len(texts)} texts for {len(starts)} starts.")
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts)]
        question = {**row, "answers": answers, "is_impossible": not answers}
        yield where, question, _get(row, "context", where, kind=str)


def _load(path: str) -> Any:
    try:
        return files.parse_json(files.read_bytes(path), f"'{path}'")
    except ValueError as error:
        raise UserError(f"{error} {_LAYOUT}") from None


def _get(value: Any, key: str, where: str, *, kind: type) -> Any:
    """value[key], checked."""
    if not isinstance(value, dict):
        raise UserError(f"{where}: {str(value)[:60]!r} is not a JSON object. {_LAYOUT}")
    if key not in value:
        raise UserError(f'{where}: "{key}" is missing; there are {sorted(value)}. {_LAYOUT}')
    found = value[key]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise UserError(f'{where}: "{key}" is {str(found)[:60]!r}; it must be {_KINDS[kind]}.')
    return found


def _example(value: Any, context: str, where: str) -> Tuple[SquadExample, str]:
    """A question without its training target, and its place with its id."""
    if isinstance(value, dict) and isinstance(value.get("id"), int):
        value = dict(value, id=str(value["id"]))
    name = _get(value, "id", where, kind=str)
    where = f"{where} (id '{name}')"
    text = _get(value, "question", where, kind=str)
    known = {key for key in ("answers", "is_impossible") if value.get(key) is not None}
    answers = _get(value, "answers", where, kind=list) if "answers" in known else []
    texts = tuple(_get(answer, "text", where, kind=str) for answer in answers)
    is_impossible = False
    if "is_impossible" in known:
        is_impossible = _get(value, "is_impossible", where, kind=bool)
    if is_impossible and texts:
        raise UserError(
            f'{where}: "is_impossible" is true, but there are answers. Answers that only seem to '
            'be right belong in "plausible_answers".'
        )
    example = SquadExample(name, text, context, is_impossible=is_impossible, answers=texts)
    example.has_gold = bool(texts or is_impossible)
    return example, where


# ------------------------------------------------------------------------------ answers to learn


def _set_answer(example: SquadExample, question: Any, where: str, *, counts: Counter[str]) -> str:
    """Sets the answer to learn; returns what is wrong if it is not where it should be."""
    if example.is_impossible:
        example.orig_answer_text, example.start_position = "", -1
        return ""
    if not example.answers:
        raise UserError(
            f"{where} has no answer. For training, each question needs one (or "
            '"is_impossible": true); files without answers are for prediction.'
        )
    answer, paragraph = example.answers[0], example.paragraph_text
    start = _get(question["answers"][0], "answer_start", where, kind=int)
    found = _find_answer(answer, paragraph, start)
    if found is None:
        there = paragraph[max(start, 0) :][: max(len(answer), 1)]
        return f"{example.qas_id}: {answer[:60]!r} at {start}, where {there[:60]!r} stands"
    example.orig_answer_text = paragraph[found]
    example.start_position, example.end_position = found.start, found.stop - 1
    several = len(example.answers) > 1
    counts["question with several answers, of which the first is learnt"] += several
    repaired = example.orig_answer_text != answer
    counts["answer that was written with other white space or case, repaired"] += repaired
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
    return slice(*found.span(1)) if found else None


def _check_faults(path: str, faults: List[str], *, answered: int, limit: float) -> None:
    if len(faults) > limit * answered:
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise UserError(
            f"'{path}': {len(faults)} of {answered} answers are not where answer_start says "
            f"(more than {limit:.0%}): {'; '.join(faults[:_SHOWN])}{more}. answer_start counts "
            "the characters of the context (not bytes) from 0, before any change to the text; "
            "--max_misaligned_answers sets the limit."
        )
