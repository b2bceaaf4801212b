# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on RACE, reading comprehension by multiple choice; evaluates and predicts.

  python -m albert.run_race --data_dir=data --output_dir=output/race \\
      --albert_dir=albert_base --max_seq_length=512 --max_qa_length=128 --train_batch_size=32 \\
      --learning_rate=1e-5 --train_step=12000 --warmup_step=1000 --save_checkpoints_steps=100 \\
      --do_predict

data/RACE/{train,dev,test}/{middle,high} hold a file for each passage, as RACE is distributed, or
all.txt with a passage a line. Training goes on from the newest checkpoint in --output_dir.
Evaluation measures every checkpoint once, on both levels, and keeps the best as model.ckpt-best,
which prediction uses. The folder gets eval_results.txt, best_trial.txt, run_summary.json, and with
--do_predict predictions.json, test_results.tsv and predict_results.txt.
"""

import time
from typing import Any, Dict, List, NamedTuple, Optional

from absl import flags

from albert import fine_tuning_utils
from albert.pretrained import released as released_models
from albert.race import examples as race_examples
from albert.race import run as race_run
from albert.training import distributed_run, fine_tuning_runs
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.util import flags as flags_lib

# ---------------------------------------------------------------------------------------------
# Flags.


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.path(
        flag_values, "data_dir", help="Folder with RACE in it, or RACE itself.", required=True
    )
    flags_lib.string(flag_values, "task_name", "race", help="What files and results call the task.")
    flags_lib.define_training_flags(
        flag_values,
        do_train=True,
        do_eval=True,
        do_predict=False,
        max_seq_length=512,
        train_batch_size=32,
        eval_batch_size=8,
        predict_batch_size=8,
        optimizer="adamw",
        learning_rate=1e-5,
        save_checkpoints_steps=100,
        save_checkpoints_minutes=0.0,
        wait_for_checkpoints_minutes=0.0,
    )
    flags_lib.define_fine_tuning_flags(flag_values, train_step=12000, warmup_step=1000)
    _define_race_flags(flag_values)
    flags_lib.define_tpu_flags(flag_values)
    flags_lib.define_runtime_flags(flag_values)


def _define_race_flags(flag_values: flags.FlagValues):
    """What only this script has."""
    flags_lib.integer(
        flag_values,
        "max_qa_length",
        128,
        lower_bound=1,
        help="Pieces of a question with an option; of longer ones the last so many are kept.",
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
            help=f"Record file for the features of RACE's {split} split, which --do_{use} uses; "
            "the texts come from --data_dir. Made if it is not there or was made from other data "
            "or settings. By default it is in --cached_dir.",
        )
    flags_lib.integer(
        flag_values,
        "num_keep_checkpoint",
        5,
        lower_bound=0,
        help="Newest checkpoints to keep beside the best one; 0 keeps all. Training keeps all, for "
        "evaluation needs them: the rest goes after --do_train with --do_eval.",
    )


# ---------------------------------------------------------------------------------------------
# The script.


class Outcome(NamedTuple):
    """What a run did; None for what was not asked for, or was done already."""

    training: Optional[estimator_utils.TrainingSummary]
    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]
    predictions: List[str]  # the files written


@estimator_utils.sole_trainer
def answer(settings: Any) -> Outcome:
    """Trains, evaluates and predicts as the settings say.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: flags, data or checkpoints that do not fit each other.
      estimator_utils.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    began = time.time()
    check_flags(settings)
    settings = released_models.completed(settings)
    config = fine_tuning_utils.load_config(settings)
    vocabulary = fine_tuning_utils.load_vocabulary(settings, config)
    run = race_run.Run(settings, config, vocabulary, fine_tuning_runs.TrainingLength(1, 0))
    race_run.check_output_dir(run)
    if settings.do_predict:
        fine_tuning_runs.check_checkpoint(settings)
    race_run.check_data(run)
    times = race_run.start_summary(run, began)
    training, evaluation, predictions, final_step = None, None, [], None
    if settings.do_train:
        features = run.features("train")
        length = fine_tuning_runs.training_length(settings, features.records.count)
        run, final_step = run._replace(length=length), length.num_train_steps
        training = race_run.train(run, features, times.add_training)
        if training:
            times.add_training(training)
    if settings.do_eval:
        evaluation = race_run.evaluate(run, final_step, times)
    if settings.do_predict:
        prediction_began = time.time()
        predictions = race_run.predict(run)
        times.add_prediction(time.time() - prediction_began)
    return Outcome(training, evaluation, predictions)


def check_flags(settings: Any):
    """Checks flags against each other.

    Raises:
      ValueError: nothing to do, levels that exclude each other, one file for two data sets, or
        batch sizes that cannot be split as asked.
    """
    if not (settings.do_train or settings.do_eval or settings.do_predict):
        raise ValueError("Nothing to do: give some of --do_train, --do_eval and --do_predict.")
    race_examples.levels_of(settings.high_only, settings.middle_only)
    uses: Dict[str, str] = {}
    for name in ("train_file", "eval_file", "predict_file"):
        path = getattr(settings, name)
        if path and uses.setdefault(path, name) != name:
            raise ValueError(
                f"--{uses[path]} and --{name} are both {path}: they hold the features of "
                "different data. Give each a name of its own."
            )
    estimator_utils.check_batch_sizes(settings)


@flags_lib.reads_flags(define_flags)
def main(settings: Any):
    """Runs the script."""
    # Here --train_file names a file of features that is written, and not the data themselves.
    distributed_run.run(answer, settings, chiefs_own={"train_file": None})


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
