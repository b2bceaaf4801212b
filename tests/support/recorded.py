# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Arrays and checksums that were computed once, and how they are compared.

    RECORD_CHECKSUMS=1 python -m pytest --slow tests/data/test_batches.py

writes the checksums of these tests to CHECKSUMS. See tests/fixtures/README.md.
"""

import os

import numpy as np

from tests.support import FIXTURES, read_json, write_json

CHECKSUMS = FIXTURES / "checksums.json"


def read(path, name):
    """Returns what an .npz file has below a name, such as "batch" or "plain/outputs"."""
    with np.load(path) as found:
        return {
            key[len(name) + 1 :]: found[key] for key in found.files if key.startswith(f"{name}/")
        }


def arrays(file, name):
    """Returns what a file of the fixtures has below a name."""
    return read(FIXTURES / f"{file}.npz", name)


def assert_close(found, expected, tolerance=1e-5):
    """Each array that was found is near the expected one of its name."""
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], atol=tolerance, err_msg=name)


def assert_equal(found, expected):
    """Each array that was found is the expected one of its name, bit for bit."""
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def assert_checksum(name, checksum):
    """The bytes that this is a checksum of (CRC-32 or SHA-256) are those of former versions."""
    checksums = read_json(CHECKSUMS)
    if os.environ.get("RECORD_CHECKSUMS"):
        checksums[name] = checksum
        write_json(CHECKSUMS, dict(sorted(checksums.items())), indent=1)
    assert checksum == checksums[name], f"Other bytes than before: {name}"
