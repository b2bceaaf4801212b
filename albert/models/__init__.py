# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds, downloads and runs models. No code for single tasks."""
