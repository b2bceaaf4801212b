# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a model on several tasks with several seeds and settings, and makes a table.

  python -m albert.sweep --data_dir=glue --model_dir=base_v2 --output_dir=output/glue
  python -m albert.sweep --suite=clue --data_dir=clue --model_dir=albert_base_zh \\
      --output_dir=output/clue --tasks=afqmc,tnews --seeds=1-3
  python -m albert.sweep --tasks=mrpc --learning_rate=1e-5,3e-5 --train_batch_size=16,32 \\
      --seeds=1-3 --data_dir=glue --model_dir=base_v2 --output_dir=output/search

Hyper-parameters are each task's published ones unless you give others. Those that take "one or
several" values are combined: the table then has a row for each setting and marks the best one.
--tasks=custom is a task of your own, with the flags of run_classifier that describe it.

You can also set every flag as an environment variable in capitals (DATA_DIR=glue); flags override
variables. ALBERT_ROOT names the folder that google-research/albert's run_glue.sh works in: where
nothing else is named, data is in ALBERT_ROOT/glue, results go to ALBERT_ROOT/output, and the model
is that in ALBERT_ROOT, or INIT_CHECKPOINT with what lies there, or the released base_v1.

All inputs are checked before the first run starts. Each run is a process of its own and has a
folder with its log, output_dir/TASK/seed-N or output_dir/TASK/SETTING/seed-N. Started again, a
sweep skips finished runs and continues the others. It writes results.txt, results.json and (with
matplotlib) results.png to --output_dir, and for GLUE glue_submission.zip with the predictions of
each task's best run.
"""

import dataclasses
import itertools
import logging
import math
import os
import re
import shlex
import subprocess
import sys
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

from absl import flags

from albert.classification.settings import CustomTaskFlags, define_custom_task_flags
from albert.classification.task_table import CHINESE_TASKS, GLUE_TASKS, METRICS
from albert.command_line import script
from albert.pretrained.settings import CONFIG_NAME, SPM_MODEL_NAME
from albert.util import files
from albert.util import flags as flags_lib
from albert.util.errors import UserError

# Suite -> the tasks that are run by default if their data is there. mnli's run also evaluates the
# mismatched data; lcqmc_pair has the same data as lcqmc.
SUITES = {
    "glue": tuple(name for name in GLUE_TASKS if name != "mismnli"),
    "clue": tuple(name for name in CHINESE_TASKS if name != "lcqmc_pair"),
}
# Flags that take several values, which are combined.
GRID = (
    "max_seq_length",
    "train_batch_size",
    "train_step",
    "warmup_step",
    "num_train_epochs",
    "warmup_proportion",
    "save_checkpoints_steps",
    "learning_rate",
    "precision",
    "padding",
)


@dataclasses.dataclass(frozen=True)
class SweepSettings(flags_lib.EncoderSettings, CustomTaskFlags):
    """The flags of a sweep; those of GRID are texts, and None is each task's published value."""

    suite: str
    data_dir: str
    model_dir: Optional[str]
    albert_dir: Optional[str]
    output_dir: str
    tasks: Optional[str]
    seeds: str
    do_predict: bool
    dry_run: bool
    max_seq_length: Optional[str]  # type: ignore[assignment]
    train_batch_size: Optional[str]
    train_step: Optional[str]
    warmup_step: Optional[str]
    num_train_epochs: Optional[str]
    warmup_proportion: Optional[str]
    save_checkpoints_steps: Optional[str]
    learning_rate: Optional[str]
    precision: Optional[str]
    padding: Optional[str]
    run_flags: Optional[str]


