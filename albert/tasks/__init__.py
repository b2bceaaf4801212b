# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The kinds of tasks, a folder each. A task has the same parts under the same names."""
