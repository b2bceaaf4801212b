# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes an ALBERT of a published size on SQuAD or MRPC, and reports speed and scores.

The data folder (-i) holds, for squad, train-v1.1.json and dev-v1.1.json; for mrpc, train.tsv and
dev.tsv, or a folder MRPC with them. The model (--model) is the folder of a released archive, with
albert_config.json, 30k-clean.model, model.ckpt-best.*, or of run_pretraining, or the name of a
released model. Without it the weights start random, which shows the speed but not the scores; the
vocabulary (*.model or vocab.txt) is then taken from the data folder.
"""

import argparse
import os
import pathlib
from typing import Any, Callable, Dict, NamedTuple, Sequence

from albert import modeling, run_classifier, run_squad_v1
from albert.classification import tasks
from albert.demo import runs
from albert.demo.options import FINETUNING_EPOCHS, LENGTHS
from albert.pretrained import released
from albert.squad import examples

_WARMUP_SHARE = 0.1


class Task(NamedTuple):
    """A fine-tuning task: its script, flags, data, and the scores to show."""

    script: Any
    function: Callable
    flags: Dict[str, Any]
    scores: Sequence[str]
    find_data: Callable[[pathlib.Path], Dict[str, str]]  # folder -> the flags of the data
    count: Callable[[Dict[str, str]], int]  # those flags -> training examples


def _squad_files(folder: pathlib.Path) -> Dict[str, str]:
    return {"train_file": _one(folder, "train*.json"), "predict_file": _one(folder, "dev*.json")}


def _one(folder: pathlib.Path, pattern: str) -> str:
    """The published file, or else the only one of that pattern."""
    published = folder / pattern.replace("*", "-v1.1")
    if published.exists():
        return str(published)
    found = sorted(str(item) for item in folder.glob(pattern))
    if len(found) != 1:
        raise ValueError(
            f"-i {folder} needs one file {pattern}; found: {', '.join(found) or 'none'}. SQuAD's "
            "files are train-v1.1.json and dev-v1.1.json."
        )
    return found[0]


def _squad_count(data: Dict[str, str]) -> int:
    return len(examples.read_dataset(data["train_file"], is_training=True).examples)


def _mrpc_count(data: Dict[str, str]) -> int:
    task = tasks.get_task("mrpc")
    return len(tasks.read_examples(task, data["data_dir"], "train").examples)


TASKS = {
    "squad": Task(
        run_squad_v1,
        run_squad_v1.answer,
        flags={
            "do_predict": True,
            "learning_rate": 5e-5,
            "doc_stride": 128,
            "max_query_length": 64,
            "n_best_size": 20,
            "max_answer_length": 30,
        },
        scores=["f1", "exact_match"],
        find_data=_squad_files,
        count=_squad_count,
    ),
    "mrpc": Task(
        run_classifier,
        run_classifier.classify,
        flags={"task_name": "mrpc", "do_eval": True, "learning_rate": 2e-5},
        scores=["eval_accuracy", "f1"],
        find_data=lambda folder: {"data_dir": str(folder)},
        count=_mrpc_count,
    ),
}


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    runs.check_options(options)
    task = TASKS[options.t]
    folder = runs.input_folder(options)
    data = task.find_data(folder)
    model = _model_flags(options, folder)
    batch_size = runs.batch_size(options)
    epochs = options.e or FINETUNING_EPOCHS
    warmup = _WARMUP_SHARE
    if options.w is not None:
        warmup = warmup_share(options.w, int(task.count(data) / batch_size * epochs))
    name = f"finetuning-{options.t}-{options.m}-{options.d}"
    path = runs.output_folder(options.o, name)
    identity = {"phase": "finetuning", "task": options.t, "data": options.i}
    runs.claim_folder(str(path), dict(identity, model=options.model or options.m))
    print(f"Output folder: {path}")
    if not options.model:
        print("Without --model the weights start random: this shows the speed, not the scores.")
    outcome = runs.Commands()(
        task.script,
        task.function,
        output_dir=path / "model",
        do_train=True,
        max_seq_length=options.s or LENGTHS[options.t],
        train_batch_size=batch_size,
        predict_batch_size=8,
        num_train_epochs=epochs,
        warmup_proportion=warmup,
        save_checkpoints_steps=options.c,
        precision=runs.PRECISIONS[options.d],
        log_steps=10,
        **data,
        **model,
        **task.flags,
    )
    print()
    if outcome.training:
        speed = outcome.training.examples_per_second
        print(f"Speed: {speed:.2f} sentences/s (mean without the first step)")
    scores = outcome.metrics
    shown = [f"{name} {scores[name]:.4f}" for name in task.scores if name in scores]
    print(f"Scores of the best checkpoint: {', '.join(shown)}\nModel: {path / 'model'}")


def _model_flags(options: argparse.Namespace, data: pathlib.Path) -> Dict[str, str]:
    """The flags that name the model and its vocabulary."""
    if options.model:
        folder = released.local_folder(
            os.path.expanduser(options.model), f"--model {options.model}"
        )
        found = released.find_files(folder, label=f"--model {options.model}")
        _check_size(options, found.albert_config_file)
        return {"albert_dir": folder}
    vocabulary = runs.find_vocabulary(data)
    if vocabulary is None:
        raise ValueError(
            f"-i {data} holds no vocabulary (*.model or vocab.txt). Name the folder of a released "
            "archive by --model, or put its 30k-clean.model into that folder."
        )
    return dict(vocabulary, albert_config_file=runs.preset(options.m))


def _check_size(options: argparse.Namespace, path: str) -> None:
    """Refuses a model of another size than -m, which sets the batch and the folder's name."""
    found, named = (
        modeling.AlbertConfig.from_json_file(file).hidden_size
        for file in (path, runs.preset(options.m))
    )
    if found != named:
        raise ValueError(
            f"-m {options.m} has hidden size {named}, but --model {options.model} has {found}. "
            "Name its size by -m, or use run_squad_v1 or run_classifier for another size."
        )


def warmup_share(warmup_steps: int, steps: int) -> float:
    """Returns the warm-up's share of the steps; raises ValueError for more than all."""
    if warmup_steps > steps:
        raise ValueError(f"-w {warmup_steps} is more than all {steps} steps. Give fewer.")
    # Half a step more: the script rounds down.
    return min((warmup_steps + 0.5) / max(steps, 1), 1.0)
