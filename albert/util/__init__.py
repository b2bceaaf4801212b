# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files, flags, progress, messages, and how a command starts and ends. No models or tasks here."""

import logging

from albert.util.errors import UserError as UserError

log = logging.getLogger("albert")
