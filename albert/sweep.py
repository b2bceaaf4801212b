# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a model on several tasks with several seeds, and makes a table of the results.

  python -m albert.sweep --data_dir=glue --model_dir=albert_base --output_dir=output/glue
  python -m albert.sweep --suite=clue --data_dir=clue --model_dir=albert_base_zh \\
      --output_dir=output/clue --tasks=afqmc,tnews --seeds=1-3

Every flag may be given as an environment variable of the same name in capitals (DATA_DIR=glue);
flags override variables. The hyper-parameters are each task's published ones unless overridden.
All inputs are checked before the first run starts. Each run is a process of its own and has a
folder, output_dir/TASK/seed-N, with its log. Started again, a sweep leaves out what is finished and
goes on with what is not. It ends with results.txt, results.json and (where there is matplotlib)
results.png in --output_dir, and for GLUE with glue_submission.zip, of the best seed of each task.
"""

import logging
import math
import os
import re
import shlex
import subprocess
import sys
import time
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf
from absl import flags

from albert import fine_tuning_utils, modeling, run_classifier
from albert.classification import predictions as classifier_predictions
from albert.classification import tasks as classifier_tasks
from albert.classification.run import ClassifierTask
from albert.pretrained import released, warm_start
from albert.training import fine_tuning
from albert.util import files, folder_lock, progress, stop_signals
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")

# Suite -> the tasks that are run unless others are named, where their data is there.
SUITES = {
    # MNLI's run reports the mismatched data too.
    "glue": tuple(name for name in classifier_tasks.GLUE_TASKS if name != "mismnli"),
    # The same data as lcqmc.
    "clue": tuple(name for name in classifier_tasks.CHINESE_TASKS if name != "lcqmc_pair"),
}
# Task without training data -> the task whose model predicts it.
BORROWED_MODELS = {"ax": "mnli"}
RECIPE_FLAGS = {
    "max_seq_length": "Length of an input in tokens.",
    "train_batch_size": "Examples in one update.",
    "train_step": "Updates of a run.",
    "warmup_step": "Updates of the warm-up.",
    "save_checkpoints_steps": "Steps between checkpoints, each of which is evaluated.",
    "learning_rate": "The highest learning rate.",
    "num_train_epochs": "Passes over the training data, in place of --train_step.",
    "warmup_proportion": "Share of the updates that are warm-up.",
}
# Flags of a run that say where things are, or how fast it goes, and not what comes of it.
_WITHOUT_EFFECT = re.compile(
    "albert_config_file|albert_dir|cached_dir|checkpoint|data_dir|eval_batch_size|export_dir|"
    "init_checkpoint|keep_checkpoint_max|log_steps|output_dir|predict_batch_size|"
    "save_checkpoints_minutes|spm_model_file|vocab_file"
)
MARKER_NAME = "sweep_run.json"
LOG_NAME = "log.txt"
TEXT_NAME, JSON_NAME, PICTURE_NAME = "results.txt", "results.json", "results.png"
SUBMISSION_NAME = "glue_submission.zip"
FORMAT_VERSION = 1


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.choice(
        flag_values,
        "suite",
        "glue",
        choices=sorted(SUITES),
        help="Which tasks to run unless --tasks names them.",
    )
    flags_lib.path(
        flag_values,
        "data_dir",
        required=True,
        help="Folder of the data sets, with MRPC and so on in it.",
    )
    flags_lib.path(flag_values, "model_dir", help="Another name of --albert_dir.")
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
    for name, text in RECIPE_FLAGS.items():
        is_float = name in ("learning_rate", "num_train_epochs", "warmup_proportion")
        define = flags_lib.floating if is_float else flags_lib.integer
        lowest = 0 if is_float or name == "warmup_step" else 1
        text += " By default the published value of each task."
        define(flag_values, name, None, lower_bound=lowest, help=text)
    for name, choices in (("precision", flags_lib.PRECISIONS), ("padding", flags_lib.PADDINGS)):
        text = "As run_classifier takes it."
        flags_lib.choice(flag_values, name, None, choices=choices, help=text)
    flags_lib.string(
        flag_values,
        "run_flags",
        None,
        help="Further flags of run_classifier for every run, for example "
        "'--recompute --layerwise_lr_decay=0.9'.",
    )


def environment_arguments(names: List[str], environment: Mapping[str, str]) -> List[str]:
    """Returns the flags that environment variables of the same names in capitals stand for.

    An empty variable stands for none.
    """
    given = {name: environment.get(name.upper(), "") for name in names}
    return [f"--{name}={value}" for name, value in given.items() if value]


# ---------------------------------------------------------------------------------------------
# Model, tasks and seeds.

_MODEL_FLAGS = released.ModelFiles._fields + ("albert_hub_module_handle", "do_lower_case")


def find_model(settings: flags_lib.Settings) -> Dict[str, Any]:
    """Returns the flags of a run that name the model; None where there is nothing to name.

    Raises:
      ValueError: no model is named, or the folder lacks a part or has several of a kind.
    """
    if settings.model_dir:
        for other in ("albert_dir", "albert_hub_module_handle"):
            if getattr(settings, other):
                raise ValueError(f"Give either --model_dir or --{other}, not both.")
        settings = settings.replace(albert_dir=settings.model_dir)
    completed = released.completed(settings)
    if not completed.albert_config_file and not completed.albert_hub_module_handle:
        raise ValueError(
            "No model is named. Give --model_dir (the folder of a released archive), or "
            "--albert_hub_module_handle, or --albert_config_file with a vocabulary (and "
            "--init_checkpoint, unless the first weights are to be random)."
        )
    values = {name: getattr(completed, name) for name in _MODEL_FLAGS}
    return {name: None if value == "" else value for name, value in values.items()}


def find_tasks(names: Optional[str], suite: str, data_dir: str) -> List[classifier_tasks.Task]:
    """Returns the tasks to run.

    Args:
      names: with commas or spaces between them; empty means those of the suite whose data is in a
        folder of its own below `data_dir`.
      suite: a key of SUITES.
      data_dir: the folder of all tasks.

    Raises:
      ValueError: an unknown task, one that is named twice, none at all, or one that is predicted
        by the model of a task that is not run.
    """
    listed = re.split(r"[,\s]+", (names or "").strip())
    tasks = [classifier_tasks.get_task(name) for name in listed if name]
    if not tasks:
        tasks = _tasks_there(suite, data_dir)
    chosen = [task.name for task in tasks]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"--tasks={names} names a task twice.")
    for task in chosen:
        lender = BORROWED_MODELS.get(task)
        if lender and lender not in chosen:
            raise ValueError(f"Task {task} is predicted by the model of {lender}: name both.")
    # A borrowed model has to be there first.
    return sorted(tasks, key=lambda task: task.name in BORROWED_MODELS)


def _tasks_there(suite: str, data_dir: str) -> List[classifier_tasks.Task]:
    there: List[classifier_tasks.Task] = []
    absent: List[classifier_tasks.Task] = []
    for task in map(classifier_tasks.get_task, SUITES[suite]):
        has_folder = len(classifier_tasks.task_folders(task, data_dir)) > 1
        needed = ["test"] if task.name in BORROWED_MODELS else ["train", "dev"]
        is_there = has_folder and all(
            classifier_tasks.has_split(task, data_dir, split) for split in needed
        )
        (there if is_there else absent).append(task)
    names = {task.name for task in there}
    tasks = [task for task in there if BORROWED_MODELS.get(task.name, task.name) in names]
    if not tasks:
        raise ValueError(
            f"--data_dir={data_dir} holds training and evaluation data of no task of the suite "
            f"'{suite}'. Folders looked for: {', '.join(task.folder for task in absent)}. --tasks "
            "names tasks whose files lie in --data_dir itself."
        )
    if absent:
        left_out = ", ".join(task.name for task in absent)
        _LOGGER.info("No training and evaluation data in %s for: %s.", data_dir, left_out)
    return tasks


def parse_seeds(text: str) -> List[int]:
    """Returns the seeds in a text with commas or spaces between them, or a range such as 1-5.

    Raises:
      ValueError: it is no list of different whole numbers.
    """
    seeds: List[int] = []
    for part in re.split(r"[,\s]+", text.strip()):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not match:
            raise ValueError(f"--seeds={text!r}: give whole numbers such as 1,2,3 or 1-5.")
        seeds += range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"--seeds={text!r}: give at least one seed, and each once.")
    return seeds


# ---------------------------------------------------------------------------------------------
# The plan: a command for each run.


class PlannedRun(NamedTuple):
    """One run of run_classifier."""

    task: str
    seed: int
    folder: str
    arguments: Tuple[str, ...]  # its command line, without the program
    identity: Dict[str, Any]  # what decides its result, as JSON values

    @property
    def name(self) -> str:
        """Returns what messages call the run."""
        return f"{self.task}, seed {self.seed}"


def _read_data(
    task: classifier_tasks.Task, settings: flags_lib.Settings
) -> Dict[str, classifier_tasks.TaskData]:
    """Reads every split that will be used: an error is found now and not after hours."""
    optional = task.dev_splits[1:] + (task.test_splits if settings.do_predict else ())
    splits = [] if task.name in BORROWED_MODELS else ["train", task.dev_splits[0]]
    splits += [
        split for split in optional if classifier_tasks.has_split(task, settings.data_dir, split)
    ]
    if not splits:
        raise ValueError(
            f"Task {task.name} has nothing to do: no test data in {settings.data_dir}, or "
            "--nodo_predict."
        )
    return {
        split: classifier_tasks.read_examples(task, settings.data_dir, split) for split in splits
    }


def recipe_flags(
    task: classifier_tasks.Task, settings: flags_lib.Settings, examples: int
) -> Dict[str, Any]:
    """Returns the hyper-parameters of a task's runs by flag: the task's own unless overridden.

    Where the length is overridden and the warm-up is not, its share stays; a recipe that does not
    say when to save saves once an epoch.

    Args:
      task: its recipe counts.
      settings: has the recipe's flags; None leaves the recipe's value.
      examples: of the training data.
    """
    recipe = task.recipe
    flags: Dict[str, Any] = {}
    for name in ("max_seq_length", "train_batch_size", "learning_rate"):
        given = getattr(settings, name)
        flags[name] = getattr(recipe, name) if given is None else given
    is_overridden = settings.train_step is not None or settings.num_train_epochs is not None
    length = settings if is_overridden else recipe
    if length.num_train_epochs:
        flags["num_train_epochs"] = length.num_train_epochs
    else:
        flags["train_step"] = length.train_step
    if settings.warmup_step is not None:
        flags["warmup_step"] = settings.warmup_step
    elif settings.warmup_proportion is not None:
        flags["warmup_proportion"] = settings.warmup_proportion
    elif flags.get("train_step") == recipe.train_step:
        flags["warmup_step"] = recipe.warmup_step
    elif recipe.train_step:
        flags["warmup_proportion"] = round(recipe.warmup_step / recipe.train_step, 4)
    else:
        flags["warmup_proportion"] = recipe.warmup_proportion
    flags["save_checkpoints_steps"] = (
        settings.save_checkpoints_steps
        or recipe.save_checkpoints_steps
        or max(1, examples // flags["train_batch_size"])
    )
    return flags


def _arguments(
    task: classifier_tasks.Task,
    settings: flags_lib.Settings,
    *,
    model: Mapping[str, Any],
    data: Mapping[str, classifier_tasks.TaskData],
) -> List[str]:
    """The command line that all seeds of a task share."""
    lender = BORROWED_MODELS.get(task.name)
    values: Dict[str, Any] = {
        "task_name": task.name,
        "data_dir": settings.data_dir,
        "cached_dir": os.path.join(settings.output_dir, "features"),
        "do_train": not lender,
        "do_eval": not lender,
        "do_predict": any(split in data for split in task.test_splits),
        # The best one is kept besides, and the newest is what a run goes on from.
        "keep_checkpoint_max": 1,
        "precision": settings.precision,
        "padding": settings.padding,
        **model,
    }
    if lender:
        recipe = recipe_flags(classifier_tasks.get_task(lender), settings, examples=0)
        values.update(max_seq_length=recipe["max_seq_length"], init_checkpoint=None)
    else:
        values.update(recipe_flags(task, settings, len(data["train"].examples)))
    return [_argument(name, value) for name, value in values.items() if value is not None]


def _argument(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value:g}" if isinstance(value, float) else f"--{name}={value}"


def make_plan(settings: flags_lib.Settings) -> List[PlannedRun]:
    """Returns all runs of a sweep, after a look at everything they need.

    Raises:
      ValueError: something is missing, unreadable or contradictory, or a folder holds a run of
        other settings.
    """
    tasks = find_tasks(settings.tasks, settings.suite, settings.data_dir)
    seeds = parse_seeds(settings.seeds)
    model = find_model(settings)
    try:
        extra = shlex.split(settings.run_flags or "")
    except ValueError as error:
        raise ValueError(f"--run_flags={settings.run_flags!r}: {error}.") from error
    model_identity: Dict[str, Any] = {}
    plan: Dict[Tuple[str, int], PlannedRun] = {}
    for task in tasks:
        data = _read_data(task, settings)
        fingerprints = [
            files.file_fingerprint(path) for found in data.values() for path in found.files
        ]
        shared = _arguments(task, settings, model=model, data=data)
        lender = BORROWED_MODELS.get(task.name)
        for seed in seeds:
            folder = os.path.join(settings.output_dir, task.name, f"seed-{seed}")
            own = [f"--seed={seed}", f"--output_dir={folder}"]
            if lender:
                best = os.path.join(plan[lender, seed].folder, "model.ckpt-best")
                own.append(f"--checkpoint={best}")
            arguments = tuple(shared + own + extra)
            parsed = _check_run(task, arguments)
            model_identity = model_identity or _check_model(parsed)
            identity = _identity(parsed, {**model_identity, "data": fingerprints})
            borrowed = plan[lender, seed].identity if lender else {}
            identity.update({f"{lender}.{name}": value for name, value in borrowed.items()})
            plan[task.name, seed] = PlannedRun(task.name, seed, folder, arguments, identity)
            check_folder(plan[task.name, seed])
    return list(plan.values())


def _check_run(task: classifier_tasks.Task, arguments: Sequence[str]) -> flags_lib.Settings:
    """The settings of a run, which have to be possible."""
    try:
        parsed = released.completed(flags_lib.parse(run_classifier.define_flags, arguments))
        fine_tuning.check_flags(parsed, ClassifierTask)
        fine_tuning_utils.load_config(parsed)  # each task has a length of its own
    except ValueError as error:
        raise ValueError(f"Task {task.name}: {error}") from error
    return parsed


def _check_model(parsed: flags_lib.Settings) -> Dict[str, Any]:
    """Makes sure that configuration, vocabulary and weights fit; returns what they are."""
    config = fine_tuning_utils.load_config(parsed)
    vocabulary = fine_tuning_utils.load_vocabulary(parsed, config)
    identity: Dict[str, Any] = {
        "config": config and config.to_dict(),
        "vocabulary": files.file_fingerprint(vocabulary.file)["sha256"],
    }
    if parsed.init_checkpoint:
        checkpoint = warm_start.resolve_checkpoint(parsed.init_checkpoint)
        with tf.Graph().as_default():
            modeling.AlbertModel(config, False, tf.zeros([1, 4], tf.int32), scope="bert")
            warm_start.warm_start(checkpoint, tf.trainable_variables())
        identity["weights"] = files.file_fingerprint(checkpoint + ".index")["sha256"]
    return identity


def _identity(parsed: flags_lib.Settings, contents: Mapping[str, Any]) -> Dict[str, Any]:
    """What decides a run's result: settings and contents, but no places."""
    values = {
        # NaN is not equal to itself.
        name: str(value) if isinstance(value, float) else value
        for name, value in parsed.to_dict().items()
        if not _WITHOUT_EFFECT.fullmatch(name)
    }
    return files.normalized_fingerprint({**values, **contents})


