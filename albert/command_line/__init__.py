# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How a command starts, answers --help, logs and ends; never what it does."""
