# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors that a script prints in one line: wrong input, and failures of files, servers and devices.

Any other error is a bug.
"""

import contextlib
import re
from typing import Iterator

# Errors of a file system, as the system, Python and TensorFlow word them.
_REFUSALS = re.compile(
    "(?i)no such file or directory|permission denied|operation not permitted|read-only file system|"
    "is a directory|not a directory|file exists|no space left on device|quota exceeded|"
    "file too large|file name too long|too many levels of symbolic links|input/output error|"
    "directory not empty|executing an http request"
)
# The operation and its location, which TensorFlow writes before and after a message.
_OF_GRAPH = re.compile(
    r"(?s)^Graph execution error:.*\nNode: [^\n]*\n|{{function_node.*?}}|\[Op:\w+\]|\n\s*\[\[.*"
)
# TensorFlow's errors for devices and servers. Other errors that name an operation are bugs.
_OF_MACHINE = ("AbortedError", "ResourceExhaustedError", "UnavailableError")


class UserError(ValueError):
    """Wrong input. The message names the flag or file, the wrong value, and what to do."""


@contextlib.contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """In this block, a missing package raises an error that tells the user what to install.

    Args:
      extra: the extra in setup.py that installs the packages that the block imports.
      what: the subject of the message, such as "export_model --format=onnx".

    Raises:
      UserError: a package is not installed.
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
    """Returns the error's message as one line, without TensorFlow's stack of operations."""
    text = _OF_GRAPH.sub("", str(getattr(error, "message", error)))
    return " ".join(text.split())


def is_refusal(error: BaseException) -> bool:
    """Returns whether the error comes from a file system, such as a full disk."""
    return not isinstance(error, ValueError) and bool(_REFUSALS.search(str(error)))


def is_of_machine(error: BaseException) -> bool:
    """Returns whether the error comes from a file system, a server or a device: it is no bug."""
    name = type(error).__name__
    is_outside_graph = hasattr(error, "error_code") and not re.search(r"\[\[|{{", str(error))
    return (
        isinstance(error, OSError)
        or name in _OF_MACHINE
        or (is_outside_graph and name != "InvalidArgumentError")
        or is_refusal(error)
    )
