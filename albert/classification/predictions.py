# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes predictions in the files that people and leader boards expect, and reads texts to predict.

test_results.tsv      a line for each example: the probability of each label, tabs between
submit_results.tsv    header "index, prediction", then name and label of each example
MRPC.tsv              the same as GLUE wants it (gluebenchmark.com: "Submission format")
tnews_predict.json    CLUE: {"id": row, "label": name} a line
"""

import json
import logging
import os
import zipfile
from typing import Dict, Iterable, List, Sequence

import numpy as np

from albert.classification import examples as labelled_examples
from albert.classification.examples import (
    FIRST_NAMES,
    GUID_NAMES,
    SECOND_NAMES,
    TEXT_NAMES,
    Column,
    Columns,
    InputExample,
    Split,
    Table,
    Task,
    TaskData,
)
from albert.classification.task_table import GLUE
from albert.training.task import Outputs
from albert.util import files as file_utils

_LOGGER = logging.getLogger(__name__)

# GLUE's site refuses a submission that lacks one of these.
GLUE_SUBMISSION_FILES = tuple(sorted({file for task in GLUE for file in task.submissions.values()}))
_HIGHEST_STSB_SCORE = 5.0


# --------------------------------------------------------------------------------------- writing


def split_files(
    task: Task, examples: Sequence[InputExample], outputs: Outputs, *, split: str
) -> Dict[str, str]:
    """Returns the text of all files with a test split's predictions, by name.

    The first split's files have the published names; another one's carry its own name
    (test_results_mismatched.tsv).
    """
    suffix = task.suffix(split)
    written = result_files(task, examples, outputs, suffix=suffix)
    if task.submissions:
        answers = _answers(task, outputs)
        if task.is_regression:
            scores = np.clip(outputs["predictions"], 0.0, _HIGHEST_STSB_SCORE)
            answers = [f"{score:.3f}" for score in np.ravel(scores)]
        written[task.submissions[task.split(split).name]] = _submission(examples, answers)
    elif not suffix:
        rows = enumerate(_row_answers(task, outputs))
        written[f"{task.name}_predict.json"] = _text(
            json.dumps({"id": row, "label": answer}, ensure_ascii=False) for row, answer in rows
        )
    return written


def result_files(
    task: Task, examples: Sequence[InputExample], outputs: Outputs, *, suffix: str = ""
) -> Dict[str, str]:
    """Returns the text of test_results.tsv and submit_results.tsv, with `suffix` in the names.

    Args:
      task: the task, of L labels.
      examples: N examples.
      outputs: probabilities, float32 [N, L] (regression: the number, [N, 1]); predictions, the
        label's number, integer [N] (regression: float [N]).
      suffix: such as "_mismatched".
    """
    rows = np.reshape(outputs["probabilities"], [len(examples), -1])
    return {
        f"test_results{suffix}.tsv": _text("\t".join(map(str, row)) for row in rows),
        f"submit_results{suffix}.tsv": _submission(examples, _answers(task, outputs)),
    }


def _answers(task: Task, outputs: Outputs) -> List[str]:
    """The predicted label's name for each example; regression: the number."""
    found = np.ravel(outputs["predictions"])
    if task.is_regression:
        return list(map(str, found))
    return [task.labels[int(number)] for number in found]


def _row_answers(task: Task, outputs: Outputs) -> List[str]:
    """The answer for each row of the data file.

    If a row is several examples (COPA's choices), it is the number of the one whose last label,
    "belongs", is the most probable.
    """
    if task.examples_per_row == 1:
        return _answers(task, outputs)
    belongs = outputs["probabilities"][:, -1].reshape([-1, task.examples_per_row])
    return list(map(str, belongs.argmax(axis=1)))


def _submission(examples: Sequence[InputExample], answers: Sequence[str]) -> str:
    rows = [f"{example.guid}\t{answer}" for example, answer in zip(examples, answers)]
    return _text(["index\tprediction", *rows])


def _text(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


def zip_glue_submission(zip_path: str, paths: Iterable[str]) -> List[str]:
    """Packs files with GLUE's names into one zip file; returns the names that GLUE wants beside.

    The same content gives the same bytes.
    """
    contents = {os.path.basename(path): file_utils.read_bytes(path) for path in paths}
    with file_utils.atomic_path(zip_path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(name), contents[name], zipfile.ZIP_DEFLATED)
    return [name for name in GLUE_SUBMISSION_FILES if name not in contents]


# --------------------------------------------------------------------------------- texts to predict


def read_predict_file(task: Task, path: str) -> TaskData:
    """Reads texts to predict from a TSV, CSV, JSON-lines or Parquet file; ignores its labels.

    The texts are in columns or fields named as the task's, or as usual (text_a and text_b,
    sentence1 and sentence2, ...), or are the only columns. One log line says what was taken.

    Returns:
      Examples without labels. A column or field "id", "index", "guid" or "idx" names them,
      otherwise their number, counted from 0.

    Raises:
      ValueError: the file is missing or empty, the texts are not found, a row has too few columns,
        or the rows do not make whole questions (COPA).
    """
    table = labelled_examples.read_table(os.path.expanduser(str(path)))
    columns = labelled_examples.find_columns(
        table, _text_columns(task, table), task, needs_labels=False
    )
    data = labelled_examples.read_rows(table, columns, task, split=Split("test"))
    for index, example in enumerate(data.examples):
        example.label = None
        if columns.guid is None or columns.render:
            example.guid = str(index)
    _LOGGER.info("%s; texts from columns %s", data.log_line("predict_file"), data.columns)
    return data


def _optional(guid: Column) -> Column:
    return (guid, *GUID_NAMES) if isinstance(guid, str) else GUID_NAMES


def _text_columns(task: Task, table: Table) -> List[Columns]:
    """Where texts may be: under the task's names, under usual ones, or in all columns there are."""
    first, last = table.rows[0].values, table.rows[-1].values
    texts = (FIRST_NAMES, SECOND_NAMES) if task.is_pair else (TEXT_NAMES,)
    found = [
        columns._replace(label=None, guid=_optional(columns.guid), header=None)
        for columns in (*task.columns, Columns(*texts))
        if not isinstance(columns.text_a, int)
    ]
    width = 1 + task.is_pair
    # Two columns may be a text and its label.
    if isinstance(first, list) and len(first) == width:
        spellings = labelled_examples.label_spellings(task)
        if not task.is_pair or labelled_examples.parse_label(last[-1], spellings) is None:
            found.append(Columns(*range(width)))
    return found
