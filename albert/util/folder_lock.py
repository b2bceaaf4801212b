# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Locks a folder, so that only one process at a time trains into it.

    with folder_lock.held("output/base"):
        train()

The lock is a POSIX lock on a hidden file that names the owner. The system releases it when the
process ends. Forked workers do not inherit it. Object stores such as gs:// have no locks.
"""

import contextlib
import fcntl
import os
import socket
from typing import Iterator, Set, Tuple

from albert.util import UserError, files, log

TRAINING, EVALUATION = "training", "evaluation"

_held: Set[Tuple[str, int]] = set()  # the path and the process of each lock


def lock_name(purpose: str = TRAINING) -> str:
    """Returns the name of the lock file, which exists during a lock, and after a kill."""
    return f".albert_{purpose}.lock"


@contextlib.contextmanager
def held(folder: str, purpose: str = TRAINING, *, waits: bool = False) -> Iterator[None]:
    """Locks a folder for one purpose against other processes. The same process may nest calls.

    Args:
      folder: created if it does not exist.
      purpose: TRAINING or EVALUATION, which do not exclude each other, or another name.
      waits: if the folder is in use, wait until the other process ends.

    Raises:
      UserError: the folder is in use, or is not writable.
    """
    is_remote = "://" in folder
    path = os.path.join(folder if is_remote else os.path.realpath(folder), lock_name(purpose))
    owner = (path, os.getpid())
    if owner in _held:
        yield
        return
    if is_remote:
        log.warning("%s cannot be locked. Do not start a second %s there.", folder, purpose)
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
    """Opens and locks a file, and returns its descriptor."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        words = f"{os.path.dirname(path)} is in use by {os.read(file, 1000).decode()}."
        if not waits:
            os.close(file)
            raise UserError(f"{words} Wait for it or stop it.") from None
        log.info("%s Waiting for it.", words)
        fcntl.lockf(file, fcntl.LOCK_EX)
    except OSError as error:  # a file system without locks
        log.warning(
            "%s cannot be locked (%s). Do not start a second run there.",
            os.path.dirname(path),
            error,
        )
    if not os.path.exists(path) or not os.path.samestat(os.fstat(file), os.stat(path)):
        os.close(file)  # The previous owner has just removed the file.
        return _lock(path, waits)
    os.ftruncate(file, 0)
    os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    return file
