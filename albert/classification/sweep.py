# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A sweep: a run of run_classifier for each task, setting and seed, in a process of its own."""

import itertools
import json
import logging
import math
import os
import shlex
import subprocess
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert.classification import predictions, tasks
from albert.classification.run import ClassifierTask, find_task
from albert.classification.settings import GRID, SUITES, ClassifierFlags, SweepFlags
from albert.classification.task_table import METRICS
from albert.configs import published
from albert.pretrained import warm_start
from albert.training import fine_tuning, model_fn
from albert.util import config_files, files, folder_lock, wording
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

MARKER_NAME, LOG_NAME = "sweep_run.json", "log.txt"  # in a run's folder
TEXT_NAME, JSON_NAME, SUBMISSION_NAME = "results.txt", "results.json", "glue_submission.zip"
# Other metrics in run_summary.json are no scores.
_SCORES = tuple(name for name, higher_is_better in METRICS.items() if higher_is_better)
LENDERS = {"ax": "mnli"}  # task without training data -> the task whose model predicts it

Result = Mapping[str, Any]  # run_summary.json of a run, with its setting


class Run(NamedTuple):
    """A planned run of run_classifier."""

    task: tasks.Task
    setting: str  # such as "learning_rate=1e-5"; "" where there is only one
    seed: int
    folder: str
    command: Sequence[str]
    identity: Mapping[str, Any]  # what determines its result: flags and files

    @property
    def name(self) -> str:
        """Returns the run's name in messages."""
        return ", ".join(filter(None, [self.task.name, self.setting, f"seed {self.seed}"]))

    def path(self, name: str) -> str:
        """Returns the path of a file in its folder."""
        return os.path.join(self.folder, name)


# ---- The plan.


def make_plan(settings: SweepFlags) -> List[Run]:
    """Returns all runs of a sweep; reads all inputs, so that an error is found before the first.

    Raises:
      UserError: an input that is missing, unreadable or does not fit the others.
    """
    values = {name: getattr(settings, name).split(",") for name in GRID if getattr(settings, name)}
    combinations = [dict(zip(values, given)) for given in itertools.product(*values.values())]
    plan: List[Run] = []
    for task_name, task in find_tasks(settings).items():
        data = {
            split.name: tasks.read_examples(task, settings.data_dir, split.name)
            for split in task.splits
            if split.role == "train" or tasks.has_split(task, settings.data_dir, split.name)
        }
        lender = LENDERS.get(task_name)
        data_files = [path for split in data.values() for path in split.files]
        for given, seed in itertools.product(combinations, parse_seeds(settings.seeds)):
            setting = ",".join(f"{name}={given[name]}" for name in given if len(values[name]) > 1)
            place = os.path.join(setting, f"seed-{seed}")
            folder = os.path.join(settings.output_dir, task.name, place)
            flags = {
                **_shared_flags(settings),
                **recipe_flags(task, given, 0 if lender else len(data["train"].examples)),
                **{"task_name": task_name, "seed": seed, "output_dir": folder},
                **{"do_train": not lender, "do_eval": not lender},
                "do_predict": settings.do_predict and any(map(data.get, task.split_names("test"))),
            }
            if lender:
                lent = os.path.join(settings.output_dir, lender, place, "model.ckpt-best")
                flags.update(checkpoint=lent, do_predict=True)
            arguments = [f"--{name}={value}" for name, value in flags.items()]
            arguments += (settings.run_flags or "").split()
            inputs = {path: files.state_of(path) for path in [*data_files, *_check(arguments)]}
            identity = {**flags, "run_flags": settings.run_flags, "files": inputs}
            command = [sys.executable, "-m", "albert.run_classifier", *arguments]
            plan.append(Run(task, setting, seed, folder, command, identity))
            is_finished(plan[-1])  # raises if its folder holds another run
    return plan


def find_tasks(settings: SweepFlags) -> Dict[str, tasks.Task]:
    """Returns the tasks by the name that --task_name takes, those with a borrowed model last.

    Without --tasks these are the tasks of the suite with a folder in --data_dir. Raises UserError
    for an unknown task, and for none.
    """
    names = (settings.tasks or "").lower().replace(",", " ").split() or [
        name
        for name in SUITES[settings.suite]
        if len(tasks.task_folders(tasks.get_task(name), settings.data_dir)) > 1
    ]
    if not names:
        raise UserError(
            f"--data_dir={settings.data_dir} holds no folder of a task of --suite={settings.suite}."
            " For files directly in --data_dir, name the task by --tasks."
        )
    names += [LENDERS[name] for name in names if name in LENDERS]
    return {name: find_task(name, settings) for name in sorted(names, key=LENDERS.__contains__)}


