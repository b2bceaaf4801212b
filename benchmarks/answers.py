# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Answers in time: one pair of texts, 32 pairs, and many, against Hugging Face's ALBERT.

    python benchmarks/answers.py --spm_model_file=30k-clean.model
    python benchmarks/answers.py --spm_model_file=30k-clean.model --config albert_zh_tiny \
        --pythons .venv/latest/bin/python .venv/huggingface/bin/python --precisions float32 bfloat16

Ours is albert.predictor.Predictor on a folder as run_classifier leaves it. Hugging Face's model,
eager or through torch.compile, has a configuration of the same sizes and its own tokenizer, made of
the same SentencePiece model; it pads each batch to its longest sequence, and many texts are sorted
by length first, as ours are. Weights and texts are random and the same for all. Tokenisation is
timed on both sides. Each program is a process of its own, and they take turns.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import random_model

BATCH = 32  # sequences that run together


def our_answers(arguments):
    """The function that answers pairs by our Predictor."""
    sys.path.insert(0, random_model.ROOT)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from albert import predictor

    return predictor.Predictor(
        arguments.folder, precision_name=arguments.precision, batch_size=BATCH
    ).predict


def their_answers(arguments, *, is_compiled):
    """The function that answers pairs by Hugging Face's model."""
    import huggingface_model
    import torch
    import transformers

    with open(os.path.join(arguments.folder, "albert_config.json"), encoding="utf-8") as stream:
        model, _ = huggingface_model.build_model(json.load(stream), "classifier")
    tokenizer = transformers.AlbertTokenizer.from_pretrained(arguments.folder)
    model.eval()
    run = torch.compile(model, dynamic=True) if is_compiled else model
    is_half = arguments.precision == "bfloat16"

    @torch.inference_mode()
    def answer(pairs):
        encoded = tokenizer(*map(list, zip(*pairs)), truncation=True, max_length=128)
        order = sorted(range(len(pairs)), key=lambda place: len(encoded["input_ids"][place]))
        found = [None] * len(pairs)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            rows = {key: [value[place] for place in places] for key, value in encoded.items()}
            batch = tokenizer.pad(rows, return_tensors="pt")
            with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
                logits = run(**batch).logits
            for place, row in zip(places, logits.float().softmax(-1).tolist()):
                found[place] = row
        return found

    return answer


PROGRAMS = {
    "ours": our_answers,
    "huggingface": lambda arguments: their_answers(arguments, is_compiled=False),
    "huggingface:compile": lambda arguments: their_answers(arguments, is_compiled=True),
}


def work(arguments):
    """Answers each number on standard input with the seconds of as many calls or texts."""
    with open(os.path.join(arguments.folder, "pairs.json"), encoding="utf-8") as stream:
        pairs = [tuple(pair) for pair in json.load(stream)]
    with contextlib.redirect_stdout(sys.stderr):
        answer = PROGRAMS[arguments.program](arguments)
        answer(pairs[: 4 * BATCH])
        for pair in pairs[:BATCH]:
            answer([pair])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        kind, count = json.loads(line)
        calls = [[pair] for pair in pairs[:count]] if kind == "one" else [pairs[:count]]
        seconds, used = [], time.process_time()
        for call in calls:
            start = time.perf_counter()
            answer(call)
            seconds.append(time.perf_counter() - start)
        print(json.dumps([seconds, time.process_time() - used]), flush=True)


class Worker:
    """A running program and what it took."""

    def __init__(self, python, program, precision, *, folder, verbose):
        self.name, self.found = f"{program} {precision}", {"one": [], "batch": [], "many": []}
        command = [python, os.path.abspath(__file__), "--worker", f"--program={program}"]
        command += [f"--precision={precision}", f"--folder={folder}", "--spm_model_file="]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if verbose else subprocess.DEVNULL,
            universal_newlines=True,
        )
        self._read()

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended; --verbose shows why.")
        return json.loads(line)

    def turn(self, kind, count):
        """Answers one after another ("one"), or in a single call."""
        self._process.stdin.write(json.dumps([kind, count]) + "\n")
        self._process.stdin.flush()
        seconds, used = self._read()
        self.found[kind].append((seconds, used, count))

    def close(self):
        """Ends the process."""
        self._process.communicate()

    def row(self):
        """A line of the table."""
        singles = [one for seconds, _, _ in self.found["one"] for one in seconds]
        used = sum(used for _, used, _ in self.found["one"]) / len(singles)
        rates = [
            float(np.median([count / seconds[0] for seconds, _, count in self.found[kind]]))
            for kind in ("batch", "many")
        ]
        p50, p95 = (1000 * np.percentile(singles, share) for share in (50, 95))
        return f"{p50:.1f} | {p95:.1f} | {1000 * used:.1f} | {rates[0]:.1f} | {rates[1]:.1f}"


def prepare(arguments, folder):
    """Writes the model, its vocabulary by the name that Hugging Face looks for, and the texts."""
    import sentencepiece

    make = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_model.py")
    command = [arguments.pythons[0], make, arguments.config, arguments.spm_model_file, folder]
    subprocess.run(command, check=True)
    processor = sentencepiece.SentencePieceProcessor(arguments.spm_model_file)
    os.symlink(os.path.abspath(arguments.spm_model_file), os.path.join(folder, "spiece.model"))
    texts = random_model.texts(processor, 2 * max(arguments.texts, 4 * BATCH))
    with open(os.path.join(folder, "pairs.json"), "w", encoding="utf-8") as stream:
        json.dump(list(zip(texts[::2], texts[1::2])), stream)


def measure(arguments, folder):
    """Lets the programs take turns; prints the table."""
    prepare(arguments, folder)
    workers = []
    for precision in arguments.precisions:
        for program in arguments.programs:
            theirs = program.startswith("huggingface")
            python = arguments.pythons[-1 if theirs else 0]
            workers.append(
                Worker(python, program, precision, folder=folder, verbose=arguments.verbose)
            )
    for _ in range(arguments.turns):
        for kind, count in (("one", arguments.calls), ("batch", BATCH), ("many", arguments.texts)):
            for worker in workers:
                worker.turn(kind, count)
    print(f"\n{arguments.config}, pairs of {arguments.texts} random texts\n")
    print(f"| program | p50 ms | p95 ms | processor ms | {BATCH} pairs: pairs/s | all: pairs/s |")
    print("|---|---|---|---|---|---|")
    for worker in workers:
        print(f"| {worker.name} | {worker.row()} |")
        worker.close()


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spm_model_file", required=True)
    parser.add_argument(
        "--pythons", nargs="+", default=[sys.executable], help="ours, then Hugging Face's"
    )
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--config", default="albert_base_v2", help="preset or JSON file")
    parser.add_argument("--calls", type=int, default=100, help="pairs asked one by one, each turn")
    parser.add_argument("--texts", type=int, default=10000, help="pairs asked in one call")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--verbose", action="store_true", help="show what programs write to stderr")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    for name in ("program", "precision", "folder"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    parsed = parse_arguments()
    if parsed.worker:
        work(parsed)
    else:
        with tempfile.TemporaryDirectory(prefix="answers") as temporary:
            measure(parsed, os.path.join(temporary, "model"))
