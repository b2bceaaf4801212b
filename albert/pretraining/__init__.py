# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From text to records to losses. No scripts here."""
