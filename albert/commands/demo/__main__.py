# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows what this package does, with one command.

python -m albert demo [tour]            trains a small model from text, and writes a report page
python -m albert demo pretraining ...   pretrains a model of a published size, reports its speed
python -m albert demo finetuning ...    fine-tunes on SQuAD or MRPC, reports its speed and scores
python -m albert demo help              prints this page

Add -h to a command for its options. You can also run ./demo_albert or, after installation,
demo_albert. Only finetuning needs a network, to download the data and the model the first time.
With your own data (-i) and the folder of a model (--model), it needs none.
"""

import argparse
import importlib
import sys
from typing import List, Optional

from albert import __version__
from albert.commands.demo import runs
from albert.util import cli

# Option of later versions of Habana's demo -> our option.
LATER = {
    "--batch_size": "-b",
    "--data_type": "-d",
    "--dataset_path": "-i",
    "--epochs": "-e",
    "--max_seq_length": "-s",
    "--model_variant": "-m",
    "--output_dir": "-o",
    "--test_set": "-t",
    "--use_horovod": "-v",
}
PHASES = ("tour", "pretraining", "finetuning")  # Each is a module of this folder.


def parser_of(phase: str) -> argparse.ArgumentParser:
    """Returns the parser of a phase's options."""
    usage = cli.docstring(f"albert.commands.demo.{phase}")
    parser = argparse.ArgumentParser(
        prog=cli.as_started(f"python -m albert demo {phase}"),
        description=cli.as_started(f"{__doc__}\n{usage}" if phase == "tour" else usage),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    option = parser.add_argument
    if phase == "tour":
        option("--steps", type=int, default=3000, help="training steps (default: 3000)")
        option(
            "--language",
            choices=["en", "zh"],
            default="en",
            help="language of the stories; zh (Chinese) needs jieba (default: en)",
        )
        option(
            "--text",
            choices=["stories", "python"],
            default="stories",
            help="made-up stories, or English prose that ships with Python (default: stories)",
        )
    else:
        _add_sized_options(parser, ["overfit"] if phase == "pretraining" else ["squad", "mrpc"])
    option(
        "-o",
        metavar="DIR",
        help="output folder; resumes an interrupted run there (default: a new folder in "
        f"{runs.DEFAULT_FOLDER})",
    )
    option("--verbose", action="store_true", help="also show TensorFlow's messages and tracebacks")
    option("--version", action="version", version=__version__)
    return parser


def _add_sized_options(parser: argparse.ArgumentParser, tasks: List[str]) -> None:
    """Defines the options of the two phases that take a published size."""
    option = parser.add_argument
    option("-d", choices=runs.PRECISION_NAMES, default="fp32", help="precision (default: fp32)")
    option("-m", choices=runs.BATCH_SIZES, default="base", help="model size (default: base)")
    option("-t", choices=tasks, default=tasks[0], help=f"task (default: {tasks[0]})")
    option("-b", type=int, help=f"batch size (default: {runs.BATCH_SIZES}; bf16, fp16: double)")
    option("-c", type=int, default=5000, help="steps between checkpoints (default: 5000)")
    option("-s", type=int, help="sequence length (default: 128; squad: 384)")
    option("-w", type=int, help="warm-up steps (default: steps / 10; overfit: at most 10)")
    option("-v", nargs="?", const=True, help="no effect; for published commands")
    option("-i", metavar="DIR", help="folder with your own data")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("-e", type=float, help="passes over the data (default: 2)")
    if "overfit" in tasks:
        length.add_argument("--steps", type=int, help="training steps (default: 200 without -i)")
        option(
            "--vocab_size",
            type=int,
            default=30000,
            help="size of the new vocabulary if -i has none (default: 30000)",
        )
    else:
        option(
            "--model",
            help="folder or name of a pretrained model (default: the released model of size -m, "
            "downloaded the first time)",
        )


def main(argv: Optional[List[str]] = None) -> int:
    """Runs a phase, by default the tour, and returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--command"]:  # of Habana's later versions
        del arguments[0]
    if arguments[:1] == ["help"]:
        arguments = ["--help"]
    phase = arguments.pop(0) if set(arguments[:1]) & set(PHASES) else "tour"
    options = parser_of(phase).parse_args([LATER.get(name, name) for name in arguments])
    if getattr(options, "v", None):
        print("-v has no effect here.", file=sys.stderr)

    def run_phase() -> None:
        importlib.import_module(f"albert.commands.demo.{phase}").run_phase(options)

    return cli.guarded(run_phase, is_verbose=options.verbose)


if __name__ == "__main__":
    sys.exit(main())
