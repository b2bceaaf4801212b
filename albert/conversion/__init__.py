# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Models in the formats of other projects. No training here."""
