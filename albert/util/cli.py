# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts and ends every script, and shows its log.

    if __name__ == "__main__":
        cli.run(Flags, main, __doc__)

`main(flags)` imports the modules that it needs, so that --help and errors in flags do not wait
for TensorFlow. A script of google-research/albert decorates its main with
`@reads_flags(Flags)`: programs that import it find its flags on FLAGS and call `main(None)`.
"""

import ast
import contextlib
import functools
import gc
import importlib.util
import inspect
import logging
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Type

from absl import flags as absl_flags
from absl import logging as _absl_logging  # noqa: F401  defines its flags, such as --verbosity

from albert import __version__
from albert.util import UserError, errors, garbage, log, stop_signals
from albert.util import flags as flags_lib

Main = Callable[[Any], Optional[int]]

# The order of --help; other groups come after these.
_GROUPS = ["What to do", "Data", "Masking", "Model", "Options", "Output", "Training"]
# Whether this process runs the installed command `albert`.
is_installed = False

_IMPORTS = threading.Lock()  # Threads of a program may load models at once.
_PACKAGE = str(pathlib.Path(__file__).resolve().parents[1])
_CPP_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
# TensorFlow imports these, and with them Keras. It continues if they are not there.
_KERAS = ("keras.src.optimizers", "tf_keras.src.optimizers")
_HELP = {"--help", "-h", "-help", "--helpshort", "--helpfull", "-?"}


def run(
    kind: Type[flags_lib.BaseFlags],
    main: Main,
    usage: str,
    *,
    fallback: Mapping[str, str] = {},
) -> None:
    """Runs a script with the process's arguments and exits.

    The exit code is the value that `main` returns, or 0. It is 1 after an error, 2 if the command
    line is wrong, 130 after Ctrl-C, and 143 after SIGTERM or SIGUSR1.

    Args:
      kind: the class of the script's flags.
      main: takes the flags.
      usage: the text that --help prints above the flags.
      fallback: values for flags that neither the command line nor --config sets.
    """
    if sys.path[0] == _PACKAGE:
        del sys.path[0]  # of a script that runs as a file: albert/sklearn.py is not scikit-learn
    open_closed_streams()
    if hasattr(sys.stdout, "reconfigure"):
        # Files and programs get UTF-8. Characters that the terminal cannot display print as "?".
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="replace")
    if _HELP & set(sys.argv[1:]):
        show(f"{as_started(usage.rstrip())}\n{flags_help(kind)}")
    if "--version" in sys.argv[1:]:
        show(__version__)
    show_log()
    try:
        flags = flags_lib.read(kind, absl_flags.FLAGS, sys.argv, fallback=fallback)
    except UserError as error:
        print(f"ERROR: {as_started(str(error))} --help shows the flags.", file=sys.stderr)
        sys.exit(2)
    is_verbose = absl_flags.FLAGS[flags_lib.VERBOSE].value or absl_flags.FLAGS.verbosity >= 1
    main = inspect.unwrap(main)  # without `reads_flags`, which would read the flags again
    code = guarded(functools.partial(main, flags), is_verbose=is_verbose)
    gc.freeze()  # The interpreter's end would look for garbage in all that TensorFlow created.
    sys.exit(code)


def guarded(main: Callable[[], Optional[int]], *, is_verbose: bool) -> int:
    """Runs `main` with the log on standard error; returns the exit code, see `run`."""
    configure_log(is_verbose=is_verbose)
    try:
        with stop_signals.handled():
            return main() or 0
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `| head` has read enough
        discard_output(1)
        return 1
    except Exception as error:
        is_user_error = isinstance(error, UserError)
        if not is_user_error and not errors.is_external(error):
            raise
        if is_verbose:
            traceback.print_exc()
        text = as_started(str(error)) if is_user_error else errors.in_one_line(error)
        print(f"ERROR: {text}", file=sys.stderr)
        return 1
    finally:
        try:
            sys.stderr.flush()
        except OSError:  # Python would try again, and exit with 120
            discard_output(2)


def as_started(text: str) -> str:
    """Replaces `python -m albert NAME` in a text by `albert NAME`, if `is_installed`."""
    return re.sub(r"python -m albert[ .](?=\w)", "albert ", text) if is_installed else text


def docstring(module: str) -> str:
    """Returns the docstring of a module of this package, without importing the module."""
    text = pathlib.Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(text))


def show(text: str) -> None:
    """Prints a text and exits."""
    sys.exit(guarded(lambda: print(text, flush=True), is_verbose=False))


def flags_help(kind: Type[flags_lib.BaseFlags]) -> str:
    """Returns the help text of the flags, by group, with defaults and bounds."""
    groups: Dict[str, List[str]] = {group: [] for group in _GROUPS}
    for name, options in flags_lib.describe(kind).items():
        if "help" not in options:
            continue
        is_switch = options["kind"] is bool
        line, notes = f"--[no]{name}: " if is_switch else f"--{name}: ", []
        if "required" in options:
            line += "(required) "
        allowed = flags_lib.takes(options, in_help=True)
        if allowed and not is_switch:
            notes.append(allowed)
        if options["default"] is not None:
            notes.append(f"default: {options['default']}")
        line += options["help"]
        if notes:
            line += f" ({'; '.join(notes)})"
        line = absl_flags.text_wrap(line, 100, indent="      ", firstline_indent="  ")
        groups.setdefault(options.get("group", "Options"), []).append(line)
    groups["All commands"] = [f"  {name}: {text}" for name, text in flags_lib.OWN.items()]
    return "\n".join("\n".join([f"\n{group}:", *lines]) for group, lines in groups.items() if lines)


def reads_flags(kind: Type[flags_lib.BaseFlags]) -> Callable[[Main], Main]:
    """Decorates a script's main(flags) for programs that call main(None) or app.run(main).

    The script's flags are defined on FLAGS when it is imported, and main reads them there.
    """
    flags_lib.define(kind, absl_flags.FLAGS)

    def decorate(main: Main) -> Main:
        @functools.wraps(main)
        def main_of_flags(flags: Any) -> Optional[int]:
            if isinstance(flags, flags_lib.BaseFlags):
                return main(flags)
            flags = current_flags(kind)
            if not log.handlers:
                show_log()
            flags.check()
            return main(flags)

        return main_of_flags

    return decorate


def current_flags(kind: Type[flags_lib.AnyFlags]) -> flags_lib.AnyFlags:
    """Reads the flags from FLAGS, without checks. Parses the command line if needed."""
    if not absl_flags.FLAGS.is_parsed():
        try:
            absl_flags.FLAGS(sys.argv, known_only=True)
        except absl_flags.Error:  # The program reads its arguments in another way.
            absl_flags.FLAGS.mark_as_parsed()
    return flags_lib.of_flags(kind, absl_flags.FLAGS)


# ---- the log on standard error ----


class _Handler(logging.Handler):
    """Writes the time, the level of warnings and errors, and the message, above a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        level = f"{record.levelname}: " if record.levelno >= logging.WARNING else ""
        try:
            line = f"{time.strftime('%H:%M:%S')} {level}{self.format(record)}"
            tqdm.write(line, file=sys.stderr)
        except OSError:  # If nobody reads the log, continue.
            self.handleError(record)


