# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Record files, batches, and input texts. No code for a specific task here."""
