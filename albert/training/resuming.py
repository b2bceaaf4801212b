# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where a training begins: at the newest intact checkpoint in --output_dir."""

import os
from typing import Any, Mapping, Optional

from albert import modeling
from albert.configs.shared_flags import TrainingFlags
from albert.formats import checkpoints, model_paths
from albert.formats.flags import CONFIG_NAME
from albert.training import distribution, origin
from albert.util import UserError, files, log, provenance


def check_output_dir(output_dir: str, config: modeling.AlbertConfig) -> None:
    """Raises ValueError if the folder has a model with another configuration."""
    path = os.path.join(output_dir, CONFIG_NAME)
    if not files.exists(path):
        return
    # Parse it, so that a missing key equals its default.
    present = modeling.AlbertConfig.from_json_file(path).to_dict()
    differences = provenance.difference(present, config.to_dict())
    if differences:
        raise UserError(
            f"The model in --output_dir={output_dir} has another configuration: "
            f"{differences}. Choose another --output_dir. To start from the weights in this one, "
            f"pass it as --init_checkpoint. If you want the change, first remove {path}."
        )


def resume_point(output_dir: str, is_ours: bool = True) -> Optional[model_paths.Checkpoint]:
    """Returns the newest intact checkpoint: its values are finite and match their checksums.

    Returns None if there is no checkpoint, or only the initial weights of a training in this
    folder: then training starts again with the weights that the flags name. All processes of a run
    get the same result. Corrupt checkpoints stay in the folder.

    Args:
      is_ours: whether this process writes to the folder. If so, it removes partly written files,
        and updates the file `checkpoint`, which tells TensorFlow what to restore.

    Raises:
      UserError: all checkpoints are corrupt, and a new training would overwrite them.
    """
    present, resumed = model_paths.list_checkpoints(output_dir), None
    for checkpoint in reversed(present):
        damage = checkpoints.find_damage(checkpoint.path, must_be_finite=True)
        if not damage:
            resumed = checkpoint
            break
        log.warning("Skipping corrupt checkpoint %s (%s).", checkpoint.path, damage)
    if not resumed and any(checkpoint.step for checkpoint in present):
        raise UserError(
            f"All checkpoints in --output_dir={output_dir} are corrupt, and a new training would "
            f"overwrite {present[-1].path}. Copy intact checkpoints there, or choose another "
            "--output_dir."
        )
    state = os.path.join(output_dir, "checkpoint")
    began_here = origin.read(output_dir).get("initial_weights") is not None
    if resumed and not resumed.step and began_here:
        # No step is lost, and the flags may name other weights or another seed.
        resumed = None
        if is_ours and files.exists(state):
            files.remove(state)
    if is_ours and files.is_folder(output_dir):
        for leftover in files.glob(os.path.join(output_dir, "model.ckpt-*_temp*")):
            files.remove_tree(leftover)
        if resumed:
            older = [f'"model.ckpt-{step}"\n' for step, _ in present if step <= resumed.step]
            newest = f"model_checkpoint_path: {older[-1]}"
            before = files.read_bytes(state) if files.exists(state) else b""
            # If the file has paths, TensorFlow may restore or delete files in other folders.
            if not before.startswith(newest.encode()) or b"/" in before:
                lines = [f"all_model_checkpoint_paths: {name}" for name in older]
                files.atomic_write_text(state, newest + "".join(lines))
        elif files.exists(state):
            files.rename(state, files.unused_name(state))  # it may be another program's
    return resumed


def agreed_resume_point(
    flags: TrainingFlags, input_hashes: Mapping[str, Any] = {}
) -> Optional[model_paths.Checkpoint]:
    """Returns `resume_point`. Workers first wait for each other and compare their results.

    They also compare their flags, and the hashes in `input_hashes`.

    Raises:
      UserError: workers have different flags, data or models, or begin at different steps.
    """
    resumed = resume_point(flags.output_dir, is_ours=distribution.is_chief(flags))
    if flags.distribution_strategy != distribution.MULTI_WORKER:
        return resumed
    addresses, rank = distribution.read_cluster()
    # As text, because NaN != NaN.
    ours = {f"--{name}": str(value) for name, value in flags.command_line.to_dict().items()}
    del ours["--output_dir"]  # a shared folder may have several names
    ours["the step of the newest checkpoint in --output_dir"] = str(resumed.step if resumed else 0)
    for name, value in input_hashes.items():
        if resumed and name == "initial_weights":  # a resumed run does not use them
            continue
        ours[f"the hash of the {name.replace('_', ' ')}"] = str(value)
    first, *others = distribution.roll_call(addresses, rank, ours)
    for address, theirs in zip(addresses[1:], others):
        for name in first:
            if first[name] != theirs.get(name):
                raise UserError(
                    f"{name} is {first[name]} at {addresses[0]} and {theirs.get(name)} at "
                    f"{address}. Give every worker the same flags, data and model, and the same "
                    "--output_dir on a file system that all share, or gs://."
                )
    return resumed
