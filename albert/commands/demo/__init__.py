# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows what this package does, in a tour of a few minutes."""
