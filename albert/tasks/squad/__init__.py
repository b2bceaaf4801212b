# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Question answering: the tasks SQuAD v1.1 and v2.0."""
