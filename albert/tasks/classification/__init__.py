# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Classification and regression: GLUE, CLUE and custom tasks."""
