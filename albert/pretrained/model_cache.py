# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Released models on this machine: fetched once, and checked against their record ever after.

In the cache folder, `base_v2` of the releases is

  albert_base_v2/albert_base/     the model, as the archive has it
  albert_base_v2.json             address, size and SHA-256 of the archive, and of every file in it

and, while it is on its way, the archive under the hidden name .albert_base_v2.tar.gz. A model is in
the cache whole or not at all.
"""

import contextlib
import logging
import os
import shutil
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from albert.pretrained import archives, downloads
from albert.pretrained import released as released_models
from albert.util import files

_LOGGER = logging.getLogger("albert")

BASE_URL = "https://storage.googleapis.com/albert_models"
CACHE_DIR = "~/.cache/albert"
FORMAT_VERSION = 1


class CachedModel(NamedTuple):
    """A released model on this machine.

    Attributes:
      folder: what --albert_dir takes.
      is_new: whether it was downloaded now.
      sha256: of its archive.
    """

    folder: str
    is_new: bool
    sha256: str


class _Places(NamedTuple):
    """Where the parts of a release are in the cache."""

    folder: str
    record: str
    archive: str  # until it is unpacked
    unpacked: str  # until it is known to be a model
    lock: str


def obtain(
    release: released_models.Release,
    *,
    cache_dir: Optional[str] = None,
    base_url: Optional[str] = None,
    limits: downloads.Limits = downloads.USUAL_LIMITS,
    wait: Callable[[float], None] = time.sleep,
) -> CachedModel:
    """Returns a model from the cache, after downloading it if it is not there.

    Args:
      release: which one.
      cache_dir: made if need be; None for CACHE_DIR.
      base_url: address of the folder with the archives; None for BASE_URL.
      limits: of time and size of the download.
      wait: called with the seconds between two attempts to reach the server.

    Raises:
      ValueError: the cache is on another machine; the server does not have the archive; that is
        damaged, unsafe, no model, or another one than before; or files in the cache have changed
        since the download.
      ConnectionError: the server cannot be reached, or only now and then.
    """
    cache_dir, base_url = cache_dir or CACHE_DIR, base_url or BASE_URL
    if "://" in cache_dir:
        raise ValueError(
            f"--cache_dir={cache_dir} must be a folder of this machine: downloads are unpacked and "
            "locked there. Copy the model from there to where it is wanted."
        )
    cache_dir = os.path.expanduser(cache_dir)
    os.makedirs(cache_dir, exist_ok=True)
    places = _places(cache_dir, release)
    with _locked(places.lock, release.name):
        if os.path.isdir(places.folder):
            record = _read_record(places)
            _check_sha256(release, f"The archive of {places.folder}", record["sha256"])
            _verify(places, record)
            return CachedModel(_model_folder(places.folder, record), False, record["sha256"])
        record = _download(release, places, base_url, limits=limits, wait=wait)
    return CachedModel(_model_folder(places.folder, record), True, record["sha256"])


def _places(cache_dir: str, release: released_models.Release) -> _Places:
    stem = os.path.join(cache_dir, f"albert_{release.name}")
    hidden = os.path.join(cache_dir, f".albert_{release.name}")
    return _Places(
        folder=stem,
        record=f"{stem}.json",
        archive=os.path.join(cache_dir, f".{release.archive}"),
        unpacked=f"{hidden}.unpacked",
        lock=f"{hidden}.lock",
    )


@contextlib.contextmanager
def _locked(path: str, name: str) -> Iterator[None]:
    """Lets one process at a time work on a model; the lock of one that was killed is free."""
    import fcntl  # not on every system

    # Not through a link that somebody has put in place.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with os.fdopen(descriptor, "r+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _LOGGER.info("Another process is downloading %s; waiting for it.", name)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


# ---------------------------------------------------------------------------------------------
# What is there.


def _read_record(places: _Places) -> Dict[str, Any]:
    """What was downloaded, by the record beside it."""
    if not os.path.exists(places.record):
        raise ValueError(
            f"{places.folder} was not downloaded by this command: {places.record} is missing. Use "
            "the folder as it is by --albert_dir, or choose another --cache_dir."
        )
    return _parsed_record(places.record)


def _parsed_record(path: str) -> Dict[str, Any]:
    try:
        record = files.read_json_object(path)
        keys = ("format_version", "url", "sha256", "files")
        version, *_ = (record[key] for key in keys)
    except (ValueError, KeyError, TypeError) as error:
        version, record = error, {}
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{path} is no record of a download ({version!r} where format_version "
            f"{FORMAT_VERSION} is known). Remove it and the folder beside it to download again."
        )
    return record


def _verify(places: _Places, record: Dict[str, Any]) -> None:
    """Makes sure that the model is still what was downloaded."""
    changed: List[str] = []
    for name, fingerprint in record["files"].items():
        path = os.path.join(places.folder, name)
        if not os.path.exists(path) or _fingerprint(path) != fingerprint:
            changed.append(name)
    if changed:
        raise ValueError(
            f"The model in {places.folder} has changed since it was downloaded: "
            f"{', '.join(changed)}. Remove the folder to download it again, or, if the change is "
            "meant, move it out of the cache."
        )
    _LOGGER.info("%s is as it was downloaded: %d files.", places.folder, len(record["files"]))


def _check_sha256(release: released_models.Release, what: str, sha256: str) -> None:
    """Compares an archive with what is known of the release."""
    if release.sha256 and release.sha256.lower() != sha256:
        raise ValueError(
            f"{what} is not the released one: its SHA-256 is {sha256}, and {release.sha256} is "
            "that of the release. It is not used."
        )


def _fingerprint(path: str) -> Dict[str, Any]:
    content = files.file_fingerprint(path)
    return {"size": content["size"], "sha256": content["sha256"]}


def _model_folder(folder: str, record: Dict[str, Any]) -> str:
    """The folder that holds the configuration; the archives have one around everything."""
    inner = {
        os.path.dirname(name)
        for name in record["files"]
        if os.path.basename(name) == released_models.CONFIG_NAME
    }
    return os.path.join(folder, min(inner)).rstrip("/")


# ---------------------------------------------------------------------------------------------
# What is fetched.


def _download(
    release: released_models.Release,
    places: _Places,
    base_url: str,
    *,
    limits: downloads.Limits,
    wait: Callable[[float], None],
) -> Dict[str, Any]:
    """Fetches, unpacks and records a model."""
    url = f"{base_url.rstrip('/')}/{release.archive}"
    _LOGGER.info("Downloading %s.", url)
    fetched = downloads.fetch(url, places.archive, name=release.archive, limits=limits, wait=wait)
    try:
        _check_sha256(release, url, fetched.sha256)
    except ValueError:
        downloads.discard(places.archive)
        raise
    earlier = _parsed_record(places.record) if os.path.exists(places.record) else None
    _check_unchanged(places, url, fetched, earlier=earlier)
    shutil.rmtree(places.unpacked, ignore_errors=True)  # of a process that was killed
    try:
        names = _unpack(places, url)
        record = {
            "format_version": FORMAT_VERSION,
            "url": url,
            "size": fetched.size,
            "sha256": fetched.sha256,
            "files": {name: _fingerprint(os.path.join(places.unpacked, name)) for name in names},
        }
        _check_model(places, record)
        # The record first: without the folder it does no harm.
        files.atomic_write_json(places.record, record)
        os.rename(places.unpacked, places.folder)
    finally:
        shutil.rmtree(places.unpacked, ignore_errors=True)
    downloads.discard(places.archive)
    return record


def _check_unchanged(
    places: _Places,
    url: str,
    fetched: downloads.Fetched,
    *,
    earlier: Optional[Dict[str, Any]],
) -> None:
    """Another archive than the one that came first deserves a question."""
    if earlier is None or earlier["sha256"] == fetched.sha256:
        return
    downloads.discard(places.archive)
    raise ValueError(
        f"{url} is not the archive that was downloaded before (from {earlier['url']}): its SHA-256 "
        f"was {earlier['sha256']} and is {fetched.sha256}. If the new one is meant, remove "
        f"{places.record} and run the same command again."
    )


def _unpack(places: _Places, url: str) -> List[str]:
    """The names of the files; an archive that cannot be used does not stay."""
    os.makedirs(places.unpacked)
    try:
        return archives.unpack(places.archive, places.unpacked)
    except archives.DamagedArchiveError as error:
        downloads.discard(places.archive)
        raise ValueError(
            f"The archive from {url} is damaged ({error.__cause__}). It was removed: run the same "
            "command again; if that does not help, the archive on the server is damaged."
        ) from error
    except ValueError as error:
        downloads.discard(places.archive)
        raise ValueError(f"{url}: {error}") from error


def _check_model(places: _Places, record: Dict[str, Any]) -> None:
    """Makes sure that what was unpacked can be used."""
    try:
        if not any(os.path.basename(name) == "albert_config.json" for name in record["files"]):
            raise ValueError(f"it holds no {released_models.CONFIG_NAME}.")
        folder = _model_folder(places.unpacked, record)
        released_models.find_files(folder, label="its folder")
    except ValueError as error:
        downloads.discard(places.archive)
        raise ValueError(f"{record['url']} is not the archive of a model: {error}") from error
