# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: their files, their variables, and the names of these elsewhere; never a graph."""
