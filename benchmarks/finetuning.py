# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures a whole fine-tuning, from Enter to the last file, beside transformers' Trainer.

    python benchmarks/finetuning.py --data_dir glue --spm_model_file 30k-clean.model \
        --pythons .venv/latest/bin/python .venv/huggingface/bin/python \
        --programs ours@1 huggingface@2 ours:precision=bfloat16@1 huggingface:bf16@2

Each program trains base, or the model of --config, with random weights for an epoch of batches of
32, evaluates the development data, and predicts the test data; with --share, a part of them all.

Programs; options are flags of theirs. The others are compared with the first of their task:

    ours         run_classifier with --padding=bucket: precision=bfloat16
    huggingface  huggingface_trainer.py, in the Python that `sh tools/environments.sh huggingface`
                 makes: bf16, torch_compile, train_sampling_strategy=group_by_length

The table has the time by the clock and of the processors, the memory of the largest process, the
training examples per second of the whole time, and the accuracy on the development data.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import timing

BOTH = "--max_seq_length=128 --learning_rate=2e-5 --num_train_epochs=1"
COMMANDS = {
    "ours": f"""-m albert run_classifier {BOTH} --warmup_proportion=0.1 --padding=bucket
        --train_batch_size=32 --eval_batch_size=32 --predict_batch_size=32
        --do_train --do_eval --do_predict""",
    "huggingface": f"""benchmarks/huggingface_trainer.py {BOTH} --warmup_steps=0.1
        --per_device_train_batch_size=32 --per_device_eval_batch_size=32
        --weight_decay=0.01 --use_cpu --report_to=none""",
}


def cut(arguments, task, folder):
    """Writes a part of a task's data below `folder`; returns the number of training examples."""
    (folder / task).mkdir()
    counts = []
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        lines = (arguments.data_dir / task / name).read_text(encoding="utf-8-sig").splitlines(True)
        counts.append(int(len(lines) * arguments.share))
        (folder / task / name).write_text("".join(lines[: counts[-1]]), encoding="utf-8")
    return counts[0]


def run(python, program, flags):
    """Runs a program; returns what it took, and its accuracy on the development data."""
    output = flags["output_dir"]
    shutil.rmtree(output, ignore_errors=True)
    print(f"starting {program}, {flags['task_name']}", file=sys.stderr)
    name, options = timing.options_of(program)
    words = COMMANDS[name].split()
    words += [f"--{option}={value or True}" for option, value in options.items()]
    took = timing.run_program(words, python, **flags)[:3]
    metrics = json.loads((output / "run_summary.json").read_text())["metrics"]
    return [*took, metrics["eval_accuracy"]]


def rows_of(arguments, folder):
    """Lets the programs take turns; yields a row for each task and program."""
    shutil.copy(arguments.spm_model_file, folder / "spiece.model")  # the name that they want
    cases = timing.cases(arguments)
    for task in arguments.tasks:
        count = cut(arguments, task, folder)
        flags = {
            "task_name": task,
            "data_dir": folder,
            "output_dir": folder / "output",
            "albert_config_file": arguments.config,
            "spm_model_file": folder / "spiece.model",
        }
        turns = [[run(*case, flags) for case in cases] for _ in range(arguments.turns)]
        medians = np.median(turns, axis=0)
        for (_, program), (seconds, used, memory, accuracy) in zip(cases, medians):
            yield {
                "task": f"{task}, {count:,}",
                "program": program,
                "seconds": f"{seconds:.1f}",
                "ratio": f"{medians[0, 0] / seconds:.2f}",
                "processor s": f"{used:.1f}",
                "memory, GB": f"{memory / 1e9:.2f}",
                "examples/s": f"{count / seconds:.1f}",
                "dev accuracy": f"{accuracy:.1%}",
            }


def parse():
    """The command line."""
    parser = timing.parser(__doc__, "ours", "ours:precision=bfloat16")
    parser.set_defaults(turns=1)
    parser.add_argument("--data_dir", type=pathlib.Path, required=True, help="folder of GLUE")
    parser.add_argument("--spm_model_file", required=True)
    parser.add_argument("--tasks", nargs="+", default=("MRPC", "CoLA"))
    parser.add_argument("--share", type=float, default=1.0, help="of the data")
    base = timing.ROOT / "albert/configs/albert_base_v2.json"
    parser.add_argument("--config", default=base, help="a model's albert_config.json")
    return parser.parse_args()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        timing.print_table(rows_of(parse(), pathlib.Path(folder)))
