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
from typing import Any, Dict

from albert import run_classifier, run_squad_v1
from albert.datasets import fetch, table
from albert.demo import runs
from albert.pretrained.settings import CACHE_DIR
from albert.squad import examples

# Task -> the script's module and function.
_SCRIPTS = {
    "squad": (run_squad_v1, run_squad_v1.answer),
    "mrpc": (run_classifier, run_classifier.classify),
}
_FLAGS: Dict[str, Dict[str, Any]] = {
    "squad": {"do_predict": True, "max_seq_length": 384, "learning_rate": 5e-5},
    "mrpc": {"task_name": "mrpc", "do_eval": True, "max_seq_length": 128, "learning_rate": 2e-5},
}
_SCORES = {"squad": ("f1", "exact_match"), "mrpc": ("eval_accuracy", "f1")}
_DATA_SETS = {"squad": "squad_v1", "mrpc": "mrpc"}


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    task, epochs = options.t, options.e or 2.0
    folder = pathlib.Path(options.i or _published_data(task)).expanduser()
    flags = {**_FLAGS[task], "train_batch_size": runs.batch_size(options)}
    if task == "squad":
        train_file = str(folder / "train-v1.1.json")
        flags.update(train_file=train_file, predict_file=folder / "dev-v1.1.json")
    else:
        flags["data_dir"] = folder
    if options.s:
        flags["max_seq_length"] = options.s
    vocabulary = runs.vocabulary_of(folder)
    if vocabulary and not options.model:
        print("Without --model the weights start random: this shows the speed, not the scores.")
        flags.update(vocabulary, albert_config_file=runs.preset(options.m))
    else:
        flags["albert_dir"] = os.path.expanduser(options.model or f"{options.m}_v2")
    if options.w is None:
        flags["warmup_proportion"] = 0.1
    elif task == "squad":  # its script takes no number of steps
        count = len(examples.read_squad_examples(train_file, is_training=True))
        steps = int(count / flags["train_batch_size"] * epochs)
        flags["warmup_proportion"] = warmup_proportion(options.w, steps)
    else:
        flags["warmup_step"] = options.w
    name, model = f"finetuning-{task}-{options.m}-{options.d}", options.model or options.m
    with runs.held(options.o, name, task=task, data=options.i, model=model) as command:
        script = _SCRIPTS[task]
        outcome = runs.train(command, options, script, num_train_epochs=epochs, **flags)
    scores = (f"{name} {outcome.metrics[name]:.4f}" for name in _SCORES[task])
    print(f"Scores of the best checkpoint: {', '.join(scores)}")


def _published_data(task: str) -> str:
    cache = os.path.join(os.path.expanduser(CACHE_DIR), "data")
    return fetch.obtain(table.DATA_SETS[_DATA_SETS[task]], cache)


def warmup_proportion(warmup_steps: int, steps: int) -> float:
    """Returns the fraction of the steps that a script rounds down to `warmup_steps` again."""
    return (warmup_steps + 0.5) / (steps + 0.5)
