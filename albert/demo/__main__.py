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
from typing import List, Optional

from albert import __version__
from albert.command_line import cli, commands
from albert.demo.options import PHASES
from albert.util import wording


def parser_of(name: str) -> argparse.ArgumentParser:
    """Returns the parser of a phase's options."""
    parser = argparse.ArgumentParser(
        prog=commands.as_started(f"python -m albert.demo {name}"),
        description=commands.as_started(commands.docstring(f"albert.demo.{name}")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    PHASES[name](parser)
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="show TensorFlow's notices, and the traceback of an error",
    )
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    """Runs a phase and returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] in (["help"], ["-h"], ["--help"]):
        usage = commands.as_started(__doc__.strip())
        cli.show(f"{usage}\n\n{parser_of(next(iter(PHASES))).format_help()}")
    if arguments[:1] == ["--version"]:
        cli.show(__version__)
    is_named = bool(arguments) and not arguments[0].startswith("-")
    name = arguments.pop(0) if is_named else next(iter(PHASES))
    if name not in PHASES:
        hint = wording.did_you_mean(name, PHASES)
        known = ", ".join(PHASES)
        print(f"ERROR: Unknown phase {name!r}.{hint} Phases: {known}.", file=sys.stderr)
        return 2
    options = parser_of(name).parse_args(arguments)
    return _run(f"albert.demo.{name}", options)


def _run(module: str, options: argparse.Namespace) -> int:
    """Runs the phase."""
    run = lambda: importlib.import_module(module).run(options)  # noqa: E731
    return cli.guarded(run, is_verbose=options.verbose)


if __name__ == "__main__":
    sys.exit(main())
