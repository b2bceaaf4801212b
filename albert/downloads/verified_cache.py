# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes folders from downloaded files, and verifies their SHA-256.

From a published albert_base_v2.tar.gz, `obtain` makes

  albert_base_v2/         the content; the folder appears when it is complete
  albert_base_v2.json     address, size and SHA-256 of the download

During the download, .albert_base_v2.tar.gz is beside them. If the user has put
albert_base_v2.tar.gz there, `obtain` uses that file instead of a download, and keeps it.
"""

import os
import threading
from typing import Any, Callable, Dict, List, Sequence

from albert.downloads import transfer
from albert.downloads.flags import USUAL, Source, TransferFlags
from albert.util import UserError, files, folder_lock, json_files, log

_threads = threading.Lock()  # folder_lock does not exclude other threads of this process

# maker(paths in the order of the sources, an empty folder) writes the folder's content.
Maker = Callable[[List[str], str], None]


def obtain(
    folder: str, sources: Sequence[Source], make: Maker, *, flags: TransferFlags = USUAL
) -> None:
    """Makes a folder from published files, unless it exists.

    Args:
      folder: a path on this machine.
      sources: the files to download.
      make: writes the content. Raises UserError if a file is wrong.
      flags: the limits. A mirror or hashes replace the addresses or hashes of the sources.

    Raises:
      UserError: the folder is on another machine, or another program created it; a file cannot
        be downloaded, has another hash, or is wrong; or the disk is full. Downloaded parts stay.
    """
    if "://" in folder:
        raise UserError(f"{folder} must be a local folder. Download first, then copy.")
    sources = _with_flags(sources, flags)
    parent, name = os.path.split(os.path.abspath(folder))
    if not os.path.exists(folder):  # An existing folder is complete, and needs no write access.
        with _threads, folder_lock.held(parent, f"download_{name}", waits=True):
            if not os.path.exists(folder):  # Another process may have created it by now.
                _make_folder(os.path.join(parent, name), sources, make, flags=flags)
    if not os.path.exists(f"{folder}.json"):
        raise UserError(f"{folder}.json is missing: {folder} is no download. Use it, or move it.")
    record = json_files.read(f"{folder}.json", {"sources": [{"url": str, "sha256": str}]})
    for source, origin in zip(sources, record["sources"]):
        _check_hash(source, origin)


def _with_flags(sources: Sequence[Source], flags: TransferFlags) -> List[Source]:
    """Returns the sources with the mirror and the hashes from the flags, if there are any."""
    mirror, recorded = flags.base_url, flags.sha256
    hashes = recorded.split(",") if recorded else [item.sha256 for item in sources]
    if len(hashes) != len(sources):
        raise UserError(f"--sha256 must have {len(sources)} hashes, one per file, in order.")
    urls = [f"{mirror.rstrip('/')}/{item.name}" if mirror else item.url for item in sources]
    return list(map(Source, urls, hashes))


def _make_folder(
    folder: str, sources: Sequence[Source], make: Maker, *, flags: TransferFlags
) -> None:
    """Downloads the sources, and makes the folder and its .json."""
    with files.naming_path(folder):
        paths = [_find_or_fetch(source, os.path.dirname(folder), flags) for source in sources]
    fetched = [path for path in paths if os.path.basename(path).startswith(".")]
    with files.atomic_folder(folder) as new:
        try:
            origins = [_origin(source, path) for source, path in zip(sources, paths)]
            make(paths, new)
        except UserError:
            for path in fetched:
                transfer.discard(path)
            raise
        # Write the .json before the folder appears: without the folder, it does no harm.
        files.atomic_write_json(f"{folder}.json", {"format_version": 2, "sources": origins})
    for path in fetched:
        transfer.discard(path)


def _find_or_fetch(source: Source, parent: str, flags: TransferFlags) -> str:
    """Returns the path of the user's own copy of a file, or downloads the file."""
    own, hidden = (os.path.join(parent, start + source.name) for start in ("", "."))
    if os.path.isfile(own):
        log.info("Using %s instead of a download.", own)
        return own
    transfer.fetch(source.url, hidden, flags)
    return hidden


def _origin(source: Source, path: str) -> Dict[str, Any]:
    """Returns a file's address, size and SHA-256. Raises UserError if the SHA-256 is wrong."""
    url = transfer.without_login(source.url)
    origin = {"url": url, "size": os.path.getsize(path), "sha256": files.sha256(path)}
    _check_hash(source, origin)
    return origin


def _check_hash(source: Source, origin: Dict[str, Any]) -> None:
    if source.sha256 and source.sha256.lower() != origin["sha256"]:
        raise UserError(
            f"The SHA-256 of {origin['url']} is {origin['sha256']}, but should be {source.sha256}. "
            "If you trust the file, pass its hash as --sha256."
        )
