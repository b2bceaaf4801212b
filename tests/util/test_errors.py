# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the machine refuses is told from bugs, and said in one line."""

import errno
import os

import pytest
import tensorflow.compat.v1 as tf

from albert.util import errors

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
NODE = "\n\t [[{{node save/SaveV2}}]]\n\nOriginal stack trace for 'save/SaveV2':\n  File a"
ELSEWHERE = "Error executing an HTTP request\n\t when reading gs://a/b"
WITH_STACK = "Graph execution error:\n\nDetected at node 'a' defined at:\n  File b\nNode: 'a'\n"


@pytest.mark.parametrize(
    "kind, message, is_external",
    [
        ("FailedPreconditionError", ELSEWHERE, True),
        ("UnimplementedError", "File system scheme 's3' not implemented", True),
        ("ResourceExhaustedError", f"OOM{NODE}", True),
        ("InternalError", f"/a; No space left on device{NODE}", True),
        ("PermissionDeniedError", f"{ELSEWHERE}{NODE}", True),
        ("UnavailableError", f"Socket closed{NODE}", True),
        ("FailedPreconditionError", f"uninitialized value{NODE}", False),
        ("UnknownError", f"NameError: a{NODE}", False),
        ("InvalidArgumentError", "shapes", False),
    ],
)
def test_refusals_of_tensorflow_are_told_from_bugs(kind, message, is_external):
    assert errors.is_external(getattr(tf.errors, kind)(None, None, message)) == is_external


def test_refusals_of_the_system_are_told_from_bugs():
    for error in (FULL, OSError("<urlopen error: Name or service not known>")):
        assert errors.is_external(error)
    for error in (TypeError("a bug"), ValueError("a: No such file or directory")):
        assert not errors.is_external(error)


@pytest.mark.parametrize(
    "message, line",
    [
        (ELSEWHERE, "Error executing an HTTP request when reading gs://a/b"),
        (f"/a; File too large{NODE}", "/a; File too large"),
        ("{{function_node a}} /a; File too large [Op:SaveV2]", "/a; File too large"),
        (f"{WITH_STACK}/a; File too large{NODE}", "/a; File too large"),
    ],
)
def test_one_line_has_the_cause(message, line):
    assert errors.in_one_line(tf.errors.UnknownError(None, None, message)) == line
