# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads large files over HTTP, and resumes interrupted downloads.

`fetch` writes the received part to `path`. If the server sends a size and a version tag (ETag),
`fetch` writes them to `path`.json, with the address. The next call asks for the rest of the same
version.
"""

import contextlib
import os
import re
import time
from typing import Any

from albert.downloads.flags import TransferFlags
from albert.util import UserError, files, json_files, log, progress

CHUNK_BYTES = 1 << 16  # If a connection breaks, at most this much is lost.
PAUSES = (1, 2, 4, 8, 15, 30)  # seconds before each new attempt
_METADATA = {"url": str, "version": re.compile('(?#an ETag)"[ -~]*'), "size": json_files.COUNT}
_TIMEOUTS = (15, 60)  # seconds to connect and between two bytes


class UnreachableError(UserError, ConnectionError):
    """A server cannot be reached, or the download stops repeatedly."""


def without_login(text: str) -> str:
    """Removes "user:password@" from the addresses in a text."""
    return re.sub(r"//[^/\s]*@", "//", text)


def discard(path: str) -> None:
    """Removes the files of an unfinished `fetch`."""
    for name in (path, f"{path}.json"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)


def fetch(url: str, path: str, flags: TransferFlags) -> None:
    """Downloads a file. Resumes an earlier download of the same version.

    Args:
      url: http or https address. A redirection from https to http is an error.
      path: the local file to write, beside which there is `path`.json.
      flags: the limits of time and size.

    Raises:
      UserError: the server does not have the file, or the file is too large.
      UnreachableError: the server cannot be reached, or the download stops repeatedly or takes too
        long. The received part stays.
    """
    import requests

    deadline = time.monotonic() + 60 * flags.time_limit_minutes
    public_url = without_login(url)
    log.info("Downloading %s.", public_url)
    session = requests.Session()
    if url.startswith("https:"):
        del session.adapters["http://"]  # A redirection to http raises an error.
    for pause in (*PAUSES, None):
        try:
            _receive(session, url, path, limit_gb=flags.size_limit_gb, deadline=deadline)
            return
        except requests.RequestException as error:
            # Messages are nested. Keep the innermost.
            reason = re.sub(r""".*[)>]: |^\('|', .*|"\)+$""", "", without_login(str(error)))
            status = getattr(error.response, "status_code", None)
            # ValueError: the address is invalid, or redirects to http.
            if isinstance(error, ValueError) or (status and status < 500 and status != 429):
                raise UserError(
                    f"{public_url} cannot be downloaded: {reason}. Check the address."
                ) from error
            if time.monotonic() > deadline:
                reason = "--time_limit_minutes is over"
            is_unreachable = not status and not os.path.exists(path)
            if pause is None or is_unreachable or time.monotonic() + pause > deadline:
                raise UnreachableError(
                    f"{public_url} could not be downloaded: {reason}. Check the network (and "
                    "$HTTPS_PROXY). To resume, run the same command again."
                ) from error
        log.warning("%s: %s. Trying again in %d s.", public_url, reason, pause)
        time.sleep(pause)


def _receive(session: Any, url: str, path: str, *, limit_gb: float, deadline: float) -> None:
    """Requests the rest of the file once, and appends the received bytes to `path`."""
    import requests

    public_url, metadata_path = without_login(url), f"{path}.json"
    start, size, headers = 0, 0, {"Accept-Encoding": "identity"}
    if os.path.exists(path) and os.path.exists(metadata_path):
        metadata = json_files.read(metadata_path, _METADATA)
        if metadata["url"] == public_url:
            start, size = os.path.getsize(path), metadata["size"]
            if start == size:
                return
            headers.update({"Range": f"bytes={start}-", "If-Range": metadata["version"]})
    left = max(deadline - time.monotonic(), 0.001)
    timeouts = [min(seconds, left) for seconds in _TIMEOUTS]
    with session.get(url, headers=headers, stream=True, timeout=tuple(timeouts)) as response:
        is_rest = response.headers.get("Content-Range") == f"bytes {start}-{size - 1}/{size}"
        if start and response.status_code in (206, 416) and not is_rest:
            os.remove(metadata_path)  # The next request is for the whole file.
            raise requests.ConnectionError("the file on the server has changed")
        response.raise_for_status()
        if response.status_code != 206:
            start, size = 0, response.raw.length_remaining or 0
            version = response.headers.get("ETag", "")
            discard(path)
            if size and version.startswith('"'):  # A weak tag, W/"...", may be for other bytes.
                files.atomic_write_json(
                    metadata_path, {"url": public_url, "version": version, "size": size}
                )
        bar = progress.Progress(
            os.path.basename(public_url), size / 1e6 or None, unit="MB", done=start / 1e6
        )
        with open(path, "ab") as stream, bar:
            for chunk in response.iter_content(CHUNK_BYTES):
                stream.write(chunk)
                bar.update(len(chunk) / 1e6)
                _check_limits(public_url, max(stream.tell(), size), limit_gb, deadline=deadline)
        if response.raw.length_remaining:
            raise requests.ConnectionError("connection broken")


def _check_limits(public_url: str, size: int, limit_gb: float, *, deadline: float) -> None:
    import requests

    if size > 1e9 * limit_gb:
        raise UserError(f"{public_url} is larger than {limit_gb:g} GB (--size_limit_gb).")
    if time.monotonic() > deadline:
        raise requests.Timeout("--time_limit_minutes is over")
