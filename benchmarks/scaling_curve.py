# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How the work grows: steps by length, batch and layers; training, data and reading.

    python benchmarks/scaling_curve.py --parts steps --picture scaling.png
    python benchmarks/scaling_curve.py --parts training data reading --text books.txt \
        --spm_model_file 30k-clean.model

A step is an update of pretraining of random full sequences in a process of its own; beside it
stands what `python -m albert.plan` counts in operations, at the rate of the first run. Training is
`run_pretraining` by one process with all processors, and by two workers with half of them each.
Data is made by `create_pretraining_data` and by its Beam form with one and two processes. The runs
of a part take turns, and the median is printed. Reading is the processor time of the input of
`run_pretraining` for records of 512 tokens, shuffled and in batches, with masks in the records and
drawn on the fly. The picture needs matplotlib.
"""

import argparse
import csv
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import training_process

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# What varies, around 8 sequences of 128 and 12 layers.
STEPS = {
    "length": [(8, length, 12) for length in (128, 64, 256, 512)],
    "batch": [(batch, 128, 12) for batch in (8, 1, 4, 16, 64)],
    "layers": [(8, 128, layers) for layers in (12, 18, 24)],
}
VARIED = {"batch": 0, "length": 1, "layers": 2}


def command(module, *arguments, processors=None, environment=None):
    """Starts a script of the project, on some of the processors."""
    pinned = ["taskset", "-c", ",".join(map(str, processors))] if processors else []
    return subprocess.Popen(
        [*pinned, sys.executable, "-m", f"albert.{module}", *map(str, arguments)],
        cwd=ROOT,
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **(environment or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def finish(processes):
    """Waits for processes; ends with the last lines of one that failed."""
    for process in processes:
        output = process.communicate()[0]
        if process.returncode:
            sys.exit(f"{' '.join(process.args)}\n{output.decode()[-2000:]}")


def table(title, rows):
    """Prints rows of {column: value} as a table."""
    print(f"\n{title}\n\n| {' | '.join(rows[0])} |\n|{'---|' * len(rows[0])}")
    for row in rows:
        print(f"| {' | '.join(str(value) for value in row.values())} |", flush=True)


# ---- steps ---------------------------------------------------------------------------------------


def operations(run):
    """The operations of an update by the plan."""
    from albert import plan

    config = training_process.config_of(run["config"])
    planned = plan.Flags(
        batch=run["batch"],
        max_seq_length=run["length"],
        max_predictions_per_seq=run["predictions"],
    )
    return plan.operations(config, planned)["total"]


def steps(options, folder):
    """Measures all steps; returns {what varies: [(value, seconds, seconds planned)]}."""
    from albert import configs

    values = json.loads(pathlib.Path(configs.preset_path(options.config)).read_text("utf-8"))
    sizes = sorted({size for part in STEPS.values() for size in part})
    runs = {}
    for batch, length, layers in sizes:
        path = folder / f"layers_{layers}.json"
        path.write_text(json.dumps(dict(values, num_hidden_layers=layers)), encoding="utf-8")
        runs[batch, length, layers] = dict(
            training_process.DEFAULTS,
            config=str(path),
            task="pretraining",
            batch=batch,
            length=length,
            precision=options.precision,
            predictions=max(length * 15 // 100, 1),
            updates=options.updates + 1,
        )
    seconds = {size: [] for size in sizes}
    for turn in range(options.turns):
        for size, run in runs.items():
            print(f"turn {turn + 1}: {size}", file=sys.stderr)
            measured = training_process.start(sys.executable, run)
            if "error" in measured:
                sys.exit(f"{size}: {measured['error']}")
            seconds[size].append(statistics.median(measured["seconds"][1:]))  # the first compiles
    found = {size: statistics.median(values) for size, values in seconds.items()}
    first = STEPS["length"][0]
    rate = operations(runs[first]) / found[first]
    return {
        name: sorted((one[VARIED[name]], found[one], operations(runs[one]) / rate) for one in part)
        for name, part in STEPS.items()
    }


def show_steps(found, options):
    """Prints a table for each of what varies, and draws the picture."""
    for name, points in found.items():
        rows = [
            {
                name: value,
                "seconds": f"{measured:.2f}",
                "by operations": f"{planned:.2f}",
                "ratio": f"{measured / planned:.2f}",
            }
            for value, measured, planned in points
        ]
        table(f"A step of {options.config}, {options.precision}, by {name}", rows)
    if options.picture:
        draw(found, options)


def draw(found, options):
    """Draws seconds against length, batch and layers, measured and planned."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found), figsize=(11, 3.4), constrained_layout=True)
    for axes, (name, points) in zip(panels, found.items()):
        values, measured, planned = zip(*points)
        axes.plot(values, measured, "o-", label="measured")
        axes.plot(values, planned, "--", label="by operations")
        axes.set(title=f"{options.config}, {options.precision}", xlabel=name, ylabel="seconds")
        if name == "layers":
            axes.set(ylim=(0, None))
        else:
            axes.set(xscale="log", yscale="log")
            axes.set_yticks(measured, labels=[f"{one:.2f}" for one in measured])
        axes.set_xticks(values, labels=[str(value) for value in values])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    panels[0].legend()
    figure.savefig(options.picture, dpi=110)


