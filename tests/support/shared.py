# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the reference's outputs and the real data lie, for the tests that compare with them.

They are looked for in $ALBERT_SHARED, else in the folder `shared` beside the checkout. Tests that
need them carry `@needs_shared` and are skipped, with that reason, on a machine without them.
"""

import os
import pathlib

import pytest

_DEFAULT = pathlib.Path(__file__).resolve().parents[3] / "shared"
SHARED = pathlib.Path(os.environ.get("ALBERT_SHARED", str(_DEFAULT)))

needs_shared = pytest.mark.skipif(
    not (SHARED / "golden").is_dir(),
    reason=f"reference outputs and real data not found in {SHARED}",
)


def shared_path(relative: str) -> pathlib.Path:
    """Returns the path of `relative` (such as "golden/optimizer.npz") in the shared folder."""
    return SHARED / relative
