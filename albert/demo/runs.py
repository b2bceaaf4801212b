# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's phases share: options, folders of their own, and the package's commands."""

import argparse
import contextlib
import itertools
import math
import os
import pathlib
import shlex
import sys
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence

from albert import configs
from albert.util import files, folder_lock, stop_signals
from albert.util import flags as flags_lib
from albert.util.errors import UserError

DEFAULT_FOLDER = os.path.join("~", "tmp", "albert_demo")
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# Default batch of each size by the option -d; fp16 has that of bf16.
BATCH_SIZES = {
    "base": {"fp32": 32, "bf16": 64},
    "large": {"fp32": 16, "bf16": 32},
    "xlarge": {"fp32": 8, "bf16": 16},
    "xxlarge": {"fp32": 4, "bf16": 8},
}
_MARKER = "demo.json"


class Commands:
    """Runs the package's commands in this process, shows them, and remembers lines and times."""

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
        result = (function or module.main)(flags_lib.parse(module.Flags, arguments))
        self.seconds[name] = self.seconds.get(name, 0.0) + time.time() - began
        return result


def _argument(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no{name}"
    return f"--{name}={value}"


def print_speed(training: Any) -> None:
    """Shows the speed of a training: `estimators.TrainingOutcome`, or what has its speed."""
    speed = training.examples_per_second
    print(f"Speed: {speed:.2f} sentences/s (mean without the first step)")


# ---- Options.


def add_folder_option(parser: argparse.ArgumentParser) -> None:
    """Defines -o."""
    text = f"continues an interrupted run there (default: a new folder in {DEFAULT_FOLDER})"
    parser.add_argument("-o", metavar="DIR", help=f"output folder; {text}")


def add_options(
    parser: argparse.ArgumentParser, tasks: Sequence[str], *, length: str, epochs: str, warmup: str
) -> None:
    """Defines the options of a phase with a published size; the last three describe defaults."""
    batches = "; ".join(
        f"{size} {batch['fp32']} (fp32), {batch['bf16']} (bf16, fp16)"
        for size, batch in BATCH_SIZES.items()
    )
    choices = {
        "-d": ("precision", "fp32", sorted(PRECISIONS)),
        "-m": ("model size", "base", list(BATCH_SIZES)),
        "-t": ("task", tasks[0], tasks),
    }
    for name, (text, default, words) in choices.items():
        text = f"{text} (default: {default})"
        parser.add_argument(name, choices=words, default=default, help=text)
    numbers: Dict[str, Any] = {
        "-b": (int, f"batch size (default: {batches})"),
        "-s": (int, f"sequence length (default: {length})"),
        "-e": (float, f"passes over the data (default: {epochs})"),
        "-w": (int, f"warm-up steps (default: {warmup})"),
    }
    for name, (kind, text) in numbers.items():
        parser.add_argument(name, type=kind, metavar="N", help=text)
    text = "steps between checkpoints (default: 5000)"
    parser.add_argument("-c", type=int, default=5000, metavar="N", help=text)
    add_folder_option(parser)


def batch_size(options: argparse.Namespace) -> int:
    """Returns what -b says, or the default of the size and precision."""
    return options.b or BATCH_SIZES[options.m]["fp32" if options.d == "fp32" else "bf16"]


def check_options(options: argparse.Namespace) -> None:
    """Raises ValueError for an option of `add_options`, or --steps, that is out of range."""
    from albert import modeling  # here: the options are shown before TensorFlow is imported

    longest = modeling.AlbertConfig.from_json_file(preset(options.m)).max_position_embeddings
    lowest = {"b": 1, "c": 1, "w": 0, "s": 8, "steps": 1}
    for name, value in vars(options).items():
        option = f"{'-' if len(name) == 1 else '--'}{name} {value}"
        if name in lowest and value is not None and value < lowest[name]:
            raise UserError(f"{option} must be at least {lowest[name]}.")
    if options.s is not None and options.s > longest:
        raise UserError(f"-s {options.s} is more than the model's {longest} positions.")
    if options.e is not None and not 0 < options.e < math.inf:
        raise UserError(f"-e {options.e} must be above 0.")


def input_folder(options: argparse.Namespace) -> pathlib.Path:
    """Returns the folder -i; raises ValueError if there is none."""
    path = pathlib.Path(os.path.expanduser(options.i))
    if not path.is_dir():
        raise UserError(f"-i {options.i} is not a folder.")
    return path


def preset(size: str) -> str:
    """Returns the configuration file of a size's second release, which has no dropout."""
    return configs.preset_path(f"albert_{size}_v2")


def find_vocabulary(folder: pathlib.Path) -> Optional[Dict[str, str]]:
    """Returns the flag of the vocabulary in a folder, or None; raises ValueError for several."""
    models = sorted(map(str, folder.glob("[!.]*.model")))
    if len(models) > 1:
        raise UserError(f"{folder} holds several vocabularies: {', '.join(models)}. Leave one.")
    if models:
        return {"spm_model_file": models[0]}
    wordpieces = folder / "vocab.txt"
    return {"vocab_file": str(wordpieces)} if wordpieces.exists() else None


# ---- Folders.


def output_folder(given: Optional[str], name: str, base: str = DEFAULT_FOLDER) -> pathlib.Path:
    """Returns the folder `given`, or makes base/name-001, or the next number that is free."""
    if given:
        return pathlib.Path(os.path.expanduser(given))
    for number in itertools.count(1):
        folder = pathlib.Path(os.path.expanduser(base), f"{name}-{number:03d}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError


@contextlib.contextmanager
def held(folder: pathlib.Path, given: Optional[str]) -> Iterator[None]:
    """Keeps other processes out of `folder`; one who stops the run is told how to go on there.

    Args:
      folder: of the run.
      given: what -o says; the same command goes on where it is given.
    """
    hint = "" if given else f"To go on: the same options, and -o {shlex.quote(str(folder))}"
    try:
        with folder_lock.held(str(folder)):
            yield
    except (KeyboardInterrupt, stop_signals.Stopped):
        if hint:
            print(hint, file=sys.stderr, flush=True)
        raise


def claim_folder(folder: str, identity: Dict[str, Any]) -> None:
    """Raises ValueError unless `folder` is new or holds a run of the same identity."""
    marker = os.path.join(folder, _MARKER)
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(marker):
        difference = files.fingerprint_difference(files.read_json_object(marker), identity)
        if difference:
            raise UserError(
                f"-o {folder} holds a run of another kind ({difference}). Choose another."
            )
    elif not all(map(folder_lock.is_lock, os.listdir(folder))):
        raise UserError(f"-o {folder} holds files that are not a demo's. Choose a new folder.")
    files.atomic_write_json(marker, identity)
