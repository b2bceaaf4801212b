# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The server of a sweep imports what each run needs. Each run is a fork of the server.

The server opens no session and does not search for GPUs: its forks could not use them. Runs share
the XLA programs that they compile for the CPU.
"""

import os
import tempfile

from albert.util import cli

if os.environ.get("TF_CPP_MIN_LOG_LEVEL") == "3":
    cli.discard_output(2)  # what TensorFlow prints in spite of the level
cli.import_tensorflow(is_quiet=False)

import sklearn.metrics  # noqa: E402, F401

from albert.runtimes import compat  # noqa: E402
from albert.tasks.classification import sweep_plan  # noqa: E402, F401

if compat.is_tf2():
    _compiled = tempfile.TemporaryDirectory()  # until the server ends
    os.environ["TF_XLA_FLAGS"] = (
        f"--tf_xla_persistent_cache_directory={_compiled.name} "
        "--tf_xla_persistent_cache_device_types=XLA_CPU_JIT " + os.environ.get("TF_XLA_FLAGS", "")
    )
