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
import shlex
import sys
from typing import Any, Dict, List, Mapping, Sequence

import tomli
from absl import flags

from albert.runtimes import quiet
from albert.util import files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

FLAG = "config"
RECORD_NAME = "run.toml"  # in the output folder of a run


def expanded(
    arguments: Sequence[str], flag_values: flags.FlagValues, aliases: Mapping[str, str]
) -> List[str]:
    """Returns a command line, with the program's name, with --config replaced by what it gives.

    That comes first, so that flags of the command line win, and of several files the last.

    Args:
      aliases: other names of flags, which a file may give.

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
            raise UserError(f"--{FLAG} needs a file: --{FLAG}=run.toml.")
        path = os.path.expanduser(path if has_value else waiting.pop(0))
        given += _arguments(path, flag_values, aliases)
    return [*arguments[:1], *given, *rest]


def read(path: str) -> Dict[str, Any]:
    """Returns the keys and values of a TOML file; ValueError where it cannot be read."""
    text = _text_of(path)
    try:
        return tomli.loads(text)
    except (ValueError, RecursionError) as error:  # the latter: arrays in arrays in arrays
        raise UserError(f"--{FLAG}={path} is no TOML: {error}") from error


def _text_of(path: str) -> str:
    """The content of a file, of this machine without TensorFlow."""
    try:
        if "://" not in path:
            files.check_is_file(path)
            with open(path, "rb") as stream:
                return stream.read().decode("utf-8-sig")
        quiet.import_tensorflow(is_verbose=False)
        import tensorflow.compat.v1 as tf

        try:
            return files.read_text(path)
        except tf.errors.OpError as error:
            raise UserError(f"--{FLAG}={path}: {error.message}.") from error
    except OSError as error:
        raise UserError(f"--{FLAG}={path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"--{FLAG}={path} is no TOML: {error}") from error


def _arguments(path: str, flag_values: flags.FlagValues, aliases: Mapping[str, str]) -> List[str]:
    """The flags that a file stands for."""
    arguments: List[str] = []
    for key, value in read(path).items():
        place = f"--{FLAG}={path}, {_line_of(path, key)}{key}"
        name = key if key in flag_values else aliases.get(key, key)
        if name == FLAG:
            raise UserError(f"{place}: a file cannot name another. Give --{FLAG} several times.")
        if name not in flag_values:
            known = [known for known in flag_values if len(known) > 1]
            hint = wording.did_you_mean(key, known, cutoff=0.6)
            raise UserError(f"{place}: there is no such flag.{hint}")
        try:
            text = _text(value)
            flag_values[name].parser.parse(text)
        except (ValueError, TypeError) as error:
            raise UserError(f"{place}: {error}") from error
        arguments.append(f"--{name}={text}")
    return arguments


def _line_of(path: str, name: str) -> str:
    """Where a key stands; the reader does not tell."""
    key = re.escape(name)
    for number, line in enumerate(_text_of(path).split("\n"), 1):
        if re.match(rf"\s*[\"']?{key}[\"']?\s*(=|\.)|\s*\[+\s*{key}\b", line):
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
    raise UserError(f"it is {kind}, where a flag takes a text, a number, true or false, or a list")


# ---------------------------------------------------------------------------------------------
# The record of a run.


def record(path: str, values: Mapping[str, Any]) -> None:
    """Writes the flags that were given to a run to `path`, so that --config repeats the run.

    The same flags leave the file as it is. One with others, of an earlier run in the same folder,
    is renamed, unless a renamed one says the same. A run does not fail because of this.
    """
    import tensorflow.compat.v1 as tf

    try:
        _record(path, values)
    except (ValueError, OSError, tf.errors.OpError) as error:  # also if another process was faster
        _LOGGER.warning("%s was not written: %s", path, error)


def beside(path: str) -> str:
    """Returns where the record of a run that makes one file lies: hidden, from patterns too."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{RECORD_NAME}")


def _record(path: str, values: Mapping[str, Any]) -> None:
    from albert import __version__

    known = {name: value for name, value in values.items() if value is not None}
    module = getattr(sys.modules["__main__"], "__spec__", None)
    command = f"python -m {module.name} " if module else ""
    again = f"{command}--config={shlex.quote(path)}"
    text = (
        f"# Flags of a run of albert {__version__}. The same again: {again}\n"
        "# (relative paths are those from the folder where it was started)\n"
    )
    text += "".join(f"{name} = {_toml(known[name])}\n" for name in sorted(known))
    exists = files.gfile().exists
    if not exists(os.path.dirname(path) or "."):
        return  # there are no results
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
            aside = files.unused_name(path)
            files.gfile().rename(path, aside)
            if isinstance(earlier, bytes):
                _LOGGER.warning("%s was not a record of a run; it is kept as %s.", path, aside)
    files.atomic_write_text(path, text)


def _content(path: str) -> Any:
    """What a file says; its bytes where it is no TOML."""
    content = files.read_bytes(path)
    try:
        return tomli.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return content


def _toml(value: Any) -> str:
    """A flag's value in TOML, whose strings are JSON's, but for DEL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
