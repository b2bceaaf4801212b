# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tasks, one folder each. The folders use the same names for the same parts of a task."""
