# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records a training beside its checkpoints, and compares the record with a later start.

In --output_dir, run.toml has the flags. made_from.json has hashes of what the training is made
from: files may be moved, copied or renamed.
"""

import contextlib
import logging
import os
from typing import Any, Dict, Mapping, Optional

import tensorflow.compat.v1 as tf

from albert.configs.flags import TrainingFlags
from albert.formats import checkpoints
from albert.training import evaluation
from albert.util import config_files, json_files
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

RECORD_NAME = "made_from.json"
_LENGTHS = ("train_step", "num_train_steps", "num_train_epochs")  # flags
_SCHEMA = {
    "training_data": (str, None),
    "initial_weights": (str, None),
    "last_step": (json_files.COUNT, None),
}


def weights_hash(init_checkpoint: Optional[str]) -> str:
    """Returns the hash of the weights that a new training begins with; "" for random ones."""
    with contextlib.suppress(UserError):  # it is gone, and a training that resumes needs none
        if init_checkpoint:
            return evaluation.identity(checkpoints.resolve(init_checkpoint))
    return ""


def read(folder: str) -> Dict[str, Any]:
    """Returns what the training in a folder was made from; {} without a record."""
    return json_files.read(os.path.join(folder, RECORD_NAME), _SCHEMA, missing={})


def record_flags(flags: TrainingFlags, *, is_training: bool = False) -> None:
    """Writes the flags of a run to run.toml; warns if those of its training were others."""
    path, command_line = (
        os.path.join(flags.output_dir, config_files.RECORD_NAME),
        flags.command_line,
    )
    recorded = config_files.read(path) if is_training and tf.io.gfile.exists(path) else {}
    if "do_train" in recorded:
        described = flags_lib.describe(type(command_line))
        recorded_flags = {name: recorded[name] for name in recorded if name in described}
        before = flags_lib.make(type(command_line), **recorded_flags)
        changes = [
            f"--{name} was {getattr(before, name)} and is {value}"
            for name, value in command_line.to_dict().items()
            if str(value) != str(getattr(before, name))
            and not (described[name].get("path") or name in _LENGTHS or name.startswith("do_"))
        ]
        if changes:
            _LOGGER.warning("Flags that differ from %s: %s.", path, ", ".join(changes))
    config_files.record(path, command_line.given_values(), is_training=is_training)


def check(
    flags: TrainingFlags, made_from: Mapping[str, Any], step: int, *, last_step: int
) -> Optional[str]:
    """Compares a training with the flags and data of a start that resumes it.

    Warns of initial weights that are not used, and of training data that changed after the end.

    Args:
      made_from: what the start would make it from; "last_step": other data may follow that step.
      step, last_step: where the training is, and where the start ends.

    Returns:
      The hash of the weights that the training began with, None if unknown.

    Raises:
      UserError: the training data changed in the middle of the training.
    """
    command_line, folder, past = flags.command_line, flags.output_dir, read(flags.output_dir)
    start = (
        f"--init_checkpoint={command_line.init_checkpoint}" if command_line.init_checkpoint else ""
    )
    first_weights = past.get("initial_weights")
    if start or first_weights not in (None, made_from["initial_weights"]):
        _LOGGER.warning(
            "%s is not used, because --output_dir=%s has a training at step %d.",
            start or "The model that the flags name",
            folder,
            step,
        )
    if past.get("training_data") not in (None, made_from.get("training_data")):
        changed = f"The training data are not those of the training in --output_dir={folder}"
        if step < min(last_step, past.get("last_step") or last_step):
            raise UserError(
                f"{changed}, which is at step {step}. Restore the data, or choose another "
                "--output_dir. To go on with the new data, first remove "
                f"{os.path.join(folder, RECORD_NAME)}."
            )
        if step >= last_step:
            _LOGGER.warning("%s. To train on the new data, choose another --output_dir.", changed)
    return first_weights
