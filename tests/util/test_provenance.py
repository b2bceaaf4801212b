# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What an output was made from: stamps of files, and what differs."""

import json
import os

import pytest

from albert.util import provenance


def test_stamp_of_touched_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    before = provenance.stamp(str(path))
    sample = before.pop("sample")
    assert before == {"name": "a.txt", "size": 3, "mtime": os.stat(path).st_mtime_ns}
    os.utime(path, (1, 1))
    after = provenance.stamp(str(path))
    assert "mtime was" in provenance.difference(before, after) and after["sample"] == sample


@pytest.mark.parametrize("address", ["{}", "file://{}"])  # which gfile reads as it reads gs://
@pytest.mark.parametrize("size", [0, 5, 1 << 17, 300_000])
def test_stamp_of_changed_content_with_restored_time(tmp_path, address, size):
    path, samples = tmp_path / "a.txt", set()
    for place in sorted({-1, 0, size // 2, size - 1}):  # none, begin, middle and end
        content = bytearray(size)
        content[place : place + 1] = b"x" * (0 <= place < size)
        path.write_bytes(content)
        os.utime(path, (1, 1))
        samples.add(provenance.stamp(address.format(path))["sample"])
    assert len(samples) == min(size + 1, 4)


def test_difference_names_what_changed_in_a_list():
    old = {"text": [{"name": str(n), "sample": "a"} for n in range(20)]}
    new = {"text": [dict(stamp, sample="b") for stamp in old["text"]]}
    said = provenance.difference(old, new)
    assert said.startswith('text 0 sample was "a" and is "b"') and len(said) < 600
    new["text"] = old["text"][:19] + new["text"][19:]
    assert provenance.difference(old, new) == 'text 19 sample was "a" and is "b"'
    assert provenance.difference({"labels": ["a"]}, {"labels": ["b"]}).count("labels") == 1
    assert provenance.difference(old, json.loads(json.dumps(old))) == ""
