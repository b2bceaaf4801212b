# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a model on several tasks with several seeds, and makes a table of the results.

  python -m albert.sweep --data_dir=glue --model_dir=albert_base --output_dir=output/glue
  python -m albert.sweep --suite=clue --data_dir=clue --model_dir=albert_base_zh \\
      --output_dir=output/clue --tasks=afqmc,tnews --seeds=1-3

Every flag may be given as an environment variable of the same name in capitals (DATA_DIR=glue); a
flag goes before a variable. The hyper-parameters are each task's published ones unless overridden.
All inputs are looked at before the first run starts. Each run is a process of its own and has a
folder, output_dir/TASK/seed-N, with its log. Started again, a sweep leaves out what is finished and
goes on with what is not. It ends with results.txt, results.json and (where there is matplotlib)
results.png in --output_dir, and for GLUE with glue_submission.zip, of the best seed of each task.
"""

import logging
import math
import os
import shlex
import subprocess
import sys
import time
from typing import Any, Dict, List, Mapping, NamedTuple

from absl import flags

from albert import sweep_plan, sweep_table
from albert.classification import predictions as classifier_predictions
from albert.training import fine_tuning
from albert.util import files, folder_lock, progress, stop_signals
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")

SUBMISSION_NAME = "glue_submission.zip"
_HOW_TO_DRAW = "pip install 'albert[plots]', or pip install matplotlib"


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.choice(
        flag_values,
        "suite",
        "glue",
        choices=sorted(sweep_plan.SUITES),
        help="Which tasks to run unless --tasks names them.",
    )
    flags_lib.path(
        flag_values,
        "data_dir",
        required=True,
        help="Folder of the data sets, with MRPC and so on in it.",
    )
    flags_lib.path(
        flag_values,
        "model_dir",
        help="Folder of the model, as a released archive has it: albert_config.json, model.ckpt-* "
        "and the vocabulary. The flags of these three go before it.",
    )
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.path(
        flag_values, "output_dir", required=True, help="Folder for all runs and the results."
    )
    flags_lib.string(
        flag_values,
        "tasks",
        None,
        help="Names of tasks with commas between them; by default those of --suite whose data is "
        "in --data_dir.",
    )
    flags_lib.string(flag_values, "seeds", "12345", help="Seeds, such as 1,2,3 or 1-5.")
    flags_lib.boolean(flag_values, "do_predict", True, help="Predict the test data there is.")
    flags_lib.boolean(
        flag_values, "dry_run", False, help="Check everything, show the commands, and end."
    )
    _define_run_flags(flag_values)


def _define_run_flags(flag_values: flags.FlagValues):
    """What every run is given; None leaves the task's published value."""
    helps = {
        "max_seq_length": "Length of an input in pieces.",
        "train_batch_size": "Examples in one update.",
        "train_step": "Updates of a run.",
        "warmup_step": "Updates of the warm-up.",
        "save_checkpoints_steps": "Steps between checkpoints, each of which is evaluated.",
    }
    for name, text in helps.items():
        lower_bound = 0 if name == "warmup_step" else 1
        flags_lib.integer(
            flag_values, name, None, lower_bound=lower_bound, help=f"{text} {_BY_DEFAULT}"
        )
    helps = {
        "learning_rate": "The highest learning rate.",
        "num_train_epochs": "Passes over the training data, in place of --train_step.",
        "warmup_proportion": "Share of the updates that are warm-up.",
    }
    for name, text in helps.items():
        flags_lib.floating(flag_values, name, None, lower_bound=0.0, help=f"{text} {_BY_DEFAULT}")
    for name, choices in (("precision", flags_lib.PRECISIONS), ("padding", flags_lib.PADDINGS)):
        flags_lib.choice(
            flag_values, name, None, choices=choices, help="As run_classifier takes it."
        )
    flags_lib.string(
        flag_values,
        "run_flags",
        None,
        help="Further flags of run_classifier for every run, for example "
        "'--recompute --layerwise_lr_decay=0.9'.",
    )


_BY_DEFAULT = "By default the published value of each task."


def environment_arguments(names: List[str], environment: Mapping[str, str]) -> List[str]:
    """Returns the flags that environment variables of the same names in capitals stand for.

    An empty variable stands for none.
    """
    given = {name: environment.get(name.upper(), "") for name in names}
    return [f"--{name}={value}" for name, value in given.items() if value]


# ---------------------------------------------------------------------------------------------
# Running.


class Outcome(NamedTuple):
    """What became of a sweep's runs, by name."""

    done: List[sweep_plan.PlannedRun]  # now or before
    failed: Dict[str, str]  # name of the run -> its last line


def sweep(settings: Any) -> Outcome:
    """Does all runs that are not done yet, and writes the results.

    Args:
      settings: flags_lib.Settings with the flags of `define_flags`.

    Raises:
      ValueError: inputs that cannot be used, or another sweep into the same folder; nothing was
        started then.
    """
    if settings.dry_run:
        for run in sweep_plan.make_plan(settings):
            state = "done" if sweep_plan.is_finished(run) else "to do"
            print(f"# {run.name}: {state}\n{' '.join(map(shlex.quote, command(run)))}")
        return Outcome([], {})
    with folder_lock.held(settings.output_dir):
        return _sweep(settings)


