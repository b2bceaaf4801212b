# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Differences between TensorFlow versions and between machines. No models or tasks here."""
