# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_classifier as typed settings, and flags that predict has too."""

import dataclasses
from typing import Any, Optional

from absl import flags

from albert.training.settings import TaskSettings
from albert.util import flags as flags_lib
from albert.util.errors import UserError

EXIT_THRESHOLD = 0.1  # of scores


@dataclasses.dataclass(frozen=True)
class CustomTaskFlags:
    """The flags that describe a custom task; custom_task has the same names without "_column"."""

    task_file: Optional[str]
    text_a_column: Optional[str]
    text_b_column: Optional[str]
    label_column: Optional[str]
    guid_column: Optional[str]
    header: Optional[bool]
    labels: Optional[str]
    metric: Optional[str]
    metrics: Optional[str]
    train_file: Optional[str]
    dev_file: Optional[str]
    test_file: Optional[str]


@dataclasses.dataclass(frozen=True)
class ClassifierSettings(TaskSettings, CustomTaskFlags):
    """The flags of run_classifier."""

    data_dir: Optional[str]
    task_name: str
    keep_checkpoint_max: int
    predict_file: Optional[str]
    export_dir: Optional[str]
    threshold_to_export: float
    early_exit: bool
    exit_patience: Optional[int]
    exit_threshold: float


def define_exit_flags(flag_values: flags.FlagValues):
    """Defines exit_patience and exit_threshold."""
    flags_lib.integer(
        flag_values,
        "exit_patience",
        None,
        lower_bound=1,
        help="Answer an example as soon as this many layers in a row have not changed its "
        "prediction. The model must be trained with --early_exit. By default after all layers.",
    )
    flags_lib.floating(
        flag_values,
        "exit_threshold",
        EXIT_THRESHOLD,
        above=0,
        help="With --exit_patience: scores of a regression that differ by less are the same.",
    )


def define_custom_task_flags(flag_values: flags.FlagValues):
    """Defines the flags of CustomTaskFlags."""
    flags_lib.path(
        flag_values,
        "task_file",
        help="Custom task: JSON file with the values of other flags, named text_a, text_b, "
        "label, guid, header, labels, metric, metrics, train_file, dev_file and test_file.",
    )
    helps = {
        "text_a_column": "column of the text: number from 0, name in the header row, JSON field.",
        "text_b_column": "column of the second text, for pairs.",
        "label_column": "column of the label.",
        "guid_column": "column of the example's name.",
        "labels": "the labels, with commas between them, or regression.",
        "metric": "what chooses the best checkpoint, e.g. eval_accuracy, f1, pearson.",
        "metrics": "what else to measure, with commas between them.",
        "train_file": "training data, below --data_dir: TSV, or .csv, .json, .jsonl, .parquet.",
        "dev_file": "data to evaluate on, in the format of --train_file.",
        "test_file": "data to predict, in the format of --train_file.",
    }
    for name, text in helps.items():
        flags_lib.string(flag_values, name, None, help=f"Custom task: {text}")
    flags_lib.boolean(
        flag_values,
        "header",
        None,
        help="Custom task: whether TSV and CSV files have a header row.",
    )


def check_exit_flags(settings: Any):
    """Raises ValueError for --exit_threshold where nothing asks for it."""
    if settings.exit_threshold != EXIT_THRESHOLD and not settings.exit_patience:
        raise UserError(
            f"--exit_threshold={settings.exit_threshold} is for answers before the last layer: "
            "give --exit_patience too, or leave it out."
        )
