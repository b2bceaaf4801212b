# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A five-minute tour, and two phases with short options; not imported by other modules."""
