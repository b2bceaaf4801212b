# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads: fetches files, verifies their SHA-256, unpacks them; public data sets by name."""
