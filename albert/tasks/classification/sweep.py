# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A sweep: a run of run_classifier for each task, setting and seed, in a process of its own."""

import itertools
import json
import logging
import math
import os
import re
import shlex
import subprocess
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from albert.configs import published
from albert.formats import model_paths
from albert.tasks.classification import predictions, registry
from albert.tasks.classification.flags import SUITES, ClassifierFlags, GridFlags, SweepFlags
from albert.tasks.classification.task import ClassifierTask, find_task
from albert.training import evaluation, fine_tuning, metrics, program
from albert.training.run_files import LOSSES
from albert.util import files, folder_lock, json_files, provenance, wording
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

MARKER_NAME, LOG_NAME = "sweep_run.json", "log.txt"  # in a run's folder
TEXT_NAME, JSON_NAME, SUBMISSION_NAME = "results.txt", "results.json", "glue_submission.zip"
# Other metrics in run_summary.json are no scores.
_SCORES = tuple(set(metrics.METRICS) - set(LOSSES))
_MOST_SEEDS = 1000
LENDERS = {"ax": "mnli"}  # task without training data -> the task whose model predicts it

Result = Mapping[str, Any]  # run_summary.json of a run, with its setting


class SweepRun(NamedTuple):
    """A planned run of run_classifier."""

    task: registry.TaskSpec
    setting: str  # such as "learning_rate=1e-5"; "" where there is only one
    seed: int
    folder: str
    command: Sequence[str]
    identity: Mapping[str, Any]  # what determines its result: flags and data

    @property
    def name(self) -> str:
        """Returns the run's name in messages."""
        return ", ".join(filter(None, [self.task.name, self.setting, f"seed {self.seed}"]))


# ---- The plan.


def make_plan(flags: SweepFlags) -> List[SweepRun]:
    """Returns all runs of a sweep; reads all inputs, to find errors before the first run.

    Raises:
      UserError: an input that is missing, unreadable or does not fit the others.
    """
    explicit, classifier_flags = flags.explicit_values(), flags_lib.describe(ClassifierFlags)
    grid_flags = flags_lib.describe(GridFlags)
    values = {name: explicit[name].split(",") for name in grid_flags if name in explicit}
    shared = {name: value for name, value in explicit.items() if name in classifier_flags}
    if flags.model_dir:
        shared["albert_dir"] = flags.model_dir
    plan = []
    for task_name, task in find_tasks(flags).items():
        data = {
            split: registry.read_examples(task, flags.data_dir, split)
            for split in task.splits
            if split == "train" or registry.find_file(task, flags.data_dir, split)
        }
        inputs = {path: provenance.stamp(path) for split in data.values() for path in split.files}
        borrows, count = task_name in LENDERS, len(data["train"].examples) if "train" in data else 0
        can_predict = flags.do_predict and task.split_names("test")[0] in data
        for *chosen, seed in itertools.product(*values.values(), parse_seeds(flags.seeds)):
            grid = dict(zip(values, chosen))
            setting = ",".join(f"{name}={grid[name]}" for name in grid if len(values[name]) > 1)
            subfolder = os.path.join(setting, f"seed-{seed}")
            folder = os.path.join(flags.output_dir, task.name, subfolder)
            run_values = {
                **shared,
                **grid,
                "task_name": task_name,
                "seed": seed,
                "output_dir": folder,
                "cached_dir": os.path.join(flags.output_dir, "features"),
                "keep_checkpoint_max": 1,  # beside the best one; to resume from
                "do_train": not borrows,
                "do_eval": not borrows,
                "do_predict": can_predict or borrows,
            }
            if borrows:
                lender = os.path.join(flags.output_dir, LENDERS[task_name], subfolder)
                run_values["checkpoint"] = os.path.join(lender, "model.ckpt-best")
            arguments = [f"--{name}={value}" for name, value in run_values.items()]
            arguments += (flags.run_flags or "").split()
            recipe = recipe_flags(task, grid, count)
            parsed = flags_lib.parse(ClassifierFlags, arguments, fallback=recipe)
            arguments = [f"--{name}={value}" for name, value in parsed.explicit_values().items()]
            checked = fine_tuning.FineTuning(parsed, ClassifierTask)
            program.check_first_weights(checked.flags, checked.task.config)
            start = checked.flags.init_checkpoint
            weights = start and model_paths.resolve(start) + ".index"
            for path in filter(None, [parsed.task_file, weights]):
                inputs[path] = inputs.get(path) or provenance.stamp(path)
            command = [sys.executable, "-m", "albert.run_classifier", *arguments]
            states = {path: [stamp["size"], stamp["mtime"]] for path, stamp in inputs.items()}
            samples = {path: stamp["sample"] for path, stamp in inputs.items()}
            identity = {**parsed.explicit_values(), "files": states, "sample": samples}
            plan.append(SweepRun(task, setting, seed, folder, command, identity))
            is_finished(plan[-1])  # or is its folder another run's?
    return plan


