# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes an ALBERT of a published size on SQuAD or MRPC, and reports speed and scores.

The data folder (-i) holds, for squad, train-v1.1.json and dev-v1.1.json; for mrpc, train.tsv and
dev.tsv, or a folder MRPC with them. Without it the published data is fetched, once, into
~/.cache/albert. The model (--model) is the folder of a released archive, with albert_config.json,
30k-clean.model, model.ckpt-best.*, or of run_pretraining, or the name of a released model. Without
it the released model of the size is fetched, once; but if the data folder has a vocabulary (*.model
or vocab.txt), the weights start random, which shows the speed and not the scores.
"""

import argparse
import os
import pathlib
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple

from albert import modeling, run_classifier, run_squad_v1
from albert.classification import tasks
from albert.datasets import fetch, table
from albert.demo import runs
from albert.demo.options import FINETUNING_EPOCHS, LENGTHS
from albert.pretrained import released
from albert.pretrained.settings import CACHE_DIR
from albert.squad import examples
from albert.util.errors import UserError

_WARMUP_SHARE = 0.1


class Task(NamedTuple):
    """A fine-tuning task: its script, flags, data, and the scores to show."""

    script: Any
    function: Callable
    flags: Dict[str, Any]
    scores: Sequence[str]
    find_data: Callable[[pathlib.Path], Dict[str, str]]  # folder -> the flags of the data
    count: Callable[[Dict[str, str]], int]  # those flags -> training examples
    data_set: str  # its published data


def _squad_files(folder: pathlib.Path) -> Dict[str, str]:
    return {"train_file": _one(folder, "train*.json"), "predict_file": _one(folder, "dev*.json")}


def _one(folder: pathlib.Path, pattern: str) -> str:
    """The published file, or else the only one of that pattern."""
    published = folder / pattern.replace("*", "-v1.1")
    if published.exists():
        return str(published)
    found = sorted(str(item) for item in folder.glob(pattern))
    if len(found) != 1:
        raise UserError(
            f"-i {folder} needs one file {pattern}; found: {', '.join(found) or 'none'}. SQuAD's "
            "files are train-v1.1.json and dev-v1.1.json."
        )
    return found[0]


def _squad_count(data: Dict[str, str]) -> int:
    return len(examples.read_squad_examples(data["train_file"], is_training=True))


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
        data_set="squad_v1",
    ),
    "mrpc": Task(
        run_classifier,
        run_classifier.classify,
        flags={"task_name": "mrpc", "do_eval": True, "learning_rate": 2e-5},
        scores=["eval_accuracy", "f1"],
        find_data=lambda folder: {"data_dir": str(folder)},
        count=_mrpc_count,
        data_set="mrpc",
    ),
}


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    runs.check_options(options)
    task = TASKS[options.t]
    if options.i:
        task.find_data(runs.input_folder(options))  # before a model is downloaded
    folder, model = _data_and_model(options, task)
    data = task.find_data(folder)
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
    if "albert_dir" not in model:
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
        runs.print_speed(outcome.training)
    scores = outcome.metrics
    shown = [f"{name} {scores[name]:.4f}" for name in task.scores if name in scores]
    print(f"Scores of the best checkpoint: {', '.join(shown)}\nModel: {path / 'model'}")


def _data_and_model(options: argparse.Namespace, task: Task) -> Tuple[pathlib.Path, Dict[str, str]]:
    """The folder of the data and the flags of the model; both are tried before either is missed."""
    if options.i:
        folder = runs.input_folder(options)
        return folder, _model_flags(options, folder)
    try:
        folder = published_data(task)
    except ConnectionError as error:
        try:
            _model_flags(options, None)
        except ConnectionError as second:
            raise type(second)(f"{error}\n{second}") from second
        raise
    return folder, _model_flags(options, folder)


def published_data(task: Task) -> pathlib.Path:
    """Returns the folder of a task's published data in the cache; see datasets.fetch.obtain."""
    cache = os.path.join(os.path.expanduser(CACHE_DIR), "data")
    return pathlib.Path(fetch.obtain(table.DATA_SETS[task.data_set], cache))


def _model_flags(options: argparse.Namespace, data: Optional[pathlib.Path]) -> Dict[str, str]:
    """The flags that name the model and its vocabulary."""
    vocabulary = runs.find_vocabulary(data) if data and options.i else None
    if vocabulary and not options.model:
        return dict(vocabulary, albert_config_file=runs.preset(options.m))
    name = options.model or f"{options.m}_v2"
    folder = released.local_folder(os.path.expanduser(name), f"--model {name}")
    found = released.find_files(folder, label=f"--model {name}")
    _check_size(options, found.albert_config_file)
    return {"albert_dir": folder}


def _check_size(options: argparse.Namespace, path: str) -> None:
    """Refuses a model of another size than -m, which sets the batch and the folder's name."""
    found, named = (
        modeling.AlbertConfig.from_json_file(file).hidden_size
        for file in (path, runs.preset(options.m))
    )
    if found != named:
        raise UserError(
            f"-m {options.m} has hidden size {named}, but --model {options.model} has {found}. "
            "Name its size by -m, or use run_squad_v1 or run_classifier for another size."
        )


def warmup_share(warmup_steps: int, steps: int) -> float:
    """Returns the warm-up's share of the steps; raises ValueError for more than all."""
    if warmup_steps > steps:
        raise UserError(f"-w {warmup_steps} is more than all {steps} steps. Give fewer.")
    # Half a step more: the script rounds down.
    return min((warmup_steps + 0.5) / max(steps, 1), 1.0)
