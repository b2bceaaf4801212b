# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files, flags, progress, processes and TensorFlow's versions; never models, records or tasks."""
