# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Numbers of things in words."""

from albert.util import wording


def test_counted():
    assert wording.counted(1, "file") == "1 file"
    assert wording.counted(1234, "file") == "1,234 files"


def test_command_of_a_module():
    assert wording.command_of("albert.commands.plan") == "python -m albert plan"
    assert wording.command_of("albert.run_race") == "python -m albert.run_race"
