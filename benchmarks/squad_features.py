# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of making SQuAD features.

    python benchmarks/squad_features.py --spm_model_file=30k-clean.model \
        --files xquad.en.json dev-v2.0.json
    python benchmarks/squad_features.py --vocab_file=vocab_chinese.txt --files xquad.zh.json

Each file is repeated until it has --examples questions; every copy of a paragraph ends in its own
number, so that no result can be reused. (WordPiece caches words, so repetition helps it a little.)
A run is a process of its own. Its time is that of the whole job, without the import of TensorFlow
and the start of Python; the best of --turns counts. Memory: every 20th of a second the resident
set of the parent and the unshared memory of each worker are added up; the result is the largest sum
of any turn, TensorFlow included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLE_SECONDS = 0.05
PASSED_ON = ("spm_model_file", "vocab_file", "max_seq_length", "doc_stride")


def copy_of(article, number):
    """An article whose paragraphs and ids occur nowhere else."""
    copied = json.loads(json.dumps(article))
    for paragraph in copied["paragraphs"]:
        paragraph["context"] += f" {number}"
        for question in paragraph["qas"]:
            question["id"] = f"{question['id']}-{number}"
    return copied


def write_repeated(source, target, examples):
    """Writes the articles over and over until there are so many questions."""
    with open(source, encoding="utf-8") as stream:
        articles = json.load(stream)["data"]
    written, count, number = [], 0, 0
    while count < examples:
        for article in articles:
            if count < examples:
                written.append(copy_of(article, number))
                count += sum(len(paragraph["qas"]) for paragraph in article["paragraphs"])
        number += 1
    with open(target, "w", encoding="utf-8") as stream:
        json.dump({"version": "1", "data": written}, stream)


def measure_here(options):
    """Makes the features in this process and prints what it took as JSON."""
    from albert import tokenization
    from albert.squad import run
    from albert.util import flags

    tokenizer = tokenization.FullTokenizer(options.vocab_file, True, options.spm_model_file)
    started = time.time(), os.times()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        task = run.SquadV2(
            flags.make(
                run.SquadV2.flags,
                output_dir=folder,
                max_seq_length=options.max_seq_length,
                doc_stride=options.doc_stride,
                **{f"{options.run}_file": options.files[0]},
            ),
            tokenizer,
            {},
        )
        examples = task.examples(options.run)
        read = time.time() - started[0]
        built = task.features(options.run)
        if options.run == "predict":
            task.items(examples, False)
        seconds = time.time() - started[0]
    result = {"examples": len(examples), "features": built.records.count}
    result["cpu"] = sum(os.times()[:4]) - sum(started[1][:4])  # with that of ended children
    print(json.dumps(dict(result, seconds=seconds, read=read)))


def memory_in_use(root):
    """The bytes that a process and all below it take together, on Linux.

    The resident set of the first, and what each of the others does not share.
    """
    found, total = [root], 0
    for process in found:
        try:
            with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as stream:
                found += [int(child) for child in stream.read().split()]
            with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as stream:
                fields = dict(line.split(":", 1) for line in stream if line.endswith("kB\n"))
        except (FileNotFoundError, ProcessLookupError):
            continue
        names = ["Rss"] if process == root else ["Private_Clean", "Private_Dirty"]
        total += sum(int(fields[name].split()[0]) * 1024 for name in names)
    return total


def measure(options, path, purpose):
    """Makes the features in a process of its own and watches its memory."""
    command = [sys.executable, __file__, "--run", purpose, "--files", path]
    command.append(f"--folder={options.folder}")
    for name in PASSED_ON:
        value = getattr(options, name)
        command += [f"--{name}={value}"] if value is not None else []
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            peak = max(peak, memory_in_use(process.pid))
            time.sleep(SAMPLE_SECONDS)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} ended with exit code {process.returncode}")
        output.seek(0)
        result = json.loads(output.read().decode().splitlines()[-1])
    return dict(result, memory=peak / 1e6)


def show_table(options):
    """Measures each file for training and for prediction, and prints a table."""
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, length "
        f"{options.max_seq_length}, stride {options.doc_stride}, best of {options.turns}"
    )
    header = ("file", "for", "examples", "features", "seconds", "CPU s", "examples/s")
    widths = (22, 8, 9, 9, 8, 8, 11, 11, 10)
    header += ("features/s", "memory MB")
    print(" ".join(f"{name:>{width}}" for name, width in zip(header, widths)))
    for source in options.files:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = os.path.join(folder, os.path.basename(source))
            write_repeated(source, path, options.examples)
            for purpose in ("train", "predict"):
                turns = [measure(options, path, purpose) for _ in range(options.turns)]
                best = min(turns, key=lambda result: result["seconds"])
                cells = [os.path.basename(source), purpose]
                cells += [f"{best['examples']:,}", f"{best['features']:,}"]
                cells += [f"{best['seconds']:.2f}", f"{best['cpu']:.2f}"]
                cells += [
                    f"{best[name] / best['seconds']:,.0f}" for name in ("examples", "features")
                ]
                cells.append(f"{max(result['memory'] for result in turns):,.0f}")
                line = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths))
                print(f"{line}   (reading: {best['read']:.2f} s)", flush=True)


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", nargs="+", required=True, help="SQuAD files with answers")
    parser.add_argument("--spm_model_file")
    parser.add_argument("--vocab_file", help="WordPiece, where there is no model")
    parser.add_argument("--examples", type=int, default=10000)
    parser.add_argument("--max_seq_length", type=int, default=384)
    parser.add_argument("--doc_stride", type=int, default=128)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="for temporary files")
    parser.add_argument("--run", choices=("train", "predict"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        measure_here(options)
    else:
        show_table(options)


if __name__ == "__main__":
    sys.path.insert(0, ROOT)
    main()
