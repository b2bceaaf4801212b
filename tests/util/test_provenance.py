# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What an output was made from: stamps of files, and what differs."""

import os

from albert.util import provenance


def test_stamp_of_touched_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    before = provenance.stamp(str(path))
    assert before == {"name": "a.txt", "size": 3, "mtime": os.stat(str(path)).st_mtime_ns}
    os.utime(str(path), (1, 1))
    assert "mtime was" in provenance.difference(before, provenance.stamp(str(path)))
