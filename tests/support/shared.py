# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the reference's outputs and the real data lie, for the tests that compare with them.

They are looked for in $ALBERT_SHARED, else in the folder `shared` beside the checkout. Tests that
need them carry `@needs_shared` and are skipped, with that reason, on a machine without them.
"""

import hashlib
import json
import os
import pathlib
import struct

import pytest
import tensorflow.compat.v1 as tf

from albert import tokenization

_DEFAULT = pathlib.Path(__file__).resolve().parents[3] / "shared"
SHARED = pathlib.Path(os.environ.get("ALBERT_SHARED", str(_DEFAULT)))

needs_shared = pytest.mark.skipif(
    not (SHARED / "golden").is_dir(),
    reason="need reference data, which is not distributed",
)


def shared_path(relative):
    """Returns the path of `relative` (such as "golden/optimizer.npz") in the shared folder."""
    return SHARED / relative


def json_lines(relative):
    """Returns the JSON values of a file in the shared folder."""
    text = shared_path(relative).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def english_tokenizer():
    """Returns the tokenizer of the released English models."""
    return tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))


def sha256(*paths):
    """Returns the hash of the files' bytes."""
    return hashlib.sha256(b"".join(pathlib.Path(path).read_bytes() for path in paths)).hexdigest()


def canonical_sha256(path):
    """Returns the hash of a record file, of each record its length and, in order, its features."""
    digest = hashlib.sha256()
    for record in tf.python_io.tf_record_iterator(str(path)):
        canonical = tf.train.Example.FromString(record).SerializeToString(deterministic=True)
        digest.update(struct.pack("<Q", len(canonical)) + canonical)
    return digest.hexdigest()
