# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on this machine that serves files from memory, and misbehaves when told to."""

import contextlib
import http.server
import pathlib
import re
import ssl
import threading
from typing import Dict, Iterator, List, NamedTuple, Optional


class Answer(NamedTuple):
    """How the next request is answered.

    Attributes:
      status: instead of the file, unless it is None.
      cut_after: bytes of the body after which the connection is closed.
      headers: further headers.
      without: headers that are left out.
      range_shift: added to the place where a part of the file begins.
      location: where the request is sent instead.
      drips: after the file, zeros follow, one every few milliseconds, until the server ends.
      floods: after the file, zeros follow as fast as they are taken.
    """

    status: Optional[int] = None
    cut_after: Optional[int] = None
    headers: Optional[Dict[str, str]] = None
    without: tuple = ()
    range_shift: int = 0
    location: Optional[str] = None
    drips: bool = False
    floods: bool = False


class FileServer:
    """What is served, and what was asked for.

    Attributes:
      url: address without a slash at the end.
      files: content by path.
      etag: of every file; "" for none.
      answers: for the next requests; then requests are answered as they should be.
      ranges: the header Range of each request so far; None where there was none.
    """

    def __init__(self, url: str):
        self.url = url
        self.files: Dict[str, bytes] = {}
        self.etag = '"1"'
        self.answers: List[Answer] = []
        self.ranges: List[Optional[str]] = []
        self.is_closed = threading.Event()


class _Handler(http.server.BaseHTTPRequestHandler):
    server_state: FileServer

    def log_message(self, *_):
        """Tests do not want to see requests."""

    def do_GET(self):  # noqa: N802
        state = self.server_state
        answer = state.answers.pop(0) if state.answers else Answer()
        state.ranges.append(self.headers.get("Range"))
        content = state.files.get(self.path)
        if answer.location:
            self.send_response(302)
            self.send_header("Location", answer.location)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if answer.status or content is None:
            self.send_error(answer.status or 404)
            return
        start = self._start(state)
        if start >= len(content):
            self.send_error(416)
            return
        headers = {"Content-Length": str(len(content) - start), "ETag": state.etag}
        if start:
            first = start + answer.range_shift
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        headers.update(answer.headers or {})
        self.send_response(206 if start else 200)
        for name, value in headers.items():
            if value and name not in answer.without:
                self.send_header(name, value)
        self.end_headers()
        body = content[start:]
        self.wfile.write(body if answer.cut_after is None else body[: answer.cut_after])
        if answer.drips or answer.floods:
            with contextlib.suppress(OSError):
                self._go_on(state, 1 if answer.drips else 1 << 16)

    def _go_on(self, state: FileServer, count: int):
        """Sends without end, until the client has gone."""
        while not state.is_closed.wait(0.01 if count == 1 else 0.0):
            self.wfile.write(bytes(count))
            self.wfile.flush()

    def _start(self, state: FileServer) -> int:
        """Where the part that is asked for begins, if it is of this version of the file."""
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(asked.group(1)) if asked and self.headers.get("If-Range") == state.etag else 0


# Key and certificate of 127.0.0.1, which nobody trusts who is not told to.
CERTIFICATE = str(pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "localhost.pem")


@contextlib.contextmanager
def serving(*, is_https: bool = False) -> Iterator[FileServer]:
    """Yields a running server."""
    handler = type("Handler", (_Handler,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if is_https:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if is_https else "http"
    state = FileServer(f"{scheme}://127.0.0.1:{server.server_address[1]}")
    handler.server_state = state
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.is_closed.set()
        server.shutdown()
        server.server_close()
        thread.join()
