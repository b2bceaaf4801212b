# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Questions on paragraphs, from files laid out like SQuAD v1.1 and v2.0.

    examples = read_squad_examples("train-v2.0.json", is_training=True)

A file is one JSON object:

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 0}],
         "is_impossible": false}]}]}]}

"is_impossible" comes with version 2. TensorFlow is imported only to open a file. The hubs keep the
same as a Parquet file with a row for each question; there the one of version 2 that has no answer
is impossible.
"""

import dataclasses
import itertools
import logging
import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from albert.data import parquet
from albert.datasets import table
from albert.util import files, json_files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger(__name__)

_FILE_TYPES = {"data": [{"paragraphs": [{"context": str, "qas": [dict]}]}]}
_QUESTION_TYPES = {
    "id": (str, int),
    "question": str,
    "answers": (None, [{"text": str, "answer_start": (int, None)}]),
    "is_impossible": (None, bool),
}
_ROW_TYPES = {"context": str, "answers": {"text": [str], "answer_start": [int]}}


@dataclasses.dataclass(eq=False)
class SquadExample:
    """A question on a paragraph."""

    qas_id: str
    question_text: str
    paragraph_text: str
    orig_answer_text: Optional[str] = None  # to learn, as it stands in the paragraph
    start_position: Optional[int] = None  # its first character
    end_position: Optional[int] = None  # ignored: the length of the text says it
    is_impossible: bool = False
    answers: Sequence[str] = ()  # all that count as right; none for an impossible question


def read_squad_examples(
    input_file, is_training, *, max_misaligned: float = 0.01
) -> List[SquadExample]:
    """Returns the questions of a SQuAD file and logs how many there are.

    The first of several answers is learnt. For training, questions whose answer is not in the
    paragraph where "answer_start" says are left out, and counted.

    Answers to a question that is said to be impossible are ignored.

    Args:
      input_file: the file.
      is_training: whether each question needs an answer (or to be impossible).
      max_misaligned: the share of answers that may be left out before the file is refused.

    Raises:
      UserError: the file is missing or not JSON; something is missing in it or of another type;
        an id occurs twice; there is no question; or too many answers are not where they should be.
    """
    path = str(input_file)
    examples: Dict[str, SquadExample] = {}
    misaligned: Dict[str, str] = {}
    for question, context in _questions(path):
        where = f"'{path}', question '{question.get('id')}'"
        json_files.check(question, _QUESTION_TYPES, where)
        is_impossible = bool(question.get("is_impossible"))
        answers = () if is_impossible else question.get("answers") or ()
        example = SquadExample(str(question["id"]), question["question"], context)
        example.is_impossible = is_impossible
        example.answers = tuple(answer["text"] for answer in answers)
        if example.qas_id in examples:
            raise UserError(f"{where}: the id occurs twice. Ids must differ.")
        examples[example.qas_id] = example
        if is_training:
            text, start = _answer_to_learn(is_impossible, answers, where)
            example.orig_answer_text, example.start_position = text, start
            if not (is_impossible or (text and start >= 0 and context.startswith(text, start))):
                misaligned[example.qas_id] = f"{example.qas_id}: {text[:60]!r} at {start}"
    answered = sum(bool(example.answers) for example in examples.values())
    if len(misaligned) > max_misaligned * answered:
        raise UserError(
            f"'{path}': {len(misaligned)} of {answered} answers are not where answer_start says "
            f"(more than {max_misaligned:.0%}): {wording.listed(list(misaligned.values()), 3)}. "
            "answer_start must count the characters (not bytes) of the context from 0. "
            "--max_misaligned_answers sets the limit."
        )
    kept = [example for example in examples.values() if example.qas_id not in misaligned]
    if not kept:
        raise UserError(f"'{path}' has no questions. Use a file in SQuAD's layout.")
    _LOGGER.info("%s: %d questions; %d misaligned left out.", path, len(kept), len(misaligned))
    return kept


def _questions(path: str) -> Iterator[Tuple[Dict[str, Any], str]]:
    """Each question's JSON object and its context."""
    if not files.gfile().exists(path) or files.gfile().isdir(path):
        folder, name = os.path.split(path)
        published = [item for item in table.DATA_SETS.values() if item.group == "squad"]
        hint = table.how_to_get([item.folder for item in published if name in item.files], folder)
        raise UserError(f"File '{path}' does not exist. Check the path.{hint}")
    if path.endswith(parquet.ENDING):
        for number, row in enumerate(parquet.read_rows(path), start=1):
            json_files.check(row, _ROW_TYPES, f"'{path}', row {number}")
            # As in JSON, an answer without its place may be read, and a place without one not.
            columns = itertools.zip_longest(row["answers"]["text"], row["answers"]["answer_start"])
            answers = [{"text": text, "answer_start": start} for text, start in columns]
            yield {**row, "answers": answers, "is_impossible": not answers}, row["context"]
        return
    content = json_files.parse_data(files.read_text(path), f"'{path}'", _FILE_TYPES)
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                yield question, paragraph["context"]


def _answer_to_learn(
    is_impossible: bool, answers: Sequence[Dict[str, Any]], where: str
) -> Tuple[str, int]:
    """The first answer and its first character; raises UserError where one is missing."""
    if is_impossible:
        return "", -1
    if not answers or answers[0].get("answer_start") is None:
        raise UserError(
            f'{where}: for training, each question needs an answer with "answer_start", or '
            '"is_impossible": true. Files without answers are for prediction.'
        )
    return answers[0]["text"], answers[0]["answer_start"]
