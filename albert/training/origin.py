# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records what a training is made from beside its checkpoints, and compares it with a later start.

made_from.json in --output_dir has hashes of contents: files may be moved, copied or renamed.
"""

import contextlib
import logging
import os
from typing import Any, Dict, Mapping, Optional

from albert.configs.flags import TrainingFlags
from albert.formats import checkpoints
from albert.training import evaluation
from albert.util import files, json_files
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

RECORD_NAME = "made_from.json"
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


def write(folder: str, made_from: Mapping[str, Any], *, is_new: bool) -> None:
    """Writes what the training in a folder is made from; sets results of an earlier one aside."""
    if is_new:
        evaluation.set_aside(folder)
    files.atomic_write_json(os.path.join(folder, RECORD_NAME), made_from)


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
    folder, past = flags.output_dir, read(flags.output_dir)
    start = f"--init_checkpoint={flags.init_checkpoint}" if flags.init_checkpoint else ""
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
