# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A run of a sweep, and its folder."""

import os
import runpy
import sys
from typing import Any, Mapping, NamedTuple, Sequence

from albert.tasks.classification import registry
from albert.util import UserError, cli, files, json_files, provenance

MARKER_NAME = "sweep_run.json"  # in a run's folder
LENDERS = {"ax": "mnli"}  # task without training data -> the task whose model predicts it


class SweepRun(NamedTuple):
    """A planned run of run_classifier."""

    task: registry.TaskSpec
    setting: str  # such as "learning_rate=1e-5"; "" where there is only one
    seed: int
    folder: str
    command: Sequence[str]
    identity: Mapping[str, Any]  # what determines its result: flags and data

    @property
    def name(self) -> str:
        """Returns the run's name in messages."""
        return ", ".join(filter(None, [self.task.name, self.setting, f"seed {self.seed}"]))


def is_finished(run: SweepRun) -> bool:
    """Returns whether a run is done; raises UserError if its folder holds anything else."""
    if not files.exists(run.folder):
        return False
    identity = json_files.read(os.path.join(run.folder, MARKER_NAME), {"is_finished": (bool, None)})
    is_done = identity.pop("is_finished", False)
    difference = provenance.difference(identity, run.identity)
    if difference:
        raise UserError(
            f"{run.folder} holds a run with other settings or data: {difference}. Choose another "
            "--output_dir, or remove that folder."
        )
    return is_done


def work(arguments: Sequence[str], output: Any) -> None:
    """Runs `python -m` with these arguments in a fork of sweep_server.

    Standard output and standard error go to the connection `output`.
    """
    from albert.runtimes import devices

    os.dup2(output.fileno(), 1)
    os.dup2(1, 2)
    sys.stdout = sys.stderr = open(2, "w", buffering=1, encoding="utf-8")  # noqa: SIM115
    with cli.hidden_errors():  # Without a GPU, the first search prints an error.
        devices.gpus()
    sys.argv = list(arguments)
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