def define_flags(flag_values: flags.FlagValues) -> Type[SweepSettings]:
    """Defines the script's flags."""
    help_text = "Tasks to run unless --tasks names them."
    flags_lib.choice(flag_values, "suite", "glue", choices=sorted(SUITES), help=help_text)
    help_text = "Folder of the data sets (with MRPC and so on in it), or of the task's own files."
    flags_lib.path(flag_values, "data_dir", required=True, help=help_text)
    flags_lib.path(flag_values, "model_dir", help="Another name of --albert_dir.")
    flags_lib.define_model_flags(flag_values, config_required=False)
    flags_lib.define_tokenizer_flags(flag_values)
    flags_lib.define_training_flags(flag_values, **dict.fromkeys(GRID))
    flags_lib.several(flag_values, *GRID)
    flags_lib.mark(flag_values, "one or several", *GRID)
    flag_values["output_dir"].help = "(required) Folder for all runs and the results."
    help_text = (
        "Task names separated by commas, or custom; default: those of --suite with data in "
        "--data_dir."
    )
    flags_lib.string(flag_values, "tasks", None, help=help_text)
    flags_lib.string(flag_values, "seeds", "12345", help="Seeds, such as 1,2,3 or 1-5.")
    flags_lib.boolean(flag_values, "do_predict", True, help="Predict the test data if present.")
    help_text = "Check everything, print the commands, and exit."
    flags_lib.boolean(flag_values, "dry_run", False, help=help_text)
    define_custom_task_flags(flag_values)
    help_text = (
        "More flags of run_classifier for every run, for example "
        "'--recompute --layerwise_lr_decay=0.9'."
    )
    flags_lib.string(flag_values, "run_flags", None, help=help_text)
    return SweepSettings


def environment_arguments(names: Sequence[str], environment: Mapping[str, str]) -> List[str]:
    """Returns flags for the environment variables of the same names in capitals, if not empty.

    ALBERT_ROOT stands for those that the published run_glue.sh derives from it.
    """
    given = {name: environment[name.upper()] for name in names if environment.get(name.upper())}
    if environment.get("ALBERT_ROOT"):
        given = {**_flags_of_root(environment["ALBERT_ROOT"], given), **given}
    return [f"--{name}={value}" for name, value in given.items()]


def _flags_of_root(root: str, given: Mapping[str, str]) -> Dict[str, str]:
    flags = {"data_dir": os.path.join(root, "glue"), "output_dir": os.path.join(root, "output")}
    names = {"albert_config_file": CONFIG_NAME, "spm_model_file": SPM_MODEL_NAME}
    paths = {flag: os.path.join(root, name) for flag, name in names.items()}
    paths["vocab_file"] = os.path.join(root, "vocab.txt")
    parts = {flag: path for flag, path in paths.items() if files.gfile().exists(path)}
    if "init_checkpoint" in given:
        flags.update(parts)
    elif not {"model_dir", "albert_dir", "albert_hub_module_handle"} & set(given):
        flags["model_dir"] = root if "albert_config_file" in parts else "base_v1"
    return flags


def _of_environment() -> List[str]:
    values = flags.FlagValues()
    define_flags(values)
    return environment_arguments(sorted(values), os.environ)


if __name__ == "__main__":  # before TensorFlow is imported
    script.answer_early(define_flags, usage=__doc__, fallback=_of_environment())

import numpy as np
import tensorflow.compat.v1 as tf

from albert import run_classifier
from albert.classification import predictions
from albert.classification import tasks as classifier_tasks
from albert.classification.run import ClassifierTask, find_task
from albert.configs import published
from albert.pretrained import released, warm_start
from albert.training import fine_tuning, model_fn
from albert.util import config_files, folder_lock, progress, stop_signals, wording

_LOGGER = logging.getLogger("albert")

# Task without training data -> the task whose model predicts it.
BORROWED_MODELS = {"ax": "mnli"}
# Flags of a run that name files or change its speed, but not its result.
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
_MAX_SEEDS = 1000

# ---- The plan: tasks x settings x seeds.


class PlannedRun(NamedTuple):
    """One run of run_classifier."""

    task: str
    setting: str  # such as "learning_rate=1e-5"; "" where there is only one
    seed: int
    folder: str
    arguments: Tuple[str, ...]  # its command line, without the program
    identity: Dict[str, Any]  # what determines its result, as JSON values

    @property
    def name(self) -> str:
        """Returns the run's name in messages."""
        return ", ".join(filter(None, [self.task, self.setting, f"seed {self.seed}"]))


