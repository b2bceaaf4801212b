# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A sweep: a run of run_classifier for each task, setting and seed, in a process of its own."""

import itertools
import logging
import os
import re
import shlex
import subprocess
import sys
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert.classification import predictions, sweep_table, tasks
from albert.classification.run import ClassifierTask, find_task
from albert.classification.settings import GRID, SUITES, ClassifierFlags, SweepFlags
from albert.classification.task_table import GLUE_TASKS
from albert.pretrained import warm_start
from albert.training import fine_tuning, model_fn
from albert.util import config_files, files, folder_lock, progress
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

# Task without training data -> the task whose model predicts it.
BORROWED_MODELS = {"ax": "mnli"}
# Flags of a run that name files or change its speed, but not its result.
_WITHOUT_EFFECT = (
    *("albert_config_file", "albert_dir", "cached_dir", "checkpoint", "data_dir", "export_dir"),
    *("eval_batch_size", "init_checkpoint", "keep_checkpoint_max", "log_steps", "output_dir"),
    *("predict_batch_size", "spm_model_file", "vocab_file"),
)
MARKER_NAME, LOG_NAME, SUBMISSION_NAME = "sweep_run.json", "log.txt", "glue_submission.zip"
_MAX_SEEDS = 1000


class PlannedRun(NamedTuple):
    """One run of run_classifier."""

    task: str
    setting: str  # such as "learning_rate=1e-5"; "" where there is only one
    seed: int
    folder: str
    arguments: Tuple[str, ...]  # its command line, without the program
    identity: Dict[str, Any]  # what determines its result: flags and files

    @property
    def name(self) -> str:
        """Returns the run's name in messages."""
        return ", ".join(filter(None, [self.task, self.setting, f"seed {self.seed}"]))

    def path(self, name: str) -> str:
        """Returns the path of a file in its folder."""
        return os.path.join(self.folder, name)


# ---- The plan.


def find_tasks(settings: SweepFlags) -> Dict[str, tasks.Task]:
    """Returns the tasks to run by the name that --task_name takes, borrowed models last.

    Without --tasks these are the tasks of the suite with data in a folder of their own in
    --data_dir. Raises UserError for a task that is unknown, named twice or without its lender,
    for flags of a custom task beside another task, or for no task.
    """
    names = re.findall(r"[^,\s]+", (settings.tasks or "").lower())
    names = names or _tasks_with_data(settings.suite, settings.data_dir)
    if len(set(names)) < len(names):
        raise UserError(f"--tasks={settings.tasks} names a task twice.")
    for name in names:
        if BORROWED_MODELS.get(name, name) not in names:
            lender = BORROWED_MODELS[name]
            raise UserError(f"The model of {lender} predicts task {name}. Name both in --tasks.")
    names.sort(key=BORROWED_MODELS.__contains__)
    return {name: find_task(name, settings) for name in names}


def _tasks_with_data(suite: str, data_dir: str) -> List[str]:
    names: List[str] = []
    for name in SUITES[suite]:
        task = tasks.get_task(name)
        splits = ["test"] if name in BORROWED_MODELS else ["train", "dev"]
        if len(tasks.task_folders(task, data_dir)) > 1:  # it has a folder of its own
            names += [name] * all(tasks.has_split(task, data_dir, split) for split in splits)
    names = [name for name in names if BORROWED_MODELS.get(name, name) in names]
    absent = ", ".join(name for name in SUITES[suite] if name not in names)
    if not names:
        raise UserError(
            f"--data_dir={data_dir} has no training and evaluation data of the suite '{suite}': "
            f"{absent}. For files directly in --data_dir, name the task by --tasks."
        )
    if absent:
        _LOGGER.info("No training and evaluation data in %s for: %s.", data_dir, absent)
    return names


def parse_seeds(text: str) -> List[int]:
    """Returns the seeds of a text such as "1,2 5-7"; raises UserError for anything else."""
    seeds: List[int] = []
    for part in re.split(r"[,\s]+", text.strip()):
        first, last = (re.match(r"(\d+)(?:-(\d+))?$", part) or re.match("()()", "")).groups()
        numbers = range(int(first or 0), int(last or first or -1) + 1)[: _MAX_SEEDS + 1]
        seeds += numbers or [-1]
    if min(seeds) < 0 or len(set(seeds)) < len(seeds) or len(seeds) > _MAX_SEEDS:
        raise UserError(
            f"--seeds={text!r}: give whole numbers such as 1,2,3 or 1-5, each once, at most "
            f"{_MAX_SEEDS}."
        )
    return seeds


def settings_grid(settings: SweepFlags) -> Dict[str, Dict[str, str]]:
    """Returns the given hyper-parameters of each combination by its name.

    The name, such as "learning_rate=1e-5,precision=float32", has the flags with several values.
    """
    values = {name: getattr(settings, name).split(",") for name in GRID if getattr(settings, name)}
    grid = {}
    for combination in itertools.product(*values.values()):
        given = dict(zip(values, combination))
        name = ",".join(f"{flag}={given[flag]}" for flag in given if len(values[flag]) > 1)
        grid[name] = given
    return grid


