# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The log of a script."""

import logging

from albert.command_line import log


def test_log_lines_carry_their_level_only_from_warnings_on(capsys):
    try:
        log.configure(0)
        logging.getLogger("albert.module").info("a notice")
        logging.getLogger("albert.module").warning("a warning")
        logging.getLogger("albert.module").debug("a detail")
    finally:
        logger = logging.getLogger("albert")
        logger.handlers.clear()
        logger.propagate = True
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(" a notice") and second.endswith(" WARNING: a warning")
