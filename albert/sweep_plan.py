# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a sweep of fine-tuning runs will do: its tasks, its inputs, and a command for each run.

Everything a run needs is looked at here, before the first run starts.
"""

import logging
import os
import re
import shlex
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert import fine_tuning_utils, modeling, run_classifier
from albert.classification import run as classifier_run
from albert.classification import tasks as classifier_tasks
from albert.pretrained import released as released_models
from albert.pretrained import warm_start as checkpoint_init
from albert.training import fine_tuning
from albert.util import files, folder_lock
from albert.util import flags as flags_lib

_LOGGER = logging.getLogger("albert")

# Suite -> the tasks of it that are run unless others are named, where their data is there.
SUITES = {
    # MNLI's run reports the mismatched data too.
    "glue": tuple(name for name in classifier_tasks.GLUE_TASKS if name != "mismnli"),
    # The same data as lcqmc.
    "clue": tuple(name for name in classifier_tasks.CHINESE_TASKS if name != "lcqmc_pair"),
}
# Task without training data -> the task whose model predicts it.
BORROWED_MODELS = {"ax": "mnli"}

MARKER_NAME = "sweep_run.json"
LOG_NAME = "log.txt"
_FEATURES_FOLDER = "features"

# Flags of a run that say where things are, or how fast it goes, and not what comes of it.
_WITHOUT_EFFECT = (
    "albert_config_file",
    "albert_dir",
    "cached_dir",
    "checkpoint",
    "data_dir",
    "eval_batch_size",
    "export_dir",
    "init_checkpoint",
    "keep_checkpoint_max",
    "log_steps",
    "output_dir",
    "predict_batch_size",
    "save_checkpoints_minutes",
    "spm_model_file",
    "vocab_file",
)
_RECIPE_FLAGS = (
    "max_seq_length",
    "train_batch_size",
    "learning_rate",
    "train_step",
    "num_train_epochs",
    "warmup_step",
    "warmup_proportion",
    "save_checkpoints_steps",
)


class PlannedRun(NamedTuple):
    """One run of run_classifier.

    Attributes:
      task: name of the task.
      seed: its seed.
      folder: its output folder.
      arguments: its command line, without the program.
      identity: what decides its result, as JSON values.
    """

    task: str
    seed: int
    folder: str
    arguments: Tuple[str, ...]
    identity: Dict[str, Any]

    @property
    def name(self) -> str:
        """Returns what messages call the run."""
        return f"{self.task}, seed {self.seed}"


# ---------------------------------------------------------------------------------------------
# The model.


class ModelFiles(NamedTuple):
    """Where the model is; what is not needed is None."""

    albert_config_file: Optional[str]
    init_checkpoint: Optional[str]
    spm_model_file: Optional[str]
    vocab_file: Optional[str]
    albert_hub_module_handle: Optional[str]
    do_lower_case: bool


def find_model(settings: Any) -> ModelFiles:
    """Returns the files of the model; those that a flag names go before those of the folder.

    Args:
      settings: has model_dir, albert_dir and the fields of ModelFiles.

    Raises:
      ValueError: no model is named, or the folder lacks a part or has several of a kind.
    """
    if not settings.model_dir:
        completed = released_models.completed(settings)
        files_of = (getattr(completed, field) or None for field in ModelFiles._fields[:-1])
        named = ModelFiles(*files_of, do_lower_case=completed.do_lower_case)
        if not named.albert_config_file and not named.albert_hub_module_handle:
            raise ValueError(
                "No model is named. Give --model_dir (the folder of a released archive), or "
                "--albert_hub_module_handle, or --albert_config_file with a vocabulary (and "
                "--init_checkpoint, unless the first weights are to be random)."
            )
        return named
    for other in ("albert_dir", "albert_hub_module_handle"):
        if getattr(settings, other):
            raise ValueError(f"Give either --model_dir or --{other}, not both.")
    fields = released_models.ModelFiles._fields
    parts = released_models.ModelFiles(*(getattr(settings, field) or None for field in fields))
    folder = released_models.local_folder(settings.model_dir, "model_dir")
    label = f"--model_dir={folder}"
    found = released_models.find_files(folder, parts, label=label)
    vocabulary = released_models.vocabulary_of(found, folder, settings, label=label)
    return ModelFiles(*found, None, vocabulary.do_lower_case)


# ---------------------------------------------------------------------------------------------
# Tasks and seeds.


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
    there, absent = [], []
    for name in SUITES[suite]:
        task = classifier_tasks.get_task(name)
        has_folder = len(classifier_tasks.task_folders(task, data_dir)) > 1
        needed = ["test"] if name in BORROWED_MODELS else ["train", "dev"]
        is_there = has_folder and all(
            classifier_tasks.has_split(task, data_dir, split) for split in needed
        )
        (there if is_there else absent).append(task)
    names = {task.name for task in there}
    tasks = [task for task in there if BORROWED_MODELS.get(task.name, task.name) in names]
    if not tasks:
        folders = ", ".join(task.folder for task in absent)
        raise ValueError(
            f"--data_dir={data_dir} holds training and evaluation data of no task of the suite "
            f"'{suite}'. Folders looked for: {folders}. --tasks names tasks whose files lie in "
            "--data_dir itself."
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
# Settings of a run.


def recipe_flags(task: classifier_tasks.Task, settings: Any, examples: int) -> Dict[str, Any]:
    """Returns the hyper-parameters of a task's runs by flag: the task's own unless overridden.

    Where the length is overridden and the warm-up is not, its share stays; a recipe that does not
    say when to save saves once an epoch.

    Args:
      task: its recipe counts.
      settings: has the recipe's flags; None leaves the recipe's value.
      examples: of the training data.
    """
    given = {name: getattr(settings, name) for name in _RECIPE_FLAGS}
    recipe = task.recipe
    flags: Dict[str, Any] = {
        name: recipe_value if given[name] is None else given[name]
        for name, recipe_value in (
            ("max_seq_length", recipe.max_seq_length),
            ("train_batch_size", recipe.train_batch_size),
            ("learning_rate", recipe.learning_rate),
        )
    }
    if given["train_step"] is None and given["num_train_epochs"] is None:
        given.update(train_step=recipe.train_step or None, num_train_epochs=recipe.num_train_epochs)
    length = "num_train_epochs" if given["num_train_epochs"] else "train_step"
    flags[length] = given[length]
    if given["warmup_step"] is not None:
        flags["warmup_step"] = given["warmup_step"]
    elif given["warmup_proportion"] is None and flags.get("train_step") == recipe.train_step:
        flags["warmup_step"] = recipe.warmup_step
    else:
        share = recipe.warmup_proportion
        if recipe.train_step:
            share = round(recipe.warmup_step / recipe.train_step, 4)
        chosen = given["warmup_proportion"]
        flags["warmup_proportion"] = share if chosen is None else chosen
    epoch = max(1, examples // flags["train_batch_size"])
    flags["save_checkpoints_steps"] = (
        given["save_checkpoints_steps"] or recipe.save_checkpoints_steps or epoch
    )
    return flags


def _argument(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value:g}" if isinstance(value, float) else f"--{name}={value}"


def extra_arguments(text: Optional[str]) -> List[str]:
    """Returns further flags for every run, as a shell would take them apart.

    Raises:
      ValueError: a quotation mark is missing.
    """
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise ValueError(f"--run_flags={text!r}: {error}.") from error


class _Planner:
    """Looks at the inputs of each task once, and makes the runs."""

    def __init__(self, settings: Any, model: ModelFiles):
        self._settings = settings
        self._model = model
        self._model_identity: Optional[Dict[str, Any]] = None
        self._identities: Dict[Tuple[str, int], Dict[str, Any]] = {}  # by task and seed

    def runs(self, task: classifier_tasks.Task, seeds: Sequence[int]) -> List[PlannedRun]:
        """The runs of a task; raises ValueError for inputs that cannot be used."""
        data = _read_data(task, self._settings)
        arguments = self._arguments(task, data)
        runs = []
        for seed in seeds:
            folder = run_folder(self._settings.output_dir, task.name, seed)
            own = [f"--seed={seed}", f"--output_dir={folder}"]
            if task.name in BORROWED_MODELS:
                lender = run_folder(self._settings.output_dir, BORROWED_MODELS[task.name], seed)
                own.append(f"--checkpoint={os.path.join(lender, 'model.ckpt-best')}")
            everything = tuple(arguments + own + extra_arguments(self._settings.run_flags))
            try:
                parsed = released_models.completed(
                    flags_lib.parse(run_classifier.define_flags, everything)
                )
                fine_tuning.check_flags(parsed, classifier_run.ClassifierTask)
                fine_tuning_utils.load_config(parsed)  # each task has a length of its own
            except ValueError as error:
                raise ValueError(f"Task {task.name}: {error}") from error
            lender = BORROWED_MODELS.get(task.name)
            borrowed = self._identities[lender, seed] if lender else {}
            identity = self._identity(parsed, data)
            identity.update({f"{lender}.{name}": value for name, value in borrowed.items()})
            self._identities[task.name, seed] = identity
            runs.append(PlannedRun(task.name, seed, folder, everything, identity))
        return runs

    def _arguments(self, task: classifier_tasks.Task, data: "_Data") -> List[str]:
        """The command line that all seeds share."""
        settings = self._settings
        borrowed = task.name in BORROWED_MODELS
        values: Dict[str, Any] = {
            "task_name": task.name,
            "data_dir": settings.data_dir,
            "cached_dir": os.path.join(settings.output_dir, _FEATURES_FOLDER),
            "do_train": not borrowed,
            "do_eval": not borrowed,
            "do_predict": data.has_test,
            # The best one is kept besides, and the newest is what a run goes on from.
            "keep_checkpoint_max": 1,
            "precision": settings.precision,
            "padding": settings.padding,
        }
        values.update(self._model._asdict())
        if borrowed:
            lender = classifier_tasks.get_task(BORROWED_MODELS[task.name])
            flags = recipe_flags(lender, settings, examples=0)
            values.update(max_seq_length=flags["max_seq_length"], init_checkpoint=None)
        else:
            values.update(recipe_flags(task, settings, data.examples))
        return [_argument(name, value) for name, value in values.items() if value is not None]

    def _identity(self, parsed: flags_lib.Settings, data: "_Data") -> Dict[str, Any]:
        """What decides the result: settings and contents, but no places."""
        if self._model_identity is None:
            self._model_identity = _check_model(parsed)
        values = {
            # NaN is not equal to itself.
            name: str(value) if isinstance(value, float) else value
            for name, value in parsed.to_dict().items()
            if name not in _WITHOUT_EFFECT
        }
        return files.normalized_fingerprint(
            {**values, **self._model_identity, "data": data.fingerprints}
        )


class _Data(NamedTuple):
    """What is known about a task's files."""

    examples: int  # of training
    has_test: bool
    fingerprints: List[Mapping[str, Any]]


