# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Close names are suggested, and long lists are cut."""

from albert.util import wording


def test_one_of_a_thing_is_not_many():
    assert wording.counted(1, "file") == "1 file"
    assert wording.counted(1234, "file") == "1,234 files"