def recipe_flags(task: tasks.Task, given: Mapping[str, str], examples: int) -> Dict[str, Any]:
    """Returns the hyper-parameters of a task by flag: the given ones, and else the task's own.

    If only the number of steps is given, the warm-up keeps its share of them. A recipe that does
    not say when to save saves once per epoch, of `examples` examples.
    """
    flags = {name: value for name, value in task.recipe._asdict().items() if value}
    if "warmup_step" in given or "warmup_proportion" in given:
        flags.pop("warmup_step", None)
        flags.pop("warmup_proportion", None)
    if "train_step" in given or "num_train_epochs" in given:
        steps = flags.pop("train_step", None)
        flags.pop("num_train_epochs", None)
        if "warmup_step" in flags and given.get("train_step") != str(steps):
            flags["warmup_proportion"] = round(flags.pop("warmup_step") / steps, 4)
    flags.update(given)
    flags.setdefault("save_checkpoints_steps", max(1, examples // int(flags["train_batch_size"])))
    return flags


def _read_data(task: tasks.Task, settings: SweepFlags) -> Dict[str, tasks.TaskData]:
    """Reads every split that will be used, so that an error is found now and not after hours."""
    required = () if task.name in BORROWED_MODELS else ("train", task.dev_splits[0])
    optional = task.dev_splits[1:] + (task.test_splits if settings.do_predict else ())
    data_dir = settings.data_dir
    splits = [split for split in optional if tasks.has_split(task, data_dir, split)]
    data = {split: tasks.read_examples(task, data_dir, split) for split in (*required, *splits)}
    if not data:
        raise UserError(f"Task {task.name} needs test data in --data_dir={data_dir} to predict.")
    return data


def make_plan(settings: SweepFlags) -> List[PlannedRun]:
    """Returns all runs of a sweep; raises UserError if anything that they need is wrong.

    That is a missing, unreadable or contradictory input, or a folder that holds another run.
    """
    plan: List[PlannedRun] = []
    grid = itertools.product(settings_grid(settings).items(), parse_seeds(settings.seeds))
    combinations, data_files = list(grid), {}  # type: ignore[var-annotated]
    for task_name, task in find_tasks(settings).items():
        data = _read_data(task, settings)
        lender = BORROWED_MODELS.get(task.name, "")
        data_files[task.name] = dict(
            data_files.get(lender, {}),
            **_fingerprints([path for split in data.values() for path in split.files]),
        )
        for (setting, given), seed in combinations:
            parts = (setting, f"seed-{seed}")
            flags = {
                **_shared_flags(settings),
                **recipe_flags(task, given, len(data["train"].examples) if not lender else 0),
                "task_name": task_name,
                "seed": seed,
                "output_dir": os.path.join(settings.output_dir, task.name, *parts),
                "do_train": not lender,
                "do_eval": not lender,
                "do_predict": any(split in data for split in task.test_splits),
            }
            if lender:
                lent = os.path.join(settings.output_dir, lender, *parts)
                flags["checkpoint"] = os.path.join(lent, "model.ckpt-best")
            arguments = [f"--{name}={value}" for name, value in flags.items()]
            arguments += _split(settings.run_flags or "")
            identity = _check(task.name, arguments, check_weights=not plan)
            identity["data"] = data_files[task.name]
            run = PlannedRun(
                *(task.name, setting, seed, flags["output_dir"], tuple(arguments), identity)
            )
            state_of(run)
            plan.append(run)
    return plan


def _shared_flags(settings: SweepFlags) -> Dict[str, Any]:
    """The flags that all runs share, but for hyper-parameters."""
    known = set(flags_lib.describe(ClassifierFlags)) - set(GRID)
    flags = {name: value for name, value in settings.given_values().items() if name in known}
    if settings.model_dir:
        flags["albert_dir"] = settings.model_dir
    flags["cached_dir"] = os.path.join(settings.output_dir, "features")
    flags["keep_checkpoint_max"] = 1  # beside the best one; to resume from
    return flags


def _split(run_flags: str) -> List[str]:
    try:
        return shlex.split(run_flags)
    except ValueError as error:
        raise UserError(f"--run_flags={run_flags!r}: {error}.") from error


def _check(task: str, arguments: Sequence[str], *, check_weights: bool) -> Dict[str, Any]:
    """Checks that a run can start; returns what determines its result, but for the data."""
    try:
        run = fine_tuning.FineTuning(flags_lib.parse(ClassifierFlags, arguments), ClassifierTask)
        if check_weights:
            model_fn.check_first_weights(run.settings, run.setup.config)
    except UserError as error:
        raise UserError(f"Task {task}: {error}") from error
    model_files = [run.setup.vocabulary.file]
    if run.settings.init_checkpoint:
        model_files.append(warm_start.resolve_checkpoint(run.settings.init_checkpoint) + ".index")
    flags = run.settings.given_values()
    identity = {name: flags[name] for name in flags if name not in _WITHOUT_EFFECT}
    config = run.setup.config.to_dict()
    return {**identity, "model": _fingerprints(model_files), "config": config}


def _fingerprints(paths: Sequence[str]) -> Dict[str, Any]:
    return {os.path.basename(path): files.file_fingerprint(path) for path in paths}


def state_of(run: PlannedRun) -> str:
    """Returns "new", "begun" or "finished"; raises UserError if the folder holds anything else."""
    marker = run.path(MARKER_NAME)
    if not tf.io.gfile.exists(marker):
        if tf.io.gfile.isdir(run.folder) and tf.io.gfile.listdir(run.folder):
            raise UserError(f"{run.folder} holds other files. Choose another --output_dir.")
        return "new"
    content = files.read_json_object(marker, {"identity": dict, "is_finished": bool})
    difference = files.fingerprint_difference(content["identity"], run.identity)
    if difference:
        raise UserError(
            f"{run.folder} holds a run with other settings or data: {difference}. Choose another "
            "--output_dir, or remove that folder."
        )
    return "finished" if content["is_finished"] else "begun"


def mark(run: PlannedRun, *, is_finished: bool) -> None:
    """Writes the run's identity and state into its folder."""
    content = {"identity": run.identity, "is_finished": is_finished}
    files.atomic_write_json(run.path(MARKER_NAME), content)


# ---- Running.


def sweep(settings: SweepFlags) -> Dict[str, str]:
    """Does all runs that are not finished, and writes the results.

    Returns:
      The last line of each run that failed, by the run's name.

    Raises:
      UserError: inputs that cannot be used, or another sweep into the same folder.
    """
    if settings.dry_run:
        for run in make_plan(settings):
            line = " ".join(map(shlex.quote, command(run)))
            print(f"# {run.name}: {state_of(run)}\n{line}")
        return {}
    with folder_lock.held(settings.output_dir):
        plan = make_plan(settings)
        path = os.path.join(settings.output_dir, config_files.RECORD_NAME)
        config_files.record(path, settings.given_values())
        failed: Dict[str, str] = {}
        start = time.time()
        for number, run in enumerate(plan, 1):
            title = f"Run {number} of {len(plan)}, {run.name}"
            if state_of(run) == "finished":
                _LOGGER.info("%s: already finished.", title)
                continue
            _LOGGER.info("%s (%s so far).", title, progress.format_seconds(time.time() - start))
            error = _run(run)
            if error:
                _LOGGER.error("Run %s failed: %s", run.name, error)
                failed[run.name] = error
        done = [run for run in plan if run.name not in failed]
        if any(run.task not in BORROWED_MODELS for run in done):
            _report(settings, done)
        return failed


def command(run: PlannedRun) -> List[str]:
    """Returns the command line of a run's process."""
    return [sys.executable, "-m", "albert.run_classifier", *run.arguments]


def _run(run: PlannedRun) -> str:
    """Does a run; returns "", or its last line if it failed."""
    mark(run, is_finished=False)
    paths = [os.path.abspath(path) for path in sys.path]
    process = subprocess.Popen(
        command(run),
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(paths), PYTHONUNBUFFERED="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    line, prefix = "no output", " ".join(filter(None, [run.task, run.setting, str(run.seed)]))
    try:
        with open(run.path(LOG_NAME), "a", encoding="utf-8") as log:
            for text in process.stdout:
                line = text.strip() or line
                print(text, end="", file=log, flush=True)
                print(f"[{prefix}] {text}", end="", file=sys.stderr, flush=True)
        code = process.wait()
    finally:
        process.terminate()  # it saves its steps
        process.wait()
    if code:
        return f"{line} (exit code {code}; {run.path(LOG_NAME)})"
    mark(run, is_finished=True)
    return ""


def _report(settings: SweepFlags, done: Sequence[PlannedRun]) -> None:
    """Writes the table in all its forms, and for GLUE the submission."""
    results = [
        sweep_table.read_run(run.path(fine_tuning.SUMMARY_NAME), run.setting)
        for run in done
        if run.task not in BORROWED_MODELS
    ]
    title = f"{settings.tasks or settings.suite.upper()}: {settings.output_dir}"
    paths = sweep_table.write_results(settings.output_dir, results, title=title)
    if settings.do_predict and any(run.task in GLUE_TASKS for run in done):
        path = os.path.join(settings.output_dir, SUBMISSION_NAME)
        try:
            missing = predictions.zip_glue_submission(path, best_folders(done, results)).missing
            paths.append(path)
            _LOGGER.info("%s lacks %s.", path, ", ".join(missing) or "nothing")
        except UserError as error:  # there is no test data
            _LOGGER.info("No submission for GLUE: %s", error)
    print(sweep_table.format_results(results), end="", flush=True)
    _LOGGER.info("Wrote %s.", ", ".join(paths))


def best_folders(done: Sequence[PlannedRun], results: Sequence[sweep_table.Run]) -> List[str]:
    """Returns the folder of each task's best run; with a borrowed model that of its lender."""
    best: Dict[str, Tuple[str, int]] = {}
    for run in sorted(results, key=lambda run: run.score, reverse=True):  # stable
        best.setdefault(run.task, (run.setting, run.seed))
    return [
        run.folder
        for run in done
        if best.get(BORROWED_MODELS.get(run.task, run.task)) == (run.setting, run.seed)
    ]