def _sweep(settings: Any) -> Outcome:
    if not sweep_table.has_plots():
        _LOGGER.info("No picture of the results: matplotlib is not installed (%s).", _HOW_TO_DRAW)
    plan = sweep_plan.make_plan(settings)
    outcome = _run_all(plan)
    measured = [run for run in outcome.done if run.task not in sweep_plan.BORROWED_MODELS]
    if measured:
        _write_results(settings, measured, outcome.done)
    return outcome


def _run_all(plan: List[sweep_plan.PlannedRun]) -> Outcome:
    outcome = Outcome([], {})
    began = time.time()
    for number, run in enumerate(plan, 1):
        if sweep_plan.is_finished(run):
            _LOGGER.info("Run %d of %d, %s: finished before.", number, len(plan), run.name)
            outcome.done.append(run)
            continue
        elapsed = progress.format_seconds(time.time() - began)
        _LOGGER.info("Run %d of %d, %s (%s so far).", number, len(plan), run.name, elapsed)
        last_line = _run(run)
        if last_line is None:
            outcome.done.append(run)
        else:
            _LOGGER.error("Run %s failed: %s", run.name, last_line)
            outcome.failed[run.name] = last_line
    return outcome


def command(run: sweep_plan.PlannedRun) -> List[str]:
    """Returns the process that does a run."""
    return [sys.executable, "-m", "albert.run_classifier", *run.arguments]


def _run(run: sweep_plan.PlannedRun) -> Any:
    """Does a run; returns None, or its last line if it failed."""
    sweep_plan.mark(run, is_finished=False)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        command(run),
        env=dict(os.environ, PYTHONPATH=path, PYTHONUNBUFFERED="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
    )
    stop_signals.has_news()  # the run may have some, and ends in order
    line = "it said nothing"
    log_path = os.path.join(run.folder, sweep_plan.LOG_NAME)
    try:
        with files.naming_full_disk(log_path), open(log_path, "a", encoding="utf-8") as log:
            for text in process.stdout:
                line = text.strip() or line
                log.write(text)
                log.flush()
                print(f"[{run.task} {run.seed}] {text}", end="", file=sys.stderr, flush=True)
        code = process.wait()
    finally:
        # After Ctrl-C the run may have had the signal too, and ends in order.
        process.terminate()
        process.wait()
        stop_signals.resume()
    if code:
        return f"{line} (exit code {code}; {log_path})"
    sweep_plan.mark(run, is_finished=True)
    return None


# ---------------------------------------------------------------------------------------------
# Results.


def _write_results(
    settings: Any, measured: List[sweep_plan.PlannedRun], done: List[sweep_plan.PlannedRun]
):
    """The table in all its forms, and what GLUE wants to be sent."""
    results = [
        sweep_table.read_run(os.path.join(run.folder, fine_tuning.SUMMARY_NAME)) for run in measured
    ]
    places = ("model_dir", "albert_dir", "albert_hub_module_handle", "albert_config_file")
    named = [getattr(settings, place) for place in places + ("init_checkpoint",)]
    model = next(filter(None, named))
    title = f"{settings.suite.upper()}, {os.path.basename(os.path.normpath(model))}"
    paths = sweep_table.write_results(settings.output_dir, results, title=title)
    folders = best_folders(measured, results, done)
    submission = None
    if settings.suite == "glue" and settings.do_predict:
        submission = _write_submission(settings, folders)
    print(sweep_table.format_table(sweep_table.make_rows(results)), end="", flush=True)
    _LOGGER.info("Wrote %s.", ", ".join(paths + ([submission] if submission else [])))


def best_folders(
    measured: List[sweep_plan.PlannedRun],
    results: List[sweep_table.Run],
    done: List[sweep_plan.PlannedRun],
) -> List[str]:
    """Returns the folder of each task's best seed; a borrowed model's seed is its lender's."""
    best: Dict[str, int] = {}
    for task in {result.task: None for result in results}:
        values = {
            result.seed: float(result.metrics[result.metric])
            for result in results
            if result.task == task
        }
        # A value that is not a number never wins.
        best[task] = max(values, key=lambda seed: (not math.isnan(values[seed]), values[seed]))
    folders = [run.folder for run in measured if best[run.task] == run.seed]
    for run in done:
        lender = sweep_plan.BORROWED_MODELS.get(run.task)
        if lender in best and best[lender] == run.seed:
            folders.append(run.folder)
    return folders


def _write_submission(settings: Any, folders: List[str]) -> Any:
    """The zip file for GLUE; None where nothing was predicted."""
    path = os.path.join(settings.output_dir, SUBMISSION_NAME)
    try:
        submission = classifier_predictions.zip_glue_submission(path, folders)
    except ValueError as error:
        _LOGGER.info("No submission for GLUE: %s", error)
        return None
    if submission.missing:
        _LOGGER.info("%s lacks %s: GLUE wants all of them.", path, ", ".join(submission.missing))
    return submission.path


# ---------------------------------------------------------------------------------------------
# The script.


def main(settings: Any) -> int:
    """Runs the script; the exit code is 1 if a run failed."""
    outcome = sweep(settings)
    for name, last_line in outcome.failed.items():
        print(f"ERROR: {name}: {last_line}", file=sys.stderr)
    return 1 if outcome.failed else 0


def cli():
    """Runs the script with the process's own arguments and environment."""
    values = flags.FlagValues()
    define_flags(values)
    sys.argv[1:1] = environment_arguments(sorted(values), os.environ)
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
