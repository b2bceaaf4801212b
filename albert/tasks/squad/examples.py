# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Questions on paragraphs, from files laid out like SQuAD v1.1 and v2.0.

    examples = read_squad_examples("train-v2.0.json", is_training=True)

A file is one JSON object, which may be compressed by gzip:

    {"data": [{"title": "...", "paragraphs": [{"context": "...", "qas": [
        {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 0}],
         "is_impossible": false}]}]}]}

Version 2 has "is_impossible". In KorQuAD 2, an article is a paragraph itself, whose questions have
one "answer". Files of Hugging Face have a row for each question, in Parquet, JSON lines or a list:
{"id", "question", "context", "answers": {"text": [...], "answer_start": [...]}}. In such a file, a
question without answers is impossible, unless all questions lack answers. TensorFlow is imported
only to open a file.
"""

import dataclasses
import gzip
import itertools
import os
import zlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

from albert.data import parquet
from albert.downloads import data_set_table
from albert.util import UserError, files, json_files, log, wording

# Schemas of json_files.check.
_PARAGRAPHS = [{"context": str, "qas": [dict]}]
_QUESTION = {
    "id": (str, int),
    "question": str,
    "context": str,
    "answers": (list, dict, None),
    "is_impossible": (bool, None),
}
_LAYOUTS = (
    'Use SQuAD\'s layout, {"data": [{"paragraphs": [{"context": "...", "qas": [{"id": "...", '
    '"question": "...", "answers": [{"text": "...", "answer_start": 0}]}]}]}]}, or an object for '
    'each question, {"id": "...", "question": "...", "context": "...", "answers": {"text": '
    '["..."], "answer_start": [0]}}.'
)


@dataclasses.dataclass(eq=False)
class SquadExample:
    """A question on a paragraph."""

    qas_id: str
    question_text: str
    paragraph_text: str
    orig_answer_text: Optional[str] = None  # the answer to learn, as in the paragraph
    start_position: Optional[int] = None  # of its first character in the paragraph
    end_position: Optional[int] = None  # ignored; the length of orig_answer_text decides
    is_impossible: bool = False
    answers: Sequence[str] = ()  # all right answers; () for an impossible question


def read_squad_examples(
    input_file, is_training, *, max_misaligned: float = 0.01
) -> List[SquadExample]:
    """Returns the questions of a SQuAD file, and logs how many there are.

    For training, only the first answer to a question counts. If it is not at "answer_start" in the
    paragraph, the question is misaligned and left out. Ignores the answers to a question with
    "is_impossible": true.

    Args:
      input_file: the file.
      is_training: whether each question must have an answer, or be impossible.
      max_misaligned: maximum fraction of misaligned questions.

    Raises:
      UserError: the file is missing or not JSON; a value is missing or has another type; two
        questions have the same ID; there are no questions; or too many are misaligned.
    """
    path = str(input_file)
    examples: Dict[str, SquadExample] = {}
    misaligned: Dict[str, str] = {}
    for where, question in _questions(path):
        is_impossible = bool(question.get("is_impossible"))
        answers = () if is_impossible else question["answers"]
        context = question["context"]
        example = SquadExample(
            str(question["id"]),
            question["question"],
            context,
            is_impossible=is_impossible,
            answers=tuple(answer["text"] for answer in answers),
        )
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
    aligned = [example for example in examples.values() if example.qas_id not in misaligned]
    if not aligned:
        problem = "no answer is where answer_start says" if examples else "there are no questions"
        raise UserError(f"'{path}': {problem}. Use a file in SQuAD's layout.")
    log.info("%s: %d questions; %d misaligned left out.", path, len(aligned), len(misaligned))
    return aligned


def _questions(path: str) -> List[Tuple[str, Dict[str, Any]]]:
    """Returns (location, question) pairs. A question has its context, and a list of answers."""
    if not files.exists(path) or files.is_folder(path):
        folder, name = os.path.split(path)
        folders = [
            data_set.folder
            for data_set in data_set_table.DATA_SETS.values()
            if data_set.group == "squad" and name in data_set.files
        ]
        hint = data_set_table.how_to_get(folders, folder)
        raise UserError(f"File '{path}' does not exist. Check the path.{hint}")
    is_parquet = files.ending(path) == parquet.ENDING
    content = list(parquet.read_rows(path)) if is_parquet else _read_json(path)
    try:
        return _checked(content, path)
    except UserError as error:
        raise UserError(f"{error} {_LAYOUTS}") from error


def _checked(content: Any, path: str) -> List[Tuple[str, Dict[str, Any]]]:
    rows = content.get("data", [content]) if isinstance(content, dict) else content
    json_files.check(rows, [dict], f"'{path}': data")
    has_articles = not any("question" in row for row in rows)
    if has_articles:
        articles = [article.get("paragraphs", [article]) for article in rows]
        json_files.check(articles, [_PARAGRAPHS], f"'{path}': data")
        paragraphs = itertools.chain.from_iterable(articles)
        rows = [
            {**row, "context": paragraph["context"]}
            for paragraph in paragraphs
            for row in paragraph["qas"]
        ]
    questions = []
    for row in rows:
        where = f"'{path}', question '{row.get('id')}'"
        json_files.check(row, _QUESTION, where)
        answers = _answers(row)
        json_files.check(answers, [{"text": str}], f"{where}: answers")
        questions.append((where, {**row, "answers": answers}))
    if not has_articles and any(question["answers"] for _, question in questions):
        for _, question in questions:
            question.setdefault("is_impossible", not question["answers"])
    return questions


def _answers(question: Dict[str, Any]) -> List[Dict[str, Any]]:
    answers = question.get("answers") or question.get("answer")
    if not isinstance(answers, dict):
        return question.get("answers") or []
    columns = (
        value if isinstance(value, list) else [value]
        for value in (answers.get("text"), answers.get("answer_start", []))
    )
    return [dict(zip(("text", "answer_start"), row)) for row in itertools.zip_longest(*columns)]


def _read_json(path: str) -> Any:
    """Returns the JSON value in a file; for JSON lines, the list of values."""
    if files.ending(path) == ".gz":
        try:
            text = gzip.decompress(files.read_bytes(path)).decode("utf-8-sig")
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise UserError(f"'{path}' is not UTF-8 text compressed by gzip ({error}).") from error
    else:
        text = files.read_text(path)
    lines = text.strip().split("\n")
    if len(lines) == 1 or not lines[0].rstrip().endswith("}"):
        return json_files.parse_data(text, f"'{path}'")
    return [
        json_files.parse_data(line, f"'{path}', line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _answer_to_learn(
    is_impossible: bool, answers: Sequence[Dict[str, Any]], where: str
) -> Tuple[str, int]:
    """Returns (first answer, position of its first character). Raises UserError if it has none."""
    if is_impossible:
        return "", -1
    start = answers[0].get("answer_start") if answers else None
    if isinstance(start, str) and start.isdecimal():
        start = int(start)
    if type(start) is not int:
        raise UserError(
            f'{where}: for training, each question needs an answer with "answer_start", or '
            '"is_impossible": true. Files without answers are for prediction.'
        )
    return answers[0]["text"], start
