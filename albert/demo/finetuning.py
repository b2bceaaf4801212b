# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes an ALBERT of a published size on SQuAD or MRPC, and reports speed and scores.

The data's folder (-i) holds, for squad, train-v1.1.json and dev-v1.1.json; for mrpc, train.tsv and
dev.tsv, or a folder MRPC with them. The model (--model) is the folder of a released archive, with
albert_config.json, 30k-clean.model, model.ckpt-best.*, or of run_pretraining, or the name of a
released model. Without it the first weights are random, which shows the speed and not the scores;
the vocabulary (*.model or vocab.txt) is then looked for in the data's folder.
"""

import argparse
import os
import pathlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from albert import modeling, run_classifier, run_squad_v1
from albert.demo import runs as demo_runs
from albert.pretrained import released as released_models
from albert.squad import examples as squad_examples
from albert.training import hooks as training_hooks

DEFAULT_EPOCHS = 2.0
_WARMUP_SHARE = 0.1


class Result(NamedTuple):
    """What a task's command did."""

    training: Optional[training_hooks.TrainingSummary]
    scores: Dict[str, float]


class Task(NamedTuple):
    """A task of fine-tuning.

    Attributes:
      max_seq_length: the usual one.
      find_data: folder -> the flags that name the data.
      count: those flags -> training examples.
      run: (commands, flags) -> `Result`.
      scores: names of the results to show.
      flags: further flags.
    """

    max_seq_length: int
    find_data: Callable[[pathlib.Path], Dict[str, str]]
    count: Callable[[Dict[str, str]], int]
    run: Callable[[demo_runs.Commands, Dict[str, Any]], Result]
    scores: List[str]
    flags: Dict[str, Any]


# ---------------------------------------------------------------------------------------------
# Tasks.


def _one(folder: pathlib.Path, pattern: str) -> str:
    """The file of that pattern.

    Raises:
      ValueError: there is none, or several.
    """
    published = folder / pattern.replace("*", "-v1.1")
    if published.exists():
        return str(published)
    found = sorted(str(item) for item in folder.glob(pattern))
    if len(found) != 1:
        raise ValueError(
            f"-i {folder} needs one file {pattern}; it has {', '.join(found) or 'none'}. SQuAD's "
            "are train-v1.1.json and dev-v1.1.json."
        )
    return found[0]


def _squad_files(folder: pathlib.Path) -> Dict[str, str]:
    return {"train_file": _one(folder, "train*.json"), "predict_file": _one(folder, "dev*.json")}


def _squad_count(data: Dict[str, str]) -> int:
    return len(squad_examples.read_dataset(data["train_file"], is_training=True).examples)


def _run_squad(commands: demo_runs.Commands, values: Dict[str, Any]) -> Result:
    outcome = commands(run_squad_v1, run_squad_v1.answer, do_predict=True, **values)
    return Result(outcome.training, outcome.metrics)


def _mrpc_folder(folder: pathlib.Path) -> Dict[str, str]:
    return {"data_dir": str(folder)}


def _mrpc_count(data: Dict[str, str]) -> int:
    task = run_classifier.classifier_tasks.get_task("mrpc")
    split = run_classifier.classifier_tasks.read_examples(task, data["data_dir"], "train")
    return len(split.examples)


def _run_mrpc(commands: demo_runs.Commands, values: Dict[str, Any]) -> Result:
    outcome = commands(
        run_classifier, run_classifier.classify, task_name="mrpc", do_eval=True, **values
    )
    return Result(outcome.training, outcome.metrics)


TASKS = {
    "squad": Task(
        max_seq_length=384,
        find_data=_squad_files,
        count=_squad_count,
        run=_run_squad,
        scores=["f1", "exact_match"],
        flags={
            "learning_rate": 5e-5,
            "doc_stride": 128,
            "max_query_length": 64,
            "n_best_size": 20,
            "max_answer_length": 30,
        },
    ),
    "mrpc": Task(
        max_seq_length=128,
        find_data=_mrpc_folder,
        count=_mrpc_count,
        run=_run_mrpc,
        scores=["eval_accuracy", "f1"],
        flags={"learning_rate": 2e-5},
    ),
}


