# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The largest training batch by sequence length in a given memory: measured, beside the plan's.

    python benchmarks/largest_batch.py --configs albert_zh_base albert_zh_large \\
        --lengths 64 128 256 320 384 512 --memory_gb 12 --output largest.jsonl

Each batch size is tried in a process of its own, which makes --updates complete updates (forward,
backward, clipping, AdamW) of a classifier on full sequences and reports its peak resident memory.
The first size is the plan's; the next ones are estimated from the measurements, until the boundary
is known to --granularity. Each process is a line of --output, from which a stopped run continues;
--table prints the lines as a table.
"""

import argparse
import json
import math
import os
import sys

import training_process

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


# How a process ends that had too little: by the kernel, or by the allocator.
OUT_OF_MEMORY = ("-9", "137", "ResourceExhausted", "bad_alloc", "OOM", "MemoryError")


def known_runs(path, arguments):
    """What was measured before on this TensorFlow: cell -> {batch: line}."""
    found = {}
    if not os.path.exists(path):
        return found
    with open(path, encoding="utf-8") as lines:
        runs = list(map(json.loads, lines))
    for run in runs:
        # A process that failed for want of memory did not live to tell its version.
        version = run.get("tensorflow", f"{arguments.tensorflow}.")
        if version.startswith(f"{arguments.tensorflow}."):
            found.setdefault(cell_of(run), {})[run["batch"]] = with_verdict(run, arguments)
    return found


def with_verdict(run, arguments):
    """A line with whether it is within the limit."""
    return dict(run, fits=run.get("peak_memory", math.inf) <= arguments.memory_gb * 1e9)


def cell_of(line):
    """What a line of the output is about."""
    return line["config"], line["length"], line["precision"], line["recompute"]


def planned_batch(cell, arguments):
    """The plan's largest batch, and its standing memory (all that does not grow with the batch)."""
    from albert import plan

    name, length, precision, recompute = cell
    config = training_process.config_of(name)
    run = plan.Flags(
        task="classification",
        batch=1,
        max_seq_length=length,
        precision=precision,
        recompute=recompute,
        memory_gb=arguments.memory_gb,
    )
    found = plan.memory(config, run)
    standing = found["peak"] - found["activations"] - found["temporaries"]
    return plan.largest_batch(config, run), standing


def next_batch(runs, planned, arguments):
    """The size to try next; None when the boundary is known."""
    limit = arguments.memory_gb * 1e9
    largest, standing = planned
    fitting = max((size for size, run in runs.items() if run["fits"]), default=0)
    failing = min((size for size, run in runs.items() if not run["fits"]), default=None)
    if not runs:
        return max(largest, 1)
    if failing is None:
        peak = runs[fitting].get("peak_memory", limit)
        estimate = int(fitting * (limit - standing) / (peak - standing))
        step = max(1, int(fitting * arguments.granularity))
        return max(fitting + step, estimate + 1)
    if failing - fitting <= max(1, math.floor(fitting * arguments.granularity)) or failing == 1:
        return None
    peak = runs[failing].get("peak_memory")
    estimate = (fitting + failing) // 2
    if peak and not fitting:
        estimate = int(failing * (limit - standing) / (peak - standing))
    return min(max(estimate, fitting + 1), failing - 1)


def measure_cell(cell, runs, arguments):
    """Tries sizes until the boundary is known; writes a line for each."""
    planned = planned_batch(cell, arguments)
    while True:
        batch = next_batch(runs, planned, arguments)
        if batch is None:
            return
        config, length, precision, recompute = cell
        run = {
            "config": config,
            "length": length,
            "precision": precision,
            "recompute": recompute,
            "batch": batch,
            "updates": arguments.updates,
        }
        found = training_process.start(arguments.python, run, nice=arguments.nice)
        run.update(found)
        if "error" in found and not any(sign in str(found["error"]) for sign in OUT_OF_MEMORY):
            raise SystemExit(f"{run} failed, but not because of memory: {found['error']}")
        with open(arguments.output, "a", encoding="utf-8") as output:
            output.write(json.dumps(run) + "\n")
        runs[batch] = with_verdict(run, arguments)
        print(json.dumps(runs[batch]), flush=True)


def print_table(found, arguments):
    """A row a configuration and way, a column a length: measured (and in brackets planned)."""
    ways = sorted({(config, precision, recompute) for config, _, precision, recompute in found})
    print("| model | " + " | ".join(map(str, arguments.lengths)) + " |")
    print("|---|" + "---|" * len(arguments.lengths))
    for config, precision, recompute in ways:
        cells = []
        for length in arguments.lengths:
            cell = (config, length, precision, recompute)
            runs = found.get(cell, {})
            fitting = [size for size, run in runs.items() if run["fits"]]
            failing = [size for size, run in runs.items() if not run["fits"]]
            planned = planned_batch(cell, arguments)[0]
            upper = f" (< {min(failing)})" if failing else ""
            cells.append(f"{max(fitting, default='-')}{upper} [{planned}]")
        way = precision + (", recompute" if recompute else "")
        print(f"| {config}, {way} | " + " | ".join(cells) + " |")


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--configs", nargs="+", default=["albert_zh_base", "albert_zh_large"])
    parser.add_argument("--lengths", nargs="+", type=int, default=[64, 128, 256, 320, 384, 512])
    parser.add_argument("--memory_gb", type=float, default=12.0)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--recompute", action="store_true")
    parser.add_argument("--granularity", type=float, default=0.06)
    parser.add_argument("--updates", type=int, default=2)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tensorflow", default="2.15", help="what --python runs: 1.15, 2.15, 2.21")
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--output", default="largest_batch.jsonl")
    parser.add_argument("--table", action="store_true", help="print what is known, and end")
    return parser.parse_args()


if __name__ == "__main__":
    parsed = parse_arguments()
    known = known_runs(parsed.output, parsed)
    if not parsed.table:
        for name in parsed.configs:
            for size in parsed.lengths:
                key = (name, size, parsed.precision, parsed.recompute)
                measure_cell(key, known.setdefault(key, {}), parsed)
    print_table(known, parsed)
