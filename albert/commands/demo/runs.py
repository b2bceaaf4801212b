# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the demo's phases: sizes, output folders, and running scripts."""

import collections
import contextlib
import itertools
import os
import pathlib
import shlex
import time
from typing import Any, Dict, Iterator, List

from albert.util import UserError, files, folder_lock, json_files, wording
from albert.util import flags as flags_lib

DEFAULT_FOLDER = os.path.join("~", "tmp", "albert_demo")
PRECISION_NAMES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# Default batch size of each model size in float32. In 16 bits, it doubles.
BATCH_SIZES = {"base": 32, "large": 16, "xlarge": 8, "xxlarge": 4}


class DemoRun:
    """A run of scripts in a folder, `path`, with their command lines and times."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.lines: List[str] = []
        self.seconds: Dict[str, float] = collections.defaultdict(float)

    def __call__(self, module: Any, **flags: Any) -> None:
        """Calls the main of one of the package's scripts with these flags."""
        name = module.__name__.split(".")[-1]
        arguments = [f"--{key}={value}" for key, value in flags.items()]
        command = wording.command_of(module.__name__)
        self.lines.append(" ".join([command, *map(shlex.quote, arguments)]))
        print(f"    {self.lines[-1]}", flush=True)
        began = time.time()
        module.main(flags_lib.parse(module.Flags, arguments))
        self.seconds[name] += time.time() - began


@contextlib.contextmanager
def open_run(folder: str, name: str, **identity: Any) -> Iterator[DemoRun]:
    """Yields a run, and locks its folder.

    Args:
      folder: the value of -o; if empty, the folder is name-001, or has the next free number.
      name: name of the run.
      **identity: options that must be the same to resume a run.

    Raises:
      UserError: the folder has other content, or another process uses it.
    """
    base = pathlib.Path(DEFAULT_FOLDER)
    numbered = ((base / f"{name}-{number:03d}").expanduser() for number in itertools.count(1))
    path = pathlib.Path(folder or next(path for path in numbered if not path.exists())).expanduser()
    marker = str(path / "demo.json")
    with folder_lock.held(str(path)):
        if os.listdir(str(path)) == [folder_lock.lock_name()]:
            files.atomic_write_json(marker, identity)
        if not os.path.exists(marker) or json_files.read(marker) != identity:
            raise UserError(f"-o {path} has no run with {identity}. Choose a new folder.")
        print(f"Folder: {path}. To resume, pass it as -o with the same options.", flush=True)
        yield DemoRun(path)


# ---- Shared by the phases with a published size.


def batch_size(options: Any) -> int:
    """Returns -b, or the default for the size and precision."""
    return options.b or BATCH_SIZES[options.m] * (1 + (options.d != "fp32"))


def train(run: DemoRun, options: Any, script: Any, **flags: Any) -> None:
    """Trains with a script and the options -b, -c and -d; the log has the speed and the scores."""
    run(
        script,
        output_dir=run.path / "model",
        do_train=True,
        train_batch_size=batch_size(options),
        precision=PRECISION_NAMES[options.d],
        save_checkpoints_steps=options.c,
        log_steps=10,
        **flags,
    )


def vocabulary_of(folder: pathlib.Path) -> Dict[str, str]:
    """Returns the flag of the vocabulary in a folder; {} if there is none."""
    for name, pattern in (("spm_model_file", "[!.]*.model"), ("vocab_file", "vocab.txt")):
        for file in sorted(folder.glob(pattern)):
            return {name: str(file)}
    return {}
