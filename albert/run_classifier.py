# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT on a classification or regression task, evaluates it, predicts and exports.

  python -m albert.run_classifier --task_name=MRPC --data_dir=glue --output_dir=output/mrpc \\
      --albert_dir=albert_base --max_seq_length=128 --train_batch_size=32 --learning_rate=2e-5 \\
      --train_step=800 --warmup_step=200 --save_checkpoints_steps=100 \\
      --do_train --do_eval --do_predict

Tasks are those of GLUE and the usual Chinese ones; --task_name=custom is one of your own. Training
goes on from the newest checkpoint in --output_dir. Evaluation measures every checkpoint once and
keeps the best as model.ckpt-best, which prediction and export use. The folder gets
eval_results.txt, best_trial.txt, confusion_matrix.json, test_results.tsv, submit_results.tsv,
run_summary.json, and what GLUE and CLUE want to be sent.
"""

import logging
import time
from typing import Any, List, NamedTuple, Optional

from absl import flags

from albert import fine_tuning_utils
from albert.classification import run as classifier_run
from albert.classification import tasks as classifier_tasks
from albert.pretrained import released as released_models
from albert.training import distributed_run, fine_tuning_runs
from albert.training import estimators as estimator_utils
from albert.training import evaluation as checkpoint_evaluator
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")

# ---------------------------------------------------------------------------------------------
# Flags.


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.path(
        flag_values,
        "data_dir",
        help="Folder of the data sets (with MRPC and so on in it), or of the task's own files.",
    )
    flags_lib.string(
        flag_values,
        "task_name",
        None,
        help=f"The task: {', '.join(classifier_tasks.TASKS)}, or custom.",
    )
    flags_lib.require(flag_values, "task_name")
    flags_lib.define_training_flags(
        flag_values,
        do_train=False,
        do_eval=False,
        do_predict=False,
        max_seq_length=512,
        train_batch_size=32,
        eval_batch_size=8,
        predict_batch_size=8,
        optimizer="adamw",
        learning_rate=5e-5,
        save_checkpoints_steps=1000,
        save_checkpoints_minutes=0.0,
        wait_for_checkpoints_minutes=0.0,
    )
    flags_lib.define_fine_tuning_flags(
        flag_values, train_step=1000, warmup_step=0, keep_checkpoint_max=5
    )
    flags_lib.path(
        flag_values,
        "predict_file",
        help="Predict the texts of this TSV or JSON-lines file, in place of the test data.",
    )
    flags_lib.path(flag_values, "export_dir", help="Export the best checkpoint into this folder.")
    flags_lib.floating(
        flag_values,
        "threshold_to_export",
        float("nan"),
        help="Further output of the exported model, unless it is nan.",
    )
    _define_custom_task_flags(flag_values)
    flags_lib.define_tpu_flags(flag_values)
    flags_lib.define_runtime_flags(flag_values)


_DESCRIPTION_FLAGS = (
    "task_file",
    "text_a_column",
    "text_b_column",
    "label_column",
    "guid_column",
    "header",
    "labels",
    "metric",
    "metrics",
    "train_file",
    "dev_file",
    "test_file",
)


def _define_custom_task_flags(flag_values: flags.FlagValues):
    """What a task of one's own looks like; only for --task_name=custom."""
    flags_lib.path(
        flag_values,
        "task_file",
        help="Custom task: JSON file with the settings below, named text_a, text_b, label, guid, "
        "header, labels, metric, metrics, train_file, dev_file and test_file.",
    )
    helps = {
        "text_a_column": "column of the text: number from 0, name in the header row, JSON field.",
        "text_b_column": "column of the second text, for pairs.",
        "label_column": "column of the label.",
        "guid_column": "column of the example's name.",
        "labels": "the labels, with commas between them, or regression.",
        "metric": "what chooses the best checkpoint, e.g. eval_accuracy, f1, pearson.",
        "metrics": "what else to measure, with commas between them.",
        "train_file": "below --data_dir; TSV, or JSON lines if it ends in .json or .jsonl.",
        "dev_file": "the same for evaluation.",
        "test_file": "the same for prediction.",
    }
    for name, text in helps.items():
        flags_lib.string(flag_values, name, None, help=f"Custom task: {text}")
    flags_lib.boolean(
        flag_values, "header", None, help="Custom task: whether TSV files have a header row."
    )


