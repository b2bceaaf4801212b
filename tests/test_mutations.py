# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The faults of mutations.py can still be planted; `make mutations` says which are caught."""

import ast

import pytest

from tests.support import ROOT, mutations


@pytest.mark.slow  # changed code needs no new entry before the change is finished
@pytest.mark.parametrize("part", sorted(mutations.TESTS))
def test_faults_apply_once_and_name_tests(part):
    assert all((ROOT / "tests" / name).exists() for name in mutations.TESTS[part])
    faults = [fault for fault in mutations.FAULTS if fault.part == part]
    assert faults
    for fault in faults:
        text = (ROOT / "albert" / fault.file).read_text(encoding="utf-8")
        changed = mutations.planted(fault, text)
        assert changed is not None, fault
        assert changed != text
        ast.parse(changed)
