# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fetches large files over HTTP: what has arrived stays, and the rest is asked for again.

While a file is on its way to `path`, the sidecar `path`.json says where it comes from, how large it
will be, and by which mark (ETag or date) the server knows its version. A transfer goes on only as
the same version of the file; another one begins anew.

A server is not trusted further than need be: an https address leads to no http one, a transfer has
a limit of time and of size, and nothing is written through a link that somebody has put in place.
"""

import base64
import contextlib
import hashlib
import logging
import os
import queue
import re
import stat
import threading
import time
from typing import Any, Callable, Iterator, NamedTuple, Optional
from urllib import parse

import requests

from albert.util import files, progress

_LOGGER = logging.getLogger("albert")

_CHUNK_BYTES = 1 << 16  # what is lost at most when a connection is cut
_CONNECT_SECONDS, _READ_SECONDS = 15, 60
_ATTEMPTS = 5  # without a single new byte
_CHUNKS_AHEAD = 16  # that wait for being written
_LONGEST_WAIT = 30.0
_TRY_AGAIN_LATER = (408, 425, 429, 500, 502, 503, 504)
_INTERRUPTIONS = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
)


class Limits(NamedTuple):
    """What a transfer may take.

    Attributes:
      seconds: all attempts and the pauses between them together.
      bytes: the size of the file.
    """

    seconds: float = 2 * 3600.0
    bytes: int = 4 * 10**9


USUAL_LIMITS = Limits()


class Fetched(NamedTuple):
    """A file that has arrived."""

    size: int
    sha256: str


class _Origin(NamedTuple):
    """Which file, in which version, is on its way.

    Attributes:
      url: its address.
      mark: the server's name for the version, for If-Range; None where it gives none.
      size: in bytes; None where the server does not say.
      md5: hexadecimal, of servers that tell; else None.
    """

    url: str
    mark: Optional[str]
    size: Optional[int]
    md5: Optional[str]


class _InterruptedError(Exception):
    """The transfer stopped for a reason that may pass."""


class _TimeIsUpError(Exception):
    """The limit of time is reached."""


class _Session(requests.Session):
    """Follows redirections, but not from https to http."""

    def get_redirect_target(self, resp: requests.Response) -> Optional[str]:
        """Returns where an answer leads to, if it does."""
        target = super().get_redirect_target(resp)
        schemes = [parse.urlsplit(url).scheme for url in (resp.url, target or "")]
        if schemes[0] == "https" and schemes[1] not in ("", "https"):
            raise ValueError(
                f"{resp.url} leads to {target}, where nothing protects what is sent. It is not "
                "followed; name another server by --base_url."
            )
        return target


def fetch(
    url: str,
    path: str,
    *,
    name: str,
    limits: Limits = USUAL_LIMITS,
    wait: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Downloads a file, going on with what is there of it.

    Args:
      url: http or https address.
      path: local file; with it comes `path`.json, and `discard` removes both.
      name: what the progress bar calls it.
      limits: of time and size.
      wait: called with the seconds between two attempts.

    Raises:
      ValueError: the server has no such file, what arrived is not what it sent, or is too large.
      ConnectionError: the server cannot be reached, the transfer stops again and again, or takes
        too long. What has arrived stays.
    """
    _remove_foreign(path)
    failures, most = 0, _size(path)
    transfer = _Transfer(url, path, name, limits, time.monotonic() + limits.seconds)
    with _Session() as session:
        while not _is_whole(url, path):
            error = _interruption(session, transfer)
            if error is None:
                continue
            if isinstance(error, _TimeIsUpError) or time.monotonic() > transfer.deadline:
                raise ConnectionError(_took_too_long(transfer)) from error
            failures = failures + 1 if _size(path) <= most else 1
            most = max(most, _size(path))
            if failures >= _ATTEMPTS:
                raise ConnectionError(_gave_up(url, path, error)) from error
            seconds = min(2.0 ** (failures - 1), _LONGEST_WAIT)
            _LOGGER.warning("%s: %s. Again in %.0f s.", url, _reason(error), seconds)
            wait(seconds)
    return _checked(path)


class _Transfer(NamedTuple):
    """What is to be fetched."""

    url: str
    path: str
    name: str
    limits: Limits
    deadline: float  # on the monotonic clock


