# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_race."""

import dataclasses
from typing import Optional

from albert.configs import shared_flags
from albert.configs.shared_flags import data_flag, output_flag, training_flag
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class RaceFlags(shared_flags.TruncationFlags, shared_flags.TaskFlags):
    """The flags of run_race."""

    data_dir: str = data_flag(None, "Folder RACE, or its parent folder.", path=True, required=True)
    task_name: str = output_flag("race", "Name to use in file names and results.")
    max_qa_length: int = data_flag(128, "Maximum tokens of question plus option.", lower=1)
    high_only: bool = data_flag(False, "Use only RACE's high-school part.")
    middle_only: bool = data_flag(False, "Use only RACE's middle-school part.")
    train_file: Optional[str] = data_flag(
        None, "Where to cache the training features.", path=True, records_of="train"
    )
    eval_file: Optional[str] = data_flag(
        None, "Where to write the evaluation features.", path=True, records_of="dev"
    )
    predict_file: Optional[str] = data_flag(
        None, "Where to write the features to predict.", path=True, records_of="test"
    )
    dropout_prob: float = training_flag(0.1, "Dropout before the head.", lower=0, upper=0.99)
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
class MultipleChoiceFlags(shared_flags.TruncationFlags, shared_flags.TaskFlags):
    """The flags of run_multiple_choice."""

    data_dir: str = data_flag(
        None, "Folder with train, dev and test files.", path=True, required=True
    )
    train_file: Optional[str] = data_flag(
        None, "Training data in --data_dir: JSON lines, Parquet; default: by name, as train.jsonl."
    )
    dev_file: Optional[str] = data_flag(None, "Development data in --data_dir.")
    test_file: Optional[str] = data_flag(None, "Test data in --data_dir.")
    max_qa_length: int = data_flag(128, "Maximum tokens of question plus choice.", lower=1)
    dropout_prob: float = training_flag(0.1, "Dropout before the head.", lower=0, upper=0.99)
    learning_rate: float = flag(1e-5)
    train_step: int = flag(None)
    warmup_step: int = flag(None)
    num_train_epochs: float = flag(3.0)
    warmup_proportion: float = flag(0.1)
    keep_checkpoint_max: int = shared_flags.keep_checkpoint_max()