def _read_data(task: classifier_tasks.Task, settings: Any) -> _Data:
    """Reads every split that will be used: an error is found now and not after hours."""
    optional = task.dev_splits[1:] + (task.test_splits if settings.do_predict else ())
    there = [
        split for split in optional if classifier_tasks.has_split(task, settings.data_dir, split)
    ]
    needed = [] if task.name in BORROWED_MODELS else ["train", task.dev_splits[0]]
    examples, paths = 0, []
    for split in needed + there:
        data = classifier_tasks.read_examples(task, settings.data_dir, split)
        paths += data.files
        examples = len(data.examples) if split == "train" else examples
    if not paths:
        raise ValueError(
            f"Task {task.name} has nothing to do: no test data in {settings.data_dir}, or "
            "--nodo_predict."
        )
    has_test = bool(set(there) & set(task.test_splits))
    return _Data(examples, has_test, [files.file_fingerprint(path) for path in paths])


def _check_model(parsed: flags_lib.Settings) -> Dict[str, Any]:
    """Makes sure that configuration, vocabulary and weights fit; returns what they are."""
    config = fine_tuning_utils.load_config(parsed)
    vocabulary = fine_tuning_utils.load_vocabulary(parsed, config)
    identity: Dict[str, Any] = {
        "config": config and config.to_dict(),
        "vocabulary": files.file_fingerprint(vocabulary.file)["sha256"],
    }
    if parsed.init_checkpoint:
        checkpoint = checkpoint_init.resolve_checkpoint(parsed.init_checkpoint)
        with tf.Graph().as_default():
            modeling.AlbertModel(config, False, tf.zeros([1, 4], tf.int32), scope="bert")
            checkpoint_init.warm_start(checkpoint, tf.trainable_variables())
        identity["weights"] = files.file_fingerprint(checkpoint + ".index")["sha256"]
    return identity


