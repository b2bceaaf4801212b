# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What each process of a run does, where several train together.

    distributed_run.run(pretrain, settings)

The chief does all that the flags say. The others train, in a temporary folder that begins as a
copy of what the chief goes on from, and end with the training: they write nothing that stays.
"""

import logging
import os
import shutil
import tempfile
from typing import Any, Callable, Mapping, Optional

import tensorflow.compat.v1 as tf

from albert.training import distribution
from albert.training import estimators as estimator_utils
from albert.training.settings import TrainingSettings

_LOGGER = logging.getLogger("albert")

# What a worker does not do, or does in its folder, and the value that says so.
_CHIEFS_OWN = {
    "do_eval": False,
    "do_predict": False,
    "predict_file": None,
    "export_dir": None,
    "cached_dir": None,
    "train_feature_file": None,
    "predict_feature_file": None,
    "predict_feature_left_file": None,
}


def run(
    script: Callable[[TrainingSettings], Any],
    settings: TrainingSettings,
    *,
    chiefs_own: Optional[Mapping[str, Any]] = None,
) -> None:
    """Runs a script's main part as far as it is this process's.

    Args:
      script: takes the settings.
      chiefs_own: further settings of this script that a worker leaves alone, with the value for it.
      settings: has distribution_strategy, do_train and output_dir.

    Raises:
      ValueError: TF_CONFIG is not as it must be, and what `script` raises.
    """
    if distribution.is_chief(settings):
        script(settings)
        return
    cluster = distribution.read_cluster()
    name = f"Worker {cluster.index + 1} of {len(cluster.addresses)}"
    if not settings.do_train:
        _LOGGER.info("%s has nothing to do: without --do_train the first one does all.", name)
        return
    _LOGGER.info("%s: the log, checkpoints and results are the first one's.", name)
    level = _LOGGER.level
    folder = tempfile.mkdtemp(prefix=distribution.WORKERS_FOLDER)
    try:
        copy_resume_point(settings.output_dir, folder)
        _LOGGER.setLevel(logging.WARNING)
        script(workers_settings(settings, folder, chiefs_own))
    finally:
        _LOGGER.setLevel(level)
        shutil.rmtree(folder, ignore_errors=True)
    _LOGGER.info("%s has finished the training; the rest is the first one's.", name)


def workers_settings(
    settings: TrainingSettings, folder: str, chiefs_own: Optional[Mapping[str, Any]] = None
) -> TrainingSettings:
    """Returns the settings by which a worker trains and leaves no traces outside of `folder`."""
    present = settings.to_dict()
    changes = {name: value for name, value in _CHIEFS_OWN.items() if name in present}
    changes.update(chiefs_own or {})
    return settings.replace(output_dir=folder, **changes)


def copy_resume_point(output_dir: str, folder: str) -> None:
    """Gives a worker's folder the checkpoint that the chief goes on from, and its description.

    Which one that is does not change before all workers have made a step. Of a local checkpoint the
    folder gets symbolic links, so that a process that is killed leaves no weights behind; one far
    away, as in gs://, is copied.
    """
    if not tf.io.gfile.isdir(output_dir):
        return
    for path in tf.io.gfile.glob(os.path.join(output_dir, "*.json")):
        tf.io.gfile.copy(path, os.path.join(folder, os.path.basename(path)))
    resumed = estimator_utils.resume_point(output_dir, is_ours=False)
    if resumed:
        for path in tf.io.gfile.glob(resumed.path + ".*"):
            copy = os.path.join(folder, os.path.basename(path))
            if "://" in path:
                tf.io.gfile.copy(path, copy)
            else:
                os.symlink(os.path.abspath(path), copy)
