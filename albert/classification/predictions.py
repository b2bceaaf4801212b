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
from typing import Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from albert.classification import examples as labelled_examples
from albert.classification import tables
from albert.classification.examples import (
    Columns,
    Fields,
    InputExample,
    Labels,
    Source,
    Split,
    TaskData,
    Texts,
)
from albert.classification.task_table import Task
from albert.util import files as file_utils

_LOGGER = logging.getLogger(__name__)

RESULTS_NAME = "test_results.tsv"
SUBMIT_NAME = "submit_results.tsv"

# GLUE's site refuses a submission that lacks one of these.
GLUE_SUBMISSION_FILES = (
    "AX.tsv",
    "CoLA.tsv",
    "MNLI-m.tsv",
    "MNLI-mm.tsv",
    "MRPC.tsv",
    "QNLI.tsv",
    "QQP.tsv",
    "RTE.tsv",
    "SST-2.tsv",
    "STS-B.tsv",
    "WNLI.tsv",
)
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
    _check_counts(predictions)
    if task.is_regression:
        return [str(np.float32(number)) for number in np.reshape(predictions.predictions, [-1])]
    return [task.labels[int(number)] for number in predictions.predictions]


def _check_counts(predictions: Predictions) -> None:
    """A padding example more would shift nothing but end in the file."""
    counts = [len(part) for part in predictions]
    if len(set(counts)) > 1:
        raise ValueError(
            f"There are {counts[0]} examples, {counts[1]} rows of probabilities and {counts[2]} "
            "predictions; they must be equally many."
        )


def write_predictions(
    output_dir: str, task: Task, split: str, *, predictions: Predictions
) -> List[str]:
    """Writes all the files that a task's predictions go to.

    Args:
      output_dir: their folder.
      task: names labels, and the files for GLUE and CLUE.
      split: of task.test_splits. The first one's files have the published names; those of another
        one carry its own name (test_results_mismatched.tsv).
      predictions: for each example of the split.

    Returns:
      The files' paths.

    Raises:
      ValueError: there are not as many predictions as examples, or no such split.
    """
    declared = task.split(split)
    is_first = declared.name == task.split(declared.role).name
    suffix = "" if is_first else declared.name[len(declared.role) :]
    written = write_results(output_dir, task, predictions=predictions, suffix=suffix)
    if declared.name in task.submissions:
        path = os.path.join(output_dir, task.submissions[declared.name])
        written.append(write_glue_file(path, task, predictions))
    if task.clue_name and is_first:
        path = os.path.join(output_dir, f"{task.clue_name}_predict.json")
        written.append(write_clue_file(path, task, predictions))
    return written


def write_results(
    output_dir: str, task: Task, *, predictions: Predictions, suffix: str = ""
) -> List[str]:
    """Writes test_results.tsv and submit_results.tsv, with `suffix` before the dot.

    Returns the files' paths; raises ValueError as `answers` does.
    """
    names = answers(task, predictions)
    rows = np.asarray(predictions.probabilities, np.float32).reshape([len(names), -1])
    results = ["\t".join(map(str, row)) for row in rows]
    submit = ["index\tprediction"] + [
        f"{example.guid}\t{name}" for example, name in zip(predictions.examples, names)
    ]
    paths = []
    for file, lines in ((RESULTS_NAME, results), (SUBMIT_NAME, submit)):
        stem, extension = os.path.splitext(file)
        paths.append(os.path.join(str(output_dir), f"{stem}{suffix}{extension}"))
        file_utils.atomic_write_text(paths[-1], "".join(line + "\n" for line in lines))
    return paths


def write_file_results(
    output_dir: str, task: Task, predict_file: str, *, predictions: Predictions
) -> List[str]:
    """Writes what was predicted for a file of the user's own beside the test data's results.

    Args:
      output_dir: the results' folder.
      task: names the labels.
      predict_file: its name without folder and extension becomes part of the results' names.
      predictions: for each example of the file.

    Returns:
      The files' paths; raises ValueError as `answers` does.
    """
    stem = os.path.splitext(os.path.basename(str(predict_file)))[0]
    return write_results(output_dir, task, predictions=predictions, suffix=f"_{stem}")


def write_glue_file(path: str, task: Task, predictions: Predictions) -> str:
    """Writes one file of a GLUE submission and returns its path.

    It differs from submit_results.tsv in numbers, which stay within the scale of 0 to 5.
    """
    names = answers(task, predictions)
    if task.is_regression:
        numbers = np.clip(np.reshape(predictions.predictions, [-1]), 0.0, _HIGHEST_STSB_SCORE)
        names = [f"{number:.3f}" for number in numbers]
    lines = ["index\tprediction"]
    lines += [f"{example.guid}\t{name}" for example, name in zip(predictions.examples, names)]
    file_utils.atomic_write_text(path, "".join(line + "\n" for line in lines))
    return str(path)


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
    lines = [
        json.dumps({"id": row, "label": name}, ensure_ascii=False) for row, name in enumerate(names)
    ]
    file_utils.atomic_write_text(path, "".join(line + "\n" for line in lines))
    return str(path)


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

