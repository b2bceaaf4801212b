# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo: a five-minute tour, pretraining and fine-tuning. No other module imports it."""