def check_folder(run: PlannedRun) -> None:
    """Makes sure that a run's folder is new, or holds the beginning or the result of that run.

    Raises:
      ValueError: it holds anything else.
    """
    there = tf.io.gfile.listdir(run.folder) if tf.io.gfile.isdir(run.folder) else []
    if all(map(folder_lock.is_lock, there)):
        return
    marker = _read_marker(run)
    if marker is None:
        raise ValueError(f"{run.folder} holds files that are not a sweep's. Choose another folder.")
    difference = files.fingerprint_difference(marker["identity"], run.identity)
    if difference:
        raise ValueError(
            f"{run.folder} holds a run of other settings or data: {difference}. Choose another "
            "--output_dir, or remove that folder."
        )


def _read_marker(run: PlannedRun) -> Optional[Dict[str, Any]]:
    path = os.path.join(run.folder, MARKER_NAME)
    return files.read_json_object(path) if tf.io.gfile.exists(path) else None


def mark(run: PlannedRun, *, is_finished: bool) -> None:
    """Writes the run's identity and state into its folder."""
    content = {"identity": run.identity, "is_finished": is_finished}
    files.atomic_write_json(os.path.join(run.folder, MARKER_NAME), content)


def is_finished(run: PlannedRun) -> bool:
    """Returns whether the run was done before, with the same settings and data."""
    marker = _read_marker(run)
    has_result = run.task in BORROWED_MODELS or tf.io.gfile.exists(_summary_path(run))
    return marker is not None and marker["is_finished"] and has_result


