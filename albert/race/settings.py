# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_race as typed settings."""

import dataclasses
from typing import Optional

from albert.training.settings import TaskSettings


@dataclasses.dataclass(frozen=True)
class RaceSettings(TaskSettings):
    """The flags of run_race."""

    data_dir: str
    task_name: str
    max_qa_length: int
    dropout_prob: float
    high_only: bool
    middle_only: bool
    train_file: Optional[str]
    eval_file: Optional[str]
    predict_file: Optional[str]
    num_keep_checkpoint: int
