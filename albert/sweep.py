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
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, run_classifier
from albert.classification import predictions
from albert.classification import tasks as classifier_tasks
from albert.classification.run import ClassifierTask, find_task
from albert.classification.settings import ClassifierFlags, CustomTaskFlags
from albert.classification.task_table import CHINESE_TASKS, GLUE_TASKS, METRICS
from albert.command_line import cli
from albert.configs import published
from albert.configs.flags import EncoderFlags
from albert.pretrained import released, warm_start
from albert.pretrained.settings import CONFIG_NAME, SPM_MODEL_NAME
from albert.training import fine_tuning
from albert.util import config_files, files, folder_lock, progress, stop_signals, wording
from albert.util import flags as flags_lib
from albert.util.errors import UserError
from albert.util.flags import flag

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


def environment_flags(names: List[str], environment: Mapping[str, str]) -> Dict[str, str]:
    """Returns flags for the environment variables of the same names in capitals, if not empty.

    ALBERT_ROOT stands for those that the published run_glue.sh derives from it.
    """
    given = {name: environment.get(name.upper(), "") for name in names}
    given = {name: value for name, value in given.items() if value}
    if environment.get("ALBERT_ROOT"):
        given = {**_flags_of_root(environment["ALBERT_ROOT"], given), **given}
    return given


def _exists(path: str) -> bool:
    if "://" not in path:
        return os.path.exists(path)
    import tensorflow.compat.v1 as tf

    return tf.io.gfile.exists(path)


def _flags_of_root(root: str, given: Mapping[str, str]) -> Dict[str, str]:
    """What the folder of the published run_glue.sh stands for, beside the flags that are given."""
    found = {"data_dir": os.path.join(root, "glue"), "output_dir": os.path.join(root, "output")}
    parts = {
        "albert_config_file": os.path.join(root, CONFIG_NAME),
        "spm_model_file": os.path.join(root, SPM_MODEL_NAME),
        "vocab_file": os.path.join(root, "vocab.txt"),
    }
    there = {name: path for name, path in parts.items() if _exists(path)}
    if any(name in given for name in ("model_dir", "albert_dir", "albert_hub_module_handle")):
        return found
    if "init_checkpoint" in given:
        return {**found, **there}
    return dict(found, model_dir=root if "albert_config_file" in there else "base_v1")


def _of_environment() -> Dict[str, str]:
    return environment_flags(sorted(flags_lib.describe(Flags)), os.environ)


def _several(name: str) -> Any:
    """A flag of a run that takes several values; None: the task's published value."""
    options = dict(flags_lib.describe(ClassifierFlags)[name], several=True)
    return dataclasses.field(default=None, metadata=options)


@dataclasses.dataclass(frozen=True)
class Flags(EncoderFlags, CustomTaskFlags):
    """The flags of a sweep; those that take several values are texts, None: as published."""

    suite: str = flag(
        "glue", "Tasks to run unless --tasks names them.", choices=sorted(SUITES), group="Data"
    )
    data_dir: str = flag(
        None, "Folder of the data sets, or of the task.", path=True, required=True, group="Data"
    )
    tasks: Optional[str] = flag(
        None, "Tasks, comma-separated, or custom; default: those in --data_dir.", group="Data"
    )
    model_dir: Optional[str] = flag(None, "Another name of --albert_dir.", path=True, group="Model")
    output_dir: str = flag(
        None, "Folder for all runs and the results.", path=True, required=True, group="Output"
    )
    do_predict: bool = flag(True, "Predict the test data, if present.", group="What to do")
    dry_run: bool = flag(
        False, "Check everything, print the commands, and exit.", group="What to do"
    )
    seeds: str = flag("12345", "Seeds, such as 1,2,3 or 1-5.", group="Training")
    run_flags: Optional[str] = flag(
        None, "More flags for every run, such as '--recompute --log_steps=10'.", group="Training"
    )
    max_seq_length: Optional[str] = _several("max_seq_length")  # type: ignore[assignment]
    train_batch_size: Optional[str] = _several("train_batch_size")
    train_step: Optional[str] = _several("train_step")
    warmup_step: Optional[str] = _several("warmup_step")
    num_train_epochs: Optional[str] = _several("num_train_epochs")
    warmup_proportion: Optional[str] = _several("warmup_proportion")
    save_checkpoints_steps: Optional[str] = _several("save_checkpoints_steps")
    learning_rate: Optional[str] = _several("learning_rate")
    precision: Optional[str] = _several("precision")
    padding: Optional[str] = _several("padding")


