# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on SQuAD v2.0, and answers questions.

In SQuAD v2.0, a question may have no answer.

  python -m albert.run_squad_v2 --output_dir=output/squad_v2 --train_file=train-v2.0.json \\
      --predict_file=dev-v2.0.json --albert_dir=base_v2 --do_train --do_predict

Training resumes from the newest checkpoint in --output_dir. --do_predict evaluates every checkpoint
once, and keeps the checkpoint with the best F1 as model.ckpt-best. It writes the answers of this
checkpoint to predictions.json and nbest_predictions.json, and the scores to eval_results.txt.

null_odds.json has a null score for each question. A higher score means that the question more
probably has no answer. If the score is above --null_score_diff_threshold, the answer is empty. By
default, evaluation chooses the threshold with the best F1. If --predict_file has no answers, the
command uses the threshold of the last evaluation.

The official script evaluate-v2.0.py gives the same scores for predictions.json. For the same best_*
scores, add --na-prob-file null_odds.json --na-prob-thresh THRESHOLD to its command, where THRESHOLD
is null_score_diff_threshold in eval_results.txt.
"""

from albert.configs import model_config
from albert.tasks.squad.flags import SquadV2Flags as Flags
from albert.util import cli


def answer(flags: Flags):
    """Trains, evaluates, answers and exports; returns training.workflow.Outcome."""
    from albert.tasks.squad import task
    from albert.training import fine_tuning

    return fine_tuning.run(flags, task.SquadV2)


@cli.reads_flags(Flags)
def main(flags: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    answer(flags)


def validate_flags_or_throw(albert_config) -> None:
    """Raises UserError if FLAGS do not fit each other or the AlbertConfig."""
    from albert.tasks.squad import task

    flags = cli.current_flags(Flags)
    task.SquadV2.check_flags(flags)
    model_config.check_length(flags.max_seq_length, albert_config)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
