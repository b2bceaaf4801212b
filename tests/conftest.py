# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole test suite."""

import os

# Two test workers on two cores: one thread pool each is enough, and TensorFlow's start-up notices
# would bury what a failing test prints.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
