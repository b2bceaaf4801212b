# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags in TOML files: --config=run.toml gives them, and a run leaves its own beside its results.

    # run.toml: names of flags and their values
    train_batch_size = 32
    do_train = true
    tasks = ["mrpc", "rte"]        # as --tasks=mrpc,rte

Paths are those of the flags: relative ones begin at the folder where the command is started.
"""

import json
import logging
import os
import re
import sys
from typing import Any, Dict, List, Mapping, Sequence

import tomli
from absl import flags

from albert.util import wording

_LOGGER = logging.getLogger("albert")

FLAG = "config"
RECORD_NAME = "run.toml"  # in the output folder of a run


def expanded(arguments: Sequence[str], flag_values: flags.FlagValues) -> List[str]:
    """Returns a command line, with the program's name, with --config replaced by what it gives.

    That comes first, so that flags of the command line win, and of several files the last.

    Raises:
      ValueError: a file that cannot be read, a key that is no flag, or a value it does not take.
    """
    given: List[str] = []
    rest: List[str] = []
    waiting = list(arguments[1:])
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            rest += [argument, *waiting]
            break
        name, has_value, path = argument.partition("=")
        if name not in (f"--{FLAG}", f"-{FLAG}"):
            rest.append(argument)
            continue
        if not has_value and not waiting:
            raise ValueError(f"--{FLAG} needs a file: --{FLAG}=run.toml.")
        given += _arguments(os.path.expanduser(path if has_value else waiting.pop(0)), flag_values)
    return [*arguments[:1], *given, *rest]


def read(path: str) -> Dict[str, Any]:
    """Returns the keys and values of a TOML file; ValueError where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return tomli.loads(stream.read().decode("utf-8"))
    except OSError as error:
        raise ValueError(f"--{FLAG}={path}: {error.strerror}.") from error
    except ValueError as error:  # of TOML, or not UTF-8
        raise ValueError(f"--{FLAG}={path} is no TOML: {error}") from error


def _arguments(path: str, flag_values: flags.FlagValues) -> List[str]:
    """The flags that a file stands for."""
    arguments = []
    for name, value in read(path).items():
        place = f"--{FLAG}={path}, {_line_of(path, name)}{name}"
        if name not in flag_values or name == FLAG:
            known = [known for known in flag_values if len(known) > 1]
            hint = wording.did_you_mean(name, known, cutoff=0.6)
            raise ValueError(f"{place}: there is no such flag.{hint}")
        try:
            text = _text(value)
            flag_values[name].parser.parse(text)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{place} = {value!r}: {error}") from error
        arguments.append(f"--{name}={text}")
    return arguments


def _line_of(path: str, name: str) -> str:
    """Where a key stands; the reader does not tell."""
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            if re.match(
                rf"\s*[\"']?{re.escape(name)}[\"']?\s*(=|\.)|\s*\[+\s*{re.escape(name)}\b", line
            ):
                return f"line {number}: "
    return ""


def _text(value: Any) -> str:
    """A value as a flag takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, (str, int, float)):
        return str(value)
    kind = "a table" if isinstance(value, dict) else type(value).__name__
    raise ValueError(f"it is {kind}, where a flag takes a text, a number, true or false, or a list")


# ---------------------------------------------------------------------------------------------
# The record of a run.


def record(path: str, values: Mapping[str, Any]) -> None:
    """Writes the flags that were given to a run to `path`, so that --config repeats the run.

    The same flags leave the file as it is. One with others, of an earlier run in the same folder,
    is renamed, unless a renamed one says the same. A run does not fail because of this.
    """
    from albert import __version__
    from albert.util import files

    known = {name: value for name, value in values.items() if value is not None}
    module = getattr(sys.modules["__main__"], "__spec__", None)
    command = f"python -m {module.name} " if module else ""
    text = (
        f"# Flags of a run of albert {__version__}. The same again: {command}--config={path}\n"
        "# (relative paths are those from the folder where it was started)\n"
    )
    text += "".join(f"{name} = {_toml(known[name])}\n" for name in sorted(known))
    exists = files.gfile().exists
    if not exists(os.path.dirname(path) or "."):
        return  # there are no results
    try:
        content = tomli.loads(text)
        if exists(path):
            earlier = _content(path)
            if earlier == content:
                return
            kept, number = [], 1
            while exists(f"{path}.old-{number}"):
                kept.append(_content(f"{path}.old-{number}"))
                number += 1
            if earlier not in kept:
                files.gfile().rename(path, files.unused_name(path))
        files.atomic_write_text(path, text)
    except (ValueError, OSError) as error:
        _LOGGER.warning("%s was not written: %s", path, error)


def _content(path: str) -> Any:
    """What a file says; its text where it is no TOML."""
    from albert.util import files

    text = files.read_text(path)
    try:
        return tomli.loads(text)
    except ValueError:
        return text


def _toml(value: Any) -> str:
    """A flag's value in TOML, whose strings are JSON's, but for DEL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