def find_tasks(settings: SweepSettings) -> Dict[str, classifier_tasks.Task]:
    """Returns the tasks to run by the name that --task_name takes, borrowed models last.

    Without --tasks these are the tasks of the suite with data in a folder of their own in
    --data_dir. Raises UserError for a task that is unknown, named twice or without its lender,
    for flags of a custom task beside another task, or for no task.
    """
    chosen = re.findall(r"[^,\s]+", (settings.tasks or "").lower())
    chosen = chosen or _tasks_with_data(settings.suite, settings.data_dir)
    if len(set(chosen)) < len(chosen):
        raise UserError(f"--tasks={settings.tasks} names a task twice.")
    for name in chosen:
        if BORROWED_MODELS.get(name, name) not in chosen:
            lender = BORROWED_MODELS[name]
            raise UserError(f"The model of {lender} predicts task {name}. Name both in --tasks.")
    chosen.sort(key=BORROWED_MODELS.__contains__)
    return {name: find_task(name, settings) for name in chosen}


def _tasks_with_data(suite: str, data_dir: str) -> List[str]:
    names: List[str] = []
    for name in SUITES[suite]:
        task = classifier_tasks.get_task(name)
        splits = ["test"] if name in BORROWED_MODELS else ["train", "dev"]
        has_folder = len(classifier_tasks.task_folders(task, data_dir)) > 1
        if has_folder and all(map(lambda s: classifier_tasks.has_split(task, data_dir, s), splits)):
            names.append(name)
    names = [name for name in names if BORROWED_MODELS.get(name, name) in names]
    if not names:
        raise UserError(
            f"--data_dir={data_dir} holds no task of the suite '{suite}': no folder with training "
            f"and evaluation data of {', '.join(SUITES[suite])}. If the files of one task are "
            "directly in --data_dir, name it by --tasks."
        )
    absent = [name for name in SUITES[suite] if name not in names]
    if absent:
        _LOGGER.info("No training and evaluation data in %s for: %s.", data_dir, ", ".join(absent))
    return names


def parse_seeds(text: str) -> List[int]:
    """Returns the seeds of a text such as "1,2 5-7"; raises UserError for anything else."""
    seeds: List[int] = []
    for part in re.split(r"[,\s]+", text.strip()):
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part)
        first, last = map(int, (match[1], match[2] or match[1])) if match else (1, 0)
        seeds += range(first, min(last, first + _MAX_SEEDS) + 1) or [-1]
    if min(seeds) < 0 or len(set(seeds)) < len(seeds) or len(seeds) > _MAX_SEEDS:
        raise UserError(
            f"--seeds={text!r}: give integers such as 1,2,3 or 1-5, each once, at most "
            f"{_MAX_SEEDS}."
        )
    return seeds


def settings_grid(settings: SweepSettings) -> Dict[str, Dict[str, str]]:
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


def recipe_flags(
    task: classifier_tasks.Task, given: Mapping[str, str], examples: int
) -> Dict[str, Any]:
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


def model_flags(settings: SweepSettings) -> Dict[str, Any]:
    """Returns the flags of a run that name the model; raises UserError for two folders."""
    if settings.model_dir and settings.albert_dir:
        raise UserError("Give either --model_dir or --albert_dir, not both.")
    names = (*released.ModelFiles._fields, "albert_hub_module_handle")
    values = {name: getattr(settings, name) for name in names}
    values["albert_dir"] = settings.model_dir or settings.albert_dir
    if "do_lower_case" in settings.given:
        values["do_lower_case"] = settings.do_lower_case
    return values


def _read_data(
    task: classifier_tasks.Task, settings: SweepSettings
) -> Dict[str, classifier_tasks.TaskData]:
    """Reads every split that will be used, so that an error is found now and not after hours."""
    required = [] if task.name in BORROWED_MODELS else ["train", task.dev_splits[0]]
    optional = task.dev_splits[1:] + (task.test_splits if settings.do_predict else ())
    splits = required + [
        split for split in optional if classifier_tasks.has_split(task, settings.data_dir, split)
    ]
    if not splits:
        raise UserError(
            f"Task {task.name} has nothing to do: no test data in {settings.data_dir}, or "
            "--nodo_predict."
        )
    return {
        split: classifier_tasks.read_examples(task, settings.data_dir, split) for split in splits
    }