def _summary_path(run: PlannedRun) -> str:
    return os.path.join(run.folder, fine_tuning.SUMMARY_NAME)


# ---------------------------------------------------------------------------------------------
# Running.


def sweep(settings: flags_lib.Settings) -> Dict[str, str]:
    """Does all runs that are not done yet, and writes the results.

    Returns:
      The last line of each run that failed, by the run's name.

    Raises:
      ValueError: inputs that cannot be used, or another sweep into the same folder; nothing was
        started then.
    """
    if settings.dry_run:
        for run in make_plan(settings):
            state = "done" if is_finished(run) else "to do"
            print(f"# {run.name}: {state}\n{' '.join(map(shlex.quote, command(run)))}")
        return {}
    with folder_lock.held(settings.output_dir):
        plan = make_plan(settings)
        failed: Dict[str, str] = {}
        began = time.time()
        for number, run in enumerate(plan, 1):
            title = f"Run {number} of {len(plan)}, {run.name}"
            if is_finished(run):
                _LOGGER.info("%s: finished before.", title)
                continue
            _LOGGER.info("%s (%s so far).", title, progress.format_seconds(time.time() - began))
            last_line = _run(run)
            if last_line is not None:
                _LOGGER.error("Run %s failed: %s", run.name, last_line)
                failed[run.name] = last_line
        done = [run for run in plan if run.name not in failed]
        if any(run.task not in BORROWED_MODELS for run in done):
            _report(settings, done)
        return failed


