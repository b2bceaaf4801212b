# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The memory that `python -m albert.plan` predicts, compared with training processes.

    python benchmarks/plan_check.py --pythons .venv/tf1/bin/python .venv/tf2/bin/python
    python benchmarks/plan_check.py --runs albert_base_v2:16x128 albert_base_v2:16x128:recompute

A run is CONFIG:BATCHxLENGTH, followed by what differs from a float32 classification, each after a
colon: bfloat16, recompute, a task, accumulation=N, or @N for the N-th Python only. Memory
is the largest resident set of a process that makes --updates updates.
"""

import argparse
import os
import sys

import training_process

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The plan's constants were fitted to these.
FITTED = [
    "albert_base_v2:4x64",
    "albert_base_v2:16x128",
    "albert_base_v2:4x512",
    "albert_base_v2:8x512:recompute",
    "albert_base_v2:16x128:pretraining",
    "albert_base_v2:16x128:accumulation=4",
    "albert_zh_tiny:64x128",
    "albert_large_v2:4x128",
    "albert_base_v2:16x128:bfloat16@2",
    "albert_base_v2:16x128:bfloat16:recompute@2",
    "albert_zh_tiny:64x128:bfloat16@2",
    "albert_large_v2:4x128:bfloat16@2",
    "albert_xlarge_v2:1x64@2",
]
# And not to these.
HELD_OUT = [
    "albert_base_v2:8x256",
    "albert_zh_small:32x128",
    "albert_base_v2:8x256:bfloat16@2",
    "albert_base_v2:8x256:squad_v1:bfloat16@2",
]


def parse_run(text):
    """A run as written on the command line, as a dict, and the number of its Python or None."""
    text, _, place = text.partition("@")
    config, size, *rest = text.split(":")
    batch, length = map(int, size.split("x"))
    run = dict(training_process.DEFAULTS, config=config, batch=batch, length=length)
    for word in rest:
        name, _, value = word.partition("=")
        if value:
            run[name] = int(value)
        elif word == "recompute":
            run["recompute"] = True
        elif word in ("float32", "bfloat16"):
            run["precision"] = word
        else:
            run["task"] = word
    return run, int(place) if place else None


def planned(run):
    """The plan's memory in bytes."""
    from albert import plan

    flags = plan.Flags(
        task=run["task"],
        batch=run["batch"],
        max_seq_length=run["length"],
        precision=run["precision"],
        recompute=run["recompute"],
        gradient_accumulation_steps=run["accumulation"],
        max_predictions_per_seq=run["predictions"],
    )
    return plan.memory(training_process.config_of(run["config"]), flags)["peak"]


def check(arguments):
    """Makes the runs and prints a row for each."""
    print("| TensorFlow | run | GB planned | measured | ratio |")
    print("|---|---|---|---|---|", flush=True)
    for text in arguments.runs:
        run, only = parse_run(text)
        run.update(updates=arguments.updates)
        for place, python in enumerate(arguments.pythons, 1):
            if only not in (None, place):
                continue
            found = training_process.start(python, run, nice=arguments.nice)
            if "error" in found:
                print(f"| | {text} | {found['error']} |", flush=True)
                continue
            memory = planned(run)
            print(
                f"| {found['tensorflow']} | {text.partition('@')[0]}"
                f" | {memory / 1e9:.2f} | {found['peak_memory'] / 1e9:.2f}"
                f" | {memory / found['peak_memory']:.2f} |",
                flush=True,
            )


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    parser.add_argument("--runs", nargs="+", default=FITTED + HELD_OUT)
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--nice", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    check(parse_arguments())
