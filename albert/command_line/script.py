# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The way every script starts.

A script has `define_flags` and `main` (see util.flags), and

    def cli():
        script.run(main, define_flags, usage=__doc__)

TensorFlow takes seconds to import. A script therefore imports first what its flags need, which is
light; then, if it is what was started, answers --help and what is wrong with the command line:

    if __name__ == "__main__":
        script.answer_early(define_flags, usage=__doc__)

and imports the rest below. This module and the settings modules import nothing heavy.
"""

import copy
import functools
import re
import sys
import traceback
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Type

from absl import app, flags

from albert import __version__
from albert.command_line import commands, flags_help, log, process_flags
from albert.runtimes import quiet, support
from albert.util import config_files, stop_signals
from albert.util import flags as flags_lib


def user_errors() -> Tuple[Type[BaseException], ...]:
    """Returns the exceptions that a script shows as one-line errors: a user's mistakes."""
    import tensorflow.compat.v1 as tf

    return (ValueError, OSError, ArithmeticError, tf.errors.OpError)


def error_text(error: BaseException) -> str:
    """Returns an error's own words, without the graph node and stack that TensorFlow adds."""
    import tensorflow.compat.v1 as tf

    if isinstance(error, (UnicodeEncodeError, UnicodeDecodeError)):  # a path: content is checked
        return f"{error.object[:200]!r} is not UTF-8 ({error.reason}). Rename the file."
    text = error.message if isinstance(error, tf.errors.OpError) else str(error)
    # TensorFlow 2 begins with the lines of Python that made the node.
    text = re.sub(r"(?s)^Graph execution error:\n+(.*\nNode: '[^']*'\n)?", "", text)
    for noise in ("\n\t [[", "\n\nOriginal stack trace", "\n\nErrors may have originated"):
        text = text.split(noise)[0]
    return text.strip() or type(error).__name__


def _guarded(main: Callable[[], Optional[int]], verbosity: int) -> int:
    """Calls `main`; a user's mistake becomes a line on standard error and a non-zero code."""
    try:
        return main() or 0
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except user_errors() as error:
        if verbosity >= 1:
            traceback.print_exc()
        print(f"ERROR: {error_text(error)}", file=sys.stderr)
        return 1


class _HelpFlag(flags.BooleanFlag):
    """Prints a text and ends the script with 0; absl's own ends with 1, as a mistake would."""

    def __init__(self, name: str, purpose: str, text: Callable[[], str]):
        short = "?" if name == "help" else None
        super().__init__(name, False, purpose, short_name=short, allow_override=True)
        self._text = text

    def parse(self, argument: Any) -> None:
        """Called where the flag is given."""
        if self._parse(argument):
            commands.show(self._text())
            sys.exit(0)


class _CommandLine(NamedTuple):
    """How a script reads its arguments; see `run`."""

    define_flags: flags_lib.DefineFlags
    usage: str
    positional: Optional[str]
    others: Optional[str]
    fallback: Sequence[str]

    def define(
        self, flag_values: flags.FlagValues
    ) -> Tuple[Optional[Type[flags_lib.Settings]], List[str]]:
        """Defines the script's flags and --help; returns the settings' class and flags' names."""
        before = set(flag_values)
        kind = self.define_flags(flag_values)
        names = [name for name in flag_values if name not in before]
        flags.DEFINE_multi_string(
            config_files.FLAG,
            None,
            "TOML file with flags: train_batch_size = 32. Flags of the command line win, and of "
            "several files the last.",
            flag_values=flag_values,
        )
        flags.DEFINE_boolean(
            "verbose",
            False,
            "Show TensorFlow's own lines, and tracebacks.",
            flag_values=flag_values,
        )
        shown = [*names, config_files.FLAG, "verbose"]
        own = functools.partial(flags_help.text, flag_values, shown)
        helps: Dict[str, Callable[[], str]]
        helps = {"help": own, "h": own, "helpshort": own, "helpfull": flag_values.get_help}
        for name, text in helps.items():
            answer = functools.partial(self._help, text)
            flags.DEFINE_flag(_HelpFlag(name, "Show the flags.", answer), flag_values)
        version = _HelpFlag("version", "Show albert's version.", lambda: __version__)
        flags.DEFINE_flag(version, flag_values)
        # Flags may come after an argument only where there may be one: elsewhere it is a mistake.
        flag_values.set_gnu_getopt(self.positional is not None or self.others is not None)
        return kind, names

    def _help(self, flags_text: Callable[[], str]) -> str:
        return f"{commands.as_started(self.usage)}\n{flags_text()}"

    def read(self, flag_values: flags.FlagValues, arguments: List[str]) -> List[str]:
        """Sets the flags; returns the other arguments, after the first; exits at a mistake."""
        try:
            return flags_lib.read(
                flag_values,
                arguments,
                positional=self.positional,
                known_only=self.others is not None,
                fallback=self.fallback,
            )
        except ValueError as error:
            end = "" if str(error).endswith((".", "?")) else "."  # absl's have none
            print(f"ERROR: {error}{end} --help shows the flags.", file=sys.stderr)
            sys.exit(1)


