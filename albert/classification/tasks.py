# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks by name, their examples, and a user's own tasks.

    task = get_task("MRPC")
    data = read_examples(task, "glue", "dev")     # glue/MRPC/dev.tsv, or dev.tsv in glue itself
    task.labels, task.best_metric, task.recipe.learning_rate

Published tasks are declared in `task_table`.
"""

import json
import logging
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.classification import examples
from albert.classification.examples import (
    Columns,
    Fields,
    InputExample,
    Labels,
    Reading,
    Source,
    Split,
    TaskData,
)
from albert.classification.task_table import CUSTOM, METRICS, TASKS, Recipe, Task, get_task
from albert.datasets import table
from albert.util import files
from albert.util.errors import UserError

__all__ = ["CUSTOM", "TASKS", "InputExample", "Recipe", "Task", "TaskData", "get_task"]  # for users

_LOGGER = logging.getLogger(__name__)

_OF_NUMBERS = ("pearson", "spearman", "MSE")


def is_regression(task_name: str) -> bool:
    """Returns whether a published task has scores for labels; False for any other name."""
    task = TASKS.get(task_name.strip().lower())
    return task is not None and task.is_regression


# --------------------------------------------------------------------------------------- reading


def task_folders(task: Task, data_dir: str) -> List[str]:
    """Returns where a task's files may be: its own folders in `data_dir`, and `data_dir` itself.

    Raises:
      ValueError: `data_dir` is no folder.
    """
    data_dir = os.path.expanduser(str(data_dir or ""))
    if not data_dir or not tf.io.gfile.isdir(data_dir):
        raise UserError(f"'{data_dir}' is not a folder. {_advice(task, data_dir)}")
    found = {name.rstrip("/").lower(): name.rstrip("/") for name in tf.io.gfile.listdir(data_dir)}
    own = [found[name.lower()] for name in task.folders if name.lower() in found]
    return [os.path.join(data_dir, name) for name in dict.fromkeys(own)] + [data_dir]


def _advice(task: Task, data_dir: str) -> str:
    """What to do where the data are not found; `data_dir` is "" where a download is no help."""
    is_known = data_dir and task in TASKS.values()
    hint = table.how_to_get(task.folders, data_dir) if is_known else ""
    return (
        f"--data_dir must be the folder of all tasks (with {task.folder} in it) or that of "
        f"{task.name}.{hint}"
    )


def read_examples(task: Task, data_dir: str, split: str) -> TaskData:
    """Reads a split of a task and logs one line on it.

    Args:
      task: the declaration.
      data_dir: the folder of all tasks (data_dir/MRPC/train.tsv) or the task's own.
      split: "train", "dev" or "test", or one of task.dev_splits and task.test_splits.

    Returns:
      Examples in the file's order, with texts as written. Labels are names (regression: numbers);
      examples of a test split may have None.

    Raises:
      ValueError: no such split, no such file, or a row that cannot be used (see
        `examples.read_split`).
    """
    labels = Labels(task.labels, task.label_aliases, task.dropped_labels)
    folders = _folders_to_read(task, data_dir)
    has_own_folder = folders != [os.path.expanduser(str(data_dir))]
    advice = _advice(task, "" if has_own_folder else folders[0])
    data = examples.read_split(task.split(split), folders, labels, advice=advice)
    _LOGGER.info("%s", data.log_line(f"{task.name} {split}"))
    return data


def has_split(task: Task, data_dir: str, split: str) -> bool:
    """Returns whether a file for the split exists."""
    folders = _folders_to_read(task, data_dir)
    return bool(examples.find_files(task.split(split), folders))


def _folders_to_read(task: Task, data_dir: str) -> List[str]:
    """The task's own folders, or `data_dir` if there are none: it may hold another task's files.

    A custom task has no published folder; one of its name need not hold its data.
    """
    *own, parent = task_folders(task, data_dir)
    if task.name not in TASKS:
        own = own if any(examples.find_files(split, own) for split in task.splits) else []
    return own or [parent]


# ------------------------------------------------------------------------------ a user's own tasks


class _Setting(NamedTuple):
    """A setting of a custom task: its default and what it may be. None is always allowed."""

    default: Any
    words: str
    types: Tuple[type, ...] = (str,)
    item_types: Tuple[type, ...] = ()  # of a list; (): no list is allowed

    def allows(self, value: Any) -> bool:
        is_list = self.item_types and isinstance(value, (list, tuple))
        parts, types = (value, self.item_types) if is_list else ([value], self.types)
        return value is None or all(
            isinstance(part, types) and (bool in types or not isinstance(part, bool))
            for part in parts
        )


_COLUMN = "the number of a column, or the name of a column or field"
_LIST = "a list of names, or text with commas between them"
_CUSTOM = {
    "text_a": _Setting(None, _COLUMN, (int, str)),
    "text_b": _Setting(None, _COLUMN, (int, str)),
    "label": _Setting("label", _COLUMN, (int, str)),
    "guid": _Setting(None, _COLUMN, (int, str)),
    "header": _Setting(None, "true or false", (bool,)),
    "labels": _Setting(None, _LIST, (str,), (str, int, bool)),
    "metric": _Setting("", "text"),
    "metrics": _Setting((), _LIST, (str,), (str,)),
    "train_file": _Setting("", "text"),
    "dev_file": _Setting("", "text"),
    "test_file": _Setting("", "text"),
    "name": _Setting(CUSTOM, "text"),
}
_FIELD_EXTENSIONS = (".json", ".jsonl", ".ndjson", ".parquet")
_CUSTOM_RECIPE = Recipe(128, 32, 2e-5, num_train_epochs=3, warmup_proportion=0.1)


def custom_task(task_file: str = "", **settings: Any) -> Task:
    """Returns a user's own task.

    Args:
      task_file: JSON file with an object of the settings below; "" for none.
      **settings: values of flags; None and "" are ignored, others override the file.
        text_a, text_b, label, guid: column numbers from 0 (negative: from the end) or names of the
          header row; for files that end in .json, .jsonl or .parquet, names of fields. text_b and
          guid are optional.
        header: whether TSV and CSV files have a header row; by default the first row decides.
        labels: list or comma-separated text, or "regression".
        metric: chooses the best checkpoint; eval_accuracy (regression: pearson) by default.
        metrics: further ones to report.
        train_file, dev_file, test_file: below --data_dir; by default train.tsv, train.csv and so
          on, or else the Parquet files of a hub.
        name: what the task is called in results.

    Raises:
      ValueError: an unknown setting or one of another type, text_a or labels missing, a label that
        occurs twice, an unknown metric or one that does not suit the labels.
    """
    given = {}
    if task_file:
        try:
            given = files.read_json_object(task_file)
        except ValueError as error:
            raise UserError(f"Task file {error} It holds the task's settings.") from None
    given.update({key: value for key, value in settings.items() if value not in (None, "", ())})
    try:
        return _custom_task(given)
    except ValueError as error:
        raise UserError(f"Task file '{task_file}': {error}" if task_file else str(error)) from None


def _custom_task(given: Mapping[str, Any]) -> Task:
    unknown = sorted(set(given) - set(_CUSTOM))
    if unknown:
        raise UserError(
            f"A custom task has no setting {', '.join(unknown)}. Settings: {', '.join(_CUSTOM)}."
        )
    if "label" in given and given["label"] is None:
        raise UserError("label is null: name the column or field of the label, or leave it out.")
    values = {name: setting.default for name, setting in _CUSTOM.items()}
    values.update({name: value for name, value in given.items() if value is not None})
    _check_kinds(values)
    if values["text_a"] is None:
        raise UserError(
            "A custom task needs text_a: the column (a number from 0, or its name in the header "
            "row) or JSON field that holds the text."
        )
    labels = _custom_labels(values["labels"])
    best = values["metric"] or ("eval_accuracy" if labels else "pearson")
    metrics = tuple(dict.fromkeys([best] + _listed(values["metrics"])))
    _check_metrics(metrics, labels)
    return Task(
        name=values["name"],
        folders=(values["name"],),
        splits=tuple(_custom_split(name, values) for name in ("train", "dev", "test")),
        labels=labels,
        recipe=_CUSTOM_RECIPE,
        metrics=metrics,
    )


def _check_kinds(values: Mapping[str, Any]) -> None:
    for name, setting in _CUSTOM.items():
        if not setting.allows(values[name]):
            shown = json.dumps(values[name], ensure_ascii=False, default=str)[:80]
            raise UserError(f"{name} is {shown}; it must be {setting.words}.")
    if not re.fullmatch(r"[\w.-]*[^\W_][\w.-]*", values["name"]):
        raise UserError(
            f"name is {values['name'][:80]!r}; it names a folder and files. Use letters, digits, "
            "'.', '-' and '_', with at least one letter or digit."
        )


def _listed(value: Any) -> List[str]:
    """A list, or comma-separated text, as a list of texts."""
    parts = value.split(",") if isinstance(value, str) else list(value or ())
    # JSON's true and false are labels as they are spelt there.
    texts = [str(part).lower() if isinstance(part, bool) else str(part) for part in parts]
    return [text.strip() for text in texts if text.strip()]


def _custom_labels(value: Any) -> Tuple[str, ...]:
    labels = tuple(_listed(value))
    if labels == ("regression",):
        return ()
    if len(labels) < 2:
        raise UserError(
            f"A custom task needs labels: at least two names such as '0,1', or 'regression'; "
            f"there are {len(labels)}."
        )
    if len(set(labels)) < len(labels):
        raise UserError(f"A label occurs twice in {', '.join(labels)}.")
    return labels


def _check_metrics(metrics: Sequence[str], labels: Sequence[str]) -> None:
    for metric in metrics:
        if metric not in METRICS:
            raise UserError(f"Unknown metric {metric!r}. Metrics: {', '.join(METRICS)}.")
        if (metric in _OF_NUMBERS) == bool(labels) and metric != "eval_loss":
            kind = "names" if labels else "numbers"
            raise UserError(f"Metric {metric!r} does not suit labels that are {kind}.")
        if metric == "f1" and len(labels) != 2:
            raise UserError(f"Metric 'f1' needs two labels; there are {len(labels)}.")


def _custom_split(name: str, values: Mapping[str, Any]) -> Split:
    file = values[f"{name}_file"]
    names = [file] if file else [f"{name}.tsv", f"{name}.csv", *examples.hub_files(name)]
    return Split(name, tuple(Source(file, _custom_reading(file, values)) for file in names))


def _custom_reading(file: str, values: Mapping[str, Any]) -> Reading:
    places = {key: values[key] for key in ("text_a", "text_b", "label", "guid")}
    if file.endswith(_FIELD_EXTENSIONS):
        names: Dict[str, Any] = {
            key: None if place is None else str(place) for key, place in places.items()
        }
        return Fields(**names)
    for key, place in places.items():  # flags give numbers as text
        if isinstance(place, str) and re.fullmatch(r"\s*-?[0-9]+\s*", place):
            places[key] = int(place)
    named = [place for place in places.values() if isinstance(place, str)]
    if named and values["header"] is False:
        raise UserError(
            f"header is false, but {', '.join(named)} would be found in the header row of {file}. "
            "Leave header out, or give the columns' numbers, from 0."
        )
    return Columns(**places, header=values["header"])
