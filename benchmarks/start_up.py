# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Seconds from Enter to the first training step, the first answer, the help and an error.

    python benchmarks/start_up.py --spm_model_file=30k-clean.model
    git worktree add ../before v1.0
    python benchmarks/start_up.py --spm_model_file=30k-clean.model --before=../before \
        --pythons .venv/latest/bin/python .venv/tf2/bin/python .venv/tf1/bin/python --repeats 5

Each start is a process of its own; those of two checkouts, and of several Pythons, take turns. It
is timed until the line that it waits for: the log's first step, or the answer. "cold" has an empty
page cache, where this machine permits that (as root), and no file of features; "warm" has both.
The bare import of TensorFlow stands beside them: what is left is the start's own share. Processor
seconds (user and system) depend less on what else the machine does. Medians.
"""

import argparse
import collections
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import random_model

ROOT = random_model.ROOT
STEP, ANSWER, END = r"step 1/", r'"probabilities"', None
IMPORT = "import tensorflow.compat.v1 as tf; print(tf.__version__)"


class Places:
    """The files that all starts read, made once; and new output folders."""

    def __init__(self, arguments, folder):
        self.folder, self.spm = folder, os.path.abspath(arguments.spm_model_file)
        self._count = 0
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor(self.spm)
        self.size = processor.GetPieceSize()
        lines = random_model.texts(processor, 256)
        self._write("train.tsv", [f"{line}\t{i % 2}" for i, line in enumerate(lines)])
        self._write("corpus.txt", [line + "\n" * (i % 8 == 7) for i, line in enumerate(lines)])
        make = [arguments.pythons[0], os.path.join(ROOT, "benchmarks", "random_model.py")]
        subprocess.run([*make, arguments.config, self.spm, self.of("model")], check=True)
        command = [arguments.pythons[0], "-m", "albert.create_pretraining_data"]
        command += [f"--input_file={self.of('corpus.txt')}", f"--spm_model_file={self.spm}"]
        command += [f"--output_file={self.of('words.tf_record')}", "--max_seq_length=64"]
        subprocess.run(command, check=True, cwd=ROOT)

    def _write(self, name, lines):
        with open(self.of(name), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")

    def of(self, name):
        """The path of a file."""
        return os.path.join(self.folder, name)

    def new(self):
        """The path of a folder that is not there."""
        self._count += 1
        return self.of(f"output-{self._count}")


def classifier(places, is_cold):
    """One step of fine-tuning, from random weights."""
    cache = places.new() if is_cold else places.of("cache")
    return [
        *("albert.run_classifier", "--task_name=custom", f"--data_dir={places.folder}"),
        *("--train_file=train.tsv", "--text_a_column=0", "--label_column=1", "--labels=0,1"),
        *("--noheader", f"--albert_config_file={places.of('model')}/albert_config.json"),
        *(f"--spm_model_file={places.spm}", f"--output_dir={places.new()}", "--do_train"),
        *(f"--cached_dir={cache}", "--max_seq_length=64", "--train_batch_size=8", "--train_step=1"),
    ]


def pretraining(places, is_cold):
    """One step of pretraining, from random weights."""
    del is_cold
    return [
        *("albert.run_pretraining", f"--input_file={places.of('words.tf_record')}"),
        *(f"--albert_config_file={places.of('model')}/albert_config.json", "--num_train_steps=1"),
        *("--max_seq_length=64", "--train_batch_size=8", f"--output_dir={places.new()}"),
        "--num_warmup_steps=0",
    ]


def answer(places, is_cold):
    """The answer to a pair of texts."""
    del is_cold
    texts = ["--text_a=He left the house.", "--text_b=He went away."]
    return ["albert.predict", f"--model_dir={places.of('model')}", *texts]


CASES = {
    "run_classifier, first step": (classifier, STEP),
    "run_pretraining, first step": (pretraining, STEP),
    "predict, first answer": (answer, ANSWER),
    "--help": (lambda places, is_cold: ["albert.run_classifier", "--help"], END),
    "a wrong flag": (lambda places, is_cold: ["albert.run_classifier", "--do_trian"], END),
}


def drop_caches():
    """Empties the page cache; gives whether that was permitted."""
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="utf-8") as stream:
            stream.write("3")
    except OSError:
        return False
    return True


def start(command, checkout, until):
    """Starts a command; gives wall and processor seconds until a line that matches, or the end."""
    environment = dict(os.environ, PYTHONPATH=checkout, PYTHONUNBUFFERED="1")
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said, used = [], None
    for line in process.stdout:
        said.append(line.decode("utf-8", "replace"))
        if until and re.search(until, said[-1]):
            seconds, used = time.perf_counter() - began, processor_seconds(process.pid)
            process.kill()
            break
    process.stdout.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if used is None:
        if until:
            raise SystemExit(f"{' '.join(command)} ended early:\n{''.join(said[-20:])}")
        seconds, used = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    return seconds, used, "".join(said)


def processor_seconds(process):
    """What a running process has used so far."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as stream:
        fields = stream.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(arguments, places):
    """All starts by turns; gives (wall, processor) seconds by (case, cache, Python, checkout)."""
    checkouts = {"now": ROOT}
    if arguments.before:
        checkouts = {"before": os.path.abspath(arguments.before), "now": ROOT}
    chosen = [name for name in CASES if re.search(arguments.cases, name)]
    found, versions = collections.defaultdict(list), {}
    for turn in range(arguments.repeats):
        for python in arguments.pythons:
            *times, version = start([python, "-c", IMPORT], ROOT, None)
            versions[python] = version.split()[-1]
            found["import tensorflow", "warm", python, ""].append(times)
        for name, cache, python, label in itertools.product(
            chosen, arguments.caches, arguments.pythons, checkouts
        ):
            make, until = CASES[name]
            if cache == "cold" and not drop_caches() and not turn:
                print("The page cache cannot be emptied here.", file=sys.stderr)
            command = [python, "-m", *make(places, cache == "cold")]
            print(f"{turn} {name} {cache} {python} {label}", file=sys.stderr)
            times = start(command, checkouts[label], until)[:2]
            found[name, cache, python, label].append(times)
    return found, versions


def print_table(found, versions):
    """A row for each case; the share is that of the case's first checkout, without the import."""
    print("| start | cache | TensorFlow | checkout | wall s | processor s | beside the import |")
    print("|---|---|---|---|---|---|---|")
    for (name, cache, python, label), times in found.items():
        wall, used = np.median(times, axis=0)
        bare = np.median(found["import tensorflow", "warm", python, ""], axis=0)[1]
        own = f"{used - bare:.2f}" if until_of(name) else ""
        print(
            f"| {name} | {cache} | {versions[python]} | {label} | {wall:.2f} | {used:.2f} | {own} |"
        )


def until_of(name):
    """What a case waits for; None: it imports no TensorFlow."""
    return CASES[name][1] if name in CASES else None


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spm_model_file", required=True)
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    parser.add_argument("--before", help="another checkout, to compare with")
    parser.add_argument("--config", default="albert_base_v2", help="preset or JSON file")
    parser.add_argument("--cases", default="", help="pattern: only cases with it in their name")
    parser.add_argument("--caches", nargs="+", default=["cold", "warm"], choices=["cold", "warm"])
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    parsed = parse_arguments()
    parsed.pythons = [os.path.abspath(python) for python in parsed.pythons]
    with tempfile.TemporaryDirectory(prefix="start_up") as temporary:
        print_table(*measure(parsed, Places(parsed, temporary)))
