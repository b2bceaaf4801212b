# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on classification or regression.

  python -m albert.run_classifier --task_name=MRPC --data_dir=glue --output_dir=output/mrpc \\
      --albert_dir=base_v2 --max_seq_length=128 --train_batch_size=32 --learning_rate=2e-5 \\
      --train_step=800 --warmup_step=200 --save_checkpoints_steps=100 \\
      --do_train --do_eval --do_predict

For a task of your own, use --task_name=custom. Training resumes from the newest checkpoint in
--output_dir. Evaluation measures every checkpoint once and keeps the best as model.ckpt-best, which
prediction and export use. --output_dir then holds eval_results.txt, best_trial.txt,
confusion_matrix.json, classification_report.txt, test_results.tsv, submit_results.tsv,
run_summary.json, and the files to submit to GLUE or CLUE.
"""

from albert.tasks.classification.flags import ClassifierFlags as Flags
from albert.util import cli


def classify(flags: Flags):
    """Trains, evaluates, predicts and exports; returns training.workflow.Outcome."""
    from albert.tasks.classification import task
    from albert.training import fine_tuning

    return fine_tuning.run(flags, task.ClassifierTask)


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    classify(flags)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
