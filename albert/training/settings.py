# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the flags of a training script say, as frozen objects with a field for each flag.

A script's `define_flags` returns its class, of which util.flags makes the object; a class with
another number of fields than there are flags is an error there. The flags themselves, with their
help, are in util.flags and in the scripts.
"""

import dataclasses
from typing import TYPE_CHECKING, Optional

from albert.util import flags as flags_lib


@dataclasses.dataclass(frozen=True)
class TrainingSettings(flags_lib.Settings):
    """The flags of every training: what is trained, how, and on which devices."""

    albert_dir: Optional[str]
    albert_config_file: Optional[str]
    init_checkpoint: Optional[str]
    output_dir: str
    do_train: bool
    max_seq_length: int
    train_batch_size: int
    optimizer: str
    learning_rate: float
    weight_decay_rate: float
    adam_beta_1: float
    adam_beta_2: float
    adam_epsilon: float
    max_grad_norm: float
    save_checkpoints_steps: int
    save_checkpoints_minutes: float
    wait_for_checkpoints_minutes: float
    use_tpu: bool
    tpu_name: Optional[str]
    tpu_zone: Optional[str]
    gcp_project: Optional[str]
    master: Optional[str]
    num_tpu_cores: int
    iterations_per_loop: int
    precision: str
    recompute: bool
    use_xla: bool
    gradient_accumulation_steps: int
    distribution_strategy: str
    num_devices: Optional[int]
    worker_patience_seconds: Optional[float]
    seed: int
    log_steps: int


@dataclasses.dataclass(frozen=True)
class FineTuningSettings(TrainingSettings, flags_lib.EncoderSettings):
    """The flags of every fine-tuning."""

    if TYPE_CHECKING:  # flags of most tasks; a task without them overrides what reads them
        do_eval: bool
        eval_batch_size: int
        keep_checkpoint_max: int
        train_step: int
        warmup_step: int

    do_predict: bool
    predict_batch_size: int
    num_train_epochs: Optional[float]
    warmup_proportion: Optional[float]
    layerwise_lr_decay: float
    padding: Optional[str]
    cached_dir: Optional[str]
    checkpoint: Optional[str]


@dataclasses.dataclass(frozen=True)
class TaskSettings(FineTuningSettings):
    """The flags of a task that is evaluated on a part of its data of its own."""

    do_eval: bool
    eval_batch_size: int
    train_step: int
    warmup_step: int
