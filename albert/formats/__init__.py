# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a model. Each format is a module that reads it, writes it, or both.

Writers take a model; the folder models/ finds it.
"""