# Names under which people keep texts, in files of any origin.
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
_MOST_SHOWN = 60  # letters of a text
_GUID_NAMES = ("index", "id", "guid", "idx")


def read_predict_file(task: Task, path: str) -> TaskData:
    """Reads texts to predict from a TSV or JSON-lines file of any origin.

    Labels, if there are some, are not looked at. Where the texts are is found out in this order:
    columns or fields named as the task's, or as usual (text_a and text_b, sentence1 and sentence2,
    ...); as many columns as texts; the columns of the task's own files. One log line tells what was
    found and shows the first example.

    Args:
      task: says whether texts come in pairs.
      path: the file.

    Returns:
      Examples without labels. A column or field "id", "index", "guid" or "idx" names them,
      otherwise their row does, counted from 0.

    Raises:
      ValueError: the file is missing or empty, the texts are not found or labels are where they
        should be, a row has too few columns, or the rows do not make whole questions (COPA).
    """
    path = os.path.expanduser(str(path))
    table = tables.read_json_lines(path) if tables.looks_like_json(path) else tables.read_tsv(path)
    if not table.rows:
        raise ValueError(f"'{path}' is empty. It must hold the texts to predict, one row each.")
    reading = _find_reading(task, table)
    if reading is None:
        raise ValueError(f"'{path}': {_not_found(task, table.rows[0].values)}")
    folder, name = os.path.split(path)
    split = Split("test", (Source(name, reading),))
    data = labelled_examples.read_split(split, [folder or "."], Labels(()))
    if len(data.examples) % task.examples_per_row:
        raise ValueError(
            f"'{path}' holds {len(data.examples)} rows. Task '{task.name}' takes "
            f"{task.examples_per_row} rows for each question, one for each choice, or JSON lines "
            "with all choices in one object."
        )
    identities = _identities(task, table, len(data.examples))
    for index, example in enumerate(data.examples):
        example.guid = (identities[index] if identities else "") or str(index)
        example.label = None
    _LOGGER.info("%s: %s.", path, _in_words(reading, data.examples[0]))
    return data


def _not_found(task: Task, first: Union[Sequence[str], Mapping[str, object]]) -> str:
    """What to tell the user of a file in whose first row the texts are not found."""
    wanted = "a pair of texts" if task.is_pair else "a text"
    names = " or ".join(", ".join(names) for names in _names(task)[:3])
    return (
        f"{wanted} was not found in {str(list(first))[:200]}. Task '{task.name}' takes "
        f"{'columns' if isinstance(first, list) else 'fields'} named {names}, or a file of "
        "tab-separated texts and nothing else."
    )


def _in_words(reading: Union[Columns, Fields], example: InputExample) -> str:
    """What was read as what, and the first example shortened."""
    kind = "field" if isinstance(reading, Fields) else "column"
    texts = [("text_a", reading.text_a, example.text_a)]
    if example.text_b is not None:
        texts.append(("text_b", reading.text_b, example.text_b))
    places = " and ".join(f"{name} is {kind} {place!r}" for name, place, _ in texts)
    shown = ", ".join(f"{name} {_shortened(text)!r}" for name, _, text in texts)
    row = "" if kind == "field" or isinstance(reading.text_a, str) else " (columns from 0)"
    return f"{places}{row}; the first example has {shown}"


def _shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."


def _names(task: Task) -> Tuple[Tuple[str, ...], ...]:
    """The names under which a task's texts may be."""
    return _PAIR_NAMES if task.is_pair else _SINGLE_NAMES


def _declared(task: Task) -> List[Union[Columns, Fields]]:
    """The task's own readings, those of test files first.

    No row may be lost, whether or not the file has the task's header.
    """
    splits = sorted(task.splits, key=lambda split: split.needs_labels)
    readings = [source.reading for split in splits for source in split.sources]
    looked_at = {"header": None, "short_rows_are_skipped": False}
    return [
        reading._replace(guid=None, **(looked_at if isinstance(reading, Columns) else {}))
        for reading in readings
    ]


