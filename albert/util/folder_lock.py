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
_held: Set[Tuple[str, str, int]] = set()  # what this process holds


def lock_name(purpose: str = TRAINING) -> str:
    """Returns the name of the file that lies in a folder while it is held, or after a kill."""
    return f".albert_{purpose}.lock"


def is_lock(name: str) -> bool:
    """Returns whether a file of this name is a lock, not content of its folder."""
    return name in (lock_name(TRAINING), lock_name(EVALUATION))


@contextlib.contextmanager
def held(folder: str, purpose: str = TRAINING, *, waits: bool = False) -> Iterator[None]:
    """Keeps other processes from doing the same in a folder; this one may ask for it again.

    Args:
      folder: made if need be.
      purpose: TRAINING or EVALUATION; the two do not exclude each other.
      waits: wait until the other process has ended, in place of an error.

    Raises:
      UserError: the folder is in use, or cannot be written.
    """
    folder = str(folder)
    is_remote = "://" in folder
    key = (folder if is_remote else os.path.realpath(folder), purpose, os.getpid())
    if key in _held:
        yield
        return
    path = os.path.join(folder, lock_name(purpose))
    if is_remote:
        _LOGGER.warning("%s has no locks: run no second %s there.", folder, purpose)
    file = None if is_remote else _lock(folder, path, waits)
    _held.add(key)
    try:
        yield
    finally:
        if file is not None:
            _held.discard(key)
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
            os.close(file)


def _lock(folder: str, path: str, waits: bool) -> int:
    """Returns the open file with our lock on it."""
    with files.naming_path(path):
        os.makedirs(folder or ".", exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        owner = os.read(file, 1000).decode() or "another process"
        if not waits:
            os.close(file)
            raise UserError(f"{folder} is in use by {owner}. Wait for it or stop it.") from None
        _LOGGER.info("%s is in use by %s. Waiting for it.", folder, owner)
        fcntl.lockf(file, fcntl.LOCK_EX)
    if not os.path.exists(path) or not os.path.samestat(os.fstat(file), os.stat(path)):
        os.close(file)  # its owner has just removed it
        return _lock(folder, path, waits)
    with files.naming_path(path):
        os.ftruncate(file, 0)
        os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    return file