# ---------------------------------------------------------------------------------------------
# The phase.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Defines the options of the phase."""
    option = parser.add_argument
    demo_runs.add_model_options(parser)
    option("-t", choices=list(TASKS), default="squad", help="the task (default: squad)")
    option("-i", metavar="DIR", required=True, help="folder of the data")
    option("--model", metavar="DIR", help="folder of the pretrained model, or its name: base_v2")
    demo_runs.add_batch_option(parser)
    lengths = ", ".join(f"{task.max_seq_length} for {name}" for name, task in TASKS.items())
    option("-s", type=int, metavar="N", help=f"length of a sequence (default: {lengths})")
    option(
        "-e",
        type=float,
        default=DEFAULT_EPOCHS,
        metavar="N",
        help=f"passes over the data (default: {DEFAULT_EPOCHS:g})",
    )
    option("-w", type=int, metavar="N", help="warm-up steps (default: a tenth of the steps)")
    option("-c", type=int, default=5000, metavar="N", help="steps between checkpoints (5000)")
    option(
        "-o",
        metavar="DIR",
        help="output folder; training that was interrupted there goes on (default: a new folder in "
        f"{demo_runs.DEFAULT_FOLDER})",
    )


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    demo_runs.check_numbers(options)
    task = TASKS[options.t]
    data = task.find_data(_folder("-i", options.i))
    model = _model_flags(options)
    batch_size = options.b or demo_runs.BATCH_SIZES[options.m][options.d]
    length = options.s or task.max_seq_length
    warmup = _warmup_share(options, task, data, batch_size=batch_size)
    folder = options.o or demo_runs.new_folder(f"finetuning-{options.t}-{options.m}-{options.d}")
    path = pathlib.Path(os.path.expanduser(folder))
    identity = {"phase": "finetuning", "task": options.t, "data": options.i}
    demo_runs.claim_folder(str(path), dict(identity, model=options.model or options.m))
    print(f"Output folder: {path}")
    if not options.model:
        print("Without --model the first weights are random: this shows the speed, not the scores.")
    values = {
        "output_dir": path / "model",
        "do_train": True,
        "max_seq_length": length,
        "train_batch_size": batch_size,
        "predict_batch_size": 8,
        "num_train_epochs": options.e,
        "warmup_proportion": warmup,
        "save_checkpoints_steps": options.c,
        "precision": demo_runs.PRECISIONS[options.d],
        "log_steps": 10,
    }
    result = task.run(demo_runs.Commands(), dict(values, **data, **model, **task.flags))
    _report(result, task, path)


def _folder(name: str, value: str) -> pathlib.Path:
    path = pathlib.Path(os.path.expanduser(value))
    if not path.is_dir():
        raise ValueError(f"{name} {value} is not a folder.")
    return path


def _model_flags(options: argparse.Namespace) -> Dict[str, str]:
    """The flags that name the model and its vocabulary.

    Raises:
      ValueError: there is no vocabulary, or no such folder.
    """
    if options.model:
        place = released_models.local_folder(os.path.expanduser(options.model), "model")
        found = released_models.find_files(place, label=f"--model {options.model}")
        _check_size(options, found.albert_config_file)
        return {"albert_dir": place}
    place = _folder("-i", options.i)
    vocabulary = demo_runs.find_vocabulary(place)
    if vocabulary is None:
        raise ValueError(
            f"{place} holds no vocabulary (*.model or vocab.txt). Name the folder of a released "
            "archive by --model, or put its 30k-clean.model beside the data."
        )
    return dict(vocabulary, albert_config_file=demo_runs.preset(options.m))


def _check_size(options: argparse.Namespace, path: str) -> None:
    """Refuses a model that is not of the size -m says, which batch and folder go by.

    Raises:
      ValueError: it is another.
    """
    found, named = (
        modeling.AlbertConfig.from_json_file(file).hidden_size
        for file in (path, demo_runs.preset(options.m))
    )
    if found != named:
        raise ValueError(
            f"-m {options.m} has hidden size {named}, but --model {options.model} has {found}. "
            "Name its size by -m; a model of no published size is fine-tuned by run_squad_v1 or "
            "run_classifier."
        )


def _warmup_share(
    options: argparse.Namespace, task: Task, data: Dict[str, str], *, batch_size: int
) -> float:
    """The share of the steps that are warm-up."""
    if options.w is None:
        return _WARMUP_SHARE
    steps = int(task.count(data) / batch_size * options.e)
    if options.w > steps:
        raise ValueError(f"-w {options.w} is more than all {steps} steps. Give fewer.")
    # Half a step more: the script rounds down.
    return min((options.w + 0.5) / max(steps, 1), 1.0)


def _report(result: Result, task: Task, path: pathlib.Path) -> None:
    print()
    if result.training:
        speed = result.training.examples_per_second
        print(f"Speed: {speed:.2f} sentences/s (mean without the first step)")
    shown = [f"{name} {result.scores[name]:.4f}" for name in task.scores if name in result.scores]
    print(f"Scores of the best checkpoint: {', '.join(shown)}\nModel: {path / 'model'}")
