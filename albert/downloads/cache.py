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

import hashlib
import logging
import os
import pathlib
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from albert.downloads import transfer
from albert.downloads.settings import USUAL_LIMITS, Limits
from albert.util import files, folder_lock
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

_RECORD_VERSION = 2
_threads = threading.Lock()  # folder_lock excludes other processes only


class Source(NamedTuple):
    """A published file."""

    url: str
    sha256: Optional[str] = None  # that it must have, if that is known


# Makes the content of the folder that it is given out of files, in the order of the sources.
Maker = Callable[[List[str], str], None]


def obtain(
    folder: str, sources: Sequence[Source], make: Maker, *, limits: Limits = USUAL_LIMITS
) -> Dict[str, Any]:
    """Makes a folder of published files, unless it is there, and returns its record.

    Args:
      folder: its path, on this machine.
      sources: what is fetched.
      make: called with their paths and an empty folder; raises UserError if they are of no use.
      limits: of each transfer.

    Returns:
      The record: "files" has size and SHA-256 of each file by its path below the folder.

    Raises:
      UserError: the folder is on another machine, or was not made by this function; a file cannot
        be fetched, is another one than is known, or of no use; the files in the folder have
        changed; or the disk is full, where what has arrived stays.
    """
    parent, name = os.path.split(os.path.abspath(folder))
    if "://" in folder:
        raise UserError(f"{folder} must be a folder of this machine. Copy the download from there.")
    if os.path.exists(folder):  # whole, since it got its name last: it may be read-only
        return _checked(folder, sources)
    with files.naming_path(parent):
        os.makedirs(parent, exist_ok=True)
    with _threads, folder_lock.held(parent, f"download_{name}", waits=True):
        if os.path.exists(folder):  # by now
            return _checked(folder, sources)
        with files.naming_path(folder):
            paths = [_arrived(source, parent, limits) for source in sources]
        fetched = [path for path in paths if os.path.basename(path).startswith(".")]
        with files.atomic_folder(folder) as new:
            try:
                origins = _origins(folder, sources, paths)
                make(paths, new)
            except UserError:
                transfer.discard(*fetched)
                raise
            made = {
                os.path.relpath(path, new): _content(path)
                for path in map(str, sorted(pathlib.Path(new).rglob("*")))
                if os.path.isfile(path)
            }
            record = {"format_version": _RECORD_VERSION, "sources": origins, "files": made}
            # First, because a record without its folder does no harm.
            files.atomic_write_json(f"{folder}.json", record)
        transfer.discard(*fetched)
    return record


def _arrived(source: Source, parent: str, limits: Limits) -> str:
    """Returns the path of a file that a user put in place, or fetches it."""
    url = transfer.without_login(source.url)
    name = os.path.basename(url)
    own, hidden = os.path.join(parent, name), os.path.join(parent, f".{name}")
    if os.path.isfile(own):
        _LOGGER.info("Taking %s, in place of %s.", own, url)
        return own
    _LOGGER.info("Downloading %s.", url)
    try:
        transfer.fetch(source.url, hidden, limits=limits)
    except UserError as error:
        raise type(error)(f"{error} Or bring {url} by hand to {own}.") from error
    return hidden


def _origins(folder: str, sources: Sequence[Source], paths: Sequence[str]) -> List[Dict[str, Any]]:
    """What the record says of files that are the expected ones, and those of an earlier record."""
    found = []
    for source, path in zip(sources, paths):
        found.append({"url": transfer.without_login(source.url), **_content(path)})
        _check_hash(source, found[-1])
    if os.path.exists(f"{folder}.json"):
        for earlier, origin in zip(_record(folder)["sources"], found):
            if earlier["sha256"] != origin["sha256"]:
                raise UserError(
                    f"The SHA-256 of {origin['url']} is {origin['sha256']}, and was "
                    f"{earlier['sha256']}. Remove {folder}.json to take the new file."
                )
    return found


def _check_hash(source: Source, found: Dict[str, Any]) -> None:
    if source.sha256 and source.sha256.lower() != found["sha256"]:
        raise UserError(
            f"The SHA-256 of {found['url']} is {found['sha256']}, and {source.sha256} is expected. "
            "If the file is right, pass its hash as --sha256."
        )


def _content(path: str) -> Dict[str, Any]:
    """Size and hash of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(1 << 22), b""):
            digest.update(chunk)
        return {"size": stream.tell(), "sha256": digest.hexdigest()}


def _record(folder: str) -> Dict[str, Any]:
    """The record of a folder, in the format of today."""
    record = files.read_json_object(f"{folder}.json")
    record.setdefault("sources", [dict(record)])  # format_version 1 had one
    content = {"size": int, "sha256": str}
    types = {"sources": [dict(content, url=str)], "files": {str: content}}
    files.check_types(record, types, f"'{folder}.json'")
    return record


def _checked(folder: str, sources: Sequence[Source]) -> Dict[str, Any]:
    """The record of a folder that is there; UserError if it is of other files, or has changed."""
    record_path = f"{folder}.json"
    if not os.path.exists(record_path):
        raise UserError(
            f"{folder} was not downloaded by this command: {record_path} is missing. It stays as "
            "it is: use it, or name another folder to download to."
        )
    record = _record(folder)
    for source, known in zip(sources, record["sources"]):
        _check_hash(source, known)
    for name, known in record["files"].items():
        path = os.path.join(folder, name)
        if not os.path.exists(path) or _content(path) != known:
            raise UserError(
                f"{path} has changed since its download. Remove {folder} to download it again, or "
                "move it elsewhere if the change is meant."
            )
    return record
