# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whole programs, run as a user runs them."""
