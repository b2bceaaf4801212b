# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records and batches, and the files that hold them; never a task's name."""
