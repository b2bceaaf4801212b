# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Questions and the answers in their paragraphs; never classification."""
