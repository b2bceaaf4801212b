# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on RACE (multiple choice).

  python -m albert.run_race --data_dir=data --output_dir=output/race \\
      --albert_dir=base_v2 --max_seq_length=512 --max_qa_length=128 --train_batch_size=32 \\
      --learning_rate=1e-5 --train_step=12000 --warmup_step=1000 --save_checkpoints_steps=100 \\
      --do_predict

data/RACE/{train,dev,test}/{middle,high} hold one file per passage, as in the published archive, or
all.txt with one passage per line. Training resumes from the newest checkpoint in --output_dir.
Evaluation measures every checkpoint once, on both levels, and keeps the best as model.ckpt-best,
which prediction uses. --output_dir then holds eval_results.txt, best_trial.txt, run_summary.json,
and with --do_predict also predictions.json, test_results.tsv and predict_results.txt.
"""

from albert.tasks.race.flags import RaceFlags as Flags
from albert.util import cli


def answer(flags: Flags):
    """Trains, evaluates and predicts; returns training.workflow.Outcome."""
    from albert.tasks.race import task
    from albert.training import fine_tuning

    return fine_tuning.run(flags, task.RaceTask)


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    answer(flags)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
