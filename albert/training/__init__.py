# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One training run: its graph, devices, hooks and checkpoints; never a task or a flag."""
