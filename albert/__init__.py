# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALBERT: A Lite BERT for Self-supervised Learning of Language Representations."""

__version__ = "0.1.0"
