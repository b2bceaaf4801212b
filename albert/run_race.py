# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on RACE, reading comprehension by multiple choice; evaluates and predicts.

  python -m albert.run_race --data_dir=data --output_dir=output/race \\
      --albert_dir=base_v2 --max_seq_length=512 --max_qa_length=128 --train_batch_size=32 \\
      --learning_rate=1e-5 --train_step=12000 --warmup_step=1000 --save_checkpoints_steps=100 \\
      --do_predict

data/RACE/{train,dev,test}/{middle,high} hold a file for each passage, as RACE is distributed, or
all.txt with a passage a line. Training resumes from the newest checkpoint in --output_dir.
Evaluation measures every checkpoint once, on both levels, and keeps the best as model.ckpt-best,
which prediction uses. The folder gets eval_results.txt, best_trial.txt, run_summary.json, and with
--do_predict predictions.json, test_results.tsv and predict_results.txt.
"""

from typing import Type

from absl import flags

from albert.command_line import process_flags, script
from albert.race.settings import RaceSettings
from albert.util import flags as flags_lib

# ---------------------------------------------------------------------------------------------
# Flags.


def define_flags(flag_values: flags.FlagValues) -> Type[RaceSettings]:
    """Defines the script's flags; returns the class of its settings."""
    flags_lib.define_task_flags(
        flag_values,
        do_train=True,
        do_eval=True,
        eval_batch_size=8,
        learning_rate=1e-5,
        train_step=12000,
        warmup_step=1000,
        save_checkpoints_steps=100,
    )
    flags_lib.path(
        flag_values, "data_dir", help="Folder with RACE in it, or RACE itself.", required=True
    )
    flags_lib.string(flag_values, "task_name", "race", help="What files and results call the task.")
    flags_lib.add_help(flag_values, max_seq_length="Longer ones are cut.")
    _define_race_flags(flag_values)
    return RaceSettings


def _define_race_flags(flag_values: flags.FlagValues):
    """Flags of this script alone."""
    flags_lib.integer(
        flag_values,
        "max_qa_length",
        128,
        lower_bound=1,
        help="Most tokens of a question with an option; of longer ones the last are kept.",
    )
    flags_lib.floating(
        flag_values,
        "dropout_prob",
        0.1,
        lower_bound=0.0,
        upper_bound=0.99,
        help="Dropout before the head.",
    )
    for level, other in (("high", "middle"), ("middle", "high")):
        flags_lib.boolean(
            flag_values,
            f"{level}_only",
            False,
            help=f"Train, evaluate and predict without RACE's {other}-school part.",
        )
    for use, split in (("train", "train"), ("eval", "dev"), ("predict", "test")):
        flags_lib.path(
            flag_values,
            f"{use}_file",
            help=f"Record file for the features of RACE's {split} split, for --do_{use}; the texts "
            "come from --data_dir. Made if it is missing or was made from other data or settings. "
            "By default it is in --cached_dir.",
        )
    flags_lib.integer(
        flag_values,
        "num_keep_checkpoint",
        5,
        lower_bound=0,
        help="Newest checkpoints to keep beside the best one; 0 keeps all. Evaluation needs all: "
        "the rest is removed after --do_train with --do_eval.",
    )


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

from albert.race import run
from albert.training import fine_tuning

# ---------------------------------------------------------------------------------------------
# The script.


def answer(settings: RaceSettings) -> fine_tuning.Outcome:
    """Trains, evaluates and predicts as the settings say; see fine_tuning.run."""
    return fine_tuning.run(settings, run.RaceTask)


@process_flags.reads_flags(define_flags)
def main(settings: RaceSettings):
    """Runs the script."""
    fine_tuning.main(settings, run.RaceTask)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