def _interruption(session: requests.Session, transfer: _Transfer) -> Optional[Exception]:
    """Makes one attempt; returns what interrupted it, if anything did."""
    try:
        _receive(session, transfer)
    except (_InterruptedError, _TimeIsUpError, *_INTERRUPTIONS) as error:
        return error
    return None


def _remove_foreign(path: str) -> None:
    """Removes what cannot be the beginning of our file, such as a link to somebody's."""
    for name in (path, _sidecar(path)):
        with contextlib.suppress(FileNotFoundError):
            found = os.lstat(name)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_uid != os.getuid():
                os.remove(name)


def _open_to_write(path: str, *, goes_on: bool) -> Any:
    """A stream to a file that is new, or that goes on; never through a link."""
    if goes_on:
        flags = os.O_APPEND
    else:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        flags = os.O_CREAT | os.O_EXCL
    return os.fdopen(os.open(path, flags | os.O_WRONLY | os.O_NOFOLLOW, 0o666), "wb")


def _before(deadline: float, items: Iterator[Any]) -> Iterator[Any]:
    """Yields the items, which another thread waits for, and gives up at the deadline.

    A server that sends a byte now and then would hold up whoever reads, whatever the time-outs.
    """
    arrived: queue.Queue = queue.Queue(_CHUNKS_AHEAD)
    stopped = threading.Event()

    def put(item: Any, error: Optional[BaseException]) -> None:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                arrived.put((item, error), timeout=0.5)
                return

    def receive() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, StopIteration())
        except Exception as error:
            put(None, error)

    threading.Thread(target=receive, daemon=True).start()
    try:
        while True:
            try:
                item, error = arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise _TimeIsUpError from None
            if isinstance(error, StopIteration):
                return
            if error:
                raise error
            yield item
    finally:
        stopped.set()


def _exchange(session: requests.Session, url: str, headers: Any) -> Iterator[Any]:
    """Yields the response without its content, then the content in chunks."""
    timeouts = (_CONNECT_SECONDS, _READ_SECONDS)
    with session.get(url, headers=headers, stream=True, timeout=timeouts) as response:
        yield response
        yield from response.iter_content(_CHUNK_BYTES)


def discard(path: str) -> None:
    """Removes what `fetch` left at `path`."""
    for name in (path, _sidecar(path)):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)


def _sidecar(path: str) -> str:
    return f"{path}.json"


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _read_origin(path: str) -> Optional[_Origin]:
    """What is on its way to `path`; None if that is not known."""
    if not os.path.exists(path) or not os.path.exists(_sidecar(path)):
        return None
    try:
        content = files.read_json_object(_sidecar(path))
        return _Origin(**{field: content[field] for field in _Origin._fields})
    except (ValueError, KeyError, TypeError) as error:
        _LOGGER.warning("%s is unreadable (%r); starting over.", _sidecar(path), error)
        return None


def _is_whole(url: str, path: str) -> bool:
    origin = _read_origin(path)
    return origin is not None and origin.url == url and origin.size == _size(path)


def _receive(session: requests.Session, transfer: _Transfer) -> None:
    """One request, to the end or to an interruption."""
    url, path = transfer.url, transfer.path
    origin = _read_origin(path)
    start, headers = 0, {"Accept-Encoding": "identity"}
    if origin and origin.url == url and origin.mark and _size(path):
        start = _size(path)
        headers.update({"Range": f"bytes={start}-", "If-Range": origin.mark})
    with contextlib.closing(_before(transfer.deadline, _exchange(session, url, headers))) as items:
        response = next(items)
        _check_status(response, url, path)
        if response.status_code != 206:
            start = 0
        elif _range_start(response) != start:
            discard(path)
            raise _InterruptedError("the server sent another part of the file than asked for")
        size = origin.size if start else _length(response)
        _check_size(transfer, size or 0)
        with _open_to_write(path, goes_on=bool(start)) as stream:
            if not start:
                files.atomic_write_json(_sidecar(path), _origin(response, url, size)._asdict())
            _copy(items, stream, transfer, start=start, size=size)
    if size is not None and _size(path) < size:
        raise _InterruptedError("the connection was cut")
    if size is None:
        arrived = _origin(response, url, _size(path))
        files.atomic_write_json(_sidecar(path), arrived._asdict())