def make_plan(settings: SweepSettings) -> List[PlannedRun]:
    """Returns all runs of a sweep; raises UserError if anything that they need is wrong.

    That is a missing, unreadable or contradictory input, or a folder that holds another run.
    """
    seeds, grid = parse_seeds(settings.seeds), settings_grid(settings)
    try:
        extra = shlex.split(settings.run_flags or "")
    except ValueError as error:
        raise UserError(f"--run_flags={settings.run_flags!r}: {error}.") from error
    plan: Dict[Tuple[str, str, int], PlannedRun] = {}
    for task_name, task in find_tasks(settings).items():
        data = _read_data(task, settings)
        lender = BORROWED_MODELS.get(task.name, "")
        for (setting, given), seed in itertools.product(grid.items(), seeds):
            values = _run_flags(task, settings, given, data)
            values.update(task_name=task_name, seed=seed)
            folder = os.path.join(settings.output_dir, task.name, setting, f"seed-{seed}")
            values["output_dir"] = folder
            lent = plan.get((lender, setting, seed))
            if lent:
                values["checkpoint"] = os.path.join(lent.folder, "model.ckpt-best")
            arguments = [*itertools.starmap(_argument, values.items()), *extra]
            arguments = list(filter(None, arguments))
            identity = _check(task, arguments, data, check_weights=not plan)
            for name, value in lent.identity.items() if lent else ():
                identity[f"{lender}.{name}"] = value
            run = PlannedRun(task.name, setting, seed, folder, tuple(arguments), identity)
            plan[task.name, setting, seed] = run
            state_of(run)
    return list(plan.values())


def _run_flags(
    task: classifier_tasks.Task,
    settings: SweepSettings,
    given: Mapping[str, str],
    data: Mapping[str, classifier_tasks.TaskData],
) -> Dict[str, Any]:
    """The flags that all seeds of a task and setting share."""
    lender = BORROWED_MODELS.get(task.name)
    recipe = recipe_flags(
        classifier_tasks.get_task(lender) if lender else task,
        given,
        0 if lender else len(data["train"].examples),
    )
    if lender:
        shared = ("max_seq_length", "precision", "padding")
        recipe = {name: recipe[name] for name in shared if name in recipe}
    return {
        "data_dir": settings.data_dir,
        "cached_dir": os.path.join(settings.output_dir, "features"),
        "do_train": not lender,
        "do_eval": not lender,
        "do_predict": any(split in data for split in task.test_splits),
        "keep_checkpoint_max": 1,  # beside the best one; to resume from
        **{field.name: getattr(settings, field.name) for field in _CUSTOM_FIELDS},
        **model_flags(settings),
        **recipe,
    }


_CUSTOM_FIELDS = dataclasses.fields(CustomTaskFlags)


def _argument(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value}"


def _check(
    task: classifier_tasks.Task,
    arguments: Sequence[str],
    data: Mapping[str, classifier_tasks.TaskData],
    *,
    check_weights: bool,
) -> Dict[str, Any]:
    """Checks that a run can start; returns what determines its result: settings and files."""
    try:
        parsed: Any = flags_lib.parse(run_classifier.define_flags, arguments)
        run = fine_tuning.FineTuning(parsed, ClassifierTask)
        if check_weights:
            model_fn.check_first_weights(run.settings, run.config, run.vocabulary.tokenizer)
    except ValueError as error:
        raise UserError(f"Task {task.name}: {error}") from error
    model_files = [run.vocabulary.file]
    if run.settings.init_checkpoint:
        checkpoint = warm_start.resolve_checkpoint(run.settings.init_checkpoint)
        model_files.append(checkpoint + ".index")
    identity = {
        name: value
        for name, value in run.settings.to_dict().items()
        if not _WITHOUT_EFFECT.fullmatch(name)
    }
    identity["config"] = run.config and run.config.to_dict()
    identity["model"] = list(map(files.file_fingerprint, model_files))
    paths = [path for split in data.values() for path in split.files]
    identity["data"] = list(map(files.file_fingerprint, paths))
    return files.normalized_fingerprint(identity)


