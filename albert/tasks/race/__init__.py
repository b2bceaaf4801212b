# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Multiple choice: RACE, and questions with any number of choices."""
