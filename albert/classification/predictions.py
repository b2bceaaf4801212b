# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a classifier predicted, in the files that people and leader boards expect.

    test_results.tsv      a line an example: the probability of each label, tabs between
    submit_results.tsv    header "index, prediction", then name and label of each example
    MRPC.tsv              the same as GLUE wants it (gluebenchmark.com: "Submission format")
    tnews_predict.json    CLUE: {"id": row, "label": name} a line

All are written in one step each. `read_predict_file` reads what a user wants predicted; what was
predicted for texts.tsv is in test_results_texts.tsv and submit_results_texts.tsv.
"""

import json
import logging
import os
import zipfile
from typing import Callable, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from albert.classification import examples as labelled_examples
from albert.classification.examples import (
    Columns,
    Fields,
    InputExample,
    Labels,
    Source,
    Split,
    Table,
    TaskData,
    Texts,
    columns_needed,
)
from albert.classification.task_table import GLUE, Task
from albert.util import files as file_utils

_LOGGER = logging.getLogger(__name__)

RESULTS_NAME = "test_results.tsv"
SUBMIT_NAME = "submit_results.tsv"

# GLUE's site refuses a submission that lacks one of these.
GLUE_SUBMISSION_FILES = tuple(sorted({file for task in GLUE for file in task.submissions.values()}))
_HIGHEST_STSB_SCORE = 5.0


class Predictions(NamedTuple):
    """What was predicted for some examples, in their order. N examples, L labels."""

    examples: Sequence[InputExample]
    probabilities: np.ndarray  # float [N, L]; regression: the number, [N, 1]
    predictions: np.ndarray  # integer [N], the label's number; regression: float [N]


# --------------------------------------------------------------------------------------- writing


def answers(task: Task, predictions: Predictions) -> List[str]:
    """Returns the predicted label's name for each example; regression: the number as text.

    Raises:
      ValueError: there are not as many predictions as examples.
    """
    counts = [len(part) for part in predictions]
    if len(set(counts)) > 1:
        raise ValueError(
            f"There are {counts[0]} examples, {counts[1]} rows of probabilities and {counts[2]} "
            "predictions; they must be equally many."
        )
    if task.is_regression:
        return [str(np.float32(number)) for number in np.reshape(predictions.predictions, [-1])]
    return [task.labels[int(number)] for number in predictions.predictions]


def write_predictions(
    output_dir: str, task: Task, split: str, *, predictions: Predictions
) -> List[str]:
    """Writes all the files that a task's predictions go to; returns their paths.

    Args:
      output_dir: their folder.
      task: names labels, and the files for GLUE and CLUE.
      split: of task.test_splits. The first one's files have the published names; those of another
        one carry its own name (test_results_mismatched.tsv).
      predictions: for each example of the split.

    Raises:
      ValueError: there are not as many predictions as examples, or no such split.
    """
    declared = task.split(split)
    is_first = declared.name == task.split(declared.role).name
    suffix = "" if is_first else declared.name[len(declared.role) :]
    written = write_results(output_dir, task, predictions=predictions, suffix=suffix)
    if declared.name in task.submissions:
        names = answers(task, predictions)
        if task.is_regression:
            numbers = np.clip(np.reshape(predictions.predictions, [-1]), 0.0, _HIGHEST_STSB_SCORE)
            names = [f"{number:.3f}" for number in numbers]
        path = os.path.join(output_dir, task.submissions[declared.name])
        written.append(_write(path, _submission(predictions, names)))
    if task.clue_name and is_first:
        path = os.path.join(output_dir, f"{task.clue_name}_predict.json")
        written.append(write_clue_file(path, task, predictions))
    return written


def _write(path: str, lines: Iterable[str]) -> str:
    file_utils.atomic_write_text(path, "".join(line + "\n" for line in lines))
    return str(path)


def _submission(predictions: Predictions, names: Sequence[str]) -> List[str]:
    """A header, and the name and the answer of each example."""
    pairs = zip(predictions.examples, names)
    return ["index\tprediction", *(f"{example.guid}\t{name}" for example, name in pairs)]


def write_results(
    output_dir: str, task: Task, *, predictions: Predictions, suffix: str = ""
) -> List[str]:
    """Writes test_results.tsv and submit_results.tsv, with `suffix` before the dot.

    Returns the files' paths; raises ValueError as `answers` does.
    """
    names = answers(task, predictions)
    rows = np.asarray(predictions.probabilities, np.float32).reshape([len(names), -1])
    results = ["\t".join(map(str, row)) for row in rows]
    paths = []
    for file, lines in ((RESULTS_NAME, results), (SUBMIT_NAME, _submission(predictions, names))):
        stem, extension = os.path.splitext(file)
        paths.append(_write(os.path.join(str(output_dir), f"{stem}{suffix}{extension}"), lines))
    return paths


def write_file_results(
    output_dir: str, task: Task, predict_file: str, *, predictions: Predictions
) -> List[str]:
    """Writes what was predicted for a file of the user's own, whose name the results then carry."""
    stem = os.path.splitext(os.path.basename(str(predict_file)))[0]
    return write_results(output_dir, task, predictions=predictions, suffix=f"_{stem}")


