# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_race."""

import dataclasses
from typing import Optional

from albert.configs import shared_flags
from albert.configs.shared_flags import data_flag, output_flag, training_flag
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class ChoiceFlags(shared_flags.TruncationFlags):
    """The flags of all multiple choice."""

    max_qa_length: int = data_flag(128, "Maximum tokens of question plus option.", lower=1)
    dropout_prob: float = training_flag(0.1, "Dropout before the head.", lower=0, upper=0.99)


@dataclasses.dataclass(frozen=True)
class RaceFlags(ChoiceFlags, shared_flags.TaskFlags):
    """The flags of run_race."""

    data_dir: str = data_flag(None, "Folder RACE, or its parent folder.", path=True, required=True)
    task_name: str = output_flag("race", "Name to use in file names and results.")
    high_only: bool = data_flag(False, "Use only RACE's high-school part.")
    middle_only: bool = data_flag(False, "Use only RACE's middle-school part.")
    train_file: Optional[str] = data_flag(None, "Where to cache the training features.", path=True)
    eval_file: Optional[str] = data_flag(None, "Where to write the evaluation features.", path=True)
    predict_file: Optional[str] = data_flag(
        None, "Where to write the features to predict.", path=True
    )
    do_train: bool = flag(True)
    do_eval: bool = flag(True)
    learning_rate: float = flag(1e-5)
    train_step: int = flag(12000)
    warmup_step: int = flag(1000)
    save_checkpoints_steps: int = flag(100)
    num_keep_checkpoint: int = shared_flags.keep_checkpoint_max()

    @property
    def keep_checkpoint_max(self) -> int:  # type: ignore[override]
        """The value of --num_keep_checkpoint by the name that other scripts use."""
        return self.num_keep_checkpoint


@dataclasses.dataclass(frozen=True)
class MultipleChoiceFlags(ChoiceFlags, shared_flags.SplitFileFlags):
    """The flags of run_multiple_choice."""

    train_file: Optional[str] = flag(
        None, "JSON lines or Parquet file in --data_dir to train on; default: files named train."
    )
    learning_rate: float = flag(1e-5)
    keep_checkpoint_max: int = shared_flags.keep_checkpoint_max()
