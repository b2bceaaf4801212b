# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The error for wrong input. A script prints it in one line. Any other error is a bug."""


class UserError(ValueError):
    """Wrong input. The message names the flag or the file, what was found, and what to do."""
