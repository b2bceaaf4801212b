# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Public data sets: addresses, files and folders. No reading of examples here."""
