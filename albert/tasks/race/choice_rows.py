# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads questions with any number of choices from JSON lines or Parquet files.

A row has `question`, `choices`, and perhaps `context` and `label`. Rows of COPA, CommonsenseQA,
SWAG and C3 are read as the library `datasets` writes them.
"""

import string
from typing import Any, Dict, List, Mapping, Optional, Sequence

from albert.data import parquet, rows
from albert.tasks.race.examples import InputExample, endings_of
from albert.util import files, json_files
from albert.util.errors import UserError

ENDINGS = {*files.JSON_LINES, parquet.ENDING}
_LABEL = (str, int, None)
_TYPES = {"question": str, "context": (str, None), "choices": [str], "label": _LABEL}
# Questions as in Roemmele et al. 2011.
_COPA = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
# Columns that only this layout has -> the types of its columns.
_LAYOUTS: Dict[str, Any] = {
    "premise": {
        "premise": str,
        "choice1": str,
        "choice2": str,
        "question": set(_COPA),
        "label": _LABEL,
    },
    "answerKey": {
        "question": str,
        "choices": {"label": [str], "text": [str]},
        "answerKey": (str, None),
    },
    "sent1": {
        "sent1": str,
        "sent2": str,
        **{f"ending{number}": str for number in range(4)},
        "label": _LABEL,
    },
    "choice": {
        "context": [str],
        "question": str,
        "choice": [str],
        "answer": (str, None),
    },
}


def read(path: str, *, needs_labels: bool = False) -> List[InputExample]:
    """Returns the questions of a file, named by their numbers from 0.

    Raises:
      UserError: a line has another layout, or a wrong label; or with `needs_labels`, none.
    """
    examples = []
    for row in rows.read_rows([path]):
        if row.is_table:
            raise UserError(f"{row.where} is not a JSON object. Use JSON lines or Parquet.")
        example = of_row(row.fields, row.where)
        if needs_labels and example.label is None:
            raise UserError(f"{row.where} has no label.")
        examples.append(example)
    return examples


def of_row(fields: Mapping[str, Any], where: str) -> InputExample:
    """Returns the question in a row; a UserError begins with `where`."""
    layout = next((name for name in _LAYOUTS if name in fields), "")
    json_files.check(fields, _LAYOUTS.get(layout, _TYPES), where)
    context, question = fields.get("context") or "", fields.get("question", "")
    choices, label = fields.get("choices"), fields.get("label")
    if layout == "premise":
        context, question = fields["premise"], _COPA[question]
        choices = [fields["choice1"], fields["choice2"]]
    elif layout == "answerKey":
        keys, choices = choices["label"], choices["text"]
        key = fields.get("answerKey")
        label = keys.index(key) if key in keys else key
    elif layout == "sent1":
        context, question = fields["sent1"], fields["sent2"]
        choices = [fields[f"ending{number}"] for number in range(4)]
    elif layout == "choice":
        context, choices, label = "\n".join(context), fields["choice"], fields.get("answer")
    if len(choices) < 2:
        raise UserError(f"{where} has {len(choices)} choices. It must have at least 2.")
    return example_of(context, question, choices, label=_index_of(label, choices, where))


def example_of(
    context: str, question: str, choices: Sequence[str], *, label: Optional[int] = None
) -> InputExample:
    """Returns a question as the model reads it.

    With a context, the texts are (context, question and choice), otherwise (question, choice).
    """
    endings = endings_of(question, choices) if context else choices
    return InputExample("", context or question, None, list(endings), label, options=choices)


def _index_of(label: Any, choices: List[str], where: str) -> Optional[int]:
    """Returns the index of the right choice, from its index, text or letter; None: unknown."""
    if label in (None, "", -1):
        return None
    if isinstance(label, str) and choices.count(label) == 1:
        return choices.index(label)
    letters = string.ascii_uppercase[: len(choices)]
    if isinstance(label, str) and len(label) == 1 and label in letters:
        return letters.index(label)
    if isinstance(label, str) and label.isdecimal():
        label = int(label)
    if isinstance(label, int) and 0 <= label < len(choices):
        return label
    raise UserError(
        f"{where}: the label {label!r} is not one of {len(choices)} choices. It must be an index "
        f"from 0 to {len(choices) - 1}, a letter from A, or the text of one choice."
    )