def _find_reading(task: Task, table: tables.Table) -> Optional[Union[Columns, Fields]]:
    """How to read a file of unknown origin; None if that cannot be told."""
    first = table.rows[0].values
    if isinstance(first, dict):
        return _find_fields(task, first)
    own = [reading for reading in _declared(task) if not getattr(reading, "render", None)]
    named = [(reading.text_a, reading.text_b) for reading in own]
    named += [(names + (None,))[:2] for names in _names(task)]
    for text_a, text_b in named:
        wanted = [name for name in (text_a, text_b) if name is not None]
        if all(isinstance(name, str) and name in first for name in wanted):
            return Columns(text_a, text_b)
    if len(first) == 1 + task.is_pair:
        plain = Columns(0, 1 if task.is_pair else None)
        if not _labels_in_place_of_texts(task, table, plain):
            return plain
    return _find_numbered(task, table)


def _find_fields(task: Task, first: Mapping[str, object]) -> Optional[Fields]:
    """How to read JSON objects."""
    for reading in _declared(task):
        if not isinstance(reading, Fields) or reading.text_a not in first:
            continue
        if reading.render is not None:
            return reading._replace(label=None, render=_without_label(reading.render))
        if reading.text_b is None or reading.text_b in first:
            return reading._replace(label=None)
    for names in _names(task):
        if all(name in first for name in names):
            return Fields(*names, label=None)
    return None


def _without_label(render: Callable) -> Callable:
    """A renderer that does not see the label."""

    def rendered(values: Mapping[str, object]) -> List[Texts]:
        return render({name: value for name, value in values.items() if name != "label"})

    return rendered


def _find_numbered(task: Task, table: tables.Table) -> Optional[Columns]:
    """The task's layout that uses most of the columns there are; None if all need more of them.

    Raises:
      ValueError: labels are where each layout has something else.
    """
    count = len(table.rows[0].values)
    plain = [Columns(0, 1 if task.is_pair else None)] if count == 1 + task.is_pair else []
    fitting = plain + [
        reading
        for reading in _declared(task)
        if isinstance(reading, Columns)
        and isinstance(reading.text_a, int)
        and max(reading.text_a, reading.text_b or 0) < count
    ]
    problems = [_labels_in_place_of_texts(task, table, reading) for reading in fitting]
    good = [reading for reading, problem in zip(fitting, problems) if not problem]
    if fitting and not good:
        names = " and ".join(_names(task)[0])
        raise ValueError(
            f"'{table.path}': {problems[0]}. Where the texts are cannot be told: give the file a "
            f"header row with {names}, or make it JSON lines with these names. The first row is "
            f"{str(table.rows[0].values)[:200]}."
        )
    best = max(good, key=lambda reading: reading.text_b or reading.text_a, default=None)
    return best and best._replace(label=None)


def _labels_in_place_of_texts(task: Task, table: tables.Table, reading: Columns) -> str:
    """Says where a layout finds labels in place of texts; "" if it does not.

    A file with a column of labels has another layout if that has them elsewhere, or has none.
    """
    count = len(table.rows[0].values)
    labelled = [place for place in range(count) if _holds_labels(task, table, place)]
    for name, place in (("text_a", reading.text_a), ("text_b", reading.text_b)):
        if place in labelled:
            return f"column {place} (from 0) should hold {name}, but holds labels of the task"
    place_of_label = None if reading.label is None else reading.label % count
    # Numbers may be anything, and so may the first column: it often counts the rows.
    others = [] if task.is_regression else [place for place in labelled if place > 0]
    if others and place_of_label not in labelled:
        return (
            f"column {others[0]} (from 0) holds labels, which the task's own files have elsewhere"
        )
    return ""


def _holds_labels(task: Task, table: tables.Table, place: int) -> bool:
    """Whether all cells of a column are labels; the first row may be a header of unknown words."""
    labels = Labels(task.labels, task.label_aliases)
    rows = [row.values for row in table.rows[1:] or table.rows]
    cells = [cells[place].strip() if place < len(cells) else "" for cells in rows]
    return all(
        cell in task.dropped_labels or labelled_examples.parse_label(cell, labels) is not None
        for cell in cells
    )


def _identities(task: Task, table: tables.Table, count: int) -> List[str]:
    """The names the file itself gives its rows, "" for a row without; [] if it gives none."""
    first = table.rows[0].values
    own = [source.reading.guid for split in task.splits for source in split.sources]
    names = [name for name in own if isinstance(name, str)] + list(_GUID_NAMES)
    name = next((name for name in names if name in first), None)
    if name is None:
        return []
    if isinstance(first, dict):
        found = [str(row.values.get(name, "")) for row in table.rows]
    else:
        place = first.index(name)
        found = [row.values[place] if place < len(row.values) else "" for row in table.rows[1:]]
    return found if len(found) == count else []
