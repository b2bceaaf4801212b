# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""GLUE, CLUE and a user's own tasks; never another family of tasks."""