# ---------------------------------------------------------------------------------------------
# The script.


class Outcome(NamedTuple):
    """What a run did; None for what was not asked for, or was done already."""

    training: Optional[estimator_utils.TrainingSummary]
    evaluation: Optional[checkpoint_evaluator.EvaluationSummary]
    predictions: List[str]  # the files written
    export: Optional[str]  # the folder written


@estimator_utils.sole_trainer
def classify(settings: Any) -> Outcome:
    """Trains, evaluates, predicts and exports as the settings say.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: flags, data or checkpoints that do not fit each other.
      estimator_utils.TrainingDivergedError: the loss or the gradient is not finite any more.
    """
    began = time.time()
    check_flags(settings)
    task = find_task(settings)
    settings = released_models.completed(settings)
    config = fine_tuning_utils.load_config(settings)
    vocabulary = fine_tuning_utils.load_vocabulary(settings, config)
    nothing = fine_tuning_runs.TrainingLength(1, 0)
    run = classifier_run.Run(settings, task, config, vocabulary, nothing)
    classifier_run.check_output_dir(run)
    if settings.do_predict or settings.predict_file or settings.export_dir:
        fine_tuning_runs.check_checkpoint(settings)
    classifier_run.check_data(run)
    times = classifier_run.start_summary(run, began)
    training, evaluation, predictions, export = None, None, [], None
    final_step = None
    if settings.do_train:
        features = run.features("train")
        length = fine_tuning_runs.training_length(settings, len(features.data.examples))
        run, final_step = run._replace(length=length), length.num_train_steps
        training = classifier_run.train(run, features, times.add_training)
        if training:
            times.add_training(training)
    if settings.do_eval:
        evaluation = classifier_run.evaluate(run, final_step, times)
    if settings.do_predict or settings.predict_file:
        prediction_began = time.time()
        predictions = classifier_run.predict(run)
        times.add_prediction(time.time() - prediction_began)
    if settings.export_dir:
        export = classifier_run.export_model(run)
    return Outcome(training, evaluation, predictions, export)


def check_flags(settings: Any):
    """Checks flags against each other.

    Raises:
      ValueError: nothing to do, no data, or batch sizes that cannot be split as asked.
    """
    parts = (
        settings.do_train,
        settings.do_eval,
        settings.do_predict,
        settings.predict_file,
        settings.export_dir,
    )
    if not any(parts):
        raise ValueError(
            "Nothing to do: give some of --do_train, --do_eval, --do_predict, --predict_file and "
            "--export_dir."
        )
    needs_data = settings.do_train or settings.do_eval
    needs_data = needs_data or (settings.do_predict and not settings.predict_file)
    if needs_data and not settings.data_dir:
        raise ValueError("--data_dir must be given: the folder of the data.")
    estimator_utils.check_batch_sizes(settings)


def find_task(settings: Any) -> classifier_tasks.Task:
    """Returns the task that the flags name or describe.

    Raises:
      ValueError: an unknown task, or settings of a custom task for one that is not.
    """
    if settings.task_name.strip().lower() == classifier_tasks.CUSTOM:
        return classifier_tasks.custom_task(
            settings.task_file or "",
            text_a=settings.text_a_column,
            text_b=settings.text_b_column,
            label=settings.label_column,
            guid=settings.guid_column,
            header=settings.header,
            labels=settings.labels,
            metric=settings.metric,
            metrics=settings.metrics,
            train_file=settings.train_file,
            dev_file=settings.dev_file,
            test_file=settings.test_file,
        )
    for name in _DESCRIPTION_FLAGS:
        if getattr(settings, name) is not None:
            raise ValueError(
                f"--{name} describes a task of your own: it needs --task_name=custom, not "
                f"--task_name={settings.task_name}."
            )
    return classifier_tasks.get_task(settings.task_name)


@flags_lib.reads_flags(define_flags)
def main(settings: Any):
    """Runs the script."""
    distributed_run.run(classify, settings)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
