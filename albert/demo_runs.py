# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's phases share: folders of their own, and the package's commands run and shown."""

import json
import os
import shlex
import time
from typing import Any, Dict, List

from albert import files, flags_lib

DEFAULT_FOLDER = os.path.join("~", "tmp", "albert_demo")

_MARKER = "demo.json"
_MOST_RUNS = 999


class Commands:
    """Runs the package's own commands in this process, shows them, and remembers their lines."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.seconds: Dict[str, float] = {}

    def __call__(self, module: Any, function: Any = None, **flags: Any) -> Any:
        """Calls the module's main, or `function`, with these flags; returns what it returns."""
        name = module.__name__.split(".")[-1]
        arguments = [_argument(key, value) for key, value in flags.items()]
        line = " ".join(["python -m", f"albert.{name}"] + [shlex.quote(item) for item in arguments])
        print(f"    {line}", flush=True)
        self.lines.append(line)
        began = time.time()
        result = (function or module.main)(flags_lib.parse(module.define_flags, arguments))
        self.seconds[name] = self.seconds.get(name, 0.0) + time.time() - began
        return result


def _argument(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value}"


# ---------------------------------------------------------------------------------------------
# Folders.


def new_folder(name: str, base: str = DEFAULT_FOLDER) -> str:
    """Makes and returns base/name-001, or that with the next number that is free.

    Raises:
      ValueError: there are too many.
    """
    for number in range(1, _MOST_RUNS + 1):
        folder = os.path.join(os.path.expanduser(base), f"{name}-{number:03d}")
        try:
            os.makedirs(folder)
        except FileExistsError:
            continue
        return folder
    raise ValueError(f"{base} holds {_MOST_RUNS} runs. Remove some, or choose a folder by -o.")


def claim_folder(folder: str, identity: Dict[str, Any]) -> None:
    """Makes sure that `folder` is new, or holds an earlier run of the very same kind.

    Raises:
      ValueError: it holds anything else.
    """
    marker = os.path.join(folder, _MARKER)
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(marker):
        difference = files.fingerprint_difference(json.loads(files.read_text(marker)), identity)
        if difference:
            raise ValueError(
                f"-o {folder} holds a run of another kind ({difference}). Choose another."
            )
    elif os.listdir(folder):
        raise ValueError(f"-o {folder} holds files that are not a demo's. Choose a new folder.")
    files.atomic_write_json(marker, identity)
