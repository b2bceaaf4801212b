# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From text to pretraining records. No training here."""
