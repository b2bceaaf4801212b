# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a command starts, prints --help, logs and ends. No work of a command here."""