def command(run: PlannedRun) -> List[str]:
    """Returns the process that does a run."""
    return [sys.executable, "-m", "albert.run_classifier", *run.arguments]


def _run(run: PlannedRun) -> Optional[str]:
    """Does a run; returns None, or its last line if it failed."""
    mark(run, is_finished=False)
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
    log_path = os.path.join(run.folder, LOG_NAME)
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
    mark(run, is_finished=True)
    return None


# ---------------------------------------------------------------------------------------------
# Results: a table over tasks and seeds, as text, JSON and picture.

# What run_summary.json calls metrics but nobody compares tasks by.
_NOT_SCORES = ("loss", "confusion", "global_step", "MSE", "examples")
_HEAD = ("task", "metric", "seeds", "mean", "deviation", "best step", "examples/s", "wall time")
_BLUE, _PALE = "#2457a6", "#9db7e0"


class Run(NamedTuple):
    """A finished run, as its run_summary.json describes it."""

    task: str
    seed: int
    metric: str  # the one that chose the checkpoint
    best_step: float  # NaN: none could be chosen
    metrics: Dict[str, Any]  # of that checkpoint
    train_examples_per_second: Optional[float]
    wall_seconds: float  # over all starts


class Row(NamedTuple):
    """One metric of one task over all its seeds."""

    task: str
    metric: str
    decides: bool  # whether this metric chose the checkpoints
    values: Dict[int, float]  # by seed
    mean: float
    deviation: Optional[float]  # of the sample; None for a single seed
    best_step: float  # this and the next two are means
    examples_per_second: Optional[float]
    wall_seconds: float


