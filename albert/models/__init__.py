# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A model: find, download and run it. No tasks here."""
