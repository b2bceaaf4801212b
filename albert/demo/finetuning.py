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
from typing import Any, Dict, NamedTuple, Sequence

from albert import run_classifier, run_squad_v1
from albert.classification import tasks
from albert.datasets import fetch, table
from albert.demo import runs
from albert.pretrained.settings import CACHE_DIR
from albert.squad import examples

_WARMUP_SHARE = 0.1


class _Task(NamedTuple):
    """A script's module and function, its flags, the scores to show, and its published data."""

    script: Any
    function: Any
    flags: Dict[str, Any]
    scores: Sequence[str]
    data_set: str


TASKS = {
    "squad": _Task(
        run_squad_v1,
        run_squad_v1.answer,
        {"do_predict": True, "max_seq_length": 384, "learning_rate": 5e-5},
        ("f1", "exact_match"),
        "squad_v1",
    ),
    "mrpc": _Task(
        run_classifier,
        run_classifier.classify,
        {"task_name": "mrpc", "do_eval": True, "max_seq_length": 128, "learning_rate": 2e-5},
        ("eval_accuracy", "f1"),
        "mrpc",
    ),
}


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    task = TASKS[options.t]
    if options.i:
        folder = runs.input_folder(options.i)
    else:
        cache = os.path.join(os.path.expanduser(CACHE_DIR), "data")
        folder = pathlib.Path(fetch.obtain(table.DATA_SETS[task.data_set], cache))
    if options.t == "squad":
        data = {kind: str(folder / f"{name}-v1.1.json") for kind, name in _SQUAD_FILES.items()}
    else:
        data = {"data_dir": str(folder)}
    flags = {**runs.sized_flags(options), **task.flags, **data, **_model(options, folder)}
    if options.s:
        flags["max_seq_length"] = options.s
    warmup = _WARMUP_SHARE
    if options.w is not None:
        steps = int(count_examples(options.t, data) / flags["train_batch_size"] * options.e)
        warmup = warmup_share(options.w, steps)
    name = f"finetuning-{options.t}-{options.m}-{options.d}"
    identity = {"task": options.t, "data": options.i, "model": options.model or options.m}
    with runs.held(options.o, name, identity) as path:
        outcome = runs.Commands()(
            task.script,
            task.function,
            output_dir=path / "model",
            do_train=True,
            num_train_epochs=options.e,
            warmup_proportion=warmup,
            **flags,
        )
    runs.print_speed(outcome.training)
    shown = [f"{name} {outcome.metrics[name]:.4f}" for name in task.scores]
    print(f"Scores of the best checkpoint: {', '.join(shown)}\nModel: {path / 'model'}")


_SQUAD_FILES = {"train_file": "train", "predict_file": "dev"}


def _model(options: argparse.Namespace, data: pathlib.Path) -> Dict[str, str]:
    """The flags that name the model and its vocabulary."""
    vocabulary = runs.find_vocabulary(data) if options.i and not options.model else None
    if not vocabulary:
        return {"albert_dir": os.path.expanduser(options.model or f"{options.m}_v2")}
    print("Without --model the weights start random: this shows the speed, not the scores.")
    return {"albert_config_file": runs.preset(options.m), **vocabulary}


def count_examples(task: str, data: Dict[str, str]) -> int:
    """Returns the number of training examples in a task's data."""
    if task == "squad":
        return len(examples.read_squad_examples(data["train_file"], is_training=True))
    return len(tasks.read_examples(tasks.get_task(task), data["data_dir"], "train").examples)


def warmup_share(warmup_steps: int, steps: int) -> float:
    """Returns the share of the steps, which a script rounds down to `warmup_steps` again."""
    return (warmup_steps + 0.5) / (steps + 0.5)