def _check_status(response: requests.Response, url: str, path: str) -> None:
    """Sorts answers into good ones, those to try again, and final ones."""
    status = response.status_code
    if status in (200, 206):
        return
    if status == 416:  # more is there than the server has: it must be of another file
        discard(path)
        raise _InterruptedError("the file on the server has changed")
    if status in _TRY_AGAIN_LATER:
        raise _InterruptedError(f"the server answered {status} {response.reason}")
    raise ValueError(
        f"{url} cannot be downloaded: the server answered {status} {response.reason}. Check the "
        "address; --base_url names the server and folder."
    )


def _range_start(response: requests.Response) -> Optional[int]:
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found.group(1)) if found else None


def _is_encoded(response: requests.Response) -> bool:
    """Whether bytes arrive compressed, although that was not asked for."""
    return response.headers.get("Content-Encoding", "identity") != "identity"


def _length(response: requests.Response) -> Optional[int]:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdigit() and not _is_encoded(response) else None


def _origin(response: requests.Response, url: str, size: Optional[int]) -> _Origin:
    mark = response.headers.get("ETag", "")
    if not mark or mark.startswith("W/"):  # a weak one does not promise the same bytes
        mark = response.headers.get("Last-Modified")
    md5 = re.search(r"md5=([\w+/]+=*)", response.headers.get("x-goog-hash", ""))
    if _is_encoded(response):
        return _Origin(url, None, size, None)
    return _Origin(url, mark, size, md5 and base64.b64decode(md5.group(1)).hex())


def _check_size(transfer: _Transfer, size: int) -> None:
    """Refuses more than the limit; of what has arrived nothing can be of use."""
    if size > transfer.limits.bytes:
        discard(transfer.path)
        raise ValueError(
            f"{transfer.url} is larger than {transfer.limits.bytes / 1e9:g} GB, which no released "
            "archive is. Check the address; --size_limit_gb allows more."
        )


def _copy(
    chunks: Iterator[bytes], stream: Any, transfer: _Transfer, *, start: int, size: Optional[int]
) -> None:
    """Writes what arrives, and shows how far it is where that is known."""
    with contextlib.ExitStack() as stack:
        bar = None
        if size:
            bar = stack.enter_context(progress.Progress(transfer.name, size / 1e6, unit="MB"))
            bar.skip(start / 1e6)
        for chunk in chunks:
            start += len(chunk)
            _check_size(transfer, start)
            stream.write(chunk)
            if bar:
                bar.update(len(chunk) / 1e6, "")


def _checked(path: str) -> Fetched:
    """Compares what arrived with what the server says of it."""
    origin = _read_origin(path)
    sha256, md5 = hashlib.sha256(), hashlib.md5()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(1 << 22), b""):
            sha256.update(chunk)
            md5.update(chunk)
    if origin and origin.md5 and origin.md5 != md5.hexdigest():
        discard(path)
        raise ValueError(
            f"What arrived from {origin.url} is not what the server sent: its MD5 is "
            f"{md5.hexdigest()}, that of the file {origin.md5}. It was removed: run the same "
            "command again."
        )
    return Fetched(_size(path), sha256.hexdigest())


def _reason(error: Exception) -> str:
    """The innermost reason: requests wraps errors that wrap errors."""
    while isinstance(error, requests.RequestException) and error.args:
        inner = getattr(error.args[0], "reason", None) or error.args[0]
        if not isinstance(inner, Exception):
            break
        error = inner
    text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return re.sub(r"^<[^>]*>: ", "", text) or type(error).__name__


def _arrived(path: str) -> str:
    kept = _size(path)
    return f" {kept / 1e6:.1f} MB have arrived and are kept;" if kept else ""


def _gave_up(url: str, path: str, error: Exception) -> str:
    return (
        f"{url} could not be fetched in {_ATTEMPTS} attempts: {_reason(error)}.{_arrived(path)} "
        "Check the network (proxies are taken from $HTTPS_PROXY) and run the same command again to "
        "go on."
    )


def _took_too_long(transfer: _Transfer) -> str:
    return (
        f"{transfer.url} did not arrive within {transfer.limits.seconds / 60:g} minutes, the time "
        f"limit.{_arrived(transfer.path)} Run the same command again to go on."
    )