def read_run(path: str) -> Run:
    """Returns the run that a run_summary.json describes.

    Raises:
      ValueError: the file is something else.
    """

    def number(value: Any) -> float:
        return float("nan") if value is None else float(value)

    try:
        content = files.read_json_object(path)
        return Run(
            content["task"],
            int(content["seed"]),
            content["metric"],
            number(content["best_step"]),
            metrics=dict(content["metrics"], **{content["metric"]: number(content["value"])}),
            train_examples_per_second=content["train_examples_per_second"],
            wall_seconds=float(content["wall_seconds"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no summary of a run ({error!r}). Remove it.") from error


def make_rows(runs: Sequence[Run]) -> List[Row]:
    """Returns the rows of the table, tasks in the order of the runs.

    The metric that chose the checkpoints comes first; after it the task's other scores by name.
    """
    by_task: Dict[str, List[Run]] = {}
    for run in runs:
        by_task.setdefault(run.task, []).append(run)
    return [_make_row(group, metric) for group in by_task.values() for metric in _scores(group)]


def _scores(runs: Sequence[Run]) -> Iterator[str]:
    """The metrics that every run of a task has and that are shares or correlations."""
    yield runs[0].metric
    for name, value in sorted(runs[0].metrics.items()):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        is_score = is_number and not any(word in name for word in _NOT_SCORES)
        if is_score and name != runs[0].metric and all(name in run.metrics for run in runs):
            yield name


def _make_row(runs: Sequence[Run], metric: str) -> Row:
    values = {run.seed: float(run.metrics[metric]) for run in runs}
    speeds = [run.train_examples_per_second for run in runs if run.train_examples_per_second]
    return Row(
        runs[0].task,
        metric,
        metric == runs[0].metric,
        values=values,
        mean=float(np.mean(list(values.values()))),
        deviation=float(np.std(list(values.values()), ddof=1)) if len(values) > 1 else None,
        best_step=float(np.mean([run.best_step for run in runs])),
        examples_per_second=float(np.mean(speeds)) if speeds else None,
        wall_seconds=float(np.mean([run.wall_seconds for run in runs])),
    )


def format_table(rows: Sequence[Row]) -> str:
    """Returns the table as text; scores in per cent, times as means over the seeds."""
    cells = [_HEAD, *map(_cells, rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(_HEAD))]
    cells.insert(1, tuple("-" * width for width in widths))
    lines = []
    for line in cells:
        # Names to the left, numbers to the right.
        padded = [text.ljust(width) for text, width in zip(line[:2], widths)]
        padded += [text.rjust(width) for text, width in zip(line[2:], widths[2:])]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> Tuple[str, ...]:
    score = (row.metric, str(len(row.values)), _percent(row.mean), _percent(row.deviation))
    if not row.decides:  # the run is described in the task's first row
        return ("", *score, "", "", "")
    speed = "-" if row.examples_per_second is None else f"{row.examples_per_second:.1f}"
    seconds = progress.format_seconds(row.wall_seconds)
    return (row.task, *score, f"{row.best_step:.0f}", speed, seconds)


def _percent(value: Optional[float]) -> str:
    """NaN stays visible: a constant predictor has no correlation."""
    return "-" if value is None else f"{100 * value:.2f}"


def write_results(folder: str, runs: Sequence[Run], *, title: str) -> List[str]:
    """Writes the table into a folder as text, as JSON and, if matplotlib is there, as a picture.

    Returns:
      The files' paths.
    """
    rows = make_rows(runs)
    text, content, picture = (
        os.path.join(folder, name) for name in (TEXT_NAME, JSON_NAME, PICTURE_NAME)
    )
    files.atomic_write_text(text, format_table(rows))
    value = {
        "format_version": FORMAT_VERSION,
        "rows": [_as_json(row._asdict()) for row in rows],
        "runs": [_as_json(run._asdict()) for run in runs],
    }
    files.atomic_write_json(content, value)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        _LOGGER.info(
            "No picture of the results: matplotlib is not installed (pip install 'albert[plots]', "
            "or pip install matplotlib)."
        )
        return [text, content]
    draw(picture, rows, title=title)
    return [text, content, picture]


def _as_json(value: Any) -> Any:
    """JSON knows no NaN: it becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(path: str, rows: Sequence[Row], *, title: str) -> None:
    """Draws each metric's seeds as dots, with mean and deviation, into a PNG file."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    finite = [row for row in rows if math.isfinite(row.mean)]
    figure, axes = pyplot.subplots(figsize=(8.5, 1.8 + 0.34 * len(finite)))
    for place, row in enumerate(finite):
        colour = _BLUE if row.decides else _PALE
        axes.barh(place, 100 * row.mean, height=0.62, color=colour, alpha=0.35)
        spread = ""
        if row.deviation is not None and math.isfinite(row.deviation):
            deviation, spread = 100 * row.deviation, f" ± {_percent(row.deviation)}"
            axes.errorbar(100 * row.mean, place, xerr=deviation, color=_BLUE, capsize=3)
        values = [100 * value for value in row.values.values()]
        axes.plot(values, [place] * len(values), "o", color=_BLUE, markersize=4)
        axes.text(103, place, f"{_percent(row.mean)}{spread}", va="center")
    names = [re.sub("^eval_", "", row.metric) for row in finite]
    axes.set_yticks(range(len(finite)))
    axes.set_yticklabels(
        [f"{row.task}  {name}" if row.decides else name for row, name in zip(finite, names)]
    )
    axes.invert_yaxis()
    # Room on the right for the numbers.
    axes.set_xlim(min([0.0] + [100 * min(row.values.values()) for row in finite]) - 2, 128)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("% (dots: seeds; bar: mean; whisker: standard deviation)")
    axes.set_title(title, loc="left", fontweight="bold")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color="#e4e8f0")
    axes.set_axisbelow(True)
    figure.tight_layout()
    with files.atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
    pyplot.close(figure)


def _report(settings: flags_lib.Settings, done: List[PlannedRun]) -> None:
    """The table in all its forms, and what GLUE wants to be sent."""
    results = [read_run(_summary_path(run)) for run in done if run.task not in BORROWED_MODELS]
    places = ("model_dir", "albert_dir", "albert_hub_module_handle", "albert_config_file")
    model = next(filter(None, (getattr(settings, place) for place in places)))
    title = f"{settings.suite.upper()}, {os.path.basename(os.path.normpath(model))}"
    paths = write_results(settings.output_dir, results, title=title)
    if settings.suite == "glue" and settings.do_predict:
        path = os.path.join(settings.output_dir, SUBMISSION_NAME)
        try:
            submission = classifier_predictions.zip_glue_submission(
                path, best_folders(done, results)
            )
        except ValueError as error:
            _LOGGER.info("No submission for GLUE: %s", error)
        else:
            paths.append(path)
            missing = ", ".join(submission.missing)
            if missing:
                _LOGGER.info("%s lacks %s: GLUE wants all of them.", path, missing)
    print(format_table(make_rows(results)), end="", flush=True)
    _LOGGER.info("Wrote %s.", ", ".join(paths))


def best_folders(done: Sequence[PlannedRun], results: Sequence[Run]) -> List[str]:
    """Returns the folder of each task's best seed; a borrowed model's seed is its lender's."""

    def value(run: Run) -> Tuple[bool, float]:
        score = float(run.metrics[run.metric])
        return (not math.isnan(score), score)  # a value that is not a number never wins

    best: Dict[str, Run] = {}
    for run in results:
        if run.task not in best or value(run) > value(best[run.task]):
            best[run.task] = run
    seeds = {task: run.seed for task, run in best.items()}
    return [
        run.folder for run in done if seeds.get(BORROWED_MODELS.get(run.task, run.task)) == run.seed
    ]


# ---------------------------------------------------------------------------------------------
# The script.


def main(settings: flags_lib.Settings) -> int:
    """Runs the script; the exit code is 1 if a run failed."""
    failed = sweep(settings)
    for name, last_line in failed.items():
        print(f"ERROR: {name}: {last_line}", file=sys.stderr)
    return 1 if failed else 0


def cli():
    """Runs the script with the process's own arguments and environment."""
    values = flags.FlagValues()
    define_flags(values)
    sys.argv[1:1] = environment_arguments(sorted(values), os.environ)
    flags_lib.run(main, define_flags, usage=__doc__)


if __name__ == "__main__":
    cli()
