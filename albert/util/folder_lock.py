# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One process at a time trains into a folder.

    with folder_lock.held("output/base"):
        train()

The lock is a POSIX lock on a hidden file, whose content names the owner. It ends with its process,
and forked workers do not inherit it. Object stores such as gs:// have no locks.
"""

import contextlib
import fcntl
import logging
import os
import socket
from typing import Iterator, Set, Tuple

from albert.util import files
from albert.util.errors import UserError

TRAINING, EVALUATION = "training", "evaluation"

_LOGGER = logging.getLogger("albert")
_held: Set[Tuple[str, int]] = set()  # paths of locks that a process holds


def lock_name(purpose: str = TRAINING) -> str:
    """Returns the name of the file that lies in a folder while it is held, or after a kill."""
    return f".albert_{purpose}.lock"


@contextlib.contextmanager
def held(folder: str, purpose: str = TRAINING, *, waits: bool = False) -> Iterator[None]:
    """Locks a folder for one purpose against other processes; may be nested in this one.

    Args:
      folder: made if need be.
      purpose: TRAINING or EVALUATION; the two do not exclude each other.
      waits: wait until the other process has ended, in place of an error.

    Raises:
      UserError: the folder is in use, or cannot be written.
    """
    is_remote = "://" in folder
    path = os.path.join(folder if is_remote else os.path.realpath(folder), lock_name(purpose))
    owner = (path, os.getpid())
    if owner in _held:
        yield
        return
    if is_remote:
        _LOGGER.warning("%s cannot be locked. Do not start a second %s there.", folder, purpose)
        _held.add(owner)
        yield
        return
    with files.naming_path(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = _lock(path, waits)
    _held.add(owner)
    try:
        yield
    finally:
        _held.discard(owner)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        os.close(file)


def _lock(path: str, waits: bool) -> int:
    """Returns the open file with our lock on it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        words = f"{os.path.dirname(path)} is in use by {os.read(file, 1000).decode()}."
        if not waits:
            os.close(file)
            raise UserError(f"{words} Wait for it or stop it.") from None
        _LOGGER.info("%s Waiting for it.", words)
        fcntl.lockf(file, fcntl.LOCK_EX)
    except OSError as error:  # a file system without locks
        _LOGGER.warning(
            "%s cannot be locked (%s). Do not start a second run there.",
            os.path.dirname(path),
            error,
        )
    if not os.path.exists(path) or not os.path.samestat(os.fstat(file), os.stat(path)):
        os.close(file)  # its owner has just removed it
        return _lock(path, waits)
    os.ftruncate(file, 0)
    os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    return file
