# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Record files, batches, and texts to be answered; never a task's name."""