def parse_seeds(text: str) -> List[int]:
    """Returns the seeds of a text such as "1,2 5-7"; raises UserError for anything else."""
    try:
        spans = [list(map(int, part.split("-"))) for part in text.replace(",", " ").split()]
    except ValueError:
        spans = []
    seeds = [seed for span in spans for seed in range(span[0], span[-1] + 1)]
    if not seeds:
        raise UserError(f"--seeds={text}: give whole numbers such as 1,2,3 or 1-5.")
    return list(dict.fromkeys(seeds))


def recipe_flags(task: tasks.Task, given: Mapping[str, str], examples: int) -> Dict[str, Any]:
    """Returns the hyper-parameters of a task by flag: the given ones, and else the task's own.

    With another training length the warm-up keeps its share. A recipe that does not say when to
    save saves once per epoch, of `examples` examples.
    """
    flags = {name: value for name, value in task.recipe._asdict().items() if value}
    if "train_step" in flags and {"train_step", "num_train_epochs"} & set(given):
        flags["warmup_proportion"] = round(flags.pop("warmup_step") / flags.pop("train_step"), 4)
    # In run_classifier epochs and the proportion win over steps.
    for name, winner in (("train_step", "num_train_epochs"), ("warmup_step", "warmup_proportion")):
        if name in given:
            flags.pop(winner, None)
    flags.update(given)
    flags.setdefault("save_checkpoints_steps", max(1, examples // int(flags["train_batch_size"])))
    return flags


def _shared_flags(settings: SweepFlags) -> Dict[str, Any]:
    """The flags that all runs share."""
    known = flags_lib.describe(ClassifierFlags)
    flags = {name: value for name, value in settings.given_values().items() if name in known}
    if settings.model_dir:
        flags["albert_dir"] = settings.model_dir
    flags["cached_dir"] = os.path.join(settings.output_dir, "features")
    flags["keep_checkpoint_max"] = 1  # beside the best one; to resume from
    return flags


def _check(arguments: Sequence[str]) -> List[str]:
    """Checks that a run can start; returns the files that it reads beside the data."""
    flags = flags_lib.parse(ClassifierFlags, arguments)
    run = fine_tuning.FineTuning(flags, ClassifierTask)
    model_fn.check_first_weights(run.settings, run.setup.config)
    start = run.settings.init_checkpoint
    index = start and warm_start.resolve_checkpoint(start) + ".index"
    paths = [run.settings.albert_config_file, run.setup.vocabulary.file, flags.task_file, index]
    return list(filter(None, paths))


# ---- The runs.


def is_finished(run: Run) -> bool:
    """Returns whether a run is done; raises UserError if its folder holds anything else."""
    if not (tf.io.gfile.isdir(run.folder) and tf.io.gfile.listdir(run.folder)):
        return False
    identity = files.read_json_object(run.path(MARKER_NAME))
    is_done = identity.pop("is_finished", False)
    difference = files.fingerprint_difference(identity, run.identity)
    if difference:
        raise UserError(
            f"{run.folder} holds a run with other settings or data: {difference}. Choose another "
            "--output_dir, or remove that folder."
        )
    return is_done


def sweep(settings: SweepFlags) -> None:
    """Does the runs that are not finished; the results are written after each.

    Raises:
      UserError: inputs that cannot be used, another sweep into the same folder, or a failed run.
    """
    if settings.dry_run:
        for run in make_plan(settings):
            state = "finished" if is_finished(run) else "to do"
            print(f"# {run.name}: {state}\n{' '.join(map(shlex.quote, run.command))}")
        return
    folder, text = settings.output_dir, ""
    results: List[Result] = []
    with folder_lock.held(folder):
        plan = make_plan(settings)
        flags_path = os.path.join(folder, config_files.RECORD_NAME)
        config_files.record(flags_path, settings.given_values())
        for number, run in enumerate(plan, 1):
            is_done = is_finished(run)
            state = ": already finished" if is_done else ""
            _LOGGER.info("Run %s of %s, %s%s.", number, len(plan), run.name, state)
            if not is_done:
                _start(run)
            if run.task.name not in LENDERS:
                summary = files.read_json_object(run.path(fine_tuning.SUMMARY_NAME))
                results.append(dict(summary, setting=run.setting))
                text = _write(folder, results)
        if settings.do_predict:
            _submit(os.path.join(folder, SUBMISSION_NAME), plan, results)
    print(text, end="", flush=True)


def _start(run: Run) -> None:
    """Does a run; its output goes into its log, and to standard error behind its name."""
    files.atomic_write_json(run.path(MARKER_NAME), run.identity)
    process = subprocess.Popen(
        run.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    line = ""
    try:
        with open(run.path(LOG_NAME), "a", encoding="utf-8") as log:
            for line in process.stdout:
                print(line, end="", file=log, flush=True)
                print(f"[{run.name}] {line}", end="", file=sys.stderr, flush=True)
        code = process.wait()
    finally:
        process.terminate()  # it saves its steps
        process.wait()
    if code:
        log_path = run.path(LOG_NAME)
        raise UserError(f"{run.name} failed with exit code {code}, see {log_path}: {line.strip()}")
    files.atomic_write_json(run.path(MARKER_NAME), dict(run.identity, is_finished=True))


# ---- The results.


def score_of(result: Result) -> float:
    """Returns the metric that chose the checkpoint, the larger the better; -inf for none."""
    value = result["metrics"].get(result["metric"], math.nan)
    return -math.inf if math.isnan(value) else value * (1 if METRICS[result["metric"]] else -1)


def tabulate(results: Sequence[Result]) -> Tuple[str, Dict[str, Any]]:
    """Returns the table in per cent, with what is published of its scores, and what JSON says."""
    groups: Dict[Any, List[Result]] = {}
    for result in results:
        groups.setdefault((result["task"], result["setting"]), []).append(result)
    means = {key: np.mean(list(map(score_of, group))) for key, group in groups.items()}
    model, rows = results[0].get("model"), []
    cells = [("task", "metric", "seeds", "mean", "deviation")]
    beside: List[published.Comparison] = []
    for (task, setting), group in groups.items():
        is_best = bool(means[task, setting] == max(means[key] for key in means if key[0] == task))
        label = ", ".join(filter(None, [task, setting])) + " (best)" * bool(setting and is_best)
        others = sorted(name for name in group[0]["metrics"] if name.startswith(_SCORES))
        for metric in dict.fromkeys([group[0]["metric"], *others]):
            values = {one["seed"]: one["metrics"].get(metric, math.nan) for one in group}
            percent = [100 * value for value in values.values()]
            spread = np.std(percent, ddof=1) if len(group) > 1 else math.nan  # of the sample
            shown = [f"{value:.2f}".replace("nan", "-") for value in (np.mean(percent), spread)]
            cells.append((label, metric, str(len(group)), *shown))
            row = {"task": task, "setting": setting, "is_best": is_best, "metric": metric}
            row.update(mean=np.mean(percent) / 100, deviation=spread / 100, values=values)
            rows.append(row)
            if model and is_best:
                beside += published.compare(task, published.Model(**model), {metric: percent})
    lines = wording.table(cells, left=(0, 1))
    if beside:
        lines += ["", "Beside published results, in per cent", "", *published.table(beside)]
    comparisons = [comparison._asdict() for comparison in beside]
    content = {"format_version": 1, "rows": rows, "published": comparisons, "runs": results}
    return "\n".join([*lines, ""]), content


def _write(folder: str, results: Sequence[Result]) -> str:
    """Writes the table as text and JSON; returns the text."""
    text, content = tabulate(results)
    files.atomic_write_text(os.path.join(folder, TEXT_NAME), text)
    no_nan = json.loads(json.dumps(content), parse_constant=lambda name: None)
    files.atomic_write_json(os.path.join(folder, JSON_NAME), no_nan)
    return text


def _submit(path: str, plan: Sequence[Run], results: Sequence[Result]) -> None:
    """Zips the predictions for GLUE of each task's best run; a borrower's is its lender's."""
    best = {  # of equal ones the last
        result["task"]: (result["setting"], result["seed"])
        for result in sorted(results, key=score_of)
    }
    found = [
        path
        for run in plan
        if best[LENDERS.get(run.task.name, run.task.name)] == (run.setting, run.seed)
        for path in map(run.path, run.task.submissions.values())
        if tf.io.gfile.exists(path)
    ]
    if found:
        missing = predictions.zip_glue_submission(path, found)
        _LOGGER.info("Wrote %s, which lacks %s.", path, ", ".join(missing) or "nothing")
