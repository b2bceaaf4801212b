# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files from other machines: fetched, unpacked, and kept with a record; never what is in them."""
