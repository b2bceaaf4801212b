# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands of `albert`, and what the modules behind them say of themselves.

Nothing is imported to say it: the modules behind the commands take seconds.
"""

import ast
import importlib.util
import io
import os
import pathlib
import re
import sys
from typing import Dict, Optional

# Command -> module, which `python -m` runs too.
COMMANDS: Dict[str, str] = {
    "train-vocab": "albert.train_vocab",
    "create-data": "albert.create_pretraining_data",
    "create-data-beam": "albert.create_pretraining_data_beam",
    "pretrain": "albert.run_pretraining",
    "finetune": "albert.run_classifier",
    "squad": "albert.run_squad_v1",
    "squad2": "albert.run_squad_v2",
    "race": "albert.run_race",
    "sweep": "albert.sweep",
    "predict": "albert.predict",
    "embed": "albert.embed",
    "fill-mask": "albert.fill_mask",
    "download-model": "albert.download_model",
    "download-data": "albert.download_data",
    "convert": "albert.convert_checkpoint",
    "export-checkpoints": "albert.export_checkpoints",
    "export-hub": "albert.export_to_tfhub",
    "export-model": "albert.export_model",
    "plan": "albert.plan",
    "plot": "albert.plot",
    "show-changes": "albert.show_changes",
    "doctor": "albert.doctor",
    "demo": "albert.demo.__main__",
}


# How `albert` was called, where this process runs one of its commands.
program: Optional[str] = None


def as_started(text: str) -> str:
    """Returns a usage with the modules' names as the commands by which this process was started."""
    for command, module in COMMANDS.items() if program else ():
        name = re.escape(module.replace(".__main__", ""))
        text = re.sub(rf"python -m {name}\b", f"{program} {command}", text)
    return text


def print_any_text() -> None:
    """Lets any text be printed: in UTF-8 to a file or a program, on a terminal as far as it goes.

    A terminal shows question marks for what its encoding lacks.
    """
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return  # of a notebook
    if sys.stdout.isatty():
        sys.stdout.reconfigure(errors="replace")
    else:
        sys.stdout.reconfigure(encoding="utf-8")


def show(text: str) -> None:
    """Prints what was asked for, help or a version; ends the process if it cannot be written.

    A reader that has gone, as in `--help | head -1`, is no mistake.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)  # for the rest, which Python writes when it ends
        is_mistake = not isinstance(error, BrokenPipeError)
        sys.exit(f"ERROR: Standard output: {error.strerror}." if is_mistake else 0)


def docstring(module: str) -> str:
    """Returns the docstring of a module of this package, without importing the module."""
    text = pathlib.Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
    start = text.index('"""')
    return ast.literal_eval(text[start : text.index('"""', start + 3) + 3])
