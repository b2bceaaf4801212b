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

import logging
import os
import shutil
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence
from urllib import parse

from albert.downloads import archives, transfer
from albert.downloads.settings import USUAL_LIMITS, Limits
from albert.util import files, folder_lock, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_RECORD_VERSION = 2
_threads = threading.Lock()  # folder_lock excludes other processes only


class Source(NamedTuple):
    """A published file."""

    url: str
    sha256: Optional[str] = None  # that it must have, if that is known
    known_from: str = "--sha256"  # who says so
    size: int = 0  # in bytes, that it must have; 0: not known

    @property
    def name(self) -> str:
        """Returns the file's name."""
        return os.path.basename(parse.urlsplit(self.url).path)

    @property
    def shown_url(self) -> str:
        """Returns the address for messages and records."""
        return transfer.without_login(self.url)

    def own_path(self, folder: str) -> str:
        """Returns where a user puts the file for `folder` to be made of it."""
        return os.path.join(os.path.dirname(folder), self.name)

    def hidden_path(self, folder: str) -> str:
        """Returns where the file is during its transfer."""
        return os.path.join(os.path.dirname(folder), f".{self.name}")


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
      files.DiskFullError: there is no room. What has arrived stays.
    """
    if "://" in folder:
        raise UserError(
            f"{folder} must be a folder of this machine: downloads are unpacked and locked there. "
            "Copy it from there to where it is wanted."
        )
    place, name = os.path.split(folder)
    if os.path.isdir(folder):  # whole, since it got its name last: it may be read-only
        return _checked(folder, sources)
    os.makedirs(place or ".", exist_ok=True)
    with _threads, folder_lock.held(place or ".", f"download_{name}", waits=True):
        if os.path.isdir(folder):  # by now
            return _checked(folder, sources)
        if os.path.lexists(folder):
            raise UserError(f"{folder} is a file. It stays: name another folder to download to.")
        earlier: List[Any] = [None] * len(sources)
        if os.path.exists(f"{folder}.json"):
            earlier = _read_record(folder)["sources"]
        arrived = []
        try:
            for source, before in zip(sources, earlier):
                sha256 = before and before["sha256"]
                arrived.append(_arrive(source, folder, sha256, limits=limits, wait=wait))
            return _made(folder, arrived, make)
        except ConnectionError as error:
            raise type(error)(f"{error}{_by_hand(folder, sources[len(arrived) :])}") from error
        except files.DiskFullError as error:
            raise files.DiskFullError(f"{error}{_kept(folder, sources)}") from error


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
    own, hidden = source.own_path(folder), source.hidden_path(folder)
    if os.path.isfile(own):
        _LOGGER.info("Taking %s, in place of %s.", own, source.shown_url)
        content = files.file_fingerprint(own)
        record = {"url": source.shown_url, "size": content["size"], "sha256": content["sha256"]}
        arrived = _Arrived(own, False, record)
    else:
        _LOGGER.info("Downloading %s.", source.shown_url)
        try:
            fetched = transfer.fetch(source.url, hidden, limits=limits, wait=wait)
        except ValueError as error:
            raise UserError(f"{error}{_by_hand(folder, [source])}") from error
        arrived = _Arrived(hidden, True, {"url": source.shown_url, **fetched._asdict()})
    recorded = f"{folder}.json, from the first download (if this one is meant, remove it)"
    what = source.shown_url if arrived.is_ours else own
    try:
        _check_no_page(arrived, source, folder)
        _check_known(what, arrived.record, source)
        before = Source(source.shown_url, earlier, recorded)
        _check_known(what, arrived.record, before)
    except ValueError:
        _discard([arrived])
        raise
    return arrived


def _discard(arrived: Sequence[_Arrived]) -> None:
    for item in arrived:
        if item.is_ours:
            transfer.discard(item.path)


def _by_hand(folder: str, sources: Sequence[Source]) -> str:
    """What a user may do where files cannot be fetched."""
    missing = [source for source in sources if not os.path.isfile(source.own_path(folder))]
    places = "; ".join(f"{source.shown_url} to {source.own_path(folder)}" for source in missing)
    return f" Or bring by hand: {places}. The same command then finds what is there."


def _kept(folder: str, sources: Sequence[Source]) -> str:
    """What of a download is on a disk that is full."""
    paths = filter(os.path.exists, [source.hidden_path(folder) for source in sources])
    kept = [f"{path} ({os.path.getsize(path) / 1e6:,.1f} MB)" for path in paths]
    free = shutil.disk_usage(os.path.dirname(folder) or ".").free / 1e6
    return f" {free:,.1f} MB are free on that disk." + bool(kept) * (
        f" What has arrived stays, and the same command goes on with it: {', '.join(kept)}. Remove "
        "it if others need the room."
    )


def _check_no_page(arrived: _Arrived, source: Source, folder: str) -> None:
    """Refuses what servers and proxies send in place of a file: none that is published is HTML."""
    what = source.shown_url if arrived.is_ours else arrived.path
    with open(arrived.path, "rb") as stream:
        start = stream.read(1000).decode("utf-8-sig", "replace").strip()
    if start.startswith("<"):
        fate = f"It was removed. Try again later.{_by_hand(folder, [source])}"
        raise UserError(
            f"{what} is a web page ({start[:40]!r}), "
            "not the file: a login perhaps, or the error of a proxy. "
            + (fate if arrived.is_ours else f"Put the file of {source.shown_url} in its place.")
        )


def _check_known(what: str, record: Dict[str, Any], source: Source) -> None:
    faults = []
    if source.size and source.size != record["size"]:
        faults.append(f"its size is {record['size']} bytes, not {source.size}")
    if source.sha256 and source.sha256.lower() != record["sha256"]:
        faults.append(f"its SHA-256 is {record['sha256']}, not {source.sha256}")
    if faults:
        raise UserError(
            f"{what} is not the file that is wanted: {', and '.join(faults)} as in "
            f"{source.known_from}. It is not used."
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
        with files.naming_path(folder):
            make([item.path for item in arrived], temporary)
            record = {
                "format_version": _RECORD_VERSION,
                "sources": [item.record for item in arrived],
                "files": {path: _fingerprint(temporary, path) for path in _files_below(temporary)},
            }
            # The record is written first, because a record without its folder does no harm.
            files.atomic_write_json(f"{folder}.json", record)
            os.rename(temporary, folder)
    except (OSError, KeyboardInterrupt, SystemExit):
        arrived = ()  # they stay, for when there is room or time
        raise
    except archives.DamagedArchiveError as error:
        own = [item.path for item in arrived if not item.is_ours]
        fate = f"Fetch {', '.join(own)} again" if own else "It was removed: run the command again"
        raise UserError(
            f"What came from {origins} is damaged ({error.__cause__}). {fate}; if that does not "
            "help, the one on the server is damaged."
        ) from error
    except ValueError as error:
        raise UserError(f"{origins} cannot be used: {error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _discard(arrived)
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
        raise UserError(
            f"{folder} was not downloaded by this command: {path} is missing. It stays as it is: "
            "use it, or name another folder to download to."
        )
    try:
        record = files.read_json_object(path)
        version = record.get("format_version")
        if version not in (1, _RECORD_VERSION):
            raise UserError(f"format_version is {version!r} and should be {_RECORD_VERSION}")
        if version == 1:
            record["sources"] = [dict(record)]
        content = {"size": int, "sha256": str}
        types = {"sources": [dict(content, url=str)], "files": {str: content}}
        files.check_types(record, types, f"'{path}'")
    except ValueError as error:
        raise UserError(
            f"{path} does not describe a download ({error}). Remove it and the folder beside it to "
            "download again."
        ) from error
    return record


def _checked(folder: str, sources: Sequence[Source]) -> Dict[str, Any]:
    """The record of a folder that is there; ValueError if it is of other files, or has changed."""
    record = _read_record(folder)
    for source, known in zip(sources, record["sources"]):
        _check_known(f"The {source.name} of {folder}", known, source)
    changed = []
    for path, known in record["files"].items():
        is_there = os.path.exists(os.path.join(folder, path))
        found = _fingerprint(folder, path) if is_there else None
        if found != known:
            now = f"SHA-256 {found['sha256']}" if found else "missing"
            changed.append(f"{path} ({now}; downloaded: {known['sha256']})")
    if changed:
        raise UserError(
            f"What was downloaded to {folder} has changed since: {wording.listed(changed)}. "
            "Remove the folder to download it again, or, if the change is meant, move it "
            "elsewhere."
        )
    # Not news, and scripts have a first line of their own.
    _LOGGER.debug("%s is as it was downloaded: %d files.", folder, len(record["files"]))
    return record
