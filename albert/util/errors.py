# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The error for wrong input. A script prints it in one line. Any other error is a bug."""

import contextlib
from typing import Iterator


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
