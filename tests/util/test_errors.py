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
    "error, is_of_machine",
    [
        (FULL, True),
        (OSError("<urlopen error: Name or service not known>"), True),
        (tf.errors.FailedPreconditionError(None, None, ELSEWHERE), True),
        (tf.errors.UnimplementedError(None, None, "File system scheme 's3' not implemented"), True),
        (tf.errors.ResourceExhaustedError(None, None, f"OOM{NODE}"), True),
        (tf.errors.InternalError(None, None, f"/a; No space left on device{NODE}"), True),
        (tf.errors.PermissionDeniedError(None, None, f"{ELSEWHERE}{NODE}"), True),
        (tf.errors.UnavailableError(None, None, f"Socket closed{NODE}"), True),
        (tf.errors.FailedPreconditionError(None, None, f"uninitialized value{NODE}"), False),
        (tf.errors.UnknownError(None, None, f"NameError: a{NODE}"), False),
        (tf.errors.InvalidArgumentError(None, None, "shapes"), False),
        (TypeError("a bug"), False),
        (ValueError("a: No such file or directory"), False),
    ],
)
def test_refusals_are_told_from_bugs(error, is_of_machine):
    assert errors.is_of_machine(error) == is_of_machine


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
