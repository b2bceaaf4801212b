# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What differs between TensorFlow's versions and between machines; never models or tasks."""