def open_closed_streams() -> None:
    """Opens the null device for closed standard streams, before a file gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def discard_output(descriptor: int) -> None:
    """Discards further output to a file descriptor."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


@contextlib.contextmanager
def hidden_errors() -> Iterator[None]:
    """Hides standard error in this context.

    Another process buffers it, and shows it if the context ends by an error or this process dies.
    """
    copies = "import sys; sys.stderr.buffer.write(sys.stdin.buffer.read())"  # at its input's end
    buffer = subprocess.Popen(
        [sys.executable, "-ISc", copies], stdin=subprocess.PIPE, start_new_session=True
    )
    sys.stderr.flush()
    terminal = os.dup(2)
    os.dup2(buffer.stdin.fileno(), 2)
    buffer.stdin.close()
    try:
        yield
        buffer.kill()
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
        buffer.wait()


@contextlib.contextmanager
def _without_keras() -> Iterator[None]:
    """Lets TensorFlow's import in this context take half the time: no Keras, no garbage collection.

    TensorFlow loads Keras when a program uses it.
    """
    names = [name for name in _KERAS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(names))  # type: ignore  # None: Python does not import it
    try:
        with garbage.kept():
            yield
            gc.freeze()  # No later search for garbage looks at what TensorFlow created.
    finally:
        for name in names:
            del sys.modules[name]


class _Import(NamedTuple):
    """Imports TensorFlow quickly and, if `is_quiet`, hides what it prints despite the log level."""

    is_quiet: bool

    def find_spec(self, name: str, *_: Any) -> Any:
        """Returns the specification of TensorFlow's import; None for other modules."""
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = _without_keras()(spec.loader.exec_module)  # type: ignore

        @hidden_errors()
        def run_quietly(module):
            run(module)
            with contextlib.suppress(Exception):
                # Without a GPU, TensorFlow's first search for GPUs prints an error.
                module.config.experimental.list_physical_devices("GPU")

        spec.loader.exec_module = run_quietly if self.is_quiet else run  # type: ignore
        return spec


def import_tensorflow(*, is_quiet: bool = True) -> None:
    """Imports TensorFlow unless the program has imported it.

    If quiet, hides its messages, unless the program configured them.
    """
    with _IMPORTS:
        is_new = "tensorflow" not in sys.modules
        is_quiet = is_quiet and is_new and _CPP_LEVEL not in os.environ
        if is_quiet:
            os.environ[_CPP_LEVEL] = "3"
        if is_new:
            sys.meta_path.insert(0, _Import(is_quiet))
        import tensorflow  # noqa: F401  waits for a thread that imports it now

        gc.unfreeze()  # In a program, what was there before may become garbage.
        if is_quiet:
            logging.getLogger("tensorflow").setLevel(logging.ERROR)


def configure_log(*, is_verbose: bool) -> None:
    """Shows our log and, if verbose, TensorFlow's. Call it before TensorFlow's import."""
    # TensorFlow's C++ code prints dozens of lines about missing devices and libraries.
    level = os.environ.setdefault(_CPP_LEVEL, "0" if is_verbose else "3")
    if "tensorflow" not in sys.modules:
        sys.meta_path.insert(0, _Import(level == "3" and not is_verbose))
    show_log(logging.DEBUG if is_verbose else logging.INFO)
    logging.raiseExceptions = is_verbose
    logging.getLogger("tensorflow").setLevel(logging.INFO if is_verbose else logging.CRITICAL)
    logging.getLogger("absl").setLevel(logging.INFO if is_verbose else logging.WARNING)


def show_log(level: int = logging.INFO) -> None:
    """Shows this package's log lines of this level and above."""
    log.handlers = [_Handler()]
    log.propagate = False
    log.setLevel(level)
