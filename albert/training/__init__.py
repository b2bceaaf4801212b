# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One training run: graph, devices, hooks and checkpoints. No code for single tasks."""
