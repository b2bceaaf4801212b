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

from typing import Any, Type

from absl import flags

from albert.command_line import process_flags, script
from albert.squad import settings as squad_settings
from albert.squad.settings import SquadV2Settings
from albert.util import flags as flags_lib


def define_flags(flag_values: flags.FlagValues) -> Type[SquadV2Settings]:
    """Defines the script's flags; returns the class of its settings."""
    squad_settings.define_flags(flag_values)
    for name, text in (("start_n_top", "Starts followed"), ("end_n_top", "Ends of each start")):
        flags_lib.integer(flag_values, name, 5, lower_bound=1, help=f"{text} in prediction.")
    flags_lib.floating(
        flag_values,
        "dropout_prob",
        0.1,
        lower_bound=0.0,
        upper_bound=1.0,
        help="Dropout of the part that says whether there is an answer.",
    )
    flags_lib.floating(
        flag_values,
        "null_score_diff_threshold",
        None,
        help="Null score above which an answer is left empty; by default the one with the best F1.",
    )
    return SquadV2Settings


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__)

from albert import fine_tuning_utils
from albert.squad import run
from albert.training import fine_tuning


def answer(settings: SquadV2Settings) -> fine_tuning.Outcome:
    """Trains, evaluates, answers and exports as the settings say; see fine_tuning.run."""
    return fine_tuning.run(settings, run.SquadV2)


def validate_flags_or_throw(albert_config) -> None:
    """Raises ValueError where FLAGS do not fit each other or the AlbertConfig."""
    settings: Any = process_flags.read_settings(define_flags, whole=False)
    run.SquadV2.check_flags(settings)
    fine_tuning_utils.check_length(settings.max_seq_length, albert_config)


@process_flags.reads_flags(define_flags)
def main(settings: SquadV2Settings):
    """Runs the script."""
    fine_tuning.main(settings, run.SquadV2)


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