# ---- training by processes -----------------------------------------------------------------------


def free_ports(count):
    """Ports of this machine that nobody uses."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def train(options, folder, *, workers, records):
    """Sequences a second of a training by so many workers."""
    processors = sorted(os.sched_getaffinity(0))
    hosts = [f"localhost:{port}" for port in free_ports(workers)]
    output = pathlib.Path(tempfile.mkdtemp(dir=folder))
    flags = [
        f"--albert_config_file=albert/configs/{options.config}.json",
        f"--input_file={records}",
        f"--output_dir={output}",
        "--max_seq_length=128",
        f"--train_batch_size={options.batch}",
        f"--num_train_steps={options.updates + 1}",
        "--num_warmup_steps=1",
        f"--precision={options.precision}",
        "--log_steps=1000",
    ]
    started = []
    for index in range(workers):
        environment, shared = {}, []
        if workers > 1:
            cluster = {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}}
            environment = {"TF_CONFIG": json.dumps(cluster)}
            shared = ["--distribution_strategy=multi_worker"]
        own = processors[index::workers]
        started.append(
            command("run_pretraining", *flags, *shared, processors=own, environment=environment)
        )
    finish(started)
    with open(output / "training_curve.csv", encoding="utf-8") as file:
        return float(list(csv.DictReader(file))[-1]["examples_per_second"])


def training(options, folder):
    """Measures training by one process and by two workers."""
    records = folder / "train.tf_record"
    finish([command("create_pretraining_data", *data_flags(options, records))])
    rates = {1: [], 2: []}
    for _ in range(options.turns):
        for workers, found in rates.items():
            found.append(train(options, folder, workers=workers, records=records))
    medians = {workers: statistics.median(found) for workers, found in rates.items()}
    rows = [
        {
            "processes": f"{workers}, {len(os.sched_getaffinity(0)) // workers} processors each",
            "sequences/s": f"{rate:.2f}",
            "ratio": f"{rate / medians[1]:.2f}",
        }
        for workers, rate in medians.items()
    ]
    table(f"Training {options.config}, {options.batch} x 128, {options.precision}", rows)


# ---- data by processes ---------------------------------------------------------------------------


def data_flags(options, records):
    """The flags of both programs that make records."""
    return [
        f"--input_file={options.text}",
        f"--output_file={records}",
        f"--spm_model_file={options.spm_model_file}",
        "--max_seq_length=128",
        "--dupe_factor=5",
    ]


def data(options, folder):
    """Measures data creation by one and two processes, alone and by Beam."""
    runs = {
        ("create_pretraining_data", 1): ["--num_processes=1"],
        ("create_pretraining_data", 2): ["--num_processes=2"],
        ("create_pretraining_data_beam", 1): ["--direct_num_workers=1"],
        ("create_pretraining_data_beam", 2): [
            "--direct_num_workers=2",
            "--direct_running_mode=multi_processing",
        ],
    }
    seconds = {run: [] for run in runs}
    for turn in range(options.turns):
        for (module, count), flags in runs.items():
            records = folder / f"{module}-{count}-{turn}.tf_record"
            start = time.perf_counter()
            finish([command(module, *data_flags(options, records), *flags)])
            seconds[module, count].append(time.perf_counter() - start)
    medians = {run: statistics.median(values) for run, values in seconds.items()}
    rows = [
        {
            "program": module,
            "processes": count,
            "seconds": f"{value:.1f}",
            "ratio": f"{medians[module, 1] / value:.2f}",
        }
        for (module, count), value in medians.items()
    ]
    table("Records of the text, five copies, length 128, start included", rows)


# ---- reading -------------------------------------------------------------------------------------


def batches_seconds(options, path, budget):
    """The processor seconds for --records records of a file."""
    import tensorflow.compat.v1 as tf

    from albert import tokenization
    from albert.pretraining import model, words
    from albert.runtimes import compat

    tokenizer = tokenization.FullTokenizer(
        vocab_file=None, do_lower_case=True, spm_model_file=options.spm_model_file
    )
    settings = model.InputSettings(
        *([str(path)], 512, 77, True),
        masked_lm_budget=budget,
        vocabulary=words.piece_table(tokenizer),
    )
    with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
        dataset = model.build_input_fn(settings)({"batch_size": options.batch})
        iterator = tf.data.make_initializable_iterator(dataset)
        batch = iterator.get_next()
        session.run(iterator.initializer)
        for _ in range(3):
            session.run(batch)
        start = time.process_time()
        for _ in range(options.records // options.batch):
            session.run(batch)
        return time.process_time() - start


def reading(options, folder):
    """Measures reading with masks in the records and on the fly."""
    from albert.data import record_files

    rows = []
    for masks, share, budget in (("in the records", 0.15, 0.0), ("on the fly", 0.0, 0.15 / 0.85)):
        path = folder / f"read-{share}.tf_record"
        flags = [*data_flags(options, path), "--max_seq_length=512", f"--masked_lm_prob={share}"]
        finish([command("create_pretraining_data", *flags, "--max_predictions_per_seq=77")])
        size = path.stat().st_size / record_files.count_records(str(path))
        seconds = statistics.median(
            batches_seconds(options, path, budget) for _ in range(options.turns)
        )
        rate = options.records // options.batch * options.batch / seconds
        rows.append(
            {
                "masks": masks,
                "bytes of a record": f"{size:,.0f}",
                "records a processor second": f"{rate:,.0f}",
                "MB a processor second": f"{rate * size / 1e6:.1f}",
            }
        )
    table(f"Reading of records of 512 with 77 predictions, in batches of {options.batch}", rows)


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("steps", "training", "data", "reading")
    parser.add_argument("--parts", nargs="+", choices=parts, default=["steps"])
    parser.add_argument("--config", default="albert_base_v2", help="a preset")
    parser.add_argument("--precision", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--updates", type=int, default=3, help="of a run, after the first")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16, help="of training and reading")
    parser.add_argument("--records", type=int, default=20000, help="to read")
    parser.add_argument("--text", help="for all but steps: one sentence a line")
    parser.add_argument("--spm_model_file", help="for all but steps")
    parser.add_argument("--picture", help="of the steps, a PNG file")
    options = parser.parse_args()
    if set(options.parts) - {"steps"} and not (options.text and options.spm_model_file):
        parser.error("--text and --spm_model_file are needed for all but steps")
    for name in ("text", "spm_model_file", "picture"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    return options


def main():
    """Measures the parts and prints their tables."""
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in options.parts:
            if part == "steps":
                show_steps(steps(options, folder), options)
            else:
                {"training": training, "data": data, "reading": reading}[part](options, folder)


if __name__ == "__main__":
    main()
