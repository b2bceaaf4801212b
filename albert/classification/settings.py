# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_classifier as typed settings, and flags that predict has too."""

import dataclasses
from typing import Any, Optional

from absl import flags

from albert.training.settings import TaskSettings
from albert.util import flags as flags_lib

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


def check_exit_flags(settings: Any):
    """Raises ValueError for --exit_threshold where nothing asks for it."""
    if settings.exit_threshold != EXIT_THRESHOLD and not settings.exit_patience:
        raise ValueError(
            f"--exit_threshold={settings.exit_threshold} is for answers before the last layer: "
            "give --exit_patience too, or leave it out."
        )
