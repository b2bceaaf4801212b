# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on a classification or regression task, evaluates it, predicts and exports.

  python -m albert.run_classifier --task_name=MRPC --data_dir=glue --output_dir=output/mrpc \\
      --albert_dir=base_v2 --max_seq_length=128 --train_batch_size=32 --learning_rate=2e-5 \\
      --train_step=800 --warmup_step=200 --save_checkpoints_steps=100 \\
      --do_train --do_eval --do_predict

Tasks are those of GLUE and the usual Chinese ones; --task_name=custom is one of your own. Training
resumes from the newest checkpoint in --output_dir. Evaluation measures every checkpoint once and
keeps the best as model.ckpt-best, which prediction and export use. The folder gets
eval_results.txt, best_trial.txt, confusion_matrix.json, test_results.tsv, submit_results.tsv,
run_summary.json, and the files to submit to GLUE or CLUE.
"""

from typing import Type

from absl import flags

from albert.classification.settings import (
    ClassifierSettings,
    define_custom_task_flags,
    define_exit_flags,
)
from albert.classification.task_table import CUSTOM, TASKS, get_task
from albert.command_line import process_flags, script
from albert.util import flags as flags_lib

# ---------------------------------------------------------------------------------------------
# Flags.


def define_flags(flag_values: flags.FlagValues) -> Type[ClassifierSettings]:
    """Defines the script's flags; returns the class of its settings."""
    flags_lib.define_task_flags(
        flag_values,
        do_eval=False,
        eval_batch_size=8,
        train_step=1000,
        warmup_step=0,
        keep_checkpoint_max=5,
    )
    flags_lib.path(
        flag_values,
        "data_dir",
        help="Folder of the data sets (with MRPC and so on in it), or of the task's own files.",
    )
    flags_lib.string(
        flag_values,
        "task_name",
        None,
        help=f"The task: {', '.join(TASKS)}, or {CUSTOM}.",
    )
    flags_lib.require(flag_values, "task_name")
    flags_lib.check(
        flag_values, "task_name", lambda name: name.strip().lower() == CUSTOM or get_task(name)
    )
    flags_lib.add_help(flag_values, max_seq_length="Longer ones are cut.")
    flags_lib.mark(
        flag_values,
        "required, except to export or with --predict_file alone",
        "data_dir",
    )
    flags_lib.path(
        flag_values,
        "predict_file",
        help="Predict the texts in this file (TSV, CSV, JSON lines, Parquet), not the test data.",
    )
    flags_lib.path(flag_values, "export_dir", help="Export the best checkpoint into this folder.")
    flags_lib.floating(
        flag_values,
        "threshold_to_export",
        float("nan"),
        help="With --export_dir: a constant that the exported model gives as its output "
        "`threshold`, for those who serve it; nan: none.",
    )
    flags_lib.boolean(
        flag_values,
        "early_exit",
        False,
        help="Train a head after each layer too, for --exit_patience (arXiv:2006.04152).",
    )
    define_exit_flags(flag_values)
    define_custom_task_flags(flag_values)
    return ClassifierSettings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

from albert.classification import run
from albert.training import fine_tuning

# ---------------------------------------------------------------------------------------------
# The script.


def classify(settings: ClassifierSettings) -> fine_tuning.Outcome:
    """Trains, evaluates, predicts and exports as the settings say; see fine_tuning.run."""
    return fine_tuning.run(settings, run.ClassifierTask)


@process_flags.reads_flags(define_flags)
def main(settings: ClassifierSettings):
    """Runs the script."""
    fine_tuning.main(settings, run.ClassifierTask)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
