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
from typing import Any, Iterable, List, NamedTuple, Sequence

import numpy as np

from albert.classification import examples as labelled_examples
from albert.classification.examples import (
    Columns,
    Fields,
    InputExample,
    Labels,
    Reading,
    Source,
    Split,
    Table,
    TaskData,
)
from albert.classification.task_table import GLUE, Task
from albert.util import files as file_utils
from albert.util.errors import UserError

_LOGGER = logging.getLogger(__name__)

# GLUE's site refuses a submission that lacks one of these.
GLUE_SUBMISSION_FILES = tuple(sorted({file for task in GLUE for file in task.submissions.values()}))
_HIGHEST_STSB_SCORE = 5.0


class Predictions(NamedTuple):
    """The predictions for N examples, in their order, of L labels."""

    examples: Sequence[InputExample]
    probabilities: np.ndarray  # float [N, L]; regression: the number, [N, 1]
    predictions: np.ndarray  # integer [N], the label's number; regression: float [N]


# --------------------------------------------------------------------------------------- writing


def write_predictions(
    output_dir: str, task: Task, split: str, *, predictions: Predictions
) -> List[str]:
    """Writes all the files of a test split's predictions; returns their paths.

    The first split's files have the published names; another one's carry its own name
    (test_results_mismatched.tsv).
    """
    suffix, name = task.suffix(split), task.split(split).name
    written = write_results(output_dir, task, predictions, suffix=suffix)
    if name in task.submissions:
        answers = _answers(task, predictions)
        if task.is_regression:
            scores = np.clip(np.ravel(predictions.predictions), 0.0, _HIGHEST_STSB_SCORE)
            answers = [f"{score:.3f}" for score in scores]
        path = os.path.join(output_dir, task.submissions[name])
        written.append(_write(path, _submission(predictions, answers)))
    elif not suffix:
        path = os.path.join(output_dir, f"{task.name}_predict.json")
        written.append(_write(path, _clue_lines(task, predictions)))
    return written


def write_results(
    output_dir: str, task: Task, predictions: Predictions, *, suffix: str = ""
) -> List[str]:
    """Writes test_results.tsv and submit_results.tsv, with `suffix` in the name; returns paths."""
    rows = np.asarray(predictions.probabilities, np.float32)
    answers = _submission(predictions, _answers(task, predictions))
    return [
        _write(
            os.path.join(output_dir, f"test_results{suffix}.tsv"),
            ["\t".join(map(str, np.ravel(row))) for row in rows],
        ),
        _write(os.path.join(output_dir, f"submit_results{suffix}.tsv"), answers),
    ]


def _answers(task: Task, predictions: Predictions) -> List[str]:
    """The predicted label's name for each example; regression: the number."""
    if task.is_regression:
        return [str(number) for number in np.ravel(predictions.predictions).astype(np.float32)]
    return [task.labels[number] for number in predictions.predictions]


def _submission(predictions: Predictions, answers: Sequence[str]) -> List[str]:
    pairs = zip(predictions.examples, answers)
    return ["index\tprediction", *(f"{example.guid}\t{answer}" for example, answer in pairs)]


def _clue_lines(task: Task, predictions: Predictions) -> List[str]:
    """A JSON line for each row of the data file.

    If a row is several examples (COPA's choices), the answer is the number of the one whose last
    label, "belongs", is the most probable.
    """
    answers = _answers(task, predictions)
    if task.examples_per_row > 1:
        belongs = np.asarray(predictions.probabilities)[:, -1]
        choices = np.argmax(belongs.reshape([-1, task.examples_per_row]), axis=1)
        answers = list(map(str, choices))
    rows = [{"id": row, "label": answer} for row, answer in enumerate(answers)]
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def _write(path: str, lines: Sequence[str]) -> str:
    file_utils.atomic_write_text(path, "\n".join([*lines, ""]))
    return path


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

# Usual names of texts.
_PAIR_NAMES = (
    ("text_a", "text_b"),
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("premise", "hypo"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("query1", "query2"),
    ("text1", "text2"),
    ("#1 String", "#2 String"),
)
_SINGLE_NAMES = (("text_a",), ("sentence",), ("text",), ("review",), ("content",))
_GUID_NAMES = ("index", "id", "guid", "idx")


def read_predict_file(task: Task, path: str) -> TaskData:
    """Reads texts to predict from a TSV, CSV, JSON-lines or Parquet file; ignores its labels.

    The texts are in columns or fields named as the task's, or as usual (text_a and text_b,
    sentence1 and sentence2, ...), or are the only columns. One log line says what was taken.

    Returns:
      Examples without labels. A column or field "id", "index", "guid" or "idx" names them,
      otherwise their number, counted from 0.

    Raises:
      UserError: the file is missing or empty, the texts are not found, or a row lacks columns.
    """
    path = os.path.expanduser(path)
    read = labelled_examples.reader_of(path, labelled_examples.read_tsv)
    table = read(path)
    if not table.rows:
        raise UserError(f"'{path}' is empty. It must hold the texts to predict, one row each.")
    if isinstance(table.rows[0].values, list) and table.rows[0].values[0].lstrip().startswith("{"):
        table = labelled_examples.read_json_lines(path)
    reading = _find_reading(task, table)
    folder, name = os.path.split(path)
    split = Split("test", (Source(name, reading),))
    data = labelled_examples.read_split(split, [folder or "."], Labels(()))
    for index, example in enumerate(data.examples):
        example.guid = str(index) if reading.guid is None else example.guid
        example.label = None
    _LOGGER.info("%s: texts from columns %s.", path, reading[: 1 + task.is_pair])
    return data


def _find_reading(task: Task, table: Table) -> Reading:
    """How to read a file whose layout is not declared; UserError if the texts are not found."""
    first, last = table.rows[0].values, table.rows[-1].values
    kind: Any = Fields if isinstance(first, dict) else Columns
    own = [source.reading for split in task.splits for source in split.sources]
    plain = [reading for reading in own if not getattr(reading, "render", None)]
    for reading in own:
        if kind is Fields and reading not in plain and reading.text_a in first:
            return reading._replace(label=None)
    width = 1 + task.is_pair
    usual = _PAIR_NAMES if task.is_pair else _SINGLE_NAMES
    for texts in [*(reading[:width] for reading in plain), *usual]:
        if all(name in first for name in texts):
            guids = [*(reading.guid for reading in own), *_GUID_NAMES]
            guid = next((name for name in guids if name in first), None)
            return kind(*texts, guid=guid)._replace(label=None)
    labels = Labels(task.labels, task.label_aliases)
    if kind is Columns and len(first) == width:
        # Two columns may be a text and its label.
        label = labelled_examples.parse_label(last[-1].strip(), labels)
        if label is None or not task.is_pair:
            return Columns(*range(width))
    names = "text_a, text_b or sentence1, sentence2" if task.is_pair else "text_a or sentence"
    raise UserError(
        f"'{table.path}' does not name the texts to predict; it begins with "
        f"{str(list(first))[:200]}. Add a header row with {names}, write JSON lines with these "
        "names, or leave out all columns but the texts."
    )
