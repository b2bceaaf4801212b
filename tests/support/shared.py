# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the reference's outputs and the real data lie, for the tests that compare with them.

They are looked for in $ALBERT_SHARED, else in the folder `shared` beside the checkout. Tests that
need them carry `@needs_shared` and are skipped, with that reason, on a machine without them.
"""

import hashlib
import os
import pathlib
import struct

import pytest
import tensorflow.compat.v1 as tf

_DEFAULT = pathlib.Path(__file__).resolve().parents[3] / "shared"
SHARED = pathlib.Path(os.environ.get("ALBERT_SHARED", str(_DEFAULT)))

needs_shared = pytest.mark.skipif(
    not (SHARED / "golden").is_dir(),
    reason=f"reference outputs and real data not found in {SHARED}",
)


def shared_path(relative):
    """Returns the path of `relative` (such as "golden/optimizer.npz") in the shared folder."""
    return SHARED / relative


def canonical_sha256(path):
    """Returns the hash of a record file, of each record its length and, in order, its features."""
    digest = hashlib.sha256()
    for record in tf.python_io.tf_record_iterator(str(path)):
        canonical = tf.train.Example.FromString(record).SerializeToString(deterministic=True)
        digest.update(struct.pack("<Q", len(canonical)) + canonical)
    return digest.hexdigest()
