# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags that run_squad_v1 and run_squad_v2 share, and those of each as typed settings."""

import dataclasses
from typing import Optional

from absl import flags

from albert.training.settings import FineTuningSettings
from albert.util import flags as flags_lib


@dataclasses.dataclass(frozen=True)
class SquadSettings(FineTuningSettings):
    """The flags that run_squad_v1 and run_squad_v2 share."""

    train_file: Optional[str]
    predict_file: Optional[str]
    train_feature_file: Optional[str]
    predict_feature_file: Optional[str]
    predict_feature_left_file: Optional[str]
    max_misaligned_answers: float
    doc_stride: int
    max_query_length: int
    n_best_size: int
    max_answer_length: int
    keep_checkpoint_max: int
    export_dir: Optional[str]


@dataclasses.dataclass(frozen=True)
class SquadV1Settings(SquadSettings):
    """The flags of run_squad_v1."""

    use_einsum: bool


@dataclasses.dataclass(frozen=True)
class SquadV2Settings(SquadSettings):
    """The flags of run_squad_v2."""

    start_n_top: int
    end_n_top: int
    dropout_prob: float
    null_score_diff_threshold: Optional[float]


FILES = {
    "train_file": "SQuAD file to train on, e.g. train-v1.1.json.",
    "predict_file": "SQuAD file to answer, e.g. dev-v1.1.json; it may come without answers.",
    "train_feature_file": "Record file for the features of --train_file; made if need be.",
    "predict_feature_file": "Record file for the features of --predict_file; made if need be.",
    "predict_feature_left_file": "Not used; kept for existing command lines.",
    "export_dir": "Export the best checkpoint into this folder.",
}
_NUMBERS = {
    "doc_stride": (128, "Tokens from the start of a window of a long paragraph to the next start."),
    "max_query_length": (64, "Tokens of a question; longer ones are cut."),
    "n_best_size": (
        20,
        "Answers in nbest_predictions.json, and starts and ends of a window that are combined for "
        "them.",
    ),
    "max_answer_length": (30, "Tokens of the longest answer."),
}


def define_flags(flag_values: flags.FlagValues) -> None:
    """Defines the flags of both scripts."""
    flags_lib.define_task_flags(
        flag_values,
        max_seq_length=384,
        num_train_epochs=3.0,
        warmup_proportion=0.1,
        keep_checkpoint_max=5,
    )
    for name, text in FILES.items():
        flags_lib.path(flag_values, name, help=text)
    for name, (default, text) in _NUMBERS.items():
        flags_lib.integer(flag_values, name, default, lower_bound=1, help=text)
    flags_lib.floating(
        flag_values,
        "max_misaligned_answers",
        0.01,
        lower_bound=0.0,
        upper_bound=1.0,
        help="Share of the answers to train on that may not be where answer_start says; their "
        "questions are left out.",
    )
    flags_lib.mark(flag_values, "required with --do_train", "train_file")
    flags_lib.mark(flag_values, "required with --do_predict", "predict_file")
    flags_lib.add_help(
        flag_values,
        do_predict="Before, evaluate every checkpoint in --output_dir if the answers are known.",
        max_seq_length="A longer paragraph is read in several windows.",
    )
