# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_classifier as typed settings."""

import dataclasses
from typing import Optional

from albert.training.settings import TaskSettings


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
