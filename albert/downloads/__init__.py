# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads files, verifies their SHA-256, and unpacks them; knows public data sets by name."""
