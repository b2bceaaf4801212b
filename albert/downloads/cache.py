# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Folders made of published files: whole or not at all, made once, and compared with their record.

Of what is published as albert_base_v2.tar.gz, `obtain` makes in a folder

  albert_base_v2/         what is made of it
  albert_base_v2.json     address, size and SHA-256 of what was fetched, and of every file that was
                          made

and, during the transfer, .albert_base_v2.tar.gz. A file albert_base_v2.tar.gz that somebody put
there is taken in place of a transfer, and stays.
"""

import contextlib
import logging
import os
import shutil
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence
from urllib import parse

from albert.downloads import archives, transfer
from albert.downloads.settings import USUAL_LIMITS, Limits
from albert.util import files, wording

_LOGGER = logging.getLogger("albert")

_RECORD_VERSION = 2


class Source(NamedTuple):
    """A published file."""

    url: str
    sha256: Optional[str] = None  # that it must have, if that is known
    known_from: str = "--sha256"  # who says so

    @property
    def name(self) -> str:
        """Returns the file's name."""
        return os.path.basename(parse.urlsplit(self.url).path)


class _Arrived(NamedTuple):
    """A source on this machine."""

    path: str
    is_ours: bool  # and not a user's
    record: Dict[str, Any]


# Makes the content of the folder that it is given out of files, in the order of the sources.
Maker = Callable[[List[str], str], None]


def obtain(
    folder: str,
    sources: Sequence[Source],
    make: Maker,
    *,
    limits: Limits = USUAL_LIMITS,
    wait: Callable[[float], None] = time.sleep,
) -> Dict[str, Any]:
    """Makes a folder of published files, unless it is there, and returns its record.

    Args:
      folder: its path, on this machine.
      sources: what is fetched.
      make: called with their paths and an empty folder; raises ValueError if they are of no use.
      limits, wait: see transfer.fetch.

    Returns:
      The record: "files" has size and SHA-256 of each file by its path below the folder.

    Raises:
      ValueError: the folder is on another machine, or was not made by this function; a server does
        not have a file; one is damaged, unsafe, of no use, or another one than is known; or the
        files in the folder have changed.
      ConnectionError: a server cannot be reached, or the transfer stops again and again.
    """
    if "://" in folder:
        raise ValueError(
            f"{folder} must be a folder of this machine: downloads are unpacked and locked there. "
            "Copy it from there to where it is wanted."
        )
    place, name = os.path.split(folder)
    os.makedirs(place or ".", exist_ok=True)
    with _locked(os.path.join(place, f".{name}.lock"), name):
        if os.path.isdir(folder):
            record = _read_record(folder)
            for source, known in zip(sources, record["sources"]):
                _check_sha256(f"The {source.name} of {folder}", known, source)
            _check_unchanged(folder, record)
            return record
        if os.path.lexists(folder):
            raise ValueError(f"{folder} is a file. It stays: name another folder to download to.")
        earlier: List[Any] = [None] * len(sources)
        if os.path.exists(f"{folder}.json"):
            earlier = _read_record(folder)["sources"]
        arrived = [
            _arrive(source, folder, before and before["sha256"], limits=limits, wait=wait)
            for source, before in zip(sources, earlier)
        ]
        try:
            return _made(folder, arrived, make)
        finally:
            _discard(arrived)


@contextlib.contextmanager
def _locked(path: str, name: str) -> Iterator[None]:
    """Lets one process at a time work on a folder; the lock of one that was killed is free."""
    import fcntl  # not on every system

    # Not through a link, which another user may have put there.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with os.fdopen(descriptor, "r+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _LOGGER.info("Another process is downloading %s; waiting for it.", name)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


# ---------------------------------------------------------------------------------------------
# What is fetched.


def _arrive(
    source: Source,
    folder: str,
    earlier: Optional[str],
    *,
    limits: Limits,
    wait: Callable[[float], None],
) -> _Arrived:
    """Fetches a file, or takes what a user put in place, and compares its hash."""
    place = os.path.dirname(folder)
    own, hidden = os.path.join(place, source.name), os.path.join(place, f".{source.name}")
    if os.path.isfile(own):
        _LOGGER.info("Taking %s, in place of %s.", own, source.url)
        content = files.file_fingerprint(own)
        record = {"url": source.url, "size": content["size"], "sha256": content["sha256"]}
        arrived = _Arrived(own, False, record)
    else:
        _LOGGER.info("Downloading %s.", source.url)
        try:
            fetched = transfer.fetch(source.url, hidden, limits=limits, wait=wait)
        except (ConnectionError, ValueError) as error:
            raise type(error)(
                f"{error} Or fetch {source.url} in another way and put it at {own}, where the same "
                "command then finds it."
            ) from error
        arrived = _Arrived(hidden, True, {"url": source.url, **fetched._asdict()})
    recorded = f"{folder}.json, from the first download (if this one is meant, remove it)"
    what = source.url if arrived.is_ours else own
    try:
        _check_sha256(what, arrived.record, source)
        before = source._replace(sha256=earlier, known_from=recorded)
        _check_sha256(what, arrived.record, before)
    except ValueError:
        _discard([arrived])
        raise
    return arrived


