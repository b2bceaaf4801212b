# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_classifier and sweep, and the flags that they share with predict."""

import dataclasses
import functools
from typing import Any, Optional

from albert.configs import shared_flags
from albert.configs.shared_flags import (
    data_flag,
    evaluation_flag,
    model_flag,
    output_flag,
    training_flag,
)
from albert.tasks.classification.task_table import (
    CHINESE_TASKS,
    CUSTOM,
    GLUE_TASKS,
    TASKS,
    get_task,
)
from albert.util.flags import BaseFlags, describe, flag

EXIT_THRESHOLD = 0.1  # scores that differ by less count as equal

_custom = functools.partial(flag, None, group="Custom task (--task_name=custom)")


@dataclasses.dataclass(frozen=True)
class CustomTaskFlags(BaseFlags):
    """The flags of a custom task. A task file has the same names without "_column".

    Published tasks too have `metric` and `metrics`.
    """

    metric: Optional[str] = evaluation_flag(
        None,
        "Metric that chooses the best checkpoint; default: the first of macro_f1, micro_f1, "
        "weighted_f1 and samples_f1 that --metrics has, or else the task's own.",
    )
    metrics: Optional[str] = evaluation_flag(
        None,
        "More metrics, comma-separated: macro_f1, micro_f1, weighted_f1, precision, recall (of "
        "each label), precision_LABEL, recall_LABEL, eval_accuracy, matthew_corr, f1; of several "
        "labels samples_f1, exact_match, average_precision; of numbers pearson, spearman, MSE.",
    )
    task_file: Optional[str] = _custom("JSON file with the values of these flags.", path=True)
    text_a_column: Optional[str] = _custom("Column of the text: a name, or a number from 0.")
    text_b_column: Optional[str] = _custom("Column of the second text, for pairs.")
    label_column: Optional[str] = _custom("Column of the label.")
    multi_label: Optional[bool] = _custom("An example can have several labels, or none.")
    label_separator: Optional[str] = _custom(
        "Separator of the labels in a cell; default: |.", needs="multi_label"
    )
    label_columns: Optional[str] = _custom(
        "Labels, comma-separated, each with a column: 1 if an example has the label, else 0.",
        replaces=("label_column", "labels"),
    )
    guid_column: Optional[str] = _custom("Column of the example ID.")
    header: Optional[bool] = _custom("TSV and CSV files have a header row; default: detect.")
    labels: Optional[str] = _custom(
        "Comma-separated labels, or the word `regression` to predict a number."
    )
    train_file: Optional[str] = _custom("Training data in --data_dir: TSV, CSV, JSON, Parquet.")
    dev_file: Optional[str] = _custom("Development data in --data_dir.")
    test_file: Optional[str] = _custom("Test data in --data_dir.")


@dataclasses.dataclass(frozen=True)
class DecodingFlags(BaseFlags):
    """The flags of early exit (arXiv:2006.04152), and of models of several labels."""

    exit_patience: Optional[int] = evaluation_flag(
        None,
        "Exit after this many layers in a row that keep the prediction (models with --early_exit).",
        lower=1,
    )
    exit_threshold: float = evaluation_flag(
        EXIT_THRESHOLD,
        "Regression: scores that differ by less than this count as equal.",
        above=0,
        needs="exit_patience",
    )
    decision_threshold: Optional[float] = evaluation_flag(
        None,
        "Several labels: predict those at least this probable; default: as chosen in evaluation.",
        above=0,
        below=1,
    )


@dataclasses.dataclass(frozen=True)
class ClassifierFlags(
    shared_flags.ExportFlags,
    shared_flags.TruncationFlags,
    shared_flags.TaskFlags,
    CustomTaskFlags,
    DecodingFlags,
):
    """The flags of run_classifier."""

    task_name: str = data_flag(None, f"Task: {', '.join(TASKS)}, or {CUSTOM}.", required=True)
    data_dir: Optional[str] = data_flag(
        None, "The task's folder, such as MRPC, or its parent folder.", path=True
    )
    predict_file: Optional[str] = data_flag(
        None,
        "File to predict: TSV, CSV, JSON, Parquet; replaces --test_file.",
        path=True,
        replaces=("test_file",),
    )
    early_exit: bool = flag(False, "Train a head on each layer, for --exit_patience.")
    class_weights: Optional[str] = training_flag(
        None, "Weights of the labels in the training loss: balanced, or such as yes:3,no:1."
    )
    threshold_to_export: float = output_flag(
        float("nan"),
        "Add an output `threshold` with this value to the export; nan: no such output.",
    )

    def check(self) -> None:
        """Checks the task's name."""
        super().check()
        if self.task_name.strip().lower() != CUSTOM:
            get_task(self.task_name)


# Suite -> default tasks, of which those with data run. mnli also evaluates the mismatched data.
# lcqmc_pair has the same data as lcqmc.
SUITES = {
    "glue": tuple(name for name in GLUE_TASKS if name != "mismnli"),
    "clue": tuple(name for name in CHINESE_TASKS if name != "lcqmc_pair"),
}


def _several(name: str) -> Any:
    """Returns a flag of run_classifier that takes several values; None: the published value."""
    return flag(**dict(describe(ClassifierFlags)[name], default=None, several=True))


@dataclasses.dataclass(frozen=True)
class GridFlags(BaseFlags):
    """The flags with several values, such as "1e-5,3e-5". A sweep tries all combinations."""

    optimizer: str = _several("optimizer")
    learning_rate: str = _several("learning_rate")
    weight_decay_rate: str = _several("weight_decay_rate")
    adam_beta_1: str = _several("adam_beta_1")
    adam_beta_2: str = _several("adam_beta_2")
    adam_epsilon: str = _several("adam_epsilon")
    max_grad_norm: str = _several("max_grad_norm")
    max_seq_length: str = _several("max_seq_length")
    train_batch_size: str = _several("train_batch_size")
    train_step: str = _several("train_step")
    warmup_step: str = _several("warmup_step")
    num_train_epochs: str = _several("num_train_epochs")
    warmup_proportion: str = _several("warmup_proportion")
    save_checkpoints_steps: str = _several("save_checkpoints_steps")
    precision: str = _several("precision")
    padding: str = _several("padding")


@dataclasses.dataclass(frozen=True)
class SweepFlags(GridFlags, shared_flags.EncoderFlags, CustomTaskFlags):  # type: ignore[misc]
    """The flags of a sweep."""

    suite: str = data_flag("glue", "Tasks to run if --tasks is not set.", choices=sorted(SUITES))
    data_dir: str = data_flag(
        None, "Folder of one task, or the parent folder of several.", path=True, required=True
    )
    tasks: Optional[str] = data_flag(
        None,
        "Tasks, comma-separated, or custom; default: tasks of --suite with data in --data_dir.",
    )
    model_dir: Optional[str] = model_flag(
        None,
        "The same as --albert_dir.",
        path=True,
        replaces=("albert_dir", "albert_hub_module_handle"),
    )
    output_dir: str = output_flag(
        None, "Folder for all runs and the results.", path=True, required=True
    )
    do_predict: bool = flag(True, "Predict the test data, if present.", group="What to do")
    dry_run: bool = flag(
        False, "Check everything, print the commands, and exit.", group="What to do"
    )
    seeds: str = training_flag("12345", "Seeds, such as 1,2,3 or 1-5.")
    run_flags: Optional[str] = training_flag(
        None, "Other flags for all runs, such as '--recompute --log_steps=10'."
    )

    do_train = False  # each run has its own do_train
