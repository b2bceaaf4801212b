# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tagging words; never classification of whole texts."""
