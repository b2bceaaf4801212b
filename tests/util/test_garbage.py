# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The search for garbage pauses, and is afterwards as it was."""

import gc

import pytest

from albert.util import garbage


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_kept_for_a_while(collects):
    [gc.disable, gc.enable][collects]()
    try:
        with pytest.raises(ValueError), garbage.kept():
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() == collects
    finally:
        gc.enable()
