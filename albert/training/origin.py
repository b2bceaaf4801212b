# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records a training beside its checkpoints, and checks the record when the training resumes.

In --output_dir, run.toml has the flags, and made_from.json has hashes of the training's inputs. You
can move, copy or rename the files in between.
"""

import contextlib
import os
from typing import Any, Dict, Mapping, Optional

from albert.configs.shared_flags import TrainingFlags
from albert.formats import model_paths
from albert.training import evaluation
from albert.util import UserError, files, json_files, log
from albert.util import flags as flags_lib

RECORD_NAME = "made_from.json"
_LENGTHS = ("train_step", "num_train_steps", "num_train_epochs")  # flags
_SCHEMA = {
    "training_data": (str, None),
    "initial_weights": (str, None),
    "last_step": (json_files.COUNT, None),
}


def weights_hash(init_checkpoint: Optional[str]) -> str:
    """Returns the hash of a new training's initial weights; "" for random weights."""
    with contextlib.suppress(UserError):  # a resumed training does not need the checkpoint
        if init_checkpoint:
            return evaluation.identity(model_paths.resolve(init_checkpoint))
    return ""


def read(folder: str) -> Dict[str, Any]:
    """Returns the record of the inputs of a folder's training; {} if there is none."""
    return json_files.read(os.path.join(folder, RECORD_NAME), _SCHEMA, missing={})


def record_flags(flags: TrainingFlags, *, is_training: bool = False) -> None:
    """Writes a run's flags to run.toml. Warns if a training had other flags than before."""
    path = os.path.join(flags.output_dir, flags_lib.RECORD_NAME)
    command_line = flags.command_line
    recorded = flags_lib.read_toml(path) if flags.do_train and files.exists(path) else {}
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
            end = "" if is_training else " To train again, choose another --output_dir."
            log.warning("Flags that differ from %s: %s.%s", path, ", ".join(changes), end)
    flags_lib.write_config(
        path,
        command_line.explicit_values(),
        is_training=is_training,
        script=command_line.script,
    )


def check(
    flags: TrainingFlags, input_hashes: Mapping[str, Any], step: int, *, last_step: int
) -> Optional[str]:
    """Compares the recorded inputs of a training with the flags and data that resume it.

    Warns of initial weights that are not used, and of data that changed after training ended.

    Args:
      input_hashes: hashes of the current inputs. "last_step" is the step after which other data are
        allowed.
      step, last_step: the training's present step, and the last step of this run.

    Returns:
      The hash of the training's initial weights; None if unknown.

    Raises:
      UserError: the training data changed in the middle of the training.
    """
    command_line, folder, past = flags.command_line, flags.output_dir, read(flags.output_dir)
    start = (
        f"--init_checkpoint={command_line.init_checkpoint}" if command_line.init_checkpoint else ""
    )
    initial_weights = past.get("initial_weights")
    if start or initial_weights not in (None, input_hashes["initial_weights"]):
        log.warning(
            "%s is not used, because --output_dir=%s has a training at step %d.",
            start or "The model that the flags name",
            folder,
            step,
        )
    if past.get("training_data") not in (None, input_hashes.get("training_data")):
        changed = f"The training data are not those of the training in --output_dir={folder}"
        if step < min(last_step, past.get("last_step") or last_step):
            raise UserError(
                f"{changed}, which is at step {step}. Restore the data, or choose another "
                "--output_dir. To go on with the new data, first remove "
                f"{os.path.join(folder, RECORD_NAME)}."
            )
        if step >= last_step:
            log.warning("%s. To train on the new data, choose another --output_dir.", changed)
    return initial_weights