_LOGGER = logging.getLogger("albert")

# Task without training data -> the task whose model predicts it.
BORROWED_MODELS = {"ax": "mnli"}
# Flags of a run that name places or change its speed, but not its result.
_WITHOUT_EFFECT = re.compile(
    "albert_config_file|albert_dir|cached_dir|checkpoint|data_dir|eval_batch_size|export_dir|"
    "init_checkpoint|keep_checkpoint_max|log_steps|output_dir|predict_batch_size|"
    "spm_model_file|vocab_file"
)
MARKER_NAME = "sweep_run.json"
LOG_NAME = "log.txt"
TEXT_NAME, JSON_NAME, PICTURE_NAME = "results.txt", "results.json", "results.png"
SUBMISSION_NAME = "glue_submission.zip"
FORMAT_VERSION = 1
_MOST_SEEDS = 1000

# ---- Model, tasks and seeds.

_CUSTOM_FIELDS = dataclasses.fields(CustomTaskFlags)
_MODEL_FLAGS = released.ModelFiles._fields + ("albert_hub_module_handle",)


def model_flags(settings: Flags) -> Dict[str, Any]:
    """Returns the flags of a run that name the model; raises ValueError for two folders."""
    if settings.model_dir and settings.albert_dir:
        raise UserError("Give either --model_dir or --albert_dir, not both.")
    values = {name: getattr(settings, name) for name in _MODEL_FLAGS}
    values["albert_dir"] = settings.model_dir or settings.albert_dir
    if "do_lower_case" in settings.given:
        values["do_lower_case"] = settings.do_lower_case
    return values


def find_tasks(settings: Flags) -> Dict[str, classifier_tasks.Task]:
    """Returns the tasks to run by the name that --task_name takes, borrowed models last.

    Without --tasks these are the tasks of the suite with data in a folder of their own below
    --data_dir. Raises ValueError for a task that is unknown, named twice or without its lender,
    for flags of a custom task beside another task, or for no task.
    """
    listed = re.split(r"[,\s]+", (settings.tasks or "").strip().lower())
    chosen = [name for name in listed if name] or _tasks_there(settings.suite, settings.data_dir)
    if len(set(chosen)) < len(chosen):
        raise UserError(f"--tasks={settings.tasks} names a task twice.")
    for name in chosen:
        lender = BORROWED_MODELS.get(name)
        if lender and lender not in chosen:
            raise UserError(f"Task {name} is predicted by the model of {lender}: name both.")
    chosen.sort(key=BORROWED_MODELS.__contains__)
    return {name: find_task(name, settings) for name in chosen}


def _tasks_there(suite: str, data_dir: str) -> List[str]:
    def is_there(task: classifier_tasks.Task) -> bool:
        splits = ["test"] if task.name in BORROWED_MODELS else ["train", "dev"]
        return len(classifier_tasks.task_folders(task, data_dir)) > 1 and all(
            classifier_tasks.has_split(task, data_dir, split) for split in splits
        )

    declared = [classifier_tasks.get_task(name) for name in SUITES[suite]]
    there = [task for task in declared if is_there(task)]
    names = {task.name for task in there}
    tasks = [task.name for task in there if BORROWED_MODELS.get(task.name, task.name) in names]
    absent = [task for task in declared if task not in there]
    if not tasks:
        raise UserError(
            f"--data_dir={data_dir} has no training and evaluation data of the suite '{suite}'. "
            f"Expected folders: {', '.join(task.folder for task in absent)}. For files directly "
            "in --data_dir, name the task by --tasks."
        )
    if absent:
        left_out = ", ".join(task.name for task in absent)
        _LOGGER.info("No training and evaluation data in %s for: %s.", data_dir, left_out)
    return tasks


