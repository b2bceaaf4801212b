# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files, flags, progress, processes and messages. No models, records or tasks here."""
