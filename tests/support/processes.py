# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes of their own: start, wait, kill, and read their checkpoints."""

import os
import pathlib
import signal
import subprocess
import sys
from typing import Any, Dict, Sequence

import tensorflow.compat.v1 as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]


def start(module: str, arguments: Sequence[str], **variables: str) -> Any:
    """Starts `python -m module` with further environment variables; its stderr can be read."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), TF_CPP_MIN_LOG_LEVEL="3", **variables)
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def finish(process: Any) -> str:
    """Waits for a process; returns its stderr."""
    return process.communicate()[1]


def kill_at(process: Any, words: str) -> str:
    """Kills a process as soon as a line of its stderr holds `words`; returns its stderr."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            process.send_signal(signal.SIGKILL)
            break
    return "".join(lines) + finish(process)


def weights(checkpoint: Any) -> Dict[str, bytes]:
    """Returns the bytes of every variable, slots and step included."""
    reader = tf.train.load_checkpoint(str(checkpoint))
    return {name: reader.get_tensor(name).tobytes() for name in reader.get_variable_to_shape_map()}