def state_of(run: PlannedRun) -> str:
    """Returns "new", "begun" or "finished"; raises UserError if the folder holds anything else."""
    names = tf.io.gfile.listdir(run.folder) if tf.io.gfile.isdir(run.folder) else []
    if all(map(folder_lock.is_lock, names)):
        return "new"
    path = os.path.join(run.folder, MARKER_NAME)
    if not tf.io.gfile.exists(path):
        raise UserError(
            f"{run.folder} holds files that are not a sweep's. Choose another --output_dir."
        )
    marker = files.read_json_object(path, {"identity": dict, "is_finished": bool})
    difference = files.fingerprint_difference(marker["identity"], run.identity)
    if difference:
        raise UserError(
            f"{run.folder} holds a run with other settings or data: {difference}. Choose another "
            "--output_dir, or remove that folder."
        )
    has_result = run.task in BORROWED_MODELS or tf.io.gfile.exists(_summary_path(run))
    return "finished" if marker["is_finished"] and has_result else "begun"


def mark(run: PlannedRun, *, is_finished: bool) -> None:
    """Writes the run's identity and state into its folder."""
    content = {"identity": run.identity, "is_finished": is_finished}
    files.atomic_write_json(os.path.join(run.folder, MARKER_NAME), content)


def _summary_path(run: PlannedRun) -> str:
    return os.path.join(run.folder, fine_tuning.SUMMARY_NAME)


# ---- Running.


def sweep(settings: SweepSettings) -> Dict[str, str]:
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
    stop_signals.has_news()  # the run may have unsaved steps; it saves them when it is stopped
    line = "no output"
    prefix = " ".join(filter(None, [run.task, run.setting, str(run.seed)]))
    log_path = os.path.join(run.folder, LOG_NAME)
    try:
        with files.naming_full_disk(log_path), open(log_path, "a", encoding="utf-8") as log:
            for text in process.stdout:
                line = text.strip() or line
                print(text, end="", file=log, flush=True)
                print(f"[{prefix}] {text}", end="", file=sys.stderr, flush=True)
        code = process.wait()
    finally:
        process.terminate()  # Ctrl-C may have ended it already
        process.wait()
        stop_signals.resume()
    if code:
        return f"{line} (exit code {code}; {log_path})"
    mark(run, is_finished=True)
    return ""


# ---- Results: a table over tasks, settings and seeds, as text, JSON and picture.

# Metrics in run_summary.json that are not scores.
_NOT_SCORES = re.compile("loss|confusion|global_step|MSE|examples")
_HEAD = ("task", "metric", "seeds", "mean", "deviation", "best step", "examples/s", "wall time")


class Run(NamedTuple):
    """A finished run, as its run_summary.json describes it."""

    task: str
    seed: int
    metric: str  # the one that chose the checkpoint
    best_step: float  # NaN: no checkpoint was chosen
    metrics: Dict[str, Any]  # of that checkpoint
    train_examples_per_second: Optional[float]
    wall_seconds: float
    model: Optional[Dict[str, Any]] = None  # a published.Model, if it is of a published size
    setting: str = ""  # see PlannedRun

    @property
    def score(self) -> float:
        """Returns the deciding metric, negative where less is better, and -inf for NaN."""
        value = float(self.metrics[self.metric]) * (1 if METRICS.get(self.metric, True) else -1)
        return -math.inf if math.isnan(value) else value


class Row(NamedTuple):
    """One metric of one task and setting over all seeds."""

    task: str
    setting: str
    is_best: bool  # among the task's settings
    metric: str
    decides: bool  # whether this metric chose the checkpoints
    values: Dict[int, float]  # by seed
    mean: float
    deviation: Optional[float]  # of the sample; None for a single seed
    best_step: float  # this and the next two are means
    examples_per_second: Optional[float]
    wall_seconds: float

    @property
    def name(self) -> str:
        """Returns task and setting, and whether it is the best."""
        best = " (best)" if self.setting and self.is_best else ""
        return ", ".join(filter(None, [self.task, self.setting])) + best

    @property
    def percent(self) -> Tuple[str, str]:
        """Returns mean and deviation in per cent; NaN is shown."""
        return f"{100 * self.mean:.2f}", (
            "-" if self.deviation is None else f"{100 * self.deviation:.2f}"
        )


