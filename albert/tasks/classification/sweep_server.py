# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The server of a sweep imports what each run needs. Each run is a fork of the server.

The server opens no session and does not search for GPUs: its forks could not use them.
"""

from albert.util import cli

with cli.hidden_errors():
    cli.import_tensorflow(is_quiet=False)

import sklearn.metrics  # noqa: E402, F401

from albert.tasks.classification import sweep_plan  # noqa: E402, F401
