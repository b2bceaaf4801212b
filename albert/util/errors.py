# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors that a script prints in one line: wrong input, and what the machine refuses.

Any other error is a bug.
"""

import contextlib
import re
from typing import Iterator

# What a file system refuses, in the words of the system, of Python and of TensorFlow.
_REFUSALS = re.compile(
    "(?i)no such file or directory|permission denied|operation not permitted|read-only file system|"
    "is a directory|not a directory|file exists|no space left on device|quota exceeded|"
    "file too large|file name too long|too many levels of symbolic links|input/output error|"
    "directory not empty|executing an http request"
)
# What TensorFlow adds to a message: the places of an operation, before it and after it.
_OF_GRAPH = re.compile(
    r"(?s)^Graph execution error:.*\nNode: [^\n]*\n|{{function_node.*?}}|\[Op:\w+\]|\n\s*\[\[.*"
)
# TensorFlow's errors of devices and servers. Others that come from a graph are bugs.
_OF_MACHINE = ("AbortedError", "ResourceExhaustedError", "UnavailableError")


class UserError(ValueError):
    """Wrong input. The message names the flag or the file, what was found, and what to do."""


@contextlib.contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Imports packages that an extra of this package installs, in the block.

    Args:
      extra: in setup.py.
      what: needs them.

    Raises:
      UserError: one is not there.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).startswith("albert"):
            raise
        raise UserError(
            f"{what} needs {error.name}: pip install 'albert-tf[{extra}]', or from a checkout pip "
            f"install '.[{extra}]'."
        ) from error


def in_one_line(error: BaseException) -> str:
    """Returns the message of an error without the stack that TensorFlow adds for its graph."""
    text = _OF_GRAPH.sub("", str(getattr(error, "message", error)))
    return " ".join(text.split())


def is_refusal(error: BaseException) -> bool:
    """Returns whether a file system refuses something, such as to write to a full disk."""
    return not isinstance(error, ValueError) and bool(_REFUSALS.search(str(error)))


def is_of_machine(error: BaseException) -> bool:
    """Returns whether a file system, a server or a device refuses something: no bug."""
    name = type(error).__name__
    is_outside_graph = hasattr(error, "error_code") and not re.search(r"\[\[|{{", str(error))
    return (
        isinstance(error, OSError)
        or name in _OF_MACHINE
        or (is_outside_graph and name != "InvalidArgumentError")
        or is_refusal(error)
    )
