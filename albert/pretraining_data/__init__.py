# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turns text into pretraining records. No training here."""
