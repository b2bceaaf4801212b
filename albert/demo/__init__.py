# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A tour of five minutes, and two phases by short options; nobody imports it."""
