# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors that a script prints in one line: wrong input, and failures of files, servers and devices.

Any other error is a bug.
"""

import contextlib
import re
from typing import Iterator

# Errors of a file system, as the system, Python and TensorFlow word them.
_FILE_ERRORS = re.compile(
    "(?i)no such file or directory|permission denied|operation not permitted|read-only file system|"
    "is a directory|not a directory|file exists|no space left on device|quota exceeded|"
    "file too large|file name too long|too many levels of symbolic links|input/output error|"
    "directory not empty|executing an http request"
)
# TensorFlow writes the operation and its location before and after a message.
_LOCATION = re.compile(
    r"(?s)^Graph execution error:.*\nNode: [^\n]*\n|{{function_node.*?}}|\[Op:\w+\]|\n\s*\[\[.*"
)
# TensorFlow's errors for devices and servers. Other errors that name an operation are bugs.
_EXTERNAL = ("AbortedError", "ResourceExhaustedError", "UnavailableError")


class UserError(ValueError):
    """Wrong input. The message names the flag or file, the wrong value, and what to do."""


@contextlib.contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """In this block, a missing package raises an error with the command that installs it.

    Args:
      extra: the extra in setup.py that installs the packages that the block imports.
      what: the subject of the error message, such as "export_model --format=onnx".

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
    text = _LOCATION.sub("", str(getattr(error, "message", error)))
    return " ".join(text.split())


def is_file_error(error: BaseException) -> bool:
    """Returns whether a file system caused the error, as a full disk does."""
    return not isinstance(error, ValueError) and bool(_FILE_ERRORS.search(str(error)))


def is_external(error: BaseException) -> bool:
    """Returns whether a file system, a server or a device caused the error: it is no bug."""
    name = type(error).__name__
    is_outside_graph = hasattr(error, "error_code") and not re.search(r"\[\[|{{", str(error))
    return (
        isinstance(error, OSError)
        or name in _EXTERNAL
        or (is_outside_graph and name != "InvalidArgumentError")
        or is_file_error(error)
    )
