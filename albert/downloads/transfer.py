# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fetches large files over HTTP, in parts if need be; the server is not trusted.

`fetch` keeps what has arrived at `path`, and in `path`.json the address, the size and the server's
name for the version (ETag or date), so that the next call asks for the rest of the same version.
"""

import base64
import contextlib
import hashlib
import logging
import multiprocessing
import os
import re
import socket
import stat
import time
from multiprocessing import pool
from typing import Any, Callable, Generator, Iterator, NamedTuple, Optional
from urllib import parse

import requests

from albert.downloads.settings import USUAL_LIMITS, Limits
from albert.util import files, progress
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

CHUNK_BYTES = 1 << 16  # at most this much is lost when a connection breaks
_TIMEOUTS = (15, 60)  # seconds to connect and between two bytes
_ATTEMPTS = 5  # in a row that bring no new byte
_LONGEST_WAIT = 30.0
_GO_ON = (
    "Check the network (proxies are taken from $HTTPS_PROXY) and run the same command again to go "
    "on."
)
_TRY_AGAIN_LATER = (408, 425, 429, 500, 502, 503, 504)


class Fetched(NamedTuple):
    """A file that has arrived."""

    size: int
    sha256: str


def _reason(error: Exception) -> str:
    """The innermost of the messages that requests puts into one another."""
    text = str(error).rstrip("')\".").rpartition(": ")[2] or type(error).__name__
    return without_login(text + ")" * (text.count("(") - text.count(")")))


def without_login(text: str) -> str:
    """Returns an address, or a text with addresses, without the "user:password@" in them."""
    return re.sub(r"//[^/\s]*@", "//", text)


class UnreachableError(ConnectionError):
    """The server's name cannot be resolved, or it takes no connections."""


def _is_unreachable(error: Optional[BaseException]) -> bool:
    while error and not isinstance(error, (socket.gaierror, ConnectionRefusedError)):
        error = error.__cause__ or error.__context__
    return error is not None


class _InterruptedError(Exception):
    """The transfer stopped for a reason that may pass."""


_INTERRUPTIONS = (
    _InterruptedError,
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
)


class _Origin(NamedTuple):
    """What a server says of a file: None where it does not."""

    url: str
    version: Optional[str] = None
    size: Optional[int] = None
    md5: Optional[str] = None


class _Session(requests.Session):
    """Follows redirections, but not from https to http."""

    def __init__(self, advice: str):
        super().__init__()
        self._advice = advice  # see Limits

    def get_redirect_target(self, resp: requests.Response) -> Optional[str]:
        """Returns where an answer leads to, if it does."""
        target = super().get_redirect_target(resp)
        schemes = [parse.urlsplit(url).scheme for url in (resp.url, target or "")]
        if schemes[0] == "https" and schemes[1] not in ("", "https"):
            raise UserError(
                f"{without_login(resp.url)} leads to {without_login(target or '')}, which is not "
                f"encrypted. It is not followed.{self._advice}"
            )
        return target