_SUMMARY_TYPES = {  # see files.check_types
    **{"task": str, "seed": int, "metric": str, "best_step": (int, None), "model": (dict, None)},
    **{"value": (float, int, None), "metrics": {str: (float, int)}, "wall_seconds": (float, int)},
    "train_examples_per_second": (float, int, None),
}


def read_run(path: str) -> Run:
    """Returns the run that a run_summary.json describes; raises UserError for another file."""
    content = files.read_json_object(path, _SUMMARY_TYPES)
    run = Run(**{name: content.get(name) for name in Run._fields if name != "setting"})
    if run.best_step is None:  # no checkpoint has a score
        run = run._replace(best_step=math.nan, metrics={**run.metrics, run.metric: math.nan})
    return run


def make_rows(runs: Sequence[Run]) -> List[Row]:
    """Returns the table's rows: of each task and setting the deciding metric, then the others."""
    groups: Dict[Tuple[str, str], List[Run]] = {}
    for run in runs:
        groups.setdefault((run.task, run.setting), []).append(run)
    best: Dict[str, str] = {}  # task -> setting; of equal ones the first
    for task, setting in sorted(groups, key=lambda key: -np.mean([r.score for r in groups[key]])):
        best.setdefault(task, setting)
    rows = []
    for (task, setting), group in groups.items():
        decides = group[0].metric
        speeds = [run.train_examples_per_second for run in group if run.train_examples_per_second]
        for metric in [decides, *_other_scores(group)]:
            values = {run.seed: float(run.metrics[metric]) for run in group}
            row = Row(
                task,
                setting,
                best[task] == setting,
                metric,
                metric == decides,
                values=values,
                mean=float(np.mean([*values.values()])),
                deviation=float(np.std([*values.values()], ddof=1)) if len(values) > 1 else None,
                best_step=float(np.mean([run.best_step for run in group])),
                examples_per_second=float(np.mean(speeds)) if speeds else None,
                wall_seconds=float(np.mean([run.wall_seconds for run in group])),
            )
            rows.append(row)
    return rows


def _other_scores(runs: Sequence[Run]) -> List[str]:
    """The further metrics that every run has and that are shares or correlations."""
    common = set.intersection(*(set(run.metrics) for run in runs)) - {runs[0].metric}
    return sorted(name for name in common if not _NOT_SCORES.search(name))


def compare(runs: Sequence[Run]) -> List[published.Comparison]:
    """Returns each task's scores, at its best setting, beside what is published of the model."""
    found = []
    for row in make_rows(runs):
        models = [run.model for run in runs if (run.task, run.setting) == (row.task, row.setting)]
        if row.is_best and models[0] and models.count(models[0]) == len(models):
            model = published.Model(models[0]["size"], tuple(models[0]["presets"]))
            scores = {row.metric: [100 * value for value in row.values.values()]}
            found += published.compare(row.task, model, scores)
    return found


def format_results(runs: Sequence[Run]) -> str:
    """Returns the table as text and, if anything is published, that beside the scores."""
    beside = published.table(compare(runs))
    lines = ["", "Beside published results, in per cent", "", *beside] if beside else []
    return format_table(make_rows(runs)) + "".join(f"{line}\n" for line in lines)


def format_table(rows: Sequence[Row]) -> str:
    """Returns the table as text; scores in per cent, times as means over the seeds."""
    cells = [_HEAD]
    for row in rows:
        score = (row.metric, str(len(row.values)), *row.percent)
        speed = f"{row.examples_per_second:.1f}" if row.examples_per_second else "-"
        times = (f"{row.best_step:.0f}", speed, progress.format_seconds(row.wall_seconds))
        # The first row of a task and setting has what its rows share.
        cells.append((row.name, *score, *times) if row.decides else ("", *score, "", "", ""))
    return "".join(f"{line}\n" for line in wording.table(cells, left=(0, 1)))