def find_tasks(flags: SweepFlags) -> Dict[str, registry.TaskSpec]:
    """Returns the tasks by name; those that use another task's model come last.

    Without --tasks these are the tasks of the suite with a folder in --data_dir. Raises UserError
    for an unknown task, and for none.
    """
    names = (flags.tasks or "").lower().replace(",", " ").split() or [
        name
        for name in SUITES[flags.suite]
        if len(registry.task_folders(registry.get_task(name), flags.data_dir)) > 1
    ]
    if not names:
        raise UserError(
            f"--data_dir={flags.data_dir} has no task folder of --suite={flags.suite}. If "
            "--data_dir is the folder of one task, name the task with --tasks."
        )
    names += [LENDERS[name] for name in names if name in LENDERS]
    return {name: find_task(name, flags) for name in sorted(names, key=LENDERS.__contains__)}


def parse_seeds(text: str) -> List[int]:
    """Returns the seeds of a text such as "1,2 5-7"; raises UserError for anything else."""
    seeds: List[int] = []
    for part in text.replace(",", " ").split():
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part)
        span = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        if not span:
            raise UserError(f"--seeds={text}: '{part}' is neither a seed nor a range such as 1-5.")
        if len(seeds) + len(span) > _MOST_SEEDS:
            raise UserError(f"--seeds={text} names more than {_MOST_SEEDS:,} seeds. Give fewer.")
        seeds += span
    if not seeds:
        raise UserError("--seeds is empty. Give whole numbers such as 1,2,3 or 1-5.")
    return list(dict.fromkeys(seeds))


