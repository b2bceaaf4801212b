# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows what this package does, with one command and no download.

python -m albert.demo                   from text to a small trained model, with a report page
python -m albert.demo pretraining ...   pretrains a model of a published size
python -m albert.demo finetuning ...    fine-tunes one on SQuAD or MRPC
python -m albert.demo help              this page; PHASE -h: the options of a phase
"""

import argparse
import importlib
import os
import sys
import traceback
from typing import List, NamedTuple, Optional

# A phase's module has add_arguments(parser), run(arguments) and a docstring that says what it does.
# Phases are imported when they are asked for: TensorFlow takes seconds to load, help does not.


class Phase(NamedTuple):
    """What can be demonstrated."""

    module: str
    summary: str


PHASES = {
    "tour": Phase(
        "albert.demo.tour", "from text to a small trained model, with a report page (the default)"
    ),
    "pretraining": Phase(
        "albert.demo.pretraining", "pretrains a model of a published size and reports its speed"
    ),
    "finetuning": Phase(
        "albert.demo.finetuning",
        "fine-tunes a model on SQuAD or MRPC and reports its speed and scores",
    ),
}
DEFAULT_PHASE = "tour"


def usage() -> str:
    """Returns what `help` prints."""
    lines = [f"  {name:<13} {phase.summary}" for name, phase in PHASES.items()]
    return (
        "usage: python -m albert.demo [PHASE] [options]\n\n"
        "Shows what this package does, with one command and no download.\n\n"
        "phases:\n" + "\n".join(lines) + "\n\n"
        "python -m albert.demo PHASE -h lists the options of a phase."
    )


def parser_of(name: str) -> argparse.ArgumentParser:
    """Returns the parser of a phase's options."""
    module = importlib.import_module(PHASES[name].module)
    parser = argparse.ArgumentParser(
        prog=f"python -m albert.demo {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="show TensorFlow's notices, and the traceback of an error",
    )
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    """Runs a phase and returns the exit code: 0, or 2 with one line about what was wrong."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] in (["help"], ["-h"], ["--help"]):
        print(usage())
        return 0
    is_named = bool(arguments) and not arguments[0].startswith("-")
    name = arguments.pop(0) if is_named else DEFAULT_PHASE
    if name not in PHASES:
        print(f"ERROR: Unknown phase {name!r}. Phases: {', '.join(PHASES)}.", file=sys.stderr)
        return 2
    parser = parser_of(name)
    options = parser.parse_args(arguments)
    return _run(PHASES[name].module, options)


def _run(module: str, options: argparse.Namespace) -> int:
    """Runs the phase; a user's mistake becomes one line."""
    from albert.util import flags as flags_lib
    from albert.util import stop_signals

    flags_lib.configure_logging(verbosity=int(options.verbose))
    try:
        with stop_signals.handled():
            importlib.import_module(module).run(options)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except flags_lib.USER_ERRORS as error:
        if options.verbose:
            traceback.print_exc()
        print(f"ERROR: {error}", file=sys.stderr)
        return 2
    return 0


def cli() -> None:
    """Runs the demo with the process's own arguments."""
    # Before TensorFlow is loaded: its start-up notices would bury what the demo says.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main())


if __name__ == "__main__":
    cli()
