# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""One process at a time trains into a folder.

    with folder_lock.held("output/base"):
        train()

A hidden file of the folder names the owner: host, process, and a count that goes up every few
seconds. A POSIX lock on that file tells whether the owner lives; it ends with its process. Where
there are no such locks (gs://, some NFS), or the owner was on another host, the count tells: the
owner is dead if it has not changed for a minute. TensorFlow is needed for remote folders only.
"""

import contextlib
import json
import logging
import os
import socket
import stat
import sys
import threading
import time
import uuid
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from albert.util import files
from albert.util.errors import UserError

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

TRAINING, EVALUATION = "training", "evaluation"

_POLL_SECONDS = 1.0
_SETTLING_SECONDS = 2.0
_MOST_BYTES = 4096
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_LOGGER = logging.getLogger("albert")
_held: Set[Tuple[str, str, int]] = set()  # what this process holds


def lock_name(purpose: str = TRAINING) -> str:
    """Returns the name of the file that lies in a folder while it is held, or after a kill."""
    return f".albert_{purpose}.lock"


def is_lock(name: str) -> bool:
    """Returns whether a file of this name is a lock, not content of its folder."""
    return name in map(lock_name, (TRAINING, EVALUATION))


@contextlib.contextmanager
def held(
    folder: str,
    purpose: str = TRAINING,
    *,
    waits: bool = False,
    beat_seconds: float = 10.0,
    patience_seconds: float = 60.0,
) -> Iterator[None]:
    """Keeps other processes from doing the same in a folder; this one may ask for it again.

    The folder is made if need be, and removed if it stays empty.

    Args:
      folder: a local path, or one that tf.io.gfile takes.
      purpose: TRAINING or EVALUATION; the two do not exclude each other.
      waits: wait until the other process has ended, in place of an error.
      beat_seconds: how often the owner's count goes up.
      patience_seconds: after how long without that another host's owner counts as dead.

    Raises:
      ValueError: another process does; the message names it.
    """
    folder = str(folder)
    key = (folder if "://" in folder else os.path.realpath(folder), purpose, os.getpid())
    if key in _held:
        yield
        return
    lock = _Lock(folder, purpose, beat_seconds=beat_seconds, patience_seconds=patience_seconds)
    lock.acquire(waits)
    _held.add(key)
    try:
        yield
    finally:
        _held.discard(key)
        lock.release()


class _TakenError(Exception):
    """Another process has it."""

    def __init__(self, owner: Optional[Dict[str, Any]] = None):
        super().__init__()
        self.owner = owner


class _Lock:
    """The lock of one folder, with a thread that raises the count."""

    def __init__(self, folder: str, purpose: str, *, beat_seconds: float, patience_seconds: float):
        self._folder = folder
        self._path = os.path.join(folder, lock_name(purpose))
        self._purpose = purpose
        self._beat_seconds = beat_seconds
        self._patience_seconds = patience_seconds
        self._made: List[str] = []
        self._file: Optional[int] = None  # open while a POSIX lock is ours
        self._has_spoken = False
        self._content: Dict[str, Any] = {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "key": uuid.uuid4().hex,
            "beats": 0,
            "time": 0.0,
        }
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def acquire(self, waits: bool) -> None:
        """Returns once the folder is ours; ValueError if it is another's."""
        while True:
            try:
                self._try()
                break
            except _TakenError as error:
                owner = error.owner or self._read() or {"process": "?", "host": "?", "since": "?"}
                who = "process {process} on {host} (since {since})".format(**owner)
            if not waits:
                raise UserError(
                    f"Another process is at work in {self._folder}: {who}. Wait for it or end it, "
                    "or choose another folder. Beside a training, only evaluation and prediction "
                    "may run."
                )
            self._say_once("Waiting for the %s in %s by %s.", self._purpose, self._folder, who)
            time.sleep(_POLL_SECONDS)
        self._thread.start()

    def _say_once(self, *line: Any) -> None:
        if not self._has_spoken:
            _LOGGER.info(*line)
        self._has_spoken = True

    def _try(self) -> None:
        """Takes the folder, or raises _TakenError."""
        if "://" not in self._folder and fcntl is not None:
            self._file = self._locked_file()
        try:
            owner = self._read()
            is_proof = self._file is not None and owner and owner["host"] == socket.gethostname()
            if owner and not is_proof:
                self._outlast(owner)
            self._write()
            if self._file is None:
                # Two processes may have written at the same time: the later one holds the lock.
                time.sleep(min(_SETTLING_SECONDS, self._beat_seconds))
                if not self._is_ours():
                    raise _TakenError
        except BaseException:
            self._let_go()
            raise

    def _locked_file(self) -> Optional[int]:
        """The open file with our lock on it; None where the file system has no locks."""
        while True:
            self._make_folder()
            try:
                file = os.open(self._path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
            except FileNotFoundError:  # another process has just removed the folder
                continue
            except OSError as error:
                raise UserError(f"{self._path} cannot be used as a lock: {error}.") from error
            if not stat.S_ISREG(os.fstat(file).st_mode):
                os.close(file)
                raise UserError(f"{self._path} is no regular file. Remove it.")
            try:
                # This kind of lock is not inherited by worker processes.
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                os.close(file)
                raise _TakenError from None
            except OSError as error:
                os.close(file)
                _LOGGER.debug("No locks in %s: %s", self._folder, error)
                return None
            if self._is_in_place(file):
                return file
            os.close(file)

    def _is_in_place(self, file: int) -> bool:
        """Whether the locked file still has its name: an owner removes it at its end."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _make_folder(self) -> None:
        folder = os.path.abspath(self._folder)
        missing = []
        while not os.path.isdir(folder):
            if os.path.exists(folder):
                raise UserError(
                    f"--output_dir={self._folder}: {folder} is a file, not a folder. Choose "
                    "another --output_dir."
                )
            missing.append(folder)
            folder = os.path.dirname(folder)
        os.makedirs(self._folder, exist_ok=True)
        self._made = missing or self._made

    def _outlast(self, owner: Dict[str, Any]) -> None:
        """Waits until the owner must count as dead; raises _TakenError if it lives."""
        # Clocks of hosts differ, so only a very old lock counts as stale without waiting.
        if time.time() - owner["time"] > 10 * self._patience_seconds:
            return
        who = "process {process} on {host}".format(**owner)
        line = "%s is of %s: looking for %g seconds whether that is alive."
        self._say_once(line, self._path, who, self._patience_seconds)
        end = time.monotonic() + self._patience_seconds
        while time.monotonic() < end:
            time.sleep(min(_POLL_SECONDS, self._beat_seconds))
            found = self._read()
            if found is None and not self._exists():  # the owner has just ended
                return
            if found and (found["key"], found["beats"]) != (owner["key"], owner["beats"]):
                raise _TakenError(found)

    def _exists(self) -> bool:
        if "://" not in self._path:
            return os.path.exists(self._path)
        return files.gfile().exists(self._path)

    def _read(self) -> Optional[Dict[str, Any]]:
        """The owner that the file names; None if there is none, or it is just being written."""
        try:
            if self._file is not None and self._is_in_place(self._file):
                # Closing the file, however it was opened, would end the lock.
                text = os.pread(self._file, _MOST_BYTES, 0).decode("utf-8")
            elif "://" in self._path:
                text = _read_remote(self._path)
            else:
                with open(self._path, encoding="utf-8") as stream:
                    text = stream.read()
            owner = files.parse_json(text, self._path)
        except (ValueError, FileNotFoundError):
            return None
        return owner if self._is_owner(owner) else None

    def _is_owner(self, owner: Any) -> bool:
        """Whether a value is what another process writes here."""
        return isinstance(owner, dict) and all(
            isinstance(owner.get(name), (int, float) if name == "time" else type(value))
            for name, value in self._content.items()
        )

    def _is_ours(self) -> bool:
        owner = self._read()
        return owner is not None and owner["key"] == self._content["key"]

    def _write(self) -> None:
        self._content.update(beats=self._content["beats"] + 1, time=time.time())
        text = json.dumps(self._content)
        if self._file is None:
            files.atomic_write_text(self._path, text)
            return
        try:
            os.pwrite(self._file, text.encode("ascii"), 0)
            os.ftruncate(self._file, len(text))
        except OSError as error:  # such as a full disk
            raise OSError(error.errno, error.strerror, self._path) from None

    def _beat(self) -> None:
        """Raises the count, until the end."""
        while not self._released.wait(self._beat_seconds):
            try:
                if self._read() and not self._is_ours():
                    self._end()
                self._write()
            except Exception as error:  # of the network, mostly: the next beat may succeed
                _LOGGER.warning("%s could not be renewed: %s", self._path, error)

    def _end(self) -> None:
        """Ends the process: another took this one for dead, and both would write."""
        print(
            f"ERROR: Another process has taken over {self._folder}, since this one had not "
            f"answered for {self._patience_seconds:g} seconds.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)

    def release(self) -> None:
        """Lets others have the folder."""
        self._released.set()
        self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        """Removes what was made here, unless it is another's."""
        if self._file is not None:
            if self._is_in_place(self._file) and (self._is_ours() or not self._read()):
                os.remove(self._path)
            os.close(self._file)
            self._file = None
        elif self._is_ours():
            os.remove(self._path) if "://" not in self._path else files.gfile().remove(self._path)
        for folder in self._made:
            with contextlib.suppress(OSError):  # there is something in it
                os.rmdir(folder)
        self._made = []


def _read_remote(path: str) -> str:
    """The content of a file; "" if it is not there."""
    import tensorflow.compat.v1 as tf

    try:
        return files.read_text(path)
    except tf.errors.NotFoundError:
        return ""
