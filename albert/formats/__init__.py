# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files of a model: each format is a module that reads and writes it.

Modules take the model that they write. `pretrained` finds it.
"""
