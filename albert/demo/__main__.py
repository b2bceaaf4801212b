# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows what this package does, with one command.

python -m albert.demo [tour]            from text to a small trained model, with a report page
python -m albert.demo pretraining ...   pretrains a model of a published size, reports its speed
python -m albert.demo finetuning ...    fine-tunes one on SQuAD or MRPC, reports speed and scores
python -m albert.demo help              this page; PHASE -h: the options of a phase

Only finetuning downloads, once: the data and the model, unless -i and --model name yours.
./demo_albert, or after installation demo_albert, is the same.
"""

import argparse
import importlib
import sys
from typing import Any, Callable, Dict, List, Optional

from albert import __version__
from albert.command_line import cli, commands
from albert.demo import runs


def _above_zero(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} must be above 0")
        return value

    return number


_COUNT, _AMOUNT = _above_zero(int), _above_zero(float)


def _tour(option: Callable) -> None:
    option("--steps", type=_COUNT, default=3000, metavar="N", help="training steps (default: 3000)")
    text = "of the stories: en or zh (Chinese; words are found by jieba) (default: en)"
    option("--language", choices=("en", "zh"), default="en", help=text)
    text = "stories made by the demo, or English prose that ships with Python (default: stories)"
    option("--text", choices=("stories", "python"), default="stories", help=text)


def _sized(option: Callable, tasks: List[str]) -> None:
    """The options of both phases with a published size."""
    batches = "; ".join(
        f"{size} {full} (fp32), {half} (bf16, fp16)"
        for size, (full, half) in runs.BATCH_SIZES.items()
    )
    option("-d", choices=runs.PRECISIONS, default="fp32", help="precision (default: fp32)")
    option("-m", choices=runs.BATCH_SIZES, default="base", help="model size (default: base)")
    option("-t", choices=tasks, default=tasks[0], help=f"task (default: {tasks[0]})")
    option("-b", type=_COUNT, metavar="N", help=f"batch size (default: {batches})")
    text = "steps between checkpoints (default: 5000)"
    option("-c", type=_COUNT, default=5000, metavar="N", help=text)


def _pretraining(option: Callable) -> None:
    _sized(option, ["overfit"])
    option("-i", metavar="DIR", help="folder with your own data, instead of the task's text")
    text = "sequence length (default: 128, or that of the records)"
    option("-s", type=_COUNT, metavar="N", help=text)
    text = "passes over the data (default: 2; overfit: 200 steps)"
    option("-e", type=_AMOUNT, metavar="N", help=text)
    option("--steps", type=_COUNT, metavar="N", help="training steps, instead of -e")
    text = "warm-up steps (default: a tenth of the steps; overfit: at most 10)"
    option("-w", type=int, metavar="N", help=text)
    text = "size of the vocabulary that is trained if -i has none (default: 30000)"
    option("--vocab_size", type=_COUNT, default=30000, metavar="N", help=text)


def _finetuning(option: Callable) -> None:
    _sized(option, ["squad", "mrpc"])
    option("-i", metavar="DIR", help="folder of the data (default: fetched the first time)")
    text = "(default: the released one of the size, fetched the first time)"
    option("--model", metavar="DIR", help=f"folder of the pretrained model, or its name {text}")
    text = "sequence length (default: 384 for squad, 128 for mrpc)"
    option("-s", type=_COUNT, metavar="N", help=text)
    text = "passes over the data (default: 2)"
    option("-e", type=_AMOUNT, default=2.0, metavar="N", help=text)
    option("-w", type=int, metavar="N", help="warm-up steps (default: a tenth of the steps)")


# Phase -> its options; the module of that name runs it, and its docstring says what it does.
PHASES: Dict[str, Callable] = {
    "tour": _tour,
    "pretraining": _pretraining,
    "finetuning": _finetuning,
}


def parser_of(phase: str) -> argparse.ArgumentParser:
    """Returns the parser of a phase's options."""
    parser = argparse.ArgumentParser(
        prog=commands.as_started(f"python -m albert.demo {phase}"),
        description=commands.as_started(commands.docstring(f"albert.demo.{phase}")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    PHASES[phase](parser.add_argument)
    text = f"continues an interrupted run there (default: a new folder in {runs.DEFAULT_FOLDER})"
    parser.add_argument("-o", metavar="DIR", help=f"output folder; {text}")
    text = "show TensorFlow's notices, and the traceback of an error"
    parser.add_argument("--verbose", action="store_true", help=text)
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    """Runs a phase and returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] in (["help"], ["-h"], ["--help"]):
        usage = commands.as_started(__doc__.strip())
        cli.show(f"{usage}\n\n{parser_of('tour').format_help()}")
    if arguments[:1] == ["--version"]:
        cli.show(__version__)
    is_named = bool(arguments) and not arguments[0].startswith("-")
    phase = arguments.pop(0) if is_named else "tour"
    if phase not in PHASES:
        print(f"ERROR: Unknown phase {phase!r}. Phases: {', '.join(PHASES)}.", file=sys.stderr)
        return 2
    options = parser_of(phase).parse_args(arguments)
    run = lambda: importlib.import_module(f"albert.demo.{phase}").run(options)  # noqa: E731
    return cli.guarded(run, is_verbose=options.verbose)


if __name__ == "__main__":
    sys.exit(main())
