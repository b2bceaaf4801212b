# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""LAMB by the module's name that programs import; `optimization` has both optimizers."""

from albert.optimization import LAMBOptimizer

__all__ = ["LAMBOptimizer"]