def write_clue_file(path: str, task: Task, predictions: Predictions) -> str:
    """Writes CLUE's predictions, a line for each row of the data file, and returns the path.

    Where a row is several examples (COPA's choices), the answer is the number of the one whose
    last label, "belongs", is the likeliest.
    """
    names = answers(task, predictions)
    if task.examples_per_row > 1:
        belongs = np.asarray(predictions.probabilities)[:, -1]
        choices = np.argmax(belongs.reshape([-1, task.examples_per_row]), axis=1)
        names = [str(number) for number in choices]
    rows = [{"id": row, "label": name} for row, name in enumerate(names)]
    return _write(path, (json.dumps(row, ensure_ascii=False) for row in rows))


class Submission(NamedTuple):
    """A zip file for gluebenchmark.com."""

    path: str
    files: List[str]  # what is in it
    missing: List[str]  # what GLUE wants beside that


def zip_glue_submission(zip_path: str, folders: Sequence[str]) -> Submission:
    """Packs the GLUE files that lie in some folders into one zip file.

    Args:
      zip_path: the zip file; the same content gives the same bytes.
      folders: output folders of the tasks. Of files with one name the first is taken.

    Raises:
      ValueError: none of the files is there.
    """
    found = {}
    for folder in folders:
        for name in GLUE_SUBMISSION_FILES:
            path = os.path.join(str(folder), name)
            if os.path.exists(path):
                found.setdefault(name, path)
    if not found:
        raise ValueError(
            f"No file for GLUE is in {', '.join(map(str, folders))}. Predict first, with "
            "--do_predict."
        )
    with file_utils.atomic_path(zip_path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted(found):
            with open(found[name], "rb") as stream:
                archive.writestr(zipfile.ZipInfo(name), stream.read(), zipfile.ZIP_DEFLATED)
    missing = [name for name in GLUE_SUBMISSION_FILES if name not in found]
    return Submission(str(zip_path), sorted(found), missing)


# ------------------------------------------------------------------------- what is to be predicted

# Names under which people keep texts.
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
    """Reads texts to predict from a TSV or JSON-lines file.

    Labels, if there are some, are not looked at. The texts are in columns or fields named as the
    task's, or as usual (text_a and text_b, sentence1 and sentence2, ...); or are the only columns;
    or the file is laid out as the task's own ones with labels. One log line says what was taken.

    Args:
      task: says whether texts come in pairs.
      path: the file.

    Returns:
      Examples without labels. A column or field "id", "index", "guid" or "idx" names them,
      otherwise their number does, counted from 0.

    Raises:
      ValueError: the file is missing or empty, the texts are not found, a row has too few columns,
        or the rows do not make whole questions (COPA).
    """
    path = os.path.expanduser(str(path))
    table = labelled_examples.read_tsv(path)
    if not table.rows:
        raise ValueError(f"'{path}' is empty. It must hold the texts to predict, one row each.")
    if table.rows[0].values[0].lstrip().startswith("{"):
        table = labelled_examples.read_json_lines(path)
    reading = _find_reading(task, table)
    folder, name = os.path.split(path)
    split = Split("test", (Source(name, reading),))
    data = labelled_examples.read_split(split, [folder or "."], Labels(()))
    if len(data.examples) % task.examples_per_row:
        raise ValueError(
            f"'{path}' holds {len(data.examples)} rows. Task '{task.name}' takes "
            f"{task.examples_per_row} rows for each question, one for each choice, or JSON lines "
            "with all choices in one object."
        )
    for index, example in enumerate(data.examples):
        if reading.guid is None:
            example.guid = str(index)
        example.label = None
    places = [place for place in (reading.text_a, reading.text_b) if place is not None]
    first = [text and text[:60] for text in (data.examples[0].text_a, data.examples[0].text_b)]
    _LOGGER.info("%s: texts from %s; the first example has %s.", path, places, first)
    return data


def _find_reading(task: Task, table: Table) -> Union[Columns, Fields]:
    """How to read a file whose layout nobody declared.

    Raises:
      ValueError: the texts are not found.
    """
    first = table.rows[0].values
    names = _PAIR_NAMES if task.is_pair else _SINGLE_NAMES
    splits = sorted(task.splits, key=lambda split: split.needs_labels)
    own = [source.reading for split in splits for source in split.sources]
    guids = [reading.guid for reading in own if isinstance(reading.guid, str)]
    guid = next((name for name in guids + list(_GUID_NAMES) if name in first), None)
    rendered = [reading for reading in own if getattr(reading, "render", None)]
    if rendered and isinstance(first, dict) and rendered[0].text_a in first:
        return rendered[0]._replace(label=None, render=_without_label(rendered[0].render))
    kind = Fields if isinstance(first, dict) else Columns
    plain = [(reading.text_a, reading.text_b) for reading in own if reading not in rendered]
    for text_a, text_b in plain + [(pair + (None,))[:2] for pair in names]:
        wanted = [name for name in (text_a, text_b) if name is not None]
        if all(isinstance(name, str) and name in first for name in wanted):
            return kind(text_a, text_b, None, guid)
    if kind is Columns:
        numbered = _by_number(task, [one for one in own if isinstance(one, Columns)], table)
        if numbered:
            return numbered
    wanted = " or ".join(", ".join(pair) for pair in names[:3])
    raise ValueError(
        f"'{table.path}': {'a pair of texts' if task.is_pair else 'a text'} was not found in "
        f"{str(list(first))[:200]}. Give the file a header row with {wanted}, or make it JSON "
        "lines with these names, or tab-separated texts and nothing else."
    )


def _by_number(task: Task, own: Sequence[Columns], table: Table) -> Optional[Columns]:
    """Texts alone, or one of the task's layouts whose labels are where it says."""
    labels = Labels(task.labels, task.label_aliases)
    cells = table.rows[-1].values

    def holds_label(place: Optional[int]) -> bool:
        text = "" if place is None else cells[place].strip()
        return labelled_examples.parse_label(text, labels) is not None

    is_plain = len(cells) == len(table.rows[0].values) == 1 + task.is_pair
    if is_plain and not (task.is_pair and holds_label(1)):
        return Columns(0, 1 if task.is_pair else None)
    for reading in own:
        is_wide_enough = isinstance(reading.text_a, int) and len(cells) >= columns_needed(reading)
        if is_wide_enough and holds_label(reading.label):
            return reading._replace(label=None, guid=None, header=None)
    return None


def _without_label(render: Callable) -> Callable:
    """A renderer that does not see the label."""

    def rendered(values: Mapping[str, object]) -> List[Texts]:
        return render({name: value for name, value in values.items() if name != "label"})

    return rendered