def answer_early(
    define_flags: flags_lib.DefineFlags,
    *,
    usage: str,
    positional: Optional[str] = None,
    others: Optional[str] = None,
    fallback: Sequence[str] = (),
    answer: Callable[[Any], bool] = lambda settings: False,
):
    """Exits where the process's arguments ask for help or have a mistake that flags can tell.

    Otherwise TensorFlow is imported, without its notices unless they are asked for.

    For a script's head, above the imports that take seconds; the arguments are those of `run`,
    which reads the command line again, into FLAGS. That is left as it is: flags that may be given
    several times would have each value twice. `answer` does what the settings ask for without
    TensorFlow, and returns whether that was all; a ValueError of its is a mistake of the user's.
    """
    support.end_on_interrupt()
    log.guard_stderr()
    command_line = _CommandLine(define_flags, usage, positional, others, fallback)
    early = copy.deepcopy(process_flags.of_script())
    kind, names = command_line.define(early)
    rest = command_line.read(early, list(sys.argv))[1:]
    try:
        is_answered = answer(flags_lib.settings_of(early, names, kind, others=others, rest=rest))
    except ValueError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        sys.exit(1)
    if is_answered:
        sys.exit(0)
    quiet.import_tensorflow(is_verbose=_verbosity(early) >= 1)


def _verbosity(flag_values: flags.FlagValues) -> int:
    return max(flag_values.verbosity, int(flag_values.verbose))


def run(
    main: Callable[[Any], Optional[int]],
    define_flags: flags_lib.DefineFlags,
    *,
    usage: str,
    positional: Optional[str] = None,
    others: Optional[str] = None,
    fallback: Sequence[str] = (),
):
    """Runs a script: reads the process's arguments, calls `main`, and exits with its code.

    A mistake of the user's (see user_errors) prints one line and exits with 1, with a traceback
    only under --verbose; Ctrl-C exits with 130; SIGTERM and SIGUSR1 with 143, see stop_signals.

    Args:
      main: the script's function; what it returns, if anything, is the exit code.
      define_flags: defines the script's flags on the FlagValues it is given.
      usage: what --help prints above the flags.
      positional: the flag that an argument without a name stands for, if there is one.
      others: the name under which the settings hold, as a tuple, the arguments that are not flags
        of the script; `main` passes them on. Without it they are refused.
      fallback: arguments over which those of the process and of --config win.
    """
    log.guard_stderr()
    command_line = _CommandLine(define_flags, usage, positional, others, fallback)
    flag_values = process_flags.of_script()
    kind, names = command_line.define(flag_values)

    def start(argv: List[str]) -> int:
        commands.print_any_text()
        verbosity = _verbosity(flag_values)
        log.configure(verbosity)

        def main_of_settings() -> Optional[int]:
            rest = argv[1:]
            return main(flags_lib.settings_of(flag_values, names, kind, others=others, rest=rest))

        with stop_signals.handled():
            return _guarded(main_of_settings, verbosity)

    app.run(start, flags_parser=functools.partial(command_line.read, flag_values))
