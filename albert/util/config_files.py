# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags in TOML files: --config=run.toml reads them, and a run writes its own flags to one.

    # run.toml: names of flags and their values
    train_batch_size = 32
    do_train = true
    tasks = ["mrpc", "rte"]        # as --tasks=mrpc,rte

Relative paths begin at the folder where the command is started.
"""

import json
import os
import shlex
import sys
from typing import Any, Dict, Mapping

import tomli

from albert.util import files, wording
from albert.util.errors import UserError

RECORD_NAME = "run.toml"  # in the output folder of a run
_HEADER = "# Repeat this run: "
_TRAINED = "\ndo_train = true\n"


def read(path: str) -> Dict[str, str]:
    """Returns a TOML file's keys and values as flag values in text form.

    Raises:
      UserError: the file cannot be read, is no TOML, or holds a table.
    """
    path = os.path.expanduser(path)
    try:
        values = tomli.loads(files.read_text(path))
        return {key: _text(value) for key, value in values.items()}
    except (ValueError, RecursionError) as error:
        raise UserError(f"--config={path}: {error}") from error


def _text(value: Any) -> str:
    """A value as a flag takes it."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if not isinstance(value, (str, int, float)):
        raise UserError(f"{value!r} is not a flag value.")
    return str(value).lower() if isinstance(value, bool) else str(value)


def record(path: str, values: Mapping[str, Any], *, is_training: bool = False) -> None:
    """Writes the flags that were given to a run, so that --config repeats it.

    A file of this name stays as it is if a user wrote it. That of a training stays unless
    `is_training`: it says how the model beside it was made.
    """
    present = files.read_text(path) if files.gfile().exists(path) else _HEADER
    if not present.startswith(_HEADER) or _TRAINED in present and not is_training:
        return
    if is_training:
        values = {**values, "do_train": True}  # which is the default of a script
    module = getattr(sys.modules["__main__"], "__spec__", None)
    command = f"{wording.command_of(module.name)} " if module else ""
    lines = [f"{_HEADER}{command}--config={shlex.quote(path)}"]
    for name in sorted(values):
        if values[name] is not None:
            lines.append(f"{name} = {_toml(values[name])}")
    files.atomic_write_text(path, "\n".join(lines) + "\n")


def beside(path: str) -> str:
    """Returns the hidden path for the flags of a run that writes one file."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{RECORD_NAME}")


def _toml(value: Any) -> str:
    """A flag's value in TOML, whose strings are JSON's, except DEL."""
    if isinstance(value, (int, float)):
        return str(value).lower() if isinstance(value, bool) else repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
