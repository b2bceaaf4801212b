# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: files, variables, and the variables' names in other projects. No graphs here."""
