# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads questions with any number of choices from JSON lines or Parquet files.

A row has `question`, `choices`, and perhaps `context` and `label`. Rows of COPA, CommonsenseQA,
SWAG and C3 are read as the library `datasets` writes them.
"""

import re
import string
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from albert.data import parquet, rows
from albert.tasks.race.examples import InputExample, endings_of
from albert.util import UserError, files, json_files

ENDINGS = {*files.JSON_LINES, parquet.ENDING}
# Key -> the keys of SWAG, COPA, CommonsenseQA and C3 for it.
_KEYS = {
    "context": ("premise", "sent1"),
    "question": ("sent2",),
    "choices": ("choice",),
    "label": ("answerKey", "answer"),
}
_ONE_CHOICE = re.compile("(choice|ending)[0-9]+")  # COPA and SWAG
_TYPES = {
    "context": (str, [str], None),
    "question": str,
    "choices": ([str], {"label": [str], "text": [str]}),
    "label": (str, int, None),
}
_DOCUMENT = {"documents": [str], "questions": {str: list}}
# COPA's questions, as in Roemmele et al. 2011.
_COPA = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}


def read(paths: Sequence[str], *, needs_labels: bool = False) -> List[InputExample]:
    """Returns the questions of files.

    Raises:
      UserError: a line has another layout, or a wrong label; or with `needs_labels`, none.
    """
    examples = []
    for row in rows.read_rows(paths):
        if row.is_table:
            raise UserError(f"{row.where} is not a JSON object. Use JSON lines or Parquet.")
        for fields in _questions(row.fields, row.where):
            example = of_row(fields, row.where)
            if needs_labels and example.label is None:
                raise UserError(f"{row.where} has no label.")
            examples.append(example)
    return examples


def _questions(fields: Mapping[str, Any], where: str) -> Iterator[Mapping[str, Any]]:
    """Yields the fields of each question of a row. The data set c3 has several in a row."""
    if "documents" not in fields:
        yield fields
        return
    json_files.check(fields, _DOCUMENT, where)
    columns = fields["questions"]
    if len({len(values) for values in columns.values()}) > 1:
        raise UserError(f"{where}: the columns of `questions` differ in length.")
    for values in zip(*columns.values()):
        yield dict(zip(columns, values), context=fields["documents"])


def of_row(fields: Mapping[str, Any], where: str) -> InputExample:
    """Returns the question in a row; a UserError begins with `where`.

    With a context, the texts are (context, question and choice), otherwise (question, choice).
    """
    row: Dict[str, Any] = {
        key: next((fields[name] for name in (key, *names) if name in fields), None)
        for key, names in _KEYS.items()
    }
    keys = filter(_ONE_CHOICE.fullmatch, fields)
    single = [fields[key] for key in sorted(keys, key=lambda key: (len(key), key))]
    row["choices"] = single or row["choices"]
    json_files.check(row, _TYPES, where)
    context, question, choices, label = row.values()
    if isinstance(context, list):
        context = "\n".join(context)
    if "premise" in fields:
        question = _COPA.get(question, question)
    if isinstance(choices, dict):
        keys, choices = choices["label"], choices["text"]
        if label in keys:
            label = keys.index(label)
    if len(choices) < 2:
        raise UserError(f"{where} has fewer than two choices.")
    label = _index_of(label, choices, where)
    endings = list(choices)
    if context:
        endings = endings_of(question, choices)
    return InputExample("", context or question, None, endings, label, options=choices)


def _index_of(label: Any, choices: List[str], where: str) -> Optional[int]:
    """Returns the index of the right choice, from its index, text or letter; None: unknown."""
    if label in (None, "", -1):
        return None
    numbers = range(len(choices))
    if label in numbers:
        return label
    index_of = dict(zip(map(str, numbers), numbers))
    index_of.update(zip(string.ascii_uppercase, numbers))
    index_of.update(zip(choices, numbers))  # A text counts before a letter.
    if label in index_of and choices.count(label) < 2:
        return index_of[label]
    raise UserError(
        f"{where}: the label {label!r} is not one of {len(choices)} choices. It must be an index "
        f"from 0 to {len(choices) - 1}, a letter from A, or the text of one choice."
    )
