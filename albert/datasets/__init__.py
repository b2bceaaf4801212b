# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Public data sets: where they are kept, and as which files; never what is read from them."""
