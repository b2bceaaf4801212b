# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks by name, their examples, and a user's own tasks.

    task = get_task("MRPC")
    data = read_examples(task, "glue", "dev")     # glue/MRPC/dev.tsv, or dev.tsv in glue itself
    task.labels, task.best_metric, task.recipe.learning_rate

Published tasks are declared in `task_table`.
"""

import dataclasses
import logging
import os
import re
from typing import Any, Dict, List, Sequence

import tensorflow.compat.v1 as tf

from albert.classification import examples
from albert.classification.examples import (
    Columns,
    InputExample,
    Labels,
    Source,
    Split,
    TaskData,
)
from albert.classification.settings import CustomTaskFlags
from albert.classification.task_table import CUSTOM, TASKS, Recipe, Task, get_task
from albert.datasets import table
from albert.util import files
from albert.util.errors import UserError
from albert.util.flags import flag, make

__all__ = ["CUSTOM", "TASKS", "InputExample", "Recipe", "Task", "TaskData", "get_task"]  # for users

_LOGGER = logging.getLogger(__name__)


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
    data_dir = os.path.expanduser(data_dir)
    if not tf.io.gfile.isdir(data_dir):
        raise UserError(f"'{data_dir}' is not a folder. {_advice(task, data_dir)}")
    found = {name.rstrip("/").lower(): name.rstrip("/") for name in tf.io.gfile.listdir(data_dir)}
    own = [found[name.lower()] for name in task.folders if name.lower() in found]
    return [os.path.join(data_dir, name) for name in dict.fromkeys(own)] + [data_dir]


def _advice(task: Task, data_dir: str) -> str:
    """What to do where the data are not found."""
    return (
        f"--data_dir must be the folder of all tasks (with {task.folders[0]} in it) or that of "
        f"{task.name}.{table.how_to_get(task.folders, data_dir)}"
    )


def read_examples(task: Task, data_dir: str, split: str) -> TaskData:
    """Reads a split of a task and logs one line on it.

    Args:
      task: the declaration.
      data_dir: the folder of all tasks (data_dir/MRPC/train.tsv) or the task's own.
      split: "train", "dev" or "test", or the name of one of task.splits.

    Returns:
      Examples in the file's order, with texts as written. Labels are names (regression: numbers);
      examples of a test split may have None.

    Raises:
      ValueError: no such split, no such file, or a row that cannot be used (see
        `examples.read_split`).
    """
    labels = Labels(task.labels, task.label_aliases, task.dropped_labels)
    folders, advice = _folders_to_read(task, data_dir), _advice(task, data_dir)
    data = examples.read_split(task.split(split), folders, labels, advice=advice)
    _LOGGER.info("%s", data.log_line(f"{task.name} {split}"))
    return data


def has_split(task: Task, data_dir: str, split: str) -> bool:
    """Returns whether a file for the split exists."""
    return bool(examples.find_files(task.split(split), _folders_to_read(task, data_dir)))


def _folders_to_read(task: Task, data_dir: str) -> List[str]:
    """The task's own folders, or `data_dir` if they have no data: it may hold another task's."""
    *own, parent = task_folders(task, data_dir)
    return own if any(examples.find_files(split, own) for split in task.splits) else [parent]


# ------------------------------------------------------------------------------ a user's own tasks


@dataclasses.dataclass(frozen=True)
class _CustomTask(CustomTaskFlags):
    """The settings of a task file, which has names without "_column" too."""

    name: str = flag(CUSTOM)


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
    given = files.read_json_object(task_file) if task_file else {}
    given.update({name: value for name, value in settings.items() if value not in (None, "")})
    try:
        return _custom_task(given)
    except UserError as error:
        raise UserError(f"Task file '{task_file}': {error}" if task_file else str(error)) from None


def _custom_task(given: Dict[str, Any]) -> Task:
    labels, metrics = (_listed(given.pop(name, None)) for name in ("labels", "metrics"))
    columns = {name: f"{name}_column" for name in ("text_a", "text_b", "label", "guid")}
    values = make(
        _CustomTask, **{columns.get(name, name): value for name, value in given.items()}
    ).to_dict()
    if values["text_a_column"] is None:
        raise UserError(
            "A custom task needs text_a: the column (a number from 0, or its name in the header "
            "row) or JSON field that holds the text."
        )
    name = values["name"]
    if not re.fullmatch(r"[\w.-]*[^\W_][\w.-]*", name):
        raise UserError(
            f"name is {name!r}; it names a folder and files. Use letters, digits, '.', '-' and "
            "'_', with at least one letter or digit."
        )
    _check_labels(labels)
    labels = labels if labels != ["regression"] else []
    best = values["metric"] or ("eval_accuracy" if labels else "pearson")
    metrics = list(dict.fromkeys([best, *metrics]))
    _check_metrics(metrics, labels)
    values["label_column"] = values["label_column"] or "label"
    places = map(_column, map(values.get, columns.values()))
    reading = Columns(*places)._replace(header=values["header"])
    splits = [_split(role, values[f"{role}_file"], reading) for role in ("train", "dev", "test")]
    return Task(name, (name,), tuple(splits), tuple(labels), _CUSTOM_RECIPE, metrics=tuple(metrics))


def _listed(value: Any) -> List[str]:
    """A list, or comma-separated text, as a list of texts."""
    parts = value.split(",") if isinstance(value, str) else list(value or ())
    # JSON's true and false are labels as they are spelt there.
    texts = [str(part).lower() if isinstance(part, bool) else str(part) for part in parts]
    return [text.strip() for text in texts if text.strip()]


def _check_labels(labels: Sequence[str]) -> None:
    if len(labels) < 2 and labels != ["regression"]:
        raise UserError(
            f"A custom task needs labels: at least two names such as '0,1', or 'regression'; "
            f"there are {len(labels)}."
        )
    if len(set(labels)) < len(labels):
        raise UserError(f"A label occurs twice in {', '.join(labels)}.")


def _check_metrics(metrics: Sequence[str], labels: Sequence[str]) -> None:
    known = ["eval_accuracy", "matthew_corr"] if labels else ["pearson", "spearman", "MSE"]
    known += ["f1"] * (len(labels) == 2) + ["eval_loss"]
    for metric in metrics:
        if metric not in known:
            raise UserError(
                f"Metric {metric!r} does not suit the labels. Metrics that do: {', '.join(known)}."
            )


def _column(place: Any) -> Any:
    """A number where a flag gives one as text."""
    return int(place) if re.fullmatch(r"\s*-?[0-9]+\s*", place or "") else place


def _split(role: str, file: str, reading: Columns) -> Split:
    names = [file] if file else [f"{role}.tsv", f"{role}.csv", *examples.hub_files(role)]
    return Split(role, tuple(Source(name, reading) for name in names))