def _discard(arrived: Sequence[_Arrived]) -> None:
    for item in arrived:
        if item.is_ours:
            transfer.discard(item.path)


def _check_sha256(what: str, record: Dict[str, Any], source: Source) -> None:
    if source.sha256 and source.sha256.lower() != record["sha256"]:
        raise ValueError(
            f"{what} is not the file that is wanted: its SHA-256 is {record['sha256']}, not "
            f"{source.sha256} as in {source.known_from}. It is not used."
        )


# ---------------------------------------------------------------------------------------------
# What is made of it.


def _made(folder: str, arrived: Sequence[_Arrived], make: Maker) -> Dict[str, Any]:
    """Makes the content of `folder`, and writes and returns its record."""
    place, name = os.path.split(folder)
    temporary = os.path.join(place, f".{name}.unpacked")
    shutil.rmtree(temporary, ignore_errors=True)  # of a process that was killed
    os.makedirs(temporary)
    origins = ", ".join(item.record["url"] for item in arrived)
    try:
        make([item.path for item in arrived], temporary)
        record = {
            "format_version": _RECORD_VERSION,
            "sources": [item.record for item in arrived],
            "files": {path: _fingerprint(temporary, path) for path in _files_below(temporary)},
        }
        # The record is written first, because a record without its folder does no harm.
        files.atomic_write_json(f"{folder}.json", record)
        os.rename(temporary, folder)
    except archives.DamagedArchiveError as error:
        own = [item.path for item in arrived if not item.is_ours]
        fate = f"Fetch {', '.join(own)} again" if own else "It was removed: run the command again"
        raise ValueError(
            f"What came from {origins} is damaged ({error.__cause__}). {fate}; if that does not "
            "help, the one on the server is damaged."
        ) from error
    except ValueError as error:
        raise ValueError(f"{origins} cannot be used: {error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return record


def _files_below(folder: str) -> List[str]:
    return sorted(
        os.path.relpath(os.path.join(parent, name), folder)
        for parent, _, names in os.walk(folder)
        for name in names
    )


def _fingerprint(folder: str, path: str) -> Dict[str, Any]:
    content = files.file_fingerprint(os.path.join(folder, path))
    return {"size": content["size"], "sha256": content["sha256"]}


def _read_record(folder: str) -> Dict[str, Any]:
    """What was downloaded into a folder, by the record beside it."""
    path = f"{folder}.json"
    if not os.path.exists(path):
        raise ValueError(
            f"{folder} was not downloaded by this command: {path} is missing. It stays as it is: "
            "use it, or name another folder to download to."
        )
    try:
        record = files.read_json_object(path)
        version = record["format_version"]
        if version == 1:
            record["sources"] = [{key: record[key] for key in ("url", "size", "sha256")}]
        is_known = version in (1, _RECORD_VERSION)
        _ = [source["sha256"] for source in record["sources"]], record["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        version, is_known = error, False
    if not is_known:
        raise ValueError(
            f"{path} does not describe a download (format_version is {version!r} and should be "
            f"{_RECORD_VERSION}). Remove it and the folder beside it to download again."
        )
    return record


def _check_unchanged(folder: str, record: Dict[str, Any]) -> None:
    changed = [
        path
        for path, fingerprint in record["files"].items()
        if not os.path.exists(os.path.join(folder, path))
        or _fingerprint(folder, path) != fingerprint
    ]
    if changed:
        raise ValueError(
            f"What was downloaded to {folder} has changed since: {wording.listed(changed)}. "
            "Remove the folder to download it again, or, if the change is meant, move it "
            "elsewhere."
        )
    # Not news, and scripts have a first line of their own.
    _LOGGER.debug("%s is as it was downloaded: %d files.", folder, len(record["files"]))