def recipe_flags(
    task: registry.TaskSpec, shared: Mapping[str, str], examples: int
) -> Dict[str, Any]:
    """Returns a task's hyper-parameters by flag: the given values, or else the published ones.

    With another training length the warm-up keeps its share. A recipe that does not say when to
    save saves once per epoch, of `examples` examples.
    """
    flags = {name: value for name, value in task.recipe._asdict().items() if value}
    if "train_step" in flags and {"train_step", "num_train_epochs"} & set(shared):
        flags["warmup_proportion"] = round(flags.pop("warmup_step") / flags.pop("train_step"), 4)
    for name in flags_lib.replaced(ClassifierFlags, shared):
        flags.pop(name, None)
    flags.update(shared)
    flags.setdefault("save_checkpoints_steps", max(1, examples // int(flags["train_batch_size"])))
    return flags


# ---- The runs.


def is_finished(run: SweepRun) -> bool:
    """Returns whether a run is done; raises UserError if its folder holds anything else."""
    if not files.exists(run.folder):
        return False
    path = os.path.join(run.folder, MARKER_NAME)
    identity = json_files.read(path, {"is_finished": (bool, None)})
    is_done = identity.pop("is_finished", False)
    difference = provenance.difference(identity, run.identity)
    if difference:
        raise UserError(
            f"{run.folder} holds a run with other settings or data: {difference}. Choose another "
            "--output_dir, or remove that folder."
        )
    return is_done


def sweep(flags: SweepFlags) -> None:
    """Does the runs that are not finished, and writes the results after each.

    Raises:
      UserError: inputs that cannot be used, another sweep into the same folder, or a failed run.
    """
    plan, folder = make_plan(flags), flags.output_dir
    if flags.dry_run:
        for run in plan:
            state = "finished" if is_finished(run) else "to do"
            print(f"# {run.name}: {state}\n{' '.join(map(shlex.quote, run.command))}")
        return
    results: List[Result] = []
    text = ""
    with folder_lock.held(folder):
        path = os.path.join(folder, flags_lib.RECORD_NAME)
        flags_lib.write_config(path, flags.explicit_values())
        for number, run in enumerate(plan, 1):
            if not is_finished(run):
                _LOGGER.info("Run %s of %s: %s.", number, len(plan), run.name)
                _start(run)
            if run.task.name not in LENDERS:
                path = os.path.join(run.folder, fine_tuning.SUMMARY_NAME)
                results.append(dict(fine_tuning.read_summary(path), setting=run.setting))
                text, content = tabulate(results)
                files.atomic_write_text(os.path.join(folder, TEXT_NAME), text)
                no_nan = json.loads(json.dumps(content), parse_constant=lambda name: None)
                files.atomic_write_json(os.path.join(folder, JSON_NAME), no_nan)
        if flags.do_predict:
            _submit(os.path.join(folder, SUBMISSION_NAME), plan, results)
    print(text, end="", flush=True)


def _start(run: SweepRun) -> None:
    """Does a run; its output goes into its log, and to standard error behind its name."""
    marker, path = (os.path.join(run.folder, name) for name in (MARKER_NAME, LOG_NAME))
    files.atomic_write_json(marker, run.identity)
    line = ""
    with open(path, "a", encoding="utf-8") as log, subprocess.Popen(
        run.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    ) as process:
        try:
            for line in process.stdout:
                print(line, end="", file=log, flush=True)
                print(f"[{run.name}] {line}", end="", file=sys.stderr, flush=True)
        except BaseException:
            process.terminate()  # it saves its steps
            raise
    code = process.returncode
    if code:
        raise UserError(f"{run.name} failed with exit code {code}, see {path}: {line.strip()}")
    files.atomic_write_json(marker, dict(run.identity, is_finished=True))


# ---- The results.


def score_of(result: Result) -> float:
    """Returns the score of the best checkpoint, with larger values for better; -inf for none."""
    metric = result["metric"]
    return evaluation.rank_of(result["metrics"], metric)[0]


def tabulate(results: Sequence[Result]) -> Tuple[str, Dict[str, Any]]:
    """Returns the table, with scores in per cent, and the content of results.json."""
    groups: Dict[Tuple[str, str], List[Result]] = {}
    for result in results:
        groups.setdefault((result["task"], result["setting"]), []).append(result)
    means = {key: np.mean(list(map(score_of, group))) for key, group in groups.items()}
    model, rows, beside = results[0].get("model"), [], []
    cells = [("task", "metric", "seeds", "mean", "deviation")]
    for (task, setting), group in groups.items():
        is_best = all(mean <= means[task, setting] for key, mean in means.items() if key[0] == task)
        label = task
        if setting:
            label += f", {setting} (best)" if is_best else f", {setting}"
        others = sorted(name for name in group[0]["metrics"] if name.startswith(_SCORES))
        for metric in dict.fromkeys([group[0]["metric"], *others]):
            values = {result["seed"]: result["metrics"].get(metric, math.nan) for result in group}
            scores = np.array(list(values.values()))
            spread = scores.std(ddof=1) if len(scores) > 1 else math.nan  # of the sample
            row = {"task": task, "setting": setting, "is_best": is_best, "metric": metric}
            rows.append(dict(row, mean=scores.mean(), deviation=spread, values=values))
            shown = (_shown(metric, value) for value in (scores.mean(), spread))
            cells.append((label, metric, str(len(group)), *shown))
            if model and is_best:
                percent = {metric: (100 * scores).tolist()}
                published_model = published.PublishedModel(model["size"], tuple(model["presets"]))
                beside += published.compare(task, published_model, percent)
    lines = wording.table(cells, left=(0, 1))
    if beside:
        lines += ["", "Your and published results, in per cent", ""]
        lines += published.comparison_table(beside)
    comparisons = [comparison._asdict() for comparison in beside]
    content = {"format_version": 1, "rows": rows, "published": comparisons, "runs": results}
    return "\n".join([*lines, ""]), content


def _shown(metric: str, value: float) -> str:
    """A score in per cent, or a loss as it is; "-" for NaN."""
    text = f"{value:.4f}" if metric in LOSSES else f"{100 * value:.2f}"
    return text.replace("nan", "-")


def _submit(path: str, plan: Sequence[SweepRun], results: Sequence[Result]) -> None:
    """Zips the predictions for GLUE of each task's best run; a borrower's is its lender's."""
    best = {}  # the last of equal ones
    for result in sorted(results, key=score_of):
        best[result["task"]] = result["setting"], result["seed"]
    chosen = [
        os.path.join(run.folder, name)
        for run in plan
        if best[LENDERS.get(run.task.name, run.task.name)] == (run.setting, run.seed)
        for name in run.task.submissions.values()
    ]
    written = list(filter(files.exists, chosen))
    if written:
        missing = predictions.zip_glue_submission(path, written)
        _LOGGER.info("Wrote %s. Missing: %s.", path, ", ".join(missing) or "none")