def parse_seeds(text: str) -> List[int]:
    """Returns the seeds of a text such as "1,2 5-7"; raises ValueError for anything else."""
    error = ValueError(
        f"--seeds={text!r}: give whole numbers such as 1,2,3 or 1-5, each once, and at most "
        f"{_MOST_SEEDS}."
    )
    seeds: List[int] = []
    for part in re.split(r"[,\s]+", text.strip()):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if not match:
            raise error
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if not 0 <= last - first < _MOST_SEEDS:
            raise error
        seeds += range(first, last + 1)
    if len(set(seeds)) < len(seeds):
        raise error
    return seeds


def settings_grid(settings: Flags) -> Dict[str, Dict[str, str]]:
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


# ---- The plan: a command for each run.


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
        return _label(self.task, self.setting, f"seed {self.seed}")


def _label(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _read_data(
    task: classifier_tasks.Task, settings: Flags
) -> Dict[str, classifier_tasks.TaskData]:
    """Reads every split that will be used, so that an error is found now and not after hours."""
    needed = [] if task.name in BORROWED_MODELS else ["train", task.dev_splits[0]]
    optional = task.dev_splits[1:] + (task.test_splits if settings.do_predict else ())
    splits = needed + [
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


def recipe_flags(
    task: classifier_tasks.Task, given: Mapping[str, str], examples: int
) -> Dict[str, Any]:
    """Returns the hyper-parameters of a task by flag: the given ones, and else the task's own.

    If only the number of steps is given, the warm-up keeps its share of them. A recipe that does
    not say when to save saves once per epoch, of `examples` examples.
    """
    recipe = task.recipe
    flags = {name: value for name, value in recipe._asdict().items() if value}
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


def _arguments(
    task: classifier_tasks.Task,
    settings: Flags,
    *,
    given: Mapping[str, str],
    data: Mapping[str, classifier_tasks.TaskData],
) -> Dict[str, Any]:
    """The flags that all seeds of a task share."""
    lender = BORROWED_MODELS.get(task.name)
    values: Dict[str, Any] = {
        "data_dir": settings.data_dir,
        "cached_dir": os.path.join(settings.output_dir, "features"),
        "do_train": not lender,
        "do_eval": not lender,
        "do_predict": any(split in data for split in task.test_splits),
        # The best one is kept besides; a restarted run continues from the newest one.
        "keep_checkpoint_max": 1,
        **{field.name: getattr(settings, field.name) for field in _CUSTOM_FIELDS},
        **model_flags(settings),
    }
    if lender:
        recipe = recipe_flags(classifier_tasks.get_task(lender), given, examples=0)
        shared = ("max_seq_length", "precision", "padding")
        return {**values, **{name: recipe[name] for name in shared if name in recipe}}
    return {**values, **recipe_flags(task, given, len(data["train"].examples))}


def _argument(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value}"


def make_plan(settings: Flags) -> List[PlannedRun]:
    """Returns all runs of a sweep; raises ValueError if anything that they need is wrong.

    That is a missing, unreadable or contradictory input, or a folder that holds another run.
    """
    seeds, grid = parse_seeds(settings.seeds), settings_grid(settings)
    try:
        extra = shlex.split(settings.run_flags or "")
    except ValueError as error:
        raise UserError(f"--run_flags={settings.run_flags!r}: {error}.") from error
    model: Dict[str, Any] = {}
    plan: Dict[Tuple[str, str, int], PlannedRun] = {}
    for task_name, task in find_tasks(settings).items():
        data = _read_data(task, settings)
        fingerprints = [
            files.file_fingerprint(path) for found in data.values() for path in found.files
        ]
        lender = BORROWED_MODELS.get(task.name)
        for (setting, given), seed in itertools.product(grid.items(), seeds):
            folder = os.path.join(settings.output_dir, task.name, setting, f"seed-{seed}")
            own = {"task_name": task_name, "seed": seed, "output_dir": folder}
            borrowed: Dict[str, Any] = {}
            if lender:
                lent = plan[lender, setting, seed]
                own["checkpoint"] = os.path.join(lent.folder, "model.ckpt-best")
                borrowed = {f"{lender}.{name}": value for name, value in lent.identity.items()}
            own.update(_arguments(task, settings, given=given, data=data))
            arguments = [_argument(*item) for item in own.items() if item[1] is not None] + extra
            checked = _checked(task, arguments)
            model = model or _model_identity(checked)
            identity = _identity(checked, {**model, "data": fingerprints, **borrowed})
            run = PlannedRun(task.name, setting, seed, folder, tuple(arguments), identity)
            plan[task.name, setting, seed] = run
            state_of(run)
    return list(plan.values())


def _checked(task: classifier_tasks.Task, arguments: Sequence[str]) -> fine_tuning.FineTuning:
    """Returns a run as its process will have it; raises ValueError if the run cannot start."""
    try:
        parsed: Any = flags_lib.parse(run_classifier.Flags, arguments)
        return fine_tuning.FineTuning(parsed, ClassifierTask)
    except ValueError as error:
        raise UserError(f"Task {task.name}: {error}") from error


def _model_identity(run: fine_tuning.FineTuning) -> Dict[str, Any]:
    """Returns what identifies the model, after checking that the weights fit its configuration."""
    identity: Dict[str, Any] = {
        "config": run.config and run.config.to_dict(),
        "vocabulary": files.sha256(run.vocabulary.file),
    }
    if run.settings.init_checkpoint:
        checkpoint = warm_start.resolve_checkpoint(run.settings.init_checkpoint)
        with tf.Graph().as_default():
            modeling.AlbertModel(run.config, False, tf.zeros([1, 4], tf.int32), scope="bert")
            warm_start.warm_start(checkpoint, tf.trainable_variables())
        identity["weights"] = files.sha256(checkpoint + ".index")
    return identity


def _identity(run: fine_tuning.FineTuning, contents: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns what determines a run's result: settings and contents, without paths."""
    values = {
        # As text, because NaN is not equal to itself.
        name: str(value) if isinstance(value, float) else value
        for name, value in run.settings.to_dict().items()
        if not _WITHOUT_EFFECT.fullmatch(name)
    }
    return files.normalized_fingerprint({**values, **contents})


def state_of(run: PlannedRun) -> str:
    """Returns "new", "begun" or "finished"; raises ValueError if the folder holds anything else."""
    there = tf.io.gfile.listdir(run.folder) if tf.io.gfile.isdir(run.folder) else []
    if all(map(folder_lock.is_lock, there)):
        return "new"
    path = os.path.join(run.folder, MARKER_NAME)
    if not tf.io.gfile.exists(path):
        raise UserError(f"{run.folder} holds files that are not a sweep's. Choose another folder.")
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


def sweep(settings: Flags) -> Dict[str, str]:
    """Does all runs that are not finished, and writes the results.

    Returns:
      The last line of each run that failed, by the run's name.

    Raises:
      ValueError: inputs that cannot be used, or another sweep into the same folder.
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
        began = time.time()
        for number, run in enumerate(plan, 1):
            title = f"Run {number} of {len(plan)}, {run.name}"
            if state_of(run) == "finished":
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
    """Returns the command line of a run's process."""
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
    line = "no output"
    prefix = f"[{' '.join(filter(None, [run.task, run.setting, str(run.seed)]))}]"
    log_path = os.path.join(run.folder, LOG_NAME)
    try:
        with files.naming_path(log_path), open(log_path, "a", encoding="utf-8") as log:
            for text in process.stdout:
                line = text.strip() or line
                log.write(text)
                log.flush()
                print(f"{prefix} {text}", end="", file=sys.stderr, flush=True)
        code = process.wait()
    finally:
        # Ctrl-C may have reached the run too, which then ends by itself.
        process.terminate()
        process.wait()
        stop_signals.resume()
    if code:
        return f"{line} (exit code {code}; {log_path})"
    mark(run, is_finished=True)
    return None


# ---- Results: a table over tasks, settings and seeds, as text, JSON and picture.

# Metrics in run_summary.json that are not scores.
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
    model: Optional[Dict[str, Any]] = None  # a published.Model, if it is of a published size
    warnings: Sequence[Mapping[str, Any]] = ()  # of training, see hooks.Warned
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


_SUMMARY_TYPES = {  # see files.check_types
    **{"task": str, "seed": int, "metric": str, "best_step": (int, None), "model": (dict, None)},
    **{"value": (float, int, None), "metrics": {str: (float, int)}, "wall_seconds": (float, int)},
    "train_examples_per_second": (float, int, None),
    "warnings": ([{"text": str, "recovered_step": (int, None)}], None),
}


def read_run(path: str) -> Run:
    """Returns the run that a run_summary.json describes; raises ValueError for another file."""

    def number(value: Optional[float]) -> float:
        return math.nan if value is None else value

    try:
        content = files.read_json_object(path, _SUMMARY_TYPES)
    except ValueError as error:
        raise UserError(f"{path} is not a run's summary ({error}). Remove it.") from error
    run = Run(**{name: content.get(name) for name in Run._fields})
    metrics = {**run.metrics, run.metric: number(content["value"])}
    return run._replace(
        best_step=number(run.best_step), metrics=metrics, warnings=run.warnings or ()
    )


def make_rows(runs: Sequence[Run]) -> List[Row]:
    """Returns the table's rows: of each task and setting the deciding metric, then the others."""
    groups: Dict[Tuple[str, str], List[Run]] = {}
    for run in runs:
        groups.setdefault((run.task, run.setting), []).append(run)
    best: Dict[str, Tuple[str, str]] = {}  # by task; of equal ones the first
    for key in sorted(groups, key=lambda key: -np.mean([run.score for run in groups[key]])):
        best.setdefault(key[0], key)
    rows = []
    for (task, setting), group in groups.items():
        decides = group[0].metric
        speeds = [run.train_examples_per_second for run in group if run.train_examples_per_second]
        for metric in [decides, *_other_scores(group)]:
            values = {run.seed: float(run.metrics[metric]) for run in group}
            spread = float(np.std(list(values.values()), ddof=1)) if len(values) > 1 else None
            row = Row(
                task,
                setting,
                best[task] == (task, setting),
                metric,
                metric == decides,
                values=values,
                mean=float(np.mean(list(values.values()))),
                deviation=spread,
                best_step=float(np.mean([run.best_step for run in group])),
                examples_per_second=float(np.mean(speeds)) if speeds else None,
                wall_seconds=float(np.mean([run.wall_seconds for run in group])),
            )
            rows.append(row)
    return rows


def _other_scores(runs: Sequence[Run]) -> List[str]:
    """The further metrics that every run has and that are shares or correlations."""
    first = runs[0]
    return [
        name
        for name, value in sorted(first.metrics.items())
        if type(value) in (int, float)  # not bool
        and name != first.metric
        and not any(word in name for word in _NOT_SCORES)
        and all(name in run.metrics for run in runs)
    ]


def compare(runs: Sequence[Run]) -> List[published.Comparison]:
    """Returns each task's scores, at its best setting, beside what is published of the model."""
    found = []
    for row in filter(lambda row: row.is_best, make_rows(runs)):
        known = [run.model for run in runs if (run.task, run.setting) == (row.task, row.setting)]
        if known[0] is None or known.count(known[0]) < len(known):
            continue  # of another size, or of several
        model = published.Model(known[0]["size"], tuple(known[0]["presets"]))
        scores = {row.metric: [100 * value for value in row.values.values()]}
        found += published.compare(row.task, model, scores)
    return found


def format_results(runs: Sequence[Run]) -> str:
    """Returns the table as text and, if anything is published, that beside the scores."""
    beside = published.table(compare(runs))
    lines = ["", "Beside published results, in per cent", "", *beside] if beside else []
    for run in runs:
        said = [one["text"] for one in run.warnings if one["recovered_step"] is None]
        name = _label(run.task, run.setting, f"seed {run.seed}")
        lines += [f"{name}: {text}" for text in said]
    return format_table(make_rows(runs)) + "".join(f"{line}\n" for line in lines)


def format_table(rows: Sequence[Row]) -> str:
    """Returns the table as text; scores in per cent, times as means over the seeds."""
    lines = wording.table([_HEAD, *map(_cells, rows)], left=(0, 1))
    return "".join(f"{line}\n" for line in lines)


def _cells(row: Row) -> Tuple[str, ...]:
    score = (row.metric, str(len(row.values)), _percent(row.mean), _percent(row.deviation))
    if not row.decides:  # the task's first row has the rest
        return ("", *score, "", "", "")
    speed = "-" if row.examples_per_second is None else f"{row.examples_per_second:.1f}"
    seconds = progress.format_seconds(row.wall_seconds)
    return (_name(row), *score, f"{row.best_step:.0f}", speed, seconds)


def _name(row: Row) -> str:
    return _label(row.task, row.setting) + " (best)" * bool(row.setting and row.is_best)


def _percent(value: Optional[float]) -> str:
    """NaN is shown: a constant predictor has no correlation."""
    return "-" if value is None else f"{100 * value:.2f}"


def write_results(folder: str, runs: Sequence[Run], *, title: str) -> List[str]:
    """Writes the table as text, JSON and, with matplotlib, a picture; returns the paths."""
    rows = make_rows(runs)
    names = (TEXT_NAME, JSON_NAME, PICTURE_NAME)
    text, content, picture = (os.path.join(folder, name) for name in names)
    files.atomic_write_text(text, format_results(runs))
    value = {
        "format_version": FORMAT_VERSION,
        "rows": [_as_json(row._asdict()) for row in rows],
        "published": [one._asdict() for one in compare(runs)],
        "runs": [_as_json(run._asdict()) for run in runs],
    }
    files.atomic_write_json(content, value)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        _LOGGER.info(
            "No picture of the results without matplotlib (pip install 'albert-tf[plots]')."
        )
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

    finite = [row for row in rows if math.isfinite(row.mean)]
    figure, axes = pyplot.subplots(figsize=(8.5, 1.8 + 0.34 * len(finite)))
    names, lowest = [], 0.0
    for place, row in enumerate(finite):
        name = re.sub("^eval_", "", row.metric)
        names.append(f"{_name(row)}  {name}" if row.decides else name)
        values = [100 * value for value in row.values.values()]
        lowest = min(lowest, *values)
        colour = _BLUE if row.decides else _PALE
        axes.barh(place, 100 * row.mean, height=0.62, color=colour, alpha=0.35)
        axes.plot(values, [place] * len(values), "o", color=_BLUE, markersize=4)
        text = _percent(row.mean)
        if row.deviation is not None:
            text += f" ± {_percent(row.deviation)}"
            axes.errorbar(100 * row.mean, place, 0, 100 * row.deviation, color=_BLUE, capsize=3)
        axes.text(103, place, text, va="center")
    axes.set_yticks(range(len(finite)))
    axes.set_yticklabels(names)
    axes.invert_yaxis()
    axes.set_xlim(lowest - 2, 128)  # room on the right for the numbers
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


def _report(settings: Flags, done: List[PlannedRun]) -> None:
    """Writes the table in all its forms, and for GLUE the submission."""
    results = [
        read_run(_summary_path(run))._replace(setting=run.setting)
        for run in done
        if run.task not in BORROWED_MODELS
    ]
    named = model_flags(settings)
    model = named["albert_dir"] or next(filter(None, named.values()))
    title = (
        f"{settings.tasks or settings.suite.upper()}, {os.path.basename(os.path.normpath(model))}"
    )
    paths = write_results(settings.output_dir, results, title=title)
    if settings.do_predict and any(run.task in GLUE_TASKS for run in done):
        path = os.path.join(settings.output_dir, SUBMISSION_NAME)
        folders = best_folders(done, results)
        try:
            missing = predictions.zip_glue_submission(path, folders).missing
        except ValueError as error:
            _LOGGER.info("No submission for GLUE: %s", error)
        else:
            paths.append(path)
            if missing:
                names = ", ".join(missing)
                _LOGGER.info("%s lacks %s, which a submission needs.", path, names)
    print(format_results(results), end="", flush=True)
    _LOGGER.info("Wrote %s.", ", ".join(paths))


def best_folders(done: Sequence[PlannedRun], results: Sequence[Run]) -> List[str]:
    """Returns the folder of each task's best run; with a borrowed model that of its lender."""
    best: Dict[str, Run] = {}
    for run in sorted(results, key=lambda run: run.score, reverse=True):  # stable
        best.setdefault(run.task, run)
    lenders = [best.get(BORROWED_MODELS.get(run.task, run.task)) for run in done]
    return [
        run.folder
        for run, lender in zip(done, lenders)
        if lender and (lender.setting, lender.seed) == (run.setting, run.seed)
    ]


# ---- The script.


def main(settings: Flags) -> int:
    """Runs the script; the exit code is 1 if a run failed."""
    failed = sweep(settings)
    for name, last_line in failed.items():
        print(f"ERROR: {name}: {last_line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    cli.run(Flags, main, __doc__, fallback=_of_environment())
