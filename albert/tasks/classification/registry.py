# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classification tasks by name, their examples, and a user's own tasks.

    task = get_task("MRPC")
    data = read_examples(task, "glue", "dev")     # glue/MRPC/dev.tsv, or dev.tsv in glue itself
    task.labels, task.metrics, task.recipe.learning_rate

Published tasks are declared in `task_table`.
"""

import dataclasses
import itertools
import os
import re
from typing import Any, Dict, List, Optional, Sequence

from albert.data import parquet
from albert.downloads import data_set_table
from albert.tasks.classification import examples
from albert.tasks.classification.examples import Columns, InputExample, TaskData
from albert.tasks.classification.flags import CustomTaskFlags
from albert.tasks.classification.task_table import (
    CUSTOM,
    TASKS,
    Recipe,
    TaskSpec,
    get_task,
)
from albert.training.metrics import PER_LABEL
from albert.util import UserError, files, json_files, wording
from albert.util.flags import flag, make

# Names that users import from here.
__all__ = ["CUSTOM", "TASKS", "InputExample", "Recipe", "TaskSpec", "TaskData", "get_task"]


# --------------------------------------------------------------------------------------- reading


def task_folders(task: TaskSpec, data_dir: str) -> List[str]:
    """Returns possible folders of a task's data: its folders in `data_dir`, then `data_dir`.

    Raises:
      ValueError: `data_dir` is not a folder.
    """
    data_dir = os.path.expanduser(data_dir)
    if not files.is_folder(data_dir):
        raise UserError(f"'{data_dir}' is not a folder. {_advice(task, data_dir)}")
    names = files.names_in(data_dir)
    own = [name for folder in task.folders for name in names if name.lower() == folder.lower()]
    return [os.path.join(data_dir, name) for name in own] + [data_dir]


def _advice(task: TaskSpec, data_dir: str) -> str:
    """Returns the advice for missing data."""
    if task.name == CUSTOM:
        return "Name the files with --train_file, --dev_file and --test_file."
    return (
        f"--data_dir must be the folder {task.folders[0]}, or its parent folder."
        f"{data_set_table.how_to_get(task.folders, data_dir)}"
    )


def read_examples(task: TaskSpec, data_dir: str, split: str) -> TaskData:
    """Reads a split of a task and logs a line about it.

    Args:
      task: declaration of the task.
      data_dir: the task's folder, or its parent folder (data_dir/MRPC/train.tsv).
      split: one of task.splits.

    Returns:
      Examples in the file's order, with unchanged texts. Labels are names (regression: numbers).
      In a test split, labels can be None.

    Raises:
      ValueError: the split or its file does not exist, or a row is not valid (see
        `examples.read_file`).
    """
    path = find_file(task, data_dir, split)
    if not path:
        raise UserError(
            f"'{data_dir}' holds no {split} data of {task.name}, such as "
            f"{wording.listed(task.files_of(split))}. {_advice(task, data_dir)}"
        )
    return examples.read_file(task, path, split)


def find_file(task: TaskSpec, data_dir: str, split: str) -> str:
    """Returns the file of a split, or a pattern for Parquet files; "" if there is none.

    The first of the task's own folders that has the file counts. `data_dir` itself counts only if
    these folders have no data, because it may have files of another task.
    """
    *own, parent = task_folders(task, data_dir)
    has_own_data = any(_first_file(own, task.files_of(split_name)) for split_name in task.splits)
    return _first_file(own if has_own_data else [parent], task.files_of(split))


def _first_file(folders: Sequence[str], names: Sequence[str]) -> str:
    for folder, name in itertools.product(folders, names):
        path = os.path.join(folder, name)
        if parquet.find(path) if "*" in name else files.exists(path):
            return path
    return ""


# ------------------------------------------------------------------------------ a user's own tasks


@dataclasses.dataclass(frozen=True)
class _CustomTask(CustomTaskFlags):
    """The values in a task file."""

    name: str = flag(CUSTOM)
    label_column: str = flag("label")


_CUSTOM_RECIPE = Recipe(128, 32, 2e-5, num_train_epochs=3, warmup_proportion=0.1)


_LIST = (str, [(str, float, bool)], None)
_TASK_FILE = {
    "labels": _LIST,
    "label_columns": _LIST,
    "metrics": _LIST,
    str: (str, float, bool, None),
}


def custom_task(task_file: str = "", **flags: Any) -> TaskSpec:
    """Returns a user's own task.

    Args:
      task_file: JSON file with an object of the values below; "" for no file.
      **flags: values that override the file; None and "" are ignored.
        text_a, text_b, label, guid: column numbers from 0 (negative: from the end) or names in the
          header row; for files that end in .json, .jsonl or .parquet, names of fields. text_b and
          guid are optional.
        multi_label: whether an example can have several labels, or none; then `label` has lists, or
          texts with the labels between `label_separator`, by default "|".
        label_columns: list or comma-separated text: the labels, each with a column of 0 and 1.
        header: whether TSV and CSV files have a header row; by default, the first row decides.
        labels: list or comma-separated text, or "regression".
        metric: chooses the best checkpoint; default: the first mean F1 in `metrics`, such as
          macro_f1, or eval_accuracy (regression: pearson; several labels: micro_f1).
        metrics: more metrics to report.
        train_file, dev_file, test_file: files in --data_dir; default: train.tsv, train.csv and so
          on, or else the Parquet files of a hub.
        name: name of the task in results.

    Raises:
      ValueError: a name is unknown, or a value has the wrong type; text_a or labels are missing; a
        label occurs twice; or a metric is unknown or does not suit the labels.
    """
    fields = json_files.read(task_file, _TASK_FILE) if task_file else {}
    fields.update({name: value for name, value in flags.items() if value not in (None, "")})
    try:
        return _custom_task(fields)
    except UserError as error:
        raise UserError(f"Task file '{task_file}': {error}" if task_file else str(error)) from None


def _custom_task(fields: Dict[str, Any]) -> TaskSpec:
    lists = ("labels", "label_columns", "metrics")
    labels, label_columns, metrics = (_listed(fields.pop(name, None)) for name in lists)
    labels += label_columns
    if label_columns:
        fields["multi_label"] = True
    flag_of = {name: f"{name}_column" if name in Columns._fields[:4] else name for name in fields}
    flags = make(_CustomTask, **{flag_of[name]: value for name, value in fields.items()})
    if flags.text_a_column is None:
        raise UserError("A custom task needs text_a: the text's column, a number from 0 or a name.")
    is_regression = labels == ["regression"] and not flags.multi_label
    if len(set(labels)) < max(2, len(labels)) and not is_regression:
        raise UserError(
            f"The labels are {wording.listed(labels)}. Give --labels at least two different names "
            "such as 0,1, or the word regression; or give --label_columns alone."
        )
    columns = columns_of(flags)
    if label_columns:
        columns = columns._replace(label=label_columns)
    task = TaskSpec(
        flags.name,
        () if is_regression else tuple(labels),
        _CUSTOM_RECIPE,
        folders=(flags.name,),
        columns=(columns,),
        files={role: getattr(flags, f"{role}_file") for role in ("train", "dev", "test")},
        label_separator=separator_of(flags),
    )
    own = task.suitable_metrics
    if not flags.multi_label:
        own = () if flags.metric else own[:1]
    return with_metrics(task._replace(metrics=own), flags.metric, metrics)


def with_metrics(task: TaskSpec, metric: Optional[str], metrics: Any) -> TaskSpec:
    """Returns a task with other metrics besides its own.

    Args:
      task: the task.
      metric: chooses the best checkpoint; "" or None: the first mean F1 in `metrics`, such as
        macro_f1, or else the task's first metric.
      metrics: list or comma-separated text. "precision" and "recall" stand for those of each label.

    Raises:
      UserError: a metric does not suit the labels.
    """
    suitable = task.suitable_metrics
    of_labels = {kind: [f"{kind}_{label}" for label in task.labels] for kind in PER_LABEL}
    requested = _listed(metrics)
    means = [name for name in requested if name in suitable and name.endswith("_f1")]
    chosen = [metric] if metric else means
    others = itertools.chain(*(of_labels.get(name) or [name] for name in requested))
    names = tuple(dict.fromkeys([*chosen, *task.metrics, *others]))
    unsuitable = set(names) - {*suitable, *itertools.chain(*of_labels.values())}
    if unsuitable:
        raise UserError(
            f"Metric {min(unsuitable)!r} does not suit the labels. Metrics that do: "
            f"{', '.join(suitable)}. If LABEL is a label, also precision_LABEL and recall_LABEL."
        )
    return task._replace(metrics=names)


def columns_of(flags: CustomTaskFlags) -> Columns:
    """Returns the columns that flags name; numbers are int."""
    columns = [_column(getattr(flags, f"{name}_column")) for name in Columns._fields[:4]]
    columns[2] = _listed(flags.label_columns) or columns[2]
    return Columns(*columns)._replace(header=flags.header)


def separator_of(flags: CustomTaskFlags) -> str:
    """Returns the separator of an example's labels; "" if it has one label."""
    return (flags.label_separator or "|") if flags.multi_label else ""


def _column(text: Optional[str]) -> Any:
    """Returns a column's number or name."""
    return int(text) if re.fullmatch(r"-?\d+", text or "") else text


def _listed(value: Any) -> List[str]:
    """Converts a list or comma-separated text to a list of texts."""
    parts = value if isinstance(value, (list, tuple)) else str(value or "").split(",")
    return list(filter(None, map(examples.label_text, parts)))
