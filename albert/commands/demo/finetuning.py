# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes an ALBERT of a published size on SQuAD or MRPC, and reports speed and scores.

By default, the demo downloads the data and the released model of the size into ~/.cache/albert. To
use your own data, pass its folder as -i: for squad, it holds train-v1.1.json and dev-v1.1.json; for
mrpc, train.tsv and dev.tsv, or a folder MRPC with them. To use another model, pass as --model the
--output_dir of run_pretraining, the folder of a released archive, or the name of a released model.
"""

import argparse
import os
from typing import Any, Dict

from albert import run_classifier, run_squad_v1
from albert.commands.demo import runs
from albert.downloads import data_set_table, data_sets
from albert.models.flags import CACHE_DIR

# Task -> the script, the published data, and the flags ({}: data folder).
_TASKS: Dict[str, Any] = {
    "squad": (
        run_squad_v1,
        "squad_v1",
        {
            "train_file": "{}/train-v1.1.json",
            "predict_file": "{}/dev-v1.1.json",
            "do_predict": True,
            "max_seq_length": 384,
            "learning_rate": 5e-5,
        },
    ),
    "mrpc": (
        run_classifier,
        "mrpc",
        {
            "data_dir": "{}",
            "task_name": "mrpc",
            "do_eval": True,
            "max_seq_length": 128,
            "learning_rate": 2e-5,
        },
    ),
}


def run_phase(options: argparse.Namespace) -> None:
    """Runs the phase."""
    task, epochs = options.t, options.e or 2.0
    script, data_set, defaults = _TASKS[task]
    cache = os.path.join(os.path.expanduser(CACHE_DIR), "data")
    folder = os.path.expanduser(
        options.i or data_sets.obtain(data_set_table.DATA_SETS[data_set], cache)
    )
    flags: Dict[str, Any] = {name: str(value).format(folder) for name, value in defaults.items()}
    flags["albert_dir"] = os.path.expanduser(options.model or f"{options.m}_v2")
    if options.s:
        flags["max_seq_length"] = options.s
    if options.w is None:
        flags["warmup_proportion"] = 0.1
    else:
        flags["warmup_step"] = options.w
    name, model = f"finetuning-{task}-{options.m}-{options.d}", options.model or options.m
    with runs.open_run(options.o, name, task=task, data=options.i, model=model) as run:
        runs.train(run, options, script, num_train_epochs=epochs, **flags)