def run_folder(output_dir: str, task: str, seed: int) -> str:
    """Returns the folder of a run."""
    return os.path.join(output_dir, task, f"seed-{seed}")


def make_plan(settings: Any) -> List[PlannedRun]:
    """Returns all runs of a sweep, after a look at everything they need.

    Args:
      settings: flags_lib.Settings with the flags of albert.sweep.

    Raises:
      ValueError: something is missing, unreadable or contradictory, or a folder holds a run of
        other settings.
    """
    tasks = find_tasks(settings.tasks, settings.suite, settings.data_dir)
    seeds = parse_seeds(settings.seeds)
    planner = _Planner(settings, find_model(settings))
    plan = [run for task in tasks for run in planner.runs(task, seeds)]
    for run in plan:
        check_folder(run)
    return plan


# ---------------------------------------------------------------------------------------------
# What has been done.


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


def is_finished(run: PlannedRun) -> bool:
    """Returns whether the run was done before, with the same settings and data."""
    marker = _read_marker(run)
    summary = os.path.join(run.folder, fine_tuning.SUMMARY_NAME)
    has_result = run.task in BORROWED_MODELS or tf.io.gfile.exists(summary)
    return marker is not None and marker["is_finished"] and has_result


def mark(run: PlannedRun, *, is_finished: bool) -> None:
    """Records in the run's folder whose it is, and whether it is done."""
    content = {"identity": run.identity, "is_finished": is_finished}
    files.atomic_write_json(os.path.join(run.folder, MARKER_NAME), content)
