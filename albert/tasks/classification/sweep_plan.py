# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plans the runs of a sweep, and checks their inputs."""

import itertools
import os
import re
import sys
from typing import Any, Dict, List, Mapping

from albert.formats import model_paths
from albert.tasks.classification import registry
from albert.tasks.classification.flags import SUITES, ClassifierFlags, GridFlags, SweepFlags
from albert.tasks.classification.sweep_run import LENDERS, SweepRun, is_finished
from albert.tasks.classification.task import ClassifierTask, find_task
from albert.training import fine_tuning, program
from albert.util import UserError, provenance
from albert.util import flags as flags_lib

SCRIPT = "albert.run_classifier"
_MOST_SEEDS = 1000


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
            command = [sys.executable, "-m", SCRIPT, *arguments]
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
