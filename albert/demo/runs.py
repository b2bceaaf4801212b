# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the demo's phases share: sizes, folders of their own, and the package's commands."""

import contextlib
import itertools
import os
import pathlib
import shlex
import time
from typing import Any, Dict, Iterator, List, Optional

from albert import configs
from albert.util import files, folder_lock
from albert.util import flags as flags_lib
from albert.util.errors import UserError

DEFAULT_FOLDER = os.path.join("~", "tmp", "albert_demo")
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# Default batch of each size in float32 and in 16 bits.
BATCH_SIZES = {"base": (32, 64), "large": (16, 32), "xlarge": (8, 16), "xxlarge": (4, 8)}
_MARKER = "demo.json"


class Commands:
    """Runs the package's commands in this process, shows them, and remembers lines and times."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.seconds: Dict[str, float] = {}

    def __call__(self, module: Any, function: Any = None, **flags: Any) -> Any:
        """Calls the module's main, or `function`, with these flags; returns what it returns."""
        name = module.__name__.split(".")[-1]
        arguments = [
            f"--{key}" if value is True else f"--{key}={value}" for key, value in flags.items()
        ]
        line = " ".join(["python -m", f"albert.{name}", *map(shlex.quote, arguments)])
        print(f"    {line}", flush=True)
        self.lines.append(line)
        began = time.time()
        result = (function or module.main)(flags_lib.parse(module.Flags, arguments))
        self.seconds[name] = self.seconds.get(name, 0.0) + time.time() - began
        return result


def sized_flags(options: Any) -> Dict[str, Any]:
    """Returns the flags of training that -b, -d and -c say, or the size."""
    return {
        "train_batch_size": options.b or BATCH_SIZES[options.m][options.d != "fp32"],
        "precision": PRECISIONS[options.d],
        "save_checkpoints_steps": options.c,
        "log_steps": 10,
    }


def print_speed(training: Any) -> None:
    """Shows the speed of `estimators.TrainingOutcome`; None, of nothing left to train, has none."""
    if training:
        print(f"\nSpeed: {training.examples_per_second:.2f} sentences/s (without the first step)")


def input_folder(name: str) -> pathlib.Path:
    """Returns the folder -i; raises UserError if there is none."""
    path = pathlib.Path(os.path.expanduser(name))
    if not path.is_dir():
        raise UserError(f"-i {name} is not a folder.")
    return path


def preset(size: str) -> str:
    """Returns the configuration file of a size's second release, which has no dropout."""
    return configs.preset_path(f"albert_{size}_v2")


def find_vocabulary(folder: pathlib.Path) -> Optional[Dict[str, str]]:
    """Returns the flag of the vocabulary in a folder, or None; raises UserError for several."""
    models = sorted(map(str, folder.glob("[!.]*.model")))
    if len(models) > 1:
        raise UserError(f"{folder} holds several vocabularies: {', '.join(models)}. Leave one.")
    if models:
        return {"spm_model_file": models[0]}
    wordpieces = folder / "vocab.txt"
    return {"vocab_file": str(wordpieces)} if wordpieces.exists() else None


@contextlib.contextmanager
def held(given: Optional[str], name: str, identity: Dict[str, Any]) -> Iterator[pathlib.Path]:
    """Yields the folder of a run, which no other process may use meanwhile.

    Args:
      given: what -o says; by default the folder is name-001, or the next number that is free.
      name: of the run.
      identity: what must be the same where a run goes on.

    Raises:
      UserError: the folder holds something else, or another process works there.
    """
    path = pathlib.Path(os.path.expanduser(given)) if given else _new_folder(name)
    marker = path / _MARKER
    with folder_lock.held(str(path)):
        if marker.exists():
            difference = files.fingerprint_difference(files.read_json_object(str(marker)), identity)
            if difference:
                raise UserError(f"-o {path} holds a run of another kind ({difference}).")
        elif not all(map(folder_lock.is_lock, os.listdir(str(path)))):
            raise UserError(f"-o {path} holds files that are not a demo's. Choose a new folder.")
        files.atomic_write_json(str(marker), identity)
        print(f"Folder: {path}. After a stop, go on there: the same options, and -o", flush=True)
        yield path


def _new_folder(name: str) -> pathlib.Path:
    base = pathlib.Path(os.path.expanduser(DEFAULT_FOLDER))
    base.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = base / f"{name}-{number:03d}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise AssertionError