def fetch(
    url: str,
    path: str,
    *,
    limits: Limits = USUAL_LIMITS,
    wait: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Downloads a file, continuing an earlier transfer of the same version.

    Args:
      url: http or https address.
      path: local file; with it comes `path`.json, and `discard` removes both.
      limits: of time and size.
      wait: called with the seconds between two attempts.

    Raises:
      ValueError: the server has no such file, what arrived is not what it sent, or is too large.
      ConnectionError: the server cannot be reached, the transfer stops again and again, or takes
        too long. What has arrived stays. UnreachableError: it cannot be reached at all, which is
        not tried again.
      files.DiskFullError: there is no room. What has arrived stays.
    """
    _remove_foreign(path)
    failures, most, is_first = 0, _size(path), True
    transfer = _Transfer(url, path, limits)
    url = transfer.url
    while not transfer.is_whole():
        try:
            transfer.receive()
            is_first = False
            continue
        except _INTERRUPTIONS as error:
            reason = _reason(error)
            failures = failures + 1 if _size(path) <= most else 1
            most = max(most, _size(path))
            if is_first and _is_unreachable(error):
                raise UnreachableError(f"{url} could not be fetched: {reason}. {_GO_ON}") from error
            is_first = False
            if time.monotonic() >= transfer.deadline or failures >= _ATTEMPTS:
                kept = f"{_size(path) / 1e6:.1f} MB have arrived and are kept. " if most else ""
                raise ConnectionError(
                    f"{url} could not be fetched: {reason} ({failures} attempts without progress, "
                    f"at most {limits.seconds / 60:g} minutes in all). {kept}{_GO_ON}"
                ) from error
        except requests.RequestException as error:  # redirected without end, of no known coding
            raise UserError(
                f"{url} cannot be downloaded: {_reason(error)}. Check the address.{limits.advice}"
            ) from error
        seconds = min(2.0 ** (failures - 1), _LONGEST_WAIT)
        _LOGGER.warning("%s: %s. Trying again in %.0f s.", url, reason, seconds)
        wait(seconds)
    return transfer.checked()


def discard(path: str) -> None:
    """Removes what `fetch` left at `path`."""
    for name in (path, f"{path}.json"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)


class _Transfer:
    """A file on its way, over as many requests as it takes."""

    def __init__(self, url: str, path: str, limits: Limits):
        self._address, self.url = url, without_login(url)
        self.path, self.limits = path, limits
        self.deadline = time.monotonic() + limits.seconds

    def is_whole(self) -> bool:
        """Returns whether all of the file is there."""
        origin = self._origin()
        return origin is not None and origin.size == _size(self.path)

    def receive(self) -> None:
        """Makes one request, and writes what arrives.

        Raises one of _INTERRUPTIONS, or ValueError where another request is of no use.
        """
        origin, start, headers = self._origin(), 0, {"Accept-Encoding": "identity"}
        if origin and origin.version and _size(self.path):
            start = _size(self.path)
            headers.update({"Range": f"bytes={start}-", "If-Range": origin.version})
        with contextlib.closing(_before(self.deadline, self._exchange(headers))) as items:
            response = next(items)
            self._check_status(response)
            if response.status_code != 206:
                start, origin = 0, _origin_of(response, self.url)
                discard(self.path)
                files.atomic_write_json(f"{self.path}.json", origin._asdict())
            elif not origin or not _is_part(response, start, origin.size):
                discard(self.path)
                raise _InterruptedError("the server sent another part of the file than asked for")
            self._check_size(origin.size or 0)
            self._write(items, start, origin.size)
        if origin.size is None:  # without a length, it is whole when the connection ends
            whole = origin._replace(size=_size(self.path))
            files.atomic_write_json(f"{self.path}.json", whole._asdict())
        elif _size(self.path) < origin.size:
            raise _InterruptedError("the connection was cut")

    def checked(self) -> Fetched:
        """Compares what arrived with the MD5 that the server gave."""
        origin, sha256, md5 = self._origin(), hashlib.sha256(), hashlib.md5()
        with open(self.path, "rb") as stream:
            for chunk in iter(lambda: stream.read(1 << 22), b""):
                sha256.update(chunk)
                md5.update(chunk)
        if origin.md5 not in (None, md5.hexdigest()):
            discard(self.path)
            raise UserError(
                f"What arrived from {self.url} is not what the server sent: its MD5 is "
                f"{md5.hexdigest()}, that of the file {origin.md5}. It was removed: run the same "
                "command again."
            )
        return Fetched(_size(self.path), sha256.hexdigest())

    def _origin(self) -> Optional[_Origin]:
        """The state of a partial download from this address; None if there is none."""
        if not os.path.exists(self.path) or not os.path.exists(f"{self.path}.json"):
            return None
        try:
            origin = _Origin(**files.read_json_object(f"{self.path}.json"))
        except (ValueError, TypeError) as error:
            _LOGGER.warning("%s.json is unreadable (%r); starting over.", self.path, error)
            return None
        return origin if origin.url == self.url else None

    def _exchange(self, headers: Any) -> Iterator[Any]:
        """Yields the response without its content, then the content in chunks."""
        with _Session(self.limits.advice) as session:
            response = session.get(self._address, headers=headers, stream=True, timeout=_TIMEOUTS)
            yield response
            yield from response.iter_content(CHUNK_BYTES)

    def _check_status(self, response: requests.Response) -> None:
        status = response.status_code
        if status in (200, 206):
            return
        if status == 416:  # more bytes than the server has: they must be of another file
            discard(self.path)
            raise _InterruptedError("the file on the server has changed")
        answer = f"the server answered {status} {response.reason}"
        if status in _TRY_AGAIN_LATER:
            raise _InterruptedError(answer)
        raise UserError(
            f"{self.url} cannot be downloaded: {answer}. Check the address.{self.limits.advice}"
        )

    def _check_size(self, size: int) -> None:
        if size > self.limits.bytes:
            discard(self.path)
            raise UserError(
                f"{self.url} is larger than the {self.limits.bytes / 1e9:g} GB that are allowed. "
                f"Check the address.{self.limits.advice}"
            )

    def _write(self, chunks: Iterator[bytes], start: int, size: Optional[int]) -> None:
        name, total = os.path.basename(self.url), size and size / 1e6
        bar = progress.Progress(name, total, unit="MB")
        with files.naming_path(self.path), open(self.path, "ab") as stream, bar:
            bar.skip(start / 1e6)
            for chunk in chunks:
                start += len(chunk)
                self._check_size(start)
                stream.write(chunk)
                bar.update(len(chunk) / 1e6, "")


def _is_part(response: requests.Response, start: int, size: Optional[int]) -> bool:
    """Whether the answer is the rest that was asked for."""
    total = r"\d+" if size is None else rf"({size}|\*)"
    found = response.headers.get("Content-Range", "")
    return bool(start and re.fullmatch(rf"bytes {start}-\d+/{total}", found))


def _origin_of(response: requests.Response, url: str) -> _Origin:
    headers = response.headers
    if headers.get("Content-Encoding", "identity") != "identity":
        return _Origin(url)  # the length is that of the compressed bytes
    version: Optional[str] = headers.get("ETag", "")
    if not version or version.startswith("W/"):  # a weak one does not promise the same bytes
        version = headers.get("Last-Modified")
    stated = "" if "Transfer-Encoding" in headers else headers.get("Content-Length", "")
    length = re.fullmatch("[0-9]{1,18}", stated)
    md5 = re.search("md5=([A-Za-z0-9+/]{22}==)", headers.get("x-goog-hash", ""))
    return _Origin(
        url,
        version,
        int(length.group()) if length else None,
        base64.b64decode(md5.group(1)).hex() if md5 else None,
    )


def _before(deadline: float, items: Iterator[Any]) -> Generator[Any, None, None]:
    """Yields the items, which another thread waits for, and gives up at the deadline.

    A server that sends a byte now and then would otherwise hold up the reader for ever.
    """
    workers = pool.ThreadPool(1)  # of threads that a process does not wait for when it ends
    try:
        while True:
            arriving = workers.apply_async(next, (items, None))
            item = arriving.get(max(0.0, deadline - time.monotonic()))
            if item is None:
                return
            yield item
    except multiprocessing.TimeoutError:
        raise _InterruptedError("the time is over") from None
    finally:
        workers.terminate()


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _remove_foreign(path: str) -> None:
    """Removes what cannot be the beginning of our file, such as a link to another user's."""
    with contextlib.suppress(FileNotFoundError):
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_uid != os.getuid():
            os.remove(path)
