# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""LAMBOptimizer of `optimization`, under the module name of google-research/albert."""

from albert.optimization import LAMBOptimizer

__all__ = ["LAMBOptimizer"]
