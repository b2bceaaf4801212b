# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags that run_squad_v1 and run_squad_v2 have in common."""

from absl import flags

from albert.util import flags as flags_lib


def define_flags(flag_values: flags.FlagValues) -> None:
    """Defines the flags of both scripts."""
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    _define_data_flags(flag_values)
    _define_answer_flags(flag_values)
    flags_lib.define_training_flags(
        flag_values,
        do_train=False,
        do_predict=False,
        max_seq_length=384,
        train_batch_size=32,
        predict_batch_size=8,
        optimizer="adamw",
        learning_rate=5e-5,
        save_checkpoints_steps=1000,
        save_checkpoints_minutes=0.0,
        wait_for_checkpoints_minutes=0.0,
    )
    flags_lib.define_fine_tuning_flags(
        flag_values, num_train_epochs=3.0, warmup_proportion=0.1, keep_checkpoint_max=5
    )
    flags_lib.path(flag_values, "export_dir", help="Export the best checkpoint into this folder.")
    flags_lib.define_tpu_flags(flag_values)
    flags_lib.define_runtime_flags(flag_values)


def _define_data_flags(flag_values: flags.FlagValues) -> None:
    helps = {
        "train_file": "SQuAD file to train on, e.g. train-v1.1.json.",
        "predict_file": "SQuAD file to answer, e.g. dev-v1.1.json; it may come without answers.",
        "train_feature_file": "Record file for the features of --train_file; made if need be.",
        "predict_feature_file": "Record file for the features of --predict_file; made if need be.",
        "predict_feature_left_file": "Not used; kept for existing command lines.",
    }
    for name, text in helps.items():
        flags_lib.path(flag_values, name, help=text)
    flags_lib.floating(
        flag_values,
        "max_misaligned_answers",
        0.01,
        lower_bound=0.0,
        upper_bound=1.0,
        help="Share of the answers to train on that may not be where answer_start says; their "
        "questions are left out.",
    )
    flags_lib.integer(
        flag_values,
        "doc_stride",
        128,
        lower_bound=1,
        help="Pieces from the beginning of a window of a long paragraph to that of the next.",
    )
    flags_lib.integer(
        flag_values,
        "max_query_length",
        64,
        lower_bound=1,
        help="Pieces of a question; longer ones are cut.",
    )


def _define_answer_flags(flag_values: flags.FlagValues) -> None:
    flags_lib.integer(
        flag_values,
        "n_best_size",
        20,
        lower_bound=1,
        help="Answers in nbest_predictions.json, and starts and ends of a window that are combined "
        "for them.",
    )
    flags_lib.integer(
        flag_values, "max_answer_length", 30, lower_bound=1, help="Pieces of the longest answer."
    )
