# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Graph operations: plain, compiled, and of oneDNN. No variables, flags or files here."""
