# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's phases share: folders of their own, and the package's commands run and shown."""

import argparse
import os
import pathlib
import shlex
import time
from typing import Any, Dict, List, Optional

from albert import configs, modeling
from albert.util import files, folder_lock
from albert.util import flags as flags_lib

DEFAULT_FOLDER = os.path.join("~", "tmp", "albert_demo")

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}
# Sequences in a batch that suit each size, by the option -d.
BATCH_SIZES = {
    "base": {"fp32": 32, "bf16": 64},
    "large": {"fp32": 16, "bf16": 32},
    "xlarge": {"fp32": 8, "bf16": 16},
    "xxlarge": {"fp32": 4, "bf16": 8},
}
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
# Options.


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Defines -d and -m."""
    parser.add_argument(
        "-d", choices=sorted(PRECISIONS), default="fp32", help="precision (default: fp32)"
    )
    parser.add_argument(
        "-m", choices=list(BATCH_SIZES), default="base", help="size of the model (default: base)"
    )


def add_batch_option(parser: argparse.ArgumentParser) -> None:
    """Defines -b."""
    sizes = "; ".join(
        f"{size} {batches['fp32']} (fp32), {batches['bf16']} (bf16)"
        for size, batches in BATCH_SIZES.items()
    )
    parser.add_argument(
        "-b", type=int, metavar="N", help=f"sequences in a batch (default: {sizes})"
    )


def check_numbers(options: argparse.Namespace) -> None:
    """Refuses values of -b, -c, -w, -e and -s that make no sense.

    Raises:
      ValueError: with the option and the remedy.
    """
    for name, value in (("-b", options.b), ("-c", options.c)):
        if value is not None and value < 1:
            raise ValueError(f"{name} {value} must be at least 1.")
    if options.w is not None and options.w < 0:
        raise ValueError(f"-w {options.w} must not be negative.")
    if options.e is not None and not options.e > 0:
        raise ValueError(f"-e {options.e} must be above 0.")
    longest = modeling.AlbertConfig.from_json_file(preset(options.m)).max_position_embeddings
    if options.s is not None and not 8 <= options.s <= longest:
        raise ValueError(f"-s {options.s} must be between 8 and {longest}, the model's positions.")


def preset(size: str) -> str:
    """Returns the configuration file of a size's second release.

    It has no dropout, which is faster and learns more.
    """
    return configs.preset_path(f"albert_{size}_v2")


def find_vocabulary(folder: pathlib.Path) -> Optional[Dict[str, str]]:
    """Returns the flags that name the vocabulary in a folder, if there is one.

    Raises:
      ValueError: there are several.
    """
    models = sorted(str(item) for item in folder.glob("*.model"))
    if len(models) > 1:
        raise ValueError(f"{folder} holds several vocabularies: {', '.join(models)}. Leave one.")
    if models:
        return {"spm_model_file": models[0]}
    wordpieces = folder / "vocab.txt"
    return {"vocab_file": str(wordpieces)} if wordpieces.exists() else None


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
        difference = files.fingerprint_difference(files.read_json_object(marker), identity)
        if difference:
            raise ValueError(
                f"-o {folder} holds a run of another kind ({difference}). Choose another."
            )
    elif not all(map(folder_lock.is_lock, os.listdir(folder))):
        raise ValueError(f"-o {folder} holds files that are not a demo's. Choose a new folder.")
    files.atomic_write_json(marker, identity)