def write_results(folder: str, runs: Sequence[Run], *, title: str) -> List[str]:
    """Writes the table as text, JSON and, with matplotlib, a picture; returns the paths."""
    rows = make_rows(runs)
    names = (TEXT_NAME, JSON_NAME, PICTURE_NAME)
    text, content, picture = (os.path.join(folder, name) for name in names)
    files.atomic_write_text(text, format_results(runs))
    value = {
        "format_version": FORMAT_VERSION,
        "rows": [_as_json(row._asdict()) for row in rows],
        "published": [comparison._asdict() for comparison in compare(runs)],
        "runs": [_as_json(run._asdict()) for run in runs],
    }
    files.atomic_write_json(content, value)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        _LOGGER.info("For a picture of the results: pip install 'albert-tf[plots]'.")
        return [text, content]
    draw(picture, rows, title=title)
    return [text, content, picture]


def _as_json(value: Any) -> Any:
    """NaN becomes null, which JSON can write."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(path: str, rows: Sequence[Row], *, title: str) -> None:
    """Draws each metric's seeds as dots, with mean and deviation, into a PNG file."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    rows = [row for row in rows if math.isfinite(row.mean)]
    figure, axes = pyplot.subplots(figsize=(8.5, 1.8 + 0.34 * len(rows)))
    axes.barh(
        range(len(rows)),
        [100 * row.mean for row in rows],
        xerr=[100 * (row.deviation or 0) for row in rows],
        tick_label=[f"{row.name}  {row.metric}" for row in rows],
        color=["#a9c0e2" if row.decides else "#dbe4f3" for row in rows],
    )
    for index, row in enumerate(rows):
        axes.plot([100 * v for v in row.values.values()], [index] * len(row.values), "o", ms=4)
        axes.text(103, index, " ± ".join(row.percent), va="center")
    axes.invert_yaxis()
    axes.set_xlim(right=128)  # room for the numbers
    axes.set_xlabel("% (dots: seeds; bar: mean; whisker: standard deviation)")
    axes.set_title(title, loc="left")
    figure.tight_layout()
    with files.atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
    pyplot.close(figure)


def _report(settings: SweepSettings, done: Sequence[PlannedRun]) -> None:
    """Writes the table in all its forms, and for GLUE the submission."""
    results = [
        read_run(_summary_path(run))._replace(setting=run.setting)
        for run in done
        if run.task not in BORROWED_MODELS
    ]
    named = model_flags(settings)
    model = named["albert_dir"] or next(filter(None, named.values()))
    title = f"{settings.tasks or settings.suite.upper()}, {os.path.basename(model.rstrip('/'))}"
    paths = write_results(settings.output_dir, results, title=title)
    if settings.do_predict and any(run.task in GLUE_TASKS for run in done):
        path = os.path.join(settings.output_dir, SUBMISSION_NAME)
        try:
            submission = predictions.zip_glue_submission(path, best_folders(done, results))
        except UserError as error:  # there is no test data
            _LOGGER.info("No submission for GLUE: %s", error)
        else:
            paths.append(path)
            if submission.missing:
                missing = ", ".join(submission.missing)
                _LOGGER.info("%s lacks %s, which a submission needs.", path, missing)
    print(format_results(results), end="", flush=True)
    _LOGGER.info("Wrote %s.", ", ".join(paths))


def best_folders(done: Sequence[PlannedRun], results: Sequence[Run]) -> List[str]:
    """Returns the folder of each task's best run; with a borrowed model that of its lender."""
    best: Dict[str, Tuple[str, int]] = {}
    for run in sorted(results, key=lambda run: run.score, reverse=True):  # stable
        best.setdefault(run.task, (run.setting, run.seed))
    return [
        run.folder
        for run in done
        if best.get(BORROWED_MODELS.get(run.task, run.task)) == (run.setting, run.seed)
    ]


# ---- The script.


def main(settings: SweepSettings) -> int:
    """Runs the script; the exit code is 1 if a run failed."""
    failed = sweep(settings)
    for name, last_line in failed.items():
        print(f"ERROR: {name}: {last_line}", file=sys.stderr)
    return 1 if failed else 0


def cli():
    """Runs the script with the process's own arguments."""
    script.run(main, define_flags, usage=__doc__, fallback=_of_environment())


if __name__ == "__main__":
    cli()
