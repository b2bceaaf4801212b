# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on SQuAD v2.0, where questions may have no answer, and answers questions.

  python -m albert.run_squad_v2 --output_dir=output/squad_v2 --train_file=train-v2.0.json \\
      --predict_file=dev-v2.0.json --albert_dir=base_v2 --do_train --do_predict

Training goes on from the newest checkpoint in --output_dir. --do_predict evaluates every checkpoint
there once, keeps the one with the best F1 as model.ckpt-best, and writes what it answers to
predictions.json, nbest_predictions.json and null_odds.json (the higher, the likelier there is no
answer); scores are in eval_results.txt. The threshold above which an answer is left empty is the
one with the best F1; without gold answers in --predict_file, the one found in evaluation before.
The official script gives the same scores for predictions.json, and the same best_* with
--na-prob-file null_odds.json --na-prob-thresh <null_score_diff_threshold>.
"""

from albert.command_line import cli
from albert.squad.settings import SquadV2Flags as Flags


def answer(settings: Flags):
    """Trains, evaluates, answers and exports; returns training.fine_tuning.Outcome."""
    from albert.squad import run
    from albert.training import fine_tuning

    return fine_tuning.run(settings, run.SquadV2)


@cli.reads_flags(Flags)
def main(settings: Flags) -> None:
    """Runs the script, or this worker's part of it."""
    answer(settings)


def validate_flags_or_throw(albert_config) -> None:
    """Raises UserError where FLAGS do not fit each other or the AlbertConfig."""
    from albert import fine_tuning_utils
    from albert.squad import run

    settings = cli.of_process(Flags)
    run.SquadV2.check_flags(settings)
    fine_tuning_utils.check_length(settings.max_seq_length, albert_config)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
