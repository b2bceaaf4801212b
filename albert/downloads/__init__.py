# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads: fetches files, verifies their SHA-256 (cache.py), and unpacks them."""
